"""How much room an entry takes, by a definition that every backend shares."""

from __future__ import annotations

from typing import Final

from langchain_semcache.records import Entry

OVERHEAD_BYTES: Final = 512
"""What an entry takes besides: ids, digests, times, and its places in the payload indexes."""

_BYTES_PER_NUMBER: Final = 4


def least_bytes(dimension: int) -> int:
    """Bytes that no entry can have less of: a vector of `dimension` numbers and the overhead."""
    return _BYTES_PER_NUMBER * dimension + OVERHEAD_BYTES


def entry_bytes(entry: Entry, dimension: int) -> int:
    """Bytes of an entry: its texts in UTF-8, its answer as it is kept, its vector, an overhead.

    A vector of `dimension` numbers counts for every entry, also for those matched exactly only.
    What an answer shares with others is a record of its own and belongs to none of them: it does
    not count. It is a definition and not a measurement: what a store takes on disk depends on the
    backend.
    """
    texts = (
        entry.question,
        entry.context,
        entry.assessment,
        *entry.tags,
        *(text for pair in entry.sources for text in pair),
    )
    told = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return told + len(entry.payload) + least_bytes(dimension)
