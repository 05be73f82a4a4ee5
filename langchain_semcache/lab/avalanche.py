"""Stores of several sizes side by side, and the size below which cutting up answers ruins one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from langchain_semcache.lab.fragmentation import (
    ANSWERS,
    SEGMENT,
    TOKENS,
    Costs,
    Layout,
    Lookup,
    Outcome,
    segments,
    simulate,
)
from langchain_semcache.lab.traffic import Arrival

COLLAPSED = 0.5
"""Of the hits of whole answers, the share below which a store of pieces has collapsed."""

STANDS = 0.5
"""Of the hits without any limit, the share from which on the store of whole answers stands."""

_SMALLEST = 50
_TOLD = 256  # requests between two words on how far it is

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Point:
    """Two stores of one size: the hit rate in pieces, and in whole answers."""

    memory: float
    pieces: float
    whole: float

    @property
    def kept(self) -> float:
        """Of the hits of whole answers, the share that pieces have as well; 1 of none."""
        return self.pieces / self.whole if self.whole else 1.0


@dataclass(frozen=True, slots=True)
class Avalanche:
    """Where a store of pieces collapses.

    Attributes:
        memory: In bytes. With less, it serves under half of what whole answers would.
        whole: What whole answers serve there.
        at_least: The largest size that was tried is still too small, and this is it.
    """

    memory: float
    whole: float
    at_least: bool = False


def avalanche(points: Sequence[Point], ceiling: float) -> Avalanche | None:
    """The size of the store from which on pieces keep at least half the hits of whole answers.

    Between two sizes that were tried, rates are taken to follow a straight line over the logarithm
    of the size. None where pieces keep half at any size, or where whole answers do not stand
    there either: with less than half of `ceiling`, which is their hit rate without any limit.
    """
    ordered = sorted(points, key=lambda point: point.memory)
    low = max((n for n, point in enumerate(ordered) if point.kept < COLLAPSED), default=None)
    if low is None:
        return None
    here = ordered[low]
    if low == len(ordered) - 1:
        found = Avalanche(here.memory, here.whole, at_least=True)
    else:
        above = ordered[low + 1]
        share = (COLLAPSED - here.kept) / (above.kept - here.kept)
        memory = here.memory * (above.memory / here.memory) ** share
        found = Avalanche(memory, here.whole + share * (above.whole - here.whole))
    return found if found.whole >= STANDS * ceiling else None


@dataclass(frozen=True, slots=True)
class Row:
    """All stores of one size."""

    memory: float
    tokens: Outcome
    segments: Outcome
    answers: Outcome


@dataclass(frozen=True, slots=True)
class Sweep:
    """Stores of several sizes on the same traffic.

    Attributes:
        rows: By size, the smallest first.
        ceiling: The hit rate of whole answers without any limit.
        footprints: Bytes that all different answers take, by the name of the layout.
    """

    rows: tuple[Row, ...]
    ceiling: float
    footprints: dict[str, int]

    @property
    def points(self) -> list[Point]:
        """Tokens against whole answers."""
        return [Point(row.memory, row.tokens.hit_rate, row.answers.hit_rate) for row in self.rows]

    @property
    def avalanche(self) -> Avalanche | None:
        """Where the store of tokens collapses."""
        return avalanche(self.points, self.ceiling)

    @property
    def shown(self) -> float:
        """A size worth a closer look: the largest below the avalanche, else the middle one."""
        memories = [row.memory for row in self.rows]
        fall = self.avalanche
        below = [memory for memory in memories if fall is not None and memory <= fall.memory]
        return below[-1] if below else memories[len(memories) // 2]


def layouts(segment: int = SEGMENT) -> tuple[Layout, Layout, Layout]:
    """Tokens, segments of so many tokens, and whole answers."""
    return TOKENS, segments(segment), ANSWERS


def memories(arrivals: Sequence[Arrival], costs: Costs) -> list[float]:
    """Sizes of 1, 2, 5, 10 … bytes, from a fiftieth of all whole answers up to all tokens."""
    least = costs.footprint(ANSWERS, arrivals) / _SMALLEST
    most = costs.footprint(TOKENS, arrivals)
    power = math.floor(math.log10(least))
    steps = (digit * 10.0**exponent for exponent in count(power) for digit in (1, 2, 5))
    found: list[float] = []
    while not found or found[-1] < most:
        found.append(next(size for size in steps if size >= least))
    return found


def sweep(
    arrivals: Sequence[Arrival],
    sizes: Sequence[float],
    costs: Costs,
    *,
    segment: int = SEGMENT,
    progress: Progress | None = None,
) -> Sweep:
    """Play the traffic on stores of each size; `progress` is told how many requests were played.

    That is len(arrivals) requests for each of three layouts and each size, and once more.
    """
    told = _Told(progress)
    kinds = layouts(segment)
    free = simulate(arrivals, ANSWERS, math.inf, costs, watch=told)
    rows = []
    for memory in sorted(set(sizes)):
        outcomes = [simulate(arrivals, kind, memory, costs, watch=told) for kind in kinds]
        rows.append(Row(memory, *outcomes))
    footprints = {kind.name: costs.footprint(kind, arrivals) for kind in kinds}
    return Sweep(tuple(rows), free.hit_rate, footprints)


class _Told:
    """Counts requests, and says so now and then."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._count = progress, 0

    def __call__(self, _: Lookup) -> None:
        self._count += 1
        if self._progress is not None and self._count % _TOLD == 0:
            self._progress(self._count)
