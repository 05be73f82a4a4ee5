"""A dictionary is learned from answers of one kind."""

from __future__ import annotations

from collections.abc import Sequence

import zstandard

from langchain_semcache.responses.frames import LEVEL

LEAST_BYTES = 512
SHARE = 8
"""A dictionary is at most an eighth of what it is learned from: more would be learned by heart."""


def train(samples: Sequence[bytes], *, most_bytes: int) -> bytes | None:
    """A zstd dictionary of at most `most_bytes`; None when the samples do not make one.

    About 1 s for 2 MB of samples, during which other threads run.
    """
    size = min(most_bytes, sum(map(len, samples)) // SHARE)
    if size < LEAST_BYTES:
        return None
    try:
        # The level is that of writing: the tables of the dictionary fit what it will see.
        return zstandard.train_dictionary(size, list(samples), level=LEVEL).as_bytes()
    except zstandard.ZstdError:
        return None  # the samples have nothing in common that is worth it
