"""Entries in memory, searched exactly with numpy.

For tests, for `":memory:"`, and as the oracle that the other backends are compared with.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from langchain_semcache.errors import IndexUnavailable
from langchain_semcache.index.schema import is_live, require_storable, similarity
from langchain_semcache.ports import Vector
from langchain_semcache.records import Candidate, Entry, Selection


class MemoryIndex:
    """An `EntryIndex` that forgets everything when the process ends.

    A search reads every vector of its partition: 5,000 vectors of 512 numbers take about 1 ms.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._lock = threading.Lock()
        self._entries: dict[str, Entry] = {}
        self._tables: dict[str, _Table] = {}
        self._namespaces: Counter[str] = Counter()

    def fetch(self, entry_id: str, *, now: float) -> Entry | None:
        """The live entry with this id."""
        with self._lock:
            entry = self._entries.get(entry_id)
        return entry if entry is not None and is_live(entry, now) else None

    def search(
        self, partition: str, vector: Vector, *, limit: int, now: float
    ) -> Sequence[Candidate]:
        """The live entries of this partition nearest to `vector`, best first.

        Raises:
            IndexUnavailable: `vector` has another length than the index.
        """
        query = self._checked(vector)
        with self._lock:
            table = self._tables.get(partition)
            if table is None or limit < 1:
                return []
            return [
                Candidate(self._entries[entry_id], similarity(score))
                for entry_id, score in table.nearest(query, limit=limit, now=now)
            ]

    def put(self, entry: Entry, vector: Vector | None) -> None:
        """Insert or replace.

        Raises:
            ValueError: The entry can never be stored; see `EntryIndex.put`.
            IndexUnavailable: `vector` has another length than the index.
        """
        require_storable(entry)
        row = None if vector is None else self._checked(vector)
        with self._lock:
            self._discard(entry.id)
            self._entries[entry.id] = entry
            self._namespaces[entry.namespace] += 1
            if row is not None:
                table = self._tables.setdefault(entry.partition, _Table(self._dimension))
                table.add(entry.id, row, entry.expires_at)

    def rewrite(self, entry_id: str, *, expected: bytes, payload: bytes) -> bool:
        """Put `payload` in the place of `expected`, if the entry still holds that."""
        with self._lock:
            entry = self._entries.get(entry_id)
            if entry is None or entry.payload != expected:
                return False
            self._entries[entry_id] = replace(entry, payload=payload)
        return True

    def amend(self, entry: Entry) -> bool:
        """Give a stored entry this one's end and assessment, if it still holds its payload."""
        require_storable(entry)
        with self._lock:
            held = self._entries.get(entry.id)
            if held is None or (held.payload, held.created_at) != (entry.payload, entry.created_at):
                return False
            self._entries[entry.id] = replace(
                held, expires_at=entry.expires_at, assessment=entry.assessment
            )
            if (table := self._tables.get(held.partition)) is not None:
                table.ends(entry.id, entry.expires_at)
        return True

    def remove(self, selection: Selection, *, dry_run: bool = False) -> int:
        """Remove what matches, or only count it."""
        with self._lock:
            name = selection.namespace
            if dry_run and name is not None and selection == Selection(namespace=name):
                return self._namespaces[name]
            asked: Iterable[Entry] = self._entries.values()
            if selection.ids is not None:
                wanted = dict.fromkeys(selection.ids)
                asked = [self._entries[one] for one in wanted if one in self._entries]
            found = [entry.id for entry in asked if selects(selection, entry)]
            if not dry_run:
                for entry_id in found:
                    self._discard(entry_id)
        return len(found)

    def scan(self, selection: Selection) -> Iterator[Entry]:
        """Every entry that matched when the scan began."""
        with self._lock:
            found = [entry for entry in self._entries.values() if selects(selection, entry)]
        return iter(found)

    def trim(self, max_entries: int, *, namespace: str, now: float) -> int:
        """Remove expired entries of a namespace, then its oldest ones, down to `max_entries`."""
        with self._lock:
            mine = [entry for entry in self._entries.values() if entry.namespace == namespace]
            going = [entry for entry in mine if not is_live(entry, now)]
            living = [entry for entry in mine if is_live(entry, now)]
            surplus = max(0, len(living) - max(0, max_entries))
            going += sorted(living, key=lambda entry: entry.created_at)[:surplus]
            for entry in going:
                self._discard(entry.id)
        return len(going)

    def describe(self) -> dict[str, str | int | float | bool | None]:
        """Backend, dimension and number of entries."""
        return {"backend": "memory", "dimension": self._dimension, "points": len(self._entries)}

    def close(self) -> None:
        """Nothing to release."""

    def _discard(self, entry_id: str) -> None:
        entry = self._entries.pop(entry_id, None)
        if entry is None:
            return
        self._namespaces[entry.namespace] -= 1
        if not self._namespaces[entry.namespace]:
            del self._namespaces[entry.namespace]
        table = self._tables.get(entry.partition)
        if table is None:
            return
        table.discard(entry_id)
        if not table.ids:
            del self._tables[entry.partition]

    def _checked(self, vector: Vector) -> Vector:
        row = np.asarray(vector, dtype=np.float32)
        if row.shape != (self._dimension,):
            raise IndexUnavailable(
                f"a vector of shape {row.shape} does not fit an index of {self._dimension}"
            )
        return row


