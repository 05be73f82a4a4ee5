"""Backends for tests: one whose similarities are scripted, and ones that fail when told to."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from math import sqrt
from typing import TypeAlias

import numpy as np

from langchain_semcache.ports import Encoder, EntryIndex, SupportsTrim, Vector, Vectors
from langchain_semcache.records import Candidate, Entry, Selection

HANG_SECONDS = 30.0
"""A fault that hangs ends after this time at the latest, so that no test run hangs with it."""


class Fault(Enum):
    """How a flaky backend misbehaves, beside raising."""

    HANG = "hang"
    NAN = "nan"
    EMPTY = "empty"
    DIMENSION = "dimension"


Misbehaviour: TypeAlias = Exception | Fault | None


class ScriptedEncoder:
    """Texts to unit vectors made by hand, so that similarities are exactly what a test says.

    A text that is not in the script is unlike every other text: it has an axis of its own.

    Args:
        script: For each text its cosine to the vector (1, 0, 0 …), or the whole vector.
        dimension: Length of the vectors; all but two of the axes are free for other texts.
        identity: Two encoders of one identity have to have one script.
        max_tokens: A token is a word here.

    Attributes:
        texts: Everything that was encoded, in order.
    """

    def __init__(
        self,
        script: Mapping[str, float | Sequence[float]] | None = None,
        *,
        dimension: int = 64,
        identity: str = "scripted",
        max_tokens: int = 512,
    ) -> None:
        self.dimension = dimension
        self.identity = identity
        self.max_tokens = max_tokens
        self.texts: list[str] = []
        self._lock = threading.Lock()
        self._axes: dict[str, int] = {}
        self._script = {text: self._vector(value) for text, value in (script or {}).items()}

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def encode(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            self.texts.extend(texts)
            rows = [self._row(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

    def _row(self, text: str) -> Vector:
        scripted = self._script.get(text)
        if scripted is not None:
            return scripted
        axis = self._axes.setdefault(text, 2 + len(self._axes))
        if axis >= self.dimension:
            raise ValueError(f"more than {self.dimension - 2} texts outside the script")
        row: Vector = np.zeros(self.dimension, dtype=np.float32)
        row[axis] = 1
        return row

    def _vector(self, value: float | Sequence[float]) -> Vector:
        head = [value, sqrt(1 - value * value)] if isinstance(value, int | float) else value
        row: Vector = np.zeros(self.dimension, dtype=np.float32)
        row[: len(head)] = head
        return row / np.float32(np.linalg.norm(row))


class FlakyEncoder:
    """An encoder that works until `fault` is set.

    Attributes:
        fault: An exception to raise, a way to misbehave, or None.
        entered: Set when a call begins.
        released: Set it to end what hangs.
        calls: Number of calls.
    """

    def __init__(self, inner: Encoder, fault: Misbehaviour = None) -> None:
        self._inner = inner
        self.fault: Misbehaviour = fault
        self.entered = threading.Event()
        self.released = threading.Event()
        self.calls = 0

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def identity(self) -> str:
        return self._inner.identity

    @property
    def max_tokens(self) -> int:
        return self._inner.max_tokens

    def count_tokens(self, text: str) -> int:
        return self._inner.count_tokens(text)

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        self.entered.set()
        fault = self.fault
        if isinstance(fault, Exception):
            raise fault
        if fault is Fault.HANG:
            self.released.wait(HANG_SECONDS)
        vectors = self._inner.encode(texts)
        if fault is Fault.NAN:
            return np.full_like(vectors, np.nan)
        if fault is Fault.EMPTY:
            return vectors[:0]
        return vectors[:, :-1] if fault is Fault.DIMENSION else vectors


class FlakyIndex:
    """An index that works until `fault` is set. It counts as one with a network behind it.

    Attributes:
        fault: An exception to raise, `Fault.HANG`, or None.
        failing: Names of the methods that fail; all of them by default.
        entered: Set when a call begins.
        released: Set it to end what hangs.
        calls: The methods called, in order.
    """

    may_block = True

    def __init__(self, inner: EntryIndex, fault: Misbehaviour = None) -> None:
        self._inner = inner
        self.fault: Misbehaviour = fault
        self.failing: frozenset[str] = frozenset({"fetch", "search", "put", "remove", "trim"})
        self.entered = threading.Event()
        self.released = threading.Event()
        self.calls: list[str] = []

    def fetch(self, entry_id: str, *, now: float) -> Entry | None:
        self._enter("fetch")
        return self._inner.fetch(entry_id, now=now)

    def search(
        self, partition: str, vector: Vector, *, limit: int, now: float
    ) -> Sequence[Candidate]:
        self._enter("search")
        return self._inner.search(partition, vector, limit=limit, now=now)

    def put(self, entry: Entry, vector: Vector | None) -> None:
        self._enter("put")
        self._inner.put(entry, vector)

    def remove(self, selection: Selection, *, dry_run: bool = False) -> int:
        self._enter("remove")
        return self._inner.remove(selection, dry_run=dry_run)

    def scan(self, selection: Selection) -> Iterator[Entry]:
        return self._inner.scan(selection)

    def trim(self, max_entries: int, *, namespace: str, now: float) -> int:
        self._enter("trim")
        if not isinstance(self._inner, SupportsTrim):
            return 0
        return self._inner.trim(max_entries, namespace=namespace, now=now)

    def _enter(self, method: str) -> None:
        self.calls.append(method)
        self.entered.set()
        if method not in self.failing:
            return
        if isinstance(self.fault, Exception):
            raise self.fault
        if self.fault is Fault.HANG:
            self.released.wait(HANG_SECONDS)
