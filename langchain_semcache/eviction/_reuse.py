"""When something is wanted again, learned from what was: a life table for each frequency."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

CLASSES: Final = 10
"""Used once, twice, three times, four times, and on in doublings."""

_PER_OCTAVE: Final = 3
_BINS: Final = 24 * _PER_OCTAVE
_EDGES: Final[NDArray[np.float64]] = 2.0 ** (np.arange(_BINS + 1) / _PER_OCTAVE) - 1
_DECAY: Final = 0.9
"""What is left of the evidence at the next fit: traffic changes."""

_FEWEST: Final = 8.0
"""Spans that a step of the table needs; what is known of fewer is not believed."""

_KNOWN_FROM: Final = 50
"""Spans from which a class has a table of its own."""


def class_of(uses: int) -> int:
    """The class of an entry that was used so often, 1 or more."""
    if uses <= 4:
        return max(uses, 1) - 1
    return min(uses.bit_length() + 1, CLASSES - 1)


class SpansOfReuse:
    """How long it took until the next use, and for how long there was none."""

    def __init__(self) -> None:
        self._again = np.zeros((CLASSES, _BINS))
        self._never = np.zeros((CLASSES, _BINS))
        self._worth = np.zeros((CLASSES, _BINS))
        self.seen = 0

    def reused(self, class_: int, age: int) -> None:
        """A use came after `age` further uses of the cache."""
        self._again[class_, _bin(age)] += 1
        self.seen += 1

    def gave_up(self, class_: int, age: int) -> None:
        """None had come after `age`, and nobody waits any longer."""
        self._never[class_, _bin(age)] += 1

    def fit(self, classes: NDArray[np.int64], ages: NDArray[np.int64]) -> None:
        """Learn from all that was seen; `classes` and `ages` are those still waited for."""
        waiting = np.zeros_like(self._never)
        np.add.at(waiting, (classes, _bins(ages)), 1.0)
        for class_ in range(CLASSES):
            again, never = self._again[class_], self._never[class_] + waiting[class_]
            if class_ and again.sum() + never.sum() < _KNOWN_FROM:
                # Nobody was wanted that often yet: as good as those who nearly were, not worthless.
                self._worth[class_] = self._worth[class_ - 1]
            else:
                self._worth[class_] = _worth(again, never)
        self._again *= _DECAY
        self._never *= _DECAY

    def worth(self, classes: NDArray[np.int8], ages: NDArray[np.int64]) -> NDArray[np.float64]:
        """What keeping brings at best, in hits a use, of entries idle for `ages`."""
        found: NDArray[np.float64] = self._worth[classes, _bins(ages)]
        return found


def _worth(again: NDArray[np.float64], never: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each step of idle time the best ratio of hits to time, over all times to give up at.

    A life table: `again` ended with a use in a step, `never` was last seen in it without one.
    """
    at_risk = np.cumsum((again + never)[::-1])[::-1]
    hazard = again / (at_risk - never / 2 + 1)
    width = np.maximum(1.0, np.diff(_EDGES))
    worth = np.zeros(_BINS)
    for start in range(_BINS):
        hits = time = 0.0
        alive = 1.0
        for step in range(start, _BINS):
            span = width[step] / 2 if step == start else width[step]
            hits += alive * hazard[step]
            time += alive * span * (1 - hazard[step] / 2)
            alive *= 1 - hazard[step]
            if at_risk[step] < _FEWEST:
                break
            worth[start] = max(worth[start], hits / time)
    return worth


def _bin(age: int) -> int:
    return min(int(math.log2(age + 1.0) * _PER_OCTAVE), _BINS - 1)


def _bins(ages: NDArray[np.int64]) -> NDArray[np.int64]:
    steps = (np.log2(np.maximum(ages, 0) + 1.0) * _PER_OCTAVE).astype(np.int64)
    return np.minimum(steps, _BINS - 1)
