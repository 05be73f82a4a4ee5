"""Who is there, how much room they take, and who has to go for the bounds to hold."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from langchain_semcache.eviction._frequency import LFU, TinyLFU
from langchain_semcache.eviction._heat import Heat
from langchain_semcache.eviction._policy import LRU, Policy

POLICIES: Final[Mapping[str, Callable[[], Policy]]] = {
    "lru": LRU,
    "lfu": LFU,
    "tinylfu": TinyLFU,
    "heat": Heat,
    "cost": Heat,
}
"""Policies by their names in the settings; "heat" and "cost" differ in what a hit is worth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one namespace, and of each tenant in it; None is unbounded."""

    max_entries: int | None = None
    max_bytes: int | None = None
    tenant_max_entries: int | None = None
    tenant_max_bytes: int | None = None

    @property
    def any(self) -> bool:
        """Whether there is a bound at all."""
        return any(
            bound is not None
            for bound in (
                self.max_entries,
                self.max_bytes,
                self.tenant_max_entries,
                self.tenant_max_bytes,
            )
        )

    @property
    def largest(self) -> int | None:
        """Bytes that a single entry may have."""
        bounds = [bound for bound in (self.max_bytes, self.tenant_max_bytes) if bound is not None]
        return min(bounds, default=None)

    def room(self, least_bytes: int) -> int | None:
        """Entries that the tightest bound leaves room for, each of `least_bytes` or more."""
        numbers = [self.max_entries, self.tenant_max_entries]
        if self.largest is not None:
            numbers.append(self.largest // least_bytes)
        return min((number for number in numbers if number is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What the books say of an entry: `size` in bytes, `value` as `Policy.stored` takes it."""

    tenant: str
    size: int
    expires_at: float | None
    value: float = 1.0


@dataclass(slots=True)
class _Room:
    entries: int = 0
    size: int = 0


class Books:
    """The entries of one namespace and the room they take. Not thread-safe.

    Args:
        policy: Who goes first.
        limits: What may be kept.
    """

    def __init__(self, policy: Policy, limits: Limits) -> None:
        self._policy = policy
        self._limits = limits
        self._kept: dict[str, Kept] = {}
        self._all = _Room()
        self._tenants: dict[str, _Room] = {}
        self._expiring: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._kept

    @property
    def kept(self) -> Mapping[str, Kept]:
        """The entries that are there, by their ids."""
        return self._kept

    @property
    def size(self) -> int:
        """Bytes of all entries together."""
        return self._all.size

    def stored(self, entry_id: str, kept: Kept) -> None:
        """The entry is there now, or was replaced."""
        if entry_id in self._kept:
            self._book(self._kept[entry_id], -1)
        self._kept[entry_id] = kept
        self._book(kept, 1)
        self._policy.stored(entry_id, kept.value)
        self._expires(entry_id, kept)

    def corrected(self, entry_id: str, kept: Kept) -> None:
        """The entry is there as before and was not used, but takes other room than was thought."""
        before = self._kept[entry_id]
        self._book(before, -1)
        self._kept[entry_id] = kept
        self._book(kept, 1)
        if kept.expires_at != before.expires_at:
            self._expires(entry_id, kept)

    def resized(self, entry_id: str, more: int) -> None:
        """The entry takes so many bytes more, or less, than it did."""
        kept = self._kept.get(entry_id)
        if kept is not None:
            self.corrected(entry_id, replace(kept, size=kept.size + more))

    def touched(self, entry_id: str) -> None:
        """The entry was served."""
        if entry_id in self._kept:
            self._policy.touched(entry_id)

    def forgotten(self, entry_id: str) -> None:
        """The entry is gone, whoever removed it."""
        kept = self._kept.pop(entry_id, None)
        if kept is not None:
            self._book(kept, -1)
            self._policy.forgotten(entry_id)

    def expired(self, now: float) -> list[str]:
        """The entries whose time is up; they are still in the books."""
        found = []
        while self._expiring and self._expiring[0][0] <= now:
            at, entry_id = heapq.heappop(self._expiring)
            kept = self._kept.get(entry_id)
            if kept is not None and kept.expires_at == at:
                found.append(entry_id)
        return list(dict.fromkeys(found))

    def next_victim(self, spared: str) -> str | None:
        """Who has to go first for the bounds to hold; None when they do. `spared` is not asked."""
        tenants = [name for name, room in self._tenants.items() if self._tenant_is_over(room)]
        if tenants:
            return self._worst(spared, lambda kept: kept.tenant in tenants)
        if _over(self._all, self._limits.max_entries, self._limits.max_bytes):
            return self._worst(spared, lambda _: True)
        return None

    def _worst(self, spared: str, meant: Callable[[Kept], bool]) -> str | None:
        order: Iterator[str] = self._policy.worst_first()
        for entry_id in order:
            if entry_id != spared and meant(self._kept[entry_id]):
                return entry_id
        return None

    def _tenant_is_over(self, room: _Room) -> bool:
        return _over(room, self._limits.tenant_max_entries, self._limits.tenant_max_bytes)

    def _book(self, kept: Kept, sign: int) -> None:
        tenant = self._tenants.setdefault(kept.tenant, _Room())
        for room in (self._all, tenant):
            room.entries += sign
            room.size += sign * kept.size
        if not tenant.entries:
            del self._tenants[kept.tenant]

    def _expires(self, entry_id: str, kept: Kept) -> None:
        if kept.expires_at is not None:
            heapq.heappush(self._expiring, (kept.expires_at, entry_id))
            if len(self._expiring) > 2 * len(self._kept) + 64:
                self._tidy()

    def _tidy(self) -> None:
        """Drop what was replaced or removed before its time."""
        self._expiring = [
            (kept.expires_at, entry_id)
            for entry_id, kept in self._kept.items()
            if kept.expires_at is not None
        ]
        heapq.heapify(self._expiring)


def _over(room: _Room, max_entries: int | None, max_bytes: int | None) -> bool:
    many = max_entries is not None and room.entries > max_entries
    return many or (max_bytes is not None and room.size > max_bytes)
