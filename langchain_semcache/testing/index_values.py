"""Entries and vectors for tests of an index."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from langchain_semcache.ports import EntryIndex, Vector
from langchain_semcache.records import Entry, Selection

NOW = 1_700_000_000.0


def make_entry(number: int, **changes: Any) -> Entry:  # noqa: ANN401 - any field of an entry
    """An entry that is told from others by its number."""
    fields: dict[str, Any] = {
        "id": str(uuid.UUID(int=number + 1)),
        "scope": "scope-a",
        "partition": "partition-a",
        "fingerprint": f"fingerprint-{number}",
        "namespace": "",
        "tenant": "tenant-a",
        "model": "model-a",
        "question": f"question {number}",
        "payload": f"answer {number}".encode(),
        "created_at": NOW + number,
        "expires_at": NOW + 1_000_000,
    }
    return Entry(**(fields | changes))


def unit(values: Sequence[float] | np.ndarray[Any, Any]) -> Vector:
    """The float32 vector of length 1 in this direction."""
    vector = np.asarray(values, dtype=np.float64)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


class IndexSuite:
    """What the suites share: a small space, and ways to look into an index."""

    dimension: ClassVar[int] = 8

    def axis(self, number: int) -> Vector:
        """One of `dimension` vectors that have nothing in common."""
        return unit(np.eye(self.dimension)[number])

    def near(self, number: int, closeness: float) -> Vector:
        """A vector whose cosine with `axis(number)` is `closeness`."""
        other = self.axis((number + 1) % self.dimension)
        return unit(closeness * self.axis(number) + np.sqrt(1 - closeness**2) * other)

    def find(
        self, index: EntryIndex, vector: Vector, *, limit: int = 10, now: float = NOW, **kw: str
    ) -> list[str]:
        """Questions that a search brings back, in order."""
        partition = kw.get("partition", "partition-a")
        found = index.search(partition, vector, limit=limit, now=now)
        return [candidate.entry.question for candidate in found]

    def left(self, index: EntryIndex) -> set[str]:
        """Questions of everything the index holds."""
        return {entry.question for entry in index.scan(Selection())}
