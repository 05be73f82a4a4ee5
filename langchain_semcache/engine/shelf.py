"""The parts that were read or written lately, so that a hit seldom has to fetch one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta

from langchain_semcache.responses.parts import Dictionary, Owner, Part

CAPACITY_BYTES = 16 * 1024 * 1024

GRACE = timedelta(hours=1)
"""How long a part stays that no answer leans on. A writer that is about to lean on one writes it
again when half of that has passed, so that no sweep of any process can take it away meanwhile."""


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
