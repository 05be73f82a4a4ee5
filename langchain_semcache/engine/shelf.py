"""The parts that were read or written lately, so that a hit seldom has to fetch one."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import timedelta

from langchain_semcache.responses.parts import Dictionary, Owner, Part

CAPACITY_BYTES = 16 * 1024 * 1024

GRACE = timedelta(hours=1)
"""How long a part stays that no answer leans on. A writer that is about to lean on one writes it
again when half of that has passed, so that no sweep of any process can take it away meanwhile."""

RESTS = 100
"""A sweep reads every entry; it takes at most one part in so many of a process's time."""


@dataclass(frozen=True, slots=True)
class _Kept:
    part: Part
    owner: Owner
    created_at: float


class Shelf:
    """Parts by address, the ones used last, up to so many bytes. Safe between threads."""

    def __init__(self, capacity_bytes: int = CAPACITY_BYTES) -> None:
        self._capacity = capacity_bytes
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._bytes = 0
        self._founded: deque[float] = deque()
        self._sweep_at: float | None = None
        self._lock = threading.Lock()

    def get(self, address: bytes) -> Part | None:
        """The part, if it is here."""
        with self._lock:
            kept = self._kept.get(address)
            if kept is None:
                return None
            self._kept.move_to_end(address)
            return kept.part

    def keep(self, part: Part, owner: Owner, *, created_at: float) -> None:
        """Keep a part that was stored at this time; the parts used longest ago go."""
        with self._lock:
            self._drop(part.address)
            self._kept[part.address] = _Kept(part, owner, created_at)
            self._bytes += _size(part)
            while self._bytes > self._capacity:
                self._drop(next(iter(self._kept)))

    def may_lean_on(self, part: Part, *, now: float) -> bool:
        """Whether the part is known to be stored, and stays for long enough."""
        with self._lock:
            kept = self._kept.get(part.address)
        return kept is not None and now - kept.created_at < GRACE.total_seconds() / 2

    def may_found(self, *, now: float, most: int) -> bool:
        """Whether a new base may be made, of which at most so many are younger than `GRACE`.

        They cannot be swept yet, however soon nothing leans on them any more.
        """
        with self._lock:
            while self._founded and now - self._founded[0] >= GRACE.total_seconds():
                self._founded.popleft()
            if len(self._founded) >= most:
                return False
            self._founded.append(now)
            return True

    def sweep_is_due(self, *, now: float) -> bool:
        """Whether the caller is to sweep now: an hour after the first question, and so on."""
        due = self._sweep_at
        if due is not None and now < due:
            return False
        with self._lock:
            mine = self._sweep_at == due
            if mine:
                self._sweep_at = now + GRACE.total_seconds()
        return mine and due is not None

    def swept(self, *, now: float, seconds: float) -> None:
        """A sweep has ended, and took so long: the next one is due in an hour, or later."""
        with self._lock:
            self._sweep_at = now + max(GRACE.total_seconds(), RESTS * seconds)

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def forget_of(self, namespace: str, tenant: str | None = None) -> None:
        """Drop the parts of a namespace, or of one tenant in it."""
        with self._lock:
            for address, kept in list(self._kept.items()):
                if kept.owner.namespace == namespace and tenant in (None, kept.owner.tenant):
                    self._drop(address)

    def _drop(self, address: bytes) -> None:
        kept = self._kept.pop(address, None)
        self._bytes -= _size(kept.part) if kept else 0


def _size(part: Part) -> int:
    trained = len(part.trained) if isinstance(part, Dictionary) else 0
    return len(part.content) + trained
