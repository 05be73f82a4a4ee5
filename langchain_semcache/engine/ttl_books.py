"""Where what was learned of lifetimes outlives the process: one record a namespace, in the index.

Workers that share a store read each other's record before they write: of two accounts of one entry
the one that has seen it later stays. What was learned is a help and no truth; a record that is lost
or damaged is begun anew.
"""

from __future__ import annotations

import json
import uuid
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import zstandard
from pydantic import TypeAdapter

from langchain_semcache.breaker import ThrottledWarning
from langchain_semcache.clock import Clock
from langchain_semcache.engine.gate import told
from langchain_semcache.ports import EntryIndex
from langchain_semcache.records import BOOKS, Entry
from langchain_semcache.ttl import DAY, Changes, Evidence, Fading

VERSION: Final = 1
ENTRIES: Final = 16_384
"""Entries of which evidence is kept in memory, about 1 kB each; the one seen longest ago goes."""

KEPT: Final = 4_096
"""Entries in a record: those seen last."""

SOURCES: Final = 4_096
UPDATE_FADE: Final = 7 * DAY
"""Time in which the update of a source loses weight, to 37%."""

_ROOT = uuid.UUID("3f1f3a52-0f3b-5c1e-9a3e-8a4b7d1c2e90")
_MOST_BYTES: Final = 8_388_608

GroupKey: TypeAlias = tuple[str, str]
SourceKey: TypeAlias = tuple[str | None, str]


@dataclass(slots=True)
class Known:
    """What was learned in one namespace. Not safe between threads.

    Attributes:
        entries: Evidence by entry id, the one seen longest ago first.
        groups: Changes of answers by first class and kind of question.
        updates: Updates by tenant (None: every tenant) and source.
    """

    entries: dict[str, Evidence] = field(default_factory=dict)
    groups: dict[GroupKey, Changes] = field(default_factory=dict)
    updates: dict[SourceKey, Fading] = field(default_factory=dict)

    def evidence(self, entry_id: str, now: float) -> Evidence:
        """Of an entry, to be added to."""
        evidence = self.entries.pop(entry_id, None) or Evidence.from_now(now)
        self.entries[entry_id] = evidence
        if len(self.entries) > ENTRIES:
            self.entries.pop(next(iter(self.entries)))
        return evidence

    def group(self, key: GroupKey) -> Changes:
        """Of a group, to be added to."""
        return self.groups.setdefault(key, Changes())

    def update(self, source: SourceKey, now: float) -> None:
        """A source has changed."""
        count = self.updates.pop(source, None) or Fading(UPDATE_FADE)
        count.add(1.0, now)
        self.updates[source] = count
        if len(self.updates) > SOURCES:
            self.updates.pop(next(iter(self.updates)))


@dataclass(slots=True)
class _Page:
    """The record as it is written: JSON knows no pairs as keys."""

    version: int
    entries: dict[str, Evidence]
    groups: list[tuple[str, str, Changes]]
    updates: list[tuple[str | None, str, Fading]]


_PAGE: Final = TypeAdapter(_Page)
_ENTRIES: Final = TypeAdapter(dict[str, Evidence])

_PIECE: Final = 64
"""Entries that are written down while lookups wait: about a millisecond."""


def merge(ours: Known, theirs: Known) -> Known:
    """What both know; where they know of the same, the account of whoever has seen more."""
    entries = dict(theirs.entries)
    for entry_id, evidence in ours.entries.items():
        other = entries.pop(entry_id, None)
        later = other is None or evidence.asked.count.at >= other.asked.count.at
        entries[entry_id] = evidence if later or other is None else other
    groups, updates = dict(theirs.groups), dict(theirs.updates)
    for group, changes in ours.groups.items():
        known = groups.get(group)
        if known is None or _has_seen_more(changes, known):
            groups[group] = changes
    for source, count in ours.updates.items():
        fading = updates.get(source)
        if fading is None or count.at >= fading.at:
            updates[source] = count
    return Known(entries, groups, updates)


def _has_seen_more(ours: Changes, theirs: Changes) -> bool:
    """Whether ours is the account of whoever has watched for longer; both as of one moment."""
    moment = max(ours.watched.at, theirs.watched.at)
    return ours.watched.at_time(moment) >= theirs.watched.at_time(moment)


class TtlBooks:
    """Reads and writes the records. Never raises: what cannot be kept is kept the next time."""

    def __init__(self, index: EntryIndex, clock: Clock) -> None:
        self._index = index
        self._clock = clock
        self._warn = ThrottledWarning(clock)

    def read(self, namespace: str) -> Known:
        """What is written of a namespace; nothing where that cannot be read."""
        try:
            page = self._index.fetch(_page_id(namespace), now=self._clock.now())
            return Known() if page is None else _decoded(page.payload)
        except (ValueError, zstandard.ZstdError) as error:
            self._warn(f"what was learned of lifetimes is damaged ({told(error)}); it begins anew")
        except Exception as error:  # noqa: BLE001 - lifetimes go on with what is known
            self._warn(f"what was learned of lifetimes could not be read ({told(error)})")
        return Known()

    def write(self, namespace: str, record: bytes) -> bool:
        """Replace the record of a namespace; whether that was done."""
        try:
            self._index.put(_page(namespace, record, now=self._clock.now()), None)
        except Exception as error:  # noqa: BLE001 - see the class
            self._warn(f"what was learned of lifetimes could not be saved ({told(error)})")
            return False
        return True


def encoded(known: Known, lock: AbstractContextManager[object]) -> bytes:
    """The record of what is known. `lock` guards it, and is held for a piece of it at a time."""
    with lock:
        latest = list(known.entries.items())[-KEPT:]
        rest = _PAGE.dump_python(
            _Page(
                version=VERSION,
                entries={},
                groups=[(*key, changes) for key, changes in known.groups.items()],
                updates=[(*key, count) for key, count in known.updates.items()],
            ),
            mode="json",
        )
    for start in range(0, len(latest), _PIECE):
        with lock:
            piece = _ENTRIES.dump_python(dict(latest[start : start + _PIECE]), mode="json")
        rest["entries"] |= piece
    return zstandard.compress(json.dumps(rest).encode(), 3)


def _decoded(payload: bytes) -> Known:
    page = _PAGE.validate_json(zstandard.decompress(payload, max_output_size=_MOST_BYTES))
    if page.version != VERSION:
        raise ValueError(f"version {page.version}, this release reads {VERSION}")
    return Known(
        entries=page.entries,
        groups={(one, two): changes for one, two, changes in page.groups},
        updates={(one, two): count for one, two, count in page.updates},
    )


def _page_id(namespace: str) -> str:
    return str(uuid.uuid5(_ROOT, namespace))


def _page(namespace: str, payload: bytes, *, now: float) -> Entry:
    return Entry(
        id=_page_id(namespace),
        scope=BOOKS,
        partition=BOOKS,
        fingerprint="lifetimes",
        namespace=BOOKS,
        tenant="",
        model="",
        question="",
        payload=payload,
        created_at=now,
    )
