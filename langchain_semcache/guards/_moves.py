"""What has moved between two sequences of the same things."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence


def numbered(items: Sequence[str]) -> list[tuple[str, int]]:
    """Each item with how often it was there before, so that no two are equal."""
    seen: Counter[str] = Counter()
    found = []
    for item in items:
        found.append((item, seen[item]))
        seen[item] += 1
    return found


def kept(places: Sequence[int]) -> set[int]:
    """The indices of a longest run of rising places: all others have moved."""
    tails: list[int] = []
    ends: list[int] = []
    before = [-1] * len(places)
    for index, place in enumerate(places):
        slot = bisect_left(tails, place)
        if slot == len(tails):
            tails.append(place)
            ends.append(index)
        else:
            tails[slot], ends[slot] = place, index
        before[index] = ends[slot - 1] if slot else -1
    found = set()
    index = ends[-1] if ends else -1
    while index >= 0:
        found.add(index)
        index = before[index]
    return found


def one_block(places: Sequence[int]) -> bool:
    """Whether moving one block back restores the order: 0 3 4 1 2 5."""
    moved = [index for index, place in enumerate(places) if index != place]
    if not moved:
        return True
    start, end = moved[0], moved[-1] + 1
    core = list(places[start:end])
    turn = core.index(start) if start in core else 0
    return core[turn:] + core[:turn] == list(range(start, end))
