"""A policy that learns when things are asked again, and keeps what is worth its room most."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

import numpy as np

from langchain_semcache.eviction._reuse import SpansOfReuse, class_of
from langchain_semcache.eviction._sketch import Sketch, digest

_LOOKED_AT: Final = 2_048
"""Entries looked at for one that goes: a look at all of a larger cache has to do for several."""

_TRACKED: Final = 16_384
"""Ids whose next use is waited for, gone or not."""

_FIRST_FIT: Final = 512
_FIT_EVERY: Final = 4_096
"""Uses between two fits, after some at shorter distances in the beginning."""

_ENOUGH: Final = 300
"""Uses again that have to be seen before anything is learned from them; until then: LRU."""


class Heat:
    """What is least worth its room goes first: hits to be expected, for the time they take.

    Time is counted in uses (stores and hits). A sample of all ids is watched, whether their entries
    are kept or not, for how long it takes until they are wanted again, by how often they had been
    wanted before. From that follows what keeping an entry of some frequency and idle time brings at
    best, in hits a use of the cache; the value of a hit weighs it. Until enough has been seen, what
    was wanted longest ago goes first.

    Memory: 512 KiB for the sketch, up to 4 MiB for the watched ids, 200 bytes an entry.
    """

    def __init__(self) -> None:
        self._now = 0
        self._sketch = Sketch()
        self._spans = SpansOfReuse()
        self._watched: OrderedDict[int, tuple[int, int]] = OrderedDict()
        self._shift = 0
        self._fit_at = _FIRST_FIT
        self._slots: dict[str, int] = {}
        self._ids: list[str] = []
        self._keys: list[int] = []
        self._last = np.zeros(64, dtype=np.int64)
        self._class = np.zeros(64, dtype=np.int8)
        self._value = np.ones(64, dtype=np.float64)
        self._batch: list[tuple[str, int]] = []

    def stored(self, entry_id: str, value: float) -> None:
        """See `Policy.stored`."""
        slot = self._slots.get(entry_id)
        if slot is None:
            slot = self._slots[entry_id] = len(self._ids)
            self._ids.append(entry_id)
            self._keys.append(digest(entry_id))
            if slot == len(self._last):
                self._grow()
        self._value[slot] = max(value, 0.0)
        self._use(slot)

    def touched(self, entry_id: str) -> None:
        """See `Policy.touched`."""
        slot = self._slots.get(entry_id)
        if slot is not None:
            self._use(slot)

    def forgotten(self, entry_id: str) -> None:
        """See `Policy.forgotten`."""
        slot = self._slots.pop(entry_id, None)
        if slot is None:
            return
        last_id, last_key = self._ids.pop(), self._keys.pop()
        if last_id != entry_id:
            self._slots[last_id] = slot
            self._ids[slot], self._keys[slot] = last_id, last_key
            for column in (self._last, self._class, self._value):
                column[slot] = column[len(self._ids)]

    def worst_first(self) -> Iterator[str]:
        """See `Policy.worst_first`."""
        offered = set()
        for entry_id, last in self._batch:
            slot = self._slots.get(entry_id)
            if slot is not None and self._last[slot] == last:
                offered.add(entry_id)
                yield entry_id
        most = max(1, len(self._ids) // _LOOKED_AT)
        while len(offered) < len(self._ids):
            self._batch = self._ranked(most)
            for entry_id, _ in self._batch:
                if entry_id not in offered:
                    offered.add(entry_id)
                    yield entry_id
            most *= 8

    def _use(self, slot: int) -> None:
        self._now += 1
        key = self._keys[slot]
        class_ = class_of(self._sketch.add(key))
        self._class[slot] = class_
        self._last[slot] = self._now
        if not key >> 112 & ((1 << self._shift) - 1):
            self._watch(key, class_)
        if self._now >= self._fit_at:
            self._fit_at += min(self._now, _FIT_EVERY)
            self._fit()

    def _watch(self, key: int, class_: int) -> None:
        before = self._watched.pop(key, None)
        if before is not None:
            self._spans.reused(before[1], self._now - before[0])
        self._watched[key] = (self._now, class_)
        if len(self._watched) <= _TRACKED:
            return
        horizon = 8 * max(len(self._ids), 2_048)
        _, (since, its_class) = self._watched.popitem(last=False)
        self._spans.gave_up(its_class, self._now - since)
        if self._now - since < horizon and self._shift < 12:
            # Watching fewer ids for longer tells more: half of them go, the same half everywhere.
            self._shift += 1
            mask = (1 << self._shift) - 1
            self._watched = OrderedDict(
                (key, seen) for key, seen in self._watched.items() if not key >> 112 & mask
            )

    def _fit(self) -> None:
        since = np.array(list(self._watched.values()), dtype=np.int64).reshape(-1, 2)
        self._spans.fit(since[:, 1], self._now - since[:, 0])
        self._batch = []

    def _ranked(self, most: int) -> list[tuple[str, int]]:
        """Some of the entries, the least worth first; among equals the longest idle."""
        count = len(self._ids)
        last = self._last[:count]
        age = self._now - last
        if self._spans.seen < _ENOUGH:
            worth = last.astype(np.float64)
        else:
            worth = self._spans.worth(self._class[:count], age) * self._value[:count]
            worth -= age * 1e-15  # less than any difference that was learned
        most = min(most, count)
        some = np.argpartition(worth, most - 1)[:most]
        order = some[np.argsort(worth[some], kind="stable")]
        return [(self._ids[slot], int(last[slot])) for slot in order.tolist()]

    def _grow(self) -> None:
        self._last = np.concatenate([self._last, np.zeros_like(self._last)])
        self._class = np.concatenate([self._class, np.zeros_like(self._class)])
        self._value = np.concatenate([self._value, np.ones_like(self._value)])
