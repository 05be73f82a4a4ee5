"""Policies that go by how often an entry was wanted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from langchain_semcache.eviction._sketch import Sketch, digest

_WINDOW: Final = 0.01
_PROTECTED: Final = 0.8


class LFU:
    """What was wanted least often goes first, among equals what was wanted longest ago.

    Counts are halved whenever as many uses have been seen as there are entries, times ten: an
    entry that was popular last month does not block the room of one that is so today.
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._shelves: dict[int, OrderedDict[str, None]] = {}
        self._uses = 0

    def stored(self, entry_id: str, value: float) -> None:  # noqa: ARG002 - as the protocol says
        """See `Policy.stored`; the value counts for nothing here."""
        self._move(entry_id, self._counts.get(entry_id, 0) + 1)

    def touched(self, entry_id: str) -> None:
        """See `Policy.touched`."""
        if entry_id in self._counts:
            self._move(entry_id, self._counts[entry_id] + 1)

    def forgotten(self, entry_id: str) -> None:
        """See `Policy.forgotten`."""
        count = self._counts.pop(entry_id, None)
        if count is not None:
            self._take(entry_id, count)

    def worst_first(self) -> Iterator[str]:
        """See `Policy.worst_first`."""
        for count in sorted(self._shelves):
            yield from self._shelves[count]

    def _move(self, entry_id: str, count: int) -> None:
        self.forgotten(entry_id)
        self._counts[entry_id] = count
        self._shelves.setdefault(count, OrderedDict())[entry_id] = None
        self._uses += 1
        if self._uses > 10 * len(self._counts) + 100:
            self._age()

    def _take(self, entry_id: str, count: int) -> None:
        shelf = self._shelves[count]
        del shelf[entry_id]
        if not shelf:
            del self._shelves[count]

    def _age(self) -> None:
        self._uses = 0
        order = list(self.worst_first())
        self._shelves = {}
        for entry_id in order:
            count = self._counts[entry_id] = max(1, self._counts[entry_id] // 2)
            self._shelves.setdefault(count, OrderedDict())[entry_id] = None


class TinyLFU:
    """A small window for what is new, in front of a main part that only the more wanted enter.

    The main part is in two: on trial and protected (served again while there). What leaves the
    window meets the next of the main part that would have to go, and the one that a sketch has
    seen less often goes; the sketch also remembers entries that are gone.
    """

    def __init__(self) -> None:
        self._sketch = Sketch()
        self._window: OrderedDict[str, int] = OrderedDict()
        self._trial: OrderedDict[str, int] = OrderedDict()
        self._protected: OrderedDict[str, int] = OrderedDict()

    def stored(self, entry_id: str, value: float) -> None:  # noqa: ARG002 - as the protocol says
        """See `Policy.stored`; the value counts for nothing here."""
        if self._has(entry_id):
            self.touched(entry_id)
            return
        key = digest(entry_id)
        self._sketch.add(key)
        self._window[entry_id] = key
        total = len(self._window) + len(self._trial) + len(self._protected)
        while len(self._window) > max(1, int(_WINDOW * total)):
            oldest, mark = self._window.popitem(last=False)
            self._trial[oldest] = mark

    def touched(self, entry_id: str) -> None:
        """See `Policy.touched`."""
        if entry_id in self._window:
            self._window.move_to_end(entry_id)
            self._sketch.add(self._window[entry_id])
        elif entry_id in self._protected:
            self._protected.move_to_end(entry_id)
            self._sketch.add(self._protected[entry_id])
        elif entry_id in self._trial:
            self._protected[entry_id] = key = self._trial.pop(entry_id)
            self._sketch.add(key)
            most = _PROTECTED * (len(self._trial) + len(self._protected))
            if len(self._protected) > max(1.0, most):
                back, mark = self._protected.popitem(last=False)
                self._trial[back] = mark

    def forgotten(self, entry_id: str) -> None:
        """See `Policy.forgotten`."""
        for part in (self._window, self._trial, self._protected):
            part.pop(entry_id, None)

    def worst_first(self) -> Iterator[str]:
        """See `Policy.worst_first`."""
        oldest, newest = next(iter(self._trial), None), next(reversed(self._trial), None)
        ends = []
        if oldest is not None and newest is not None:
            ends = [oldest] if oldest == newest else [newest, oldest]
            if oldest != newest and self._seen(newest) > self._seen(oldest):
                ends.reverse()
        yield from ends
        yield from (entry_id for entry_id in self._trial if entry_id not in ends)
        yield from self._protected
        yield from self._window

    def _seen(self, entry_id: str) -> int:
        return self._sketch.count(self._trial[entry_id])

    def _has(self, entry_id: str) -> bool:
        return any(entry_id in part for part in (self._window, self._trial, self._protected))
