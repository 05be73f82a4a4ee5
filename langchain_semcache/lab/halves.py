"""Two halves of labelled pairs that share no question: fitted on one, tried on the other."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from langchain_semcache.lab.pairs import Pair


def halves(pairs: Sequence[Pair]) -> tuple[list[int], list[int]]:
    """Places of the pairs of either half, each ascending; the same for the same pairs always.

    Pairs that are linked by a question, however far round, stay together; case and space do not
    tell questions apart. Both labels are spread as evenly as that allows. Where one such group
    holds more than half of all pairs, its questions are dealt out to the two halves at random,
    and its pairs with a question in each half are in neither.
    """
    groups = _linked(pairs)
    largest = max(groups, key=len, default=[])
    if 2 * len(largest) > len(pairs) and len(largest) > 1:
        groups.remove(largest)
        groups += _cut(largest, pairs)
    counts = [[0, 0], [0, 0]]
    sides: tuple[list[int], list[int]] = ([], [])
    for group in sorted(groups, key=lambda places: (-len(places), places[0])):
        same = sum(pairs[place].same for place in group)
        more = (len(group) - same, same)
        side = min((0, 1), key=lambda one: _uneven(counts, one, more))
        sides[side].extend(group)
        counts[side][0] += more[0]
        counts[side][1] += more[1]
    return sorted(sides[0]), sorted(sides[1])


def _uneven(counts: Sequence[Sequence[int]], side: int, more: tuple[int, int]) -> int:
    """How far the labels would be from even if `side` had these too."""
    mine, other = counts[side], counts[1 - side]
    return sum(abs(mine[label] + more[label] - other[label]) for label in (0, 1))


def _linked(pairs: Sequence[Pair]) -> list[list[int]]:
    above: dict[str, str] = {}

    def root(text: str) -> str:
        while (parent := above.setdefault(text, text)) != text:
            above[text] = text = above[parent]
        return text

    for pair in pairs:
        above[root(_key(pair.question))] = root(_key(pair.stored))
    groups: dict[str, list[int]] = {}
    for place, pair in enumerate(pairs):
        groups.setdefault(root(_key(pair.question)), []).append(place)
    return list(groups.values())


def _cut(group: Sequence[int], pairs: Sequence[Pair]) -> list[list[int]]:
    """The pairs of a group whose two questions fall on one side."""
    kept: tuple[list[int], list[int]] = ([], [])
    for place in group:
        one, other = _side(pairs[place].question), _side(pairs[place].stored)
        if one == other:
            kept[one].append(place)
    return [half for half in kept if half]


def _side(text: str) -> int:
    """0 or 1, at random but always the same for a text."""
    return blake2b(_key(text).encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] & 1


def _key(text: str) -> str:
    return " ".join(text.casefold().split())
