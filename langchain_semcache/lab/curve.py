"""What each threshold lets pass: the right answers it finds against the wrong ones it serves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.lab.pairs import Measured, interval
from langchain_semcache.threshold.confidence import Calibration

STEPS = 1000
"""Thresholds lie at 0, 1/STEPS, 2/STEPS … 1: what anyone would write into a setting."""

_WIDTHS = (10, 20, 50, 100)
_MOST_ROWS = 16

Score = Callable[[Measured], float]
"""What is compared with the threshold, in [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What passes from one threshold on, inclusive.

    Attributes:
        same, different: Pairs of each label.
        passed_same, passed_different: Those of them that pass.
    """

    threshold: float
    same: int
    different: int
    passed_same: int
    passed_different: int

    @property
    def coverage(self) -> float:
        """Share of the same pairs that pass; also called recall."""
        return self.passed_same / self.same if self.same else 0.0

    @property
    def false_pass(self) -> float:
        """Share of the different pairs that pass; also called trap rate."""
        return self.passed_different / self.different if self.different else 0.0

    @property
    def precision(self) -> float | None:
        """Share of same pairs among those that pass; None where none does."""
        passed = self.passed_same + self.passed_different
        return self.passed_same / passed if passed else None

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and coverage."""
        wrong = self.passed_different + self.same - self.passed_same
        total = 2 * self.passed_same + wrong
        return 2 * self.passed_same / total if total else 0.0

    @property
    def coverage_interval(self) -> tuple[float, float]:
        """95% Wilson interval of `coverage`."""
        return interval(self.passed_same, self.same)

    @property
    def false_pass_interval(self) -> tuple[float, float]:
        """95% Wilson interval of `false_pass`."""
        return interval(self.passed_different, self.different)


@dataclass(frozen=True, slots=True)
class Curve:
    """All thresholds, ascending, and two of them worth a name.

    Attributes:
        balance: Where as large a share of the different pairs passes as of the same pairs is
            refused: the point of the equal error rate. Of several the highest.
        best: Where F1 is largest. Of several the highest.
    """

    points: tuple[Point, ...]
    balance: Point
    best: Point

    @property
    def equal_error_rate(self) -> float:
        """The rate of both errors at `balance`."""
        return (self.balance.false_pass + 1 - self.balance.coverage) / 2

    @property
    def balances(self) -> bool:
        """Whether the two errors do meet.

        They do not where the guards alone refuse more of the same pairs than they let pass of the
        different ones; then `balance` is where they come nearest.
        """
        loosest = self.points[0]
        return loosest.false_pass >= 1 - loosest.coverage

    def at(self, threshold: float) -> Point:
        """The point of a threshold, rounded to the grid."""
        return self.points[min(STEPS, max(0, round(threshold * STEPS)))]

    def rows(self) -> list[Point]:
        """About a dozen points from where coverage begins to fall to where it has fallen."""
        most = self.points[0].coverage
        falling = [p for p in self.points if 0.01 * most <= p.coverage <= 0.995 * most]
        inside = falling or list(self.points)
        first, last = round(inside[0].threshold * STEPS), round(inside[-1].threshold * STEPS)
        width = next((w for w in _WIDTHS if (last - first) / w < _MOST_ROWS - 2), _WIDTHS[-1])
        begin, end = first // width * width, -(-last // width) * width
        named = {round(p.threshold * STEPS) for p in (self.balance, self.best)}
        places = sorted({*range(begin, min(end, STEPS) + 1, width), *named})
        return [self.points[place] for place in places]


@dataclass(frozen=True, slots=True)
class Kind:
    """What passes of the pairs of one kind."""

    name: str
    point: Point


def by_similarity(one: Measured) -> float:
    """The cosine of the two questions."""
    return one.observed.similarity


def by_confidence(calibration: Calibration) -> Score:
    """The probability that the stored answer is right; nothing below the calibration's floor."""

    def score(one: Measured) -> float:
        if one.observed.similarity < calibration.floor:
            return -1.0
        return calibration.probability(one.observed)

    return score


def sweep(
    measured: Sequence[Measured],
    score: Score,
    *,
    guards: bool = True,
    calibration: Calibration | None = None,
) -> Curve:
    """What every threshold on `score` lets pass; with `guards`, what they refuse never does.

    Args:
        calibration: What may outweigh the guards, where `score` is its confidence.

    Raises:
        ConfigurationError: All pairs have one label, so there is nothing to weigh up.
    """
    judged = _guarded(score, calibration) if guards else score
    same, different = (_scores(measured, judged, label) for label in (True, False))
    if not len(same) or not len(different):
        found, lacking = ("same", "different") if len(same) else ("different", "same")
        raise ConfigurationError(
            f"all {len(measured)} pairs are labelled {found}: "
            f"a threshold is a compromise with {lacking} pairs, so add some"
        )
    points = tuple(_point(step / STEPS, same, different) for step in range(STEPS + 1))
    balance = min(reversed(points), key=_imbalance)
    best = max(reversed(points), key=lambda p: p.f1)
    return Curve(points, balance, best)


def kinds(
    measured: Sequence[Measured],
    score: Score,
    threshold: float,
    *,
    guards: bool = True,
    calibration: Calibration | None = None,
) -> list[Kind]:
    """The same for each kind of pair, the largest kind first; pairs without a kind are left out."""
    judged = _guarded(score, calibration) if guards else score
    groups: dict[str, list[Measured]] = {}
    for one in measured:
        if one.pair.kind:
            groups.setdefault(one.pair.kind, []).append(one)
    found = []
    for name, group in groups.items():
        same, different = (_scores(group, judged, label) for label in (True, False))
        found.append(Kind(name, _point(threshold, same, different)))
    return sorted(found, key=lambda kind: (-kind.point.same - kind.point.different, kind.name))


def _guarded(score: Score, calibration: Calibration | None) -> Score:
    """-1 for what is refused whatever the threshold."""
    return lambda one: score(one) if one.stands(calibration) else -1.0


def _scores(measured: Sequence[Measured], score: Score, label: bool) -> NDArray[np.float64]:
    """Sorted scores of the pairs with this label."""
    scores = [score(one) for one in measured if one.pair.same is label]
    return np.sort(np.array(scores, dtype=np.float64))


def _imbalance(point: Point) -> int:
    """How far the two errors lie apart, in whole numbers, so that equal is equal."""
    missed = point.same - point.passed_same
    return abs(point.passed_different * point.same - missed * point.different)


def _point(threshold: float, same: NDArray[np.float64], different: NDArray[np.float64]) -> Point:
    # A similarity of 0.85 is 0.8499999 in 32 bits; it passes 0.85 all the same.
    least = threshold - 1e-6
    return Point(
        threshold=threshold,
        same=len(same),
        different=len(different),
        passed_same=len(same) - int(np.searchsorted(same, least)),
        passed_different=len(different) - int(np.searchsorted(different, least)),
    )
