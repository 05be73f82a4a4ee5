"""Sweeps out the parts that no answer leans on any more, and says what answers take."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from langchain_semcache.engine.shelf import GRACE
from langchain_semcache.errors import CorruptEntry
from langchain_semcache.ports import EntryIndex
from langchain_semcache.records import PARTS, Entry, Selection
from langchain_semcache.responses import raw_size, references
from langchain_semcache.responses.parts import (
    Base,
    Owner,
    from_entry,
    owner_namespace,
    owner_tag,
    part_id,
)

_BATCH = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What a sweep did, or would do.

    Attributes:
        parts: Parts removed.
        bytes: What their content took.
        kept: Parts that stayed: something leans on them, or they are too young to tell.
        entries: Entries that were looked at.
    """

    parts: int
    bytes: int
    kept: int
    entries: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """What answers are, and what they take, in bytes; parts counted."""

    raw: int
    stored: int


def compact(
    index: EntryIndex,
    *,
    now: float,
    namespace: str | None = None,
    grace: timedelta = GRACE,
    dry_run: bool = False,
) -> Compaction:
    """Remove the parts, of one namespace or of all, that no entry leans on and nobody wrote lately.

    Any number of processes may write and sweep meanwhile, as long as `grace` is at least `GRACE`:
    a writer writes a part again before it leans on one that is older than half of that, and the
    index removes only what is older than `grace` when it removes.

    Raises:
        IndexUnavailable: The index did not do it; what is left goes the next time.
    """
    # What is exactly as old goes too: a grace of 0 keeps nothing.
    before = math.nextafter(now - grace.total_seconds(), math.inf)
    tags = () if namespace is None else (owner_tag(namespace),)
    owned: dict[str, dict[str, Entry]] = defaultdict(dict)
    for part in index.scan(Selection(namespace=PARTS, tags=tags)):
        owned[owner_namespace(part) or ""][part.id] = part
    going: dict[str, int] = {}
    looked_at = 0
    for owner, parts in owned.items():
        if not any(part.created_at < before for part in parts.values()):
            continue
        used: set[str] = set()
        for entry in index.scan(Selection(namespace=owner)):
            looked_at += 1
            used.update(map(part_id, references(entry.payload)))
        going |= _unused(parts, used, owner, before)
    gone = len(going) if dry_run else _remove(index, going, before)
    count = sum(map(len, owned.values()))
    freed = sum(going.values())
    return Compaction(parts=gone, bytes=freed, kept=count - gone, entries=looked_at)


def sizes(index: EntryIndex, namespace: str) -> Sizes:
    """What the answers of a namespace are and take; reads every entry, about 40 µs each."""
    raw = stored = 0
    for entry in index.scan(Selection(namespace=namespace)):
        stored += len(entry.payload)
        said = raw_size(entry.payload)
        raw += len(entry.payload) if said is None else said
    for part in index.scan(Selection(namespace=PARTS, tags=(owner_tag(namespace),))):
        stored += len(part.payload)
    return Sizes(raw, stored)


def _unused(
    parts: dict[str, Entry], used: set[str], namespace: str, before: float
) -> dict[str, int]:
    """Sizes of the parts that may go, by id. What stays keeps what it leans on itself."""
    stays = {name for name, part in parts.items() if name in used or part.created_at >= before}
    for name in list(stays):
        stays.update(map(part_id, _leans_on(parts[name], namespace)))
    return {name: len(part.payload) for name, part in parts.items() if name not in stays}


def _leans_on(entry: Entry, namespace: str) -> Iterable[bytes]:
    try:
        part = from_entry(entry, Owner(namespace, entry.tenant))
    except CorruptEntry:
        return ()
    return (part.dictionary,) if isinstance(part, Base) and part.dictionary else ()


def _remove(index: EntryIndex, going: dict[str, int], before: float) -> int:
    """Remove what is still as old as it was; a part written again since stays. How many went."""
    names = list(going)
    removed = 0
    for start in range(0, len(names), _BATCH):
        batch = tuple(names[start : start + _BATCH])
        wanted = Selection(ids=batch, namespace=PARTS, created_before=before)
        count = index.remove(wanted)
        removed += count
        if count < len(batch):
            for left in index.scan(Selection(ids=batch, namespace=PARTS)):
                del going[left.id]
    return removed