class _Table:
    """The vectors of one partition as the leading rows of one matrix. Not thread-safe."""

    def __init__(self, dimension: int) -> None:
        self.ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._matrix = np.empty((4, dimension), dtype=np.float32)
        self._expires = np.empty(4, dtype=np.float64)

    def add(self, entry_id: str, vector: Vector, expires_at: float | None) -> None:
        row = len(self.ids)
        if row == len(self._matrix):
            self._matrix = np.concatenate([self._matrix, np.empty_like(self._matrix)])
            self._expires = np.concatenate([self._expires, np.empty_like(self._expires)])
        self.ids.append(entry_id)
        self._rows[entry_id] = row
        self._matrix[row] = vector
        self._expires[row] = math.inf if expires_at is None else expires_at

    def ends(self, entry_id: str, expires_at: float | None) -> None:
        """Set when a row ends; nothing happens where there is none."""
        if (row := self._rows.get(entry_id)) is not None:
            self._expires[row] = math.inf if expires_at is None else expires_at

    def discard(self, entry_id: str) -> None:
        """Drop a row; the last row takes its place, so that rows stay without gaps."""
        row = self._rows.pop(entry_id, None)
        if row is None:
            return
        last_id = self.ids.pop()
        if last_id != entry_id:
            self.ids[row] = last_id
            self._rows[last_id] = row
            self._matrix[row] = self._matrix[len(self.ids)]
            self._expires[row] = self._expires[len(self.ids)]

    def nearest(self, query: Vector, *, limit: int, now: float) -> Iterator[tuple[str, float]]:
        """Ids and dot products of the live rows, highest first."""
        count = len(self.ids)
        scores = self._matrix[:count] @ query
        scores[self._expires[:count] <= now] = -np.inf
        keep = min(limit, count)
        best = np.argpartition(-scores, keep - 1)[:keep]
        for row in best[np.argsort(-scores[best], kind="stable")]:
            if scores[row] != -np.inf:
                yield self.ids[row], float(scores[row])


def selects(selection: Selection, entry: Entry) -> bool:
    """Whether every field that is set in the selection matches the entry."""
    wanted = (
        (selection.namespace, entry.namespace),
        (selection.tenant, entry.tenant),
        (selection.model, entry.model),
        (selection.scope, entry.scope),
    )
    return (
        (selection.ids is None or entry.id in selection.ids)
        and all(value is None or value == held for value, held in wanted)
        and set(selection.tags) <= set(entry.tags)
        and (selection.source is None or _uses(selection.source, selection.current or (), entry))
        and (selection.created_before is None or entry.created_at < selection.created_before)
        and (selection.expired_at is None or not is_live(entry, selection.expired_at))
    )


def _uses(source: str, current: Sequence[str], entry: Entry) -> bool:
    """Whether the entry used this source, at another version than the current ones."""
    return any(name == source and digest not in current for name, digest in entry.sources)
