"""What was made of the last few texts, so that it need not be made again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from langchain_semcache.processes import PerProcess

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by text; those that were used longest ago go first. Safe from threads and forks.

    Args:
        capacity: What is kept weighs at most this much in sum.
        weigh: The weight of a value, 1 by default: then the capacity is a number of texts.
    """

    def __init__(self, capacity: int, weigh: Callable[[Value], int] = lambda _: 1) -> None:
        self._shelf: PerProcess[_Shelf[Value]] = PerProcess(lambda _: _Shelf(capacity, weigh))

    def get(self, text: str) -> Value | None:
        """The value of this text, if it is still there."""
        return self.among((text,)).get(text)

    def among(self, texts: Iterable[str]) -> dict[str, Value]:
        """The values that are still there, by text."""
        return self._shelf.get().among(texts)

    def put(self, text: str, value: Value) -> None:
        """Keep it; what is heavier than everything together may be is not kept."""
        self._shelf.get().put(text, value)


class _Shelf(Generic[Value]):
    """One process's values. A lock does not survive a fork, and neither does this."""

    def __init__(self, capacity: int, weigh: Callable[[Value], int]) -> None:
        self._capacity = capacity
        self._weigh = weigh
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def among(self, texts: Iterable[str]) -> dict[str, Value]:
        found = {}
        with self._lock:
            for text in texts:
                if text in self._values:
                    self._values.move_to_end(text)
                    found[text] = self._values[text]
        return found

    def put(self, text: str, value: Value) -> None:
        with self._lock:
            if text in self._values:
                self._weight -= self._weigh(self._values.pop(text))
            self._values[text] = value
            self._weight += self._weigh(value)
            while self._weight > self._capacity:
                _, gone = self._values.popitem(last=False)
                self._weight -= self._weigh(gone)
