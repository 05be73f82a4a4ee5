"""What two long texts differ in: a few short spans, or too much to tell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

import numpy as np

from langchain_semcache.ports import Vectors
from langchain_semcache.windows._boundaries import HAN

SAME = 0.8
"""Two windows are one when more than this share of their tokens, in order, is common."""

DIFFERENT = 0.3
"""Below, they are two; between, nobody can tell."""

MAX_SPANS = 2
MAX_SPAN = 24
"""Words or Han characters of a span, its context not counted."""

CONTEXT = 4
"""Words on either side of a span; of Han characters twice as many."""

SUBSTANCE = 3
"""Words that may be added or left out within a window; of Han characters twice as many."""

LONGEST_GAP = 400
"""Tokens between two common windows that are still aligned one by one."""

_APART = 2
_LETTER = rf"[^\W{HAN}]"
_PIECE = re.compile(rf"{_LETTER}+(?:['’.,:/\-]{_LETTER}+)*\s*|\S\s*")
_WIDE = re.compile(rf"[{HAN}]")
_GLUED = re.compile(rf"(?:{_LETTER}|['’.,:/\-])(?:{_LETTER}|['’.,:/\-])")
_STOPS = frozenset(".。…;；,，:：、!！")
_CLOSING = _STOPS | frozenset("?？")
_ENDS = frozenset(".。!！?？")

_Op: TypeAlias = tuple[int, int, int, int]
"""Where ours [a, b) and theirs [c, d) differ, in tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What two long texts have in common.

    Attributes:
        identical: The share of their characters outside the differing spans; 1.0 when there are
            none. After a refusal, the share that lies in common windows.
        differing: Ours and theirs of each differing span, with a few words around it.
        refused: Why the two cannot be told to be one; empty when `differing` is all there is.
    """

    identical: float
    differing: tuple[tuple[str, str], ...] = ()
    refused: str = ""


def compare(ours: Sequence[str], theirs: Sequence[str], similarities: Vectors) -> Comparison:
    """Compare two texts by their windows, in order. Symmetric in its verdict.

    White space, line breaks and closing punctuation at the end of a line are no difference; every
    other one is in `differing`, or the whole is refused.

    Args:
        ours: The windows of one text, as `split` gives them.
        theirs: Those of the other.
        similarities: float32 [len(ours), len(theirs)], cosine of each two windows' vectors.

    Raises:
        ValueError: `similarities` has another shape.
    """
    if similarities.shape != (len(ours), len(theirs)):
        raise ValueError(
            f"{similarities.shape} similarities for {len(ours)} and {len(theirs)} windows"
        )
    if not ours or not theirs:
        return Comparison(identical=0.0, refused="a text has no windows")
    if tuple(ours) == tuple(theirs):
        return Comparison(identical=1.0)
    if tuple(ours) <= tuple(theirs):
        return _Pair(ours, theirs, similarities).compared()
    # The alignment depends on which of the two comes first: the lesser always does.
    found = _Pair(theirs, ours, similarities.T).compared()
    turned = tuple((here, there) for there, here in found.differing)
    return Comparison(identical=found.identical, differing=turned, refused=found.refused)


class _Refused(Exception):
    """Carries why."""


class _Text:
    """The windows of one text that may differ, as tokens.

    `pieces` are tokens with the white space behind them. A window that was cut inside a word
    is joined with the one before it: `edges[n]` is the first token of the n-th unit, and
    `windows[n]` the windows it consists of.
    """

    def __init__(self, windows: Sequence[str], *, first: int, closes: bool) -> None:
        self.closes = closes
        self.pieces: list[str] = []
        self.edges = [0]
        self.windows: list[range] = []
        texts: list[str] = []
        for place, window in enumerate(windows, first):
            if texts and _GLUED.match(texts[-1][-1:] + window[:1]):
                texts[-1] += window
                self.windows[-1] = range(self.windows[-1].start, place + 1)
            else:
                texts.append(window)
                self.windows.append(range(place, place + 1))
        for text in texts:
            self.pieces += _PIECE.findall(unicodedata.normalize("NFC", text))
            self.edges.append(len(self.pieces))
        self.tokens = [piece.rstrip() for piece in self.pieces]

    def unit(self, place: int) -> list[str]:
        return self.tokens[self.edges[place] : self.edges[place + 1]]

    def outline(self, place: int) -> str:
        """What unit it is, whatever its punctuation."""
        return "\0".join([token for token in self.unit(place) if token not in _CLOSING])

    def letters(self, start: int, end: int) -> int:
        return sum(map(len, self.tokens[start:end]))

    def ignorable(self, start: int, end: int) -> bool:
        """Whether these tokens do no more than close a line, or the text."""
        last = end == len(self.tokens) and self.closes
        behind = self.pieces[end - 1] if end else "\n"
        broken = "\n" in behind or "\r" in behind
        closing = _CLOSING if last else _STOPS
        return (last or broken) and all(token in closing for token in self.tokens[start:end])

    def shown(self, start: int, end: int) -> str:
        """Those tokens with a few of their sentence around them, on one line."""
        first, room = start, 2 * CONTEXT
        while first > 0 and room > 0 and self.tokens[first - 1] not in _ENDS:
            first -= 1
            room -= _width(self.tokens[first])
        room = 2 * CONTEXT
        while end < len(self.tokens) and room > 0:
            room -= _width(self.tokens[end])
            end += 1
            if self.tokens[end - 1] in _ENDS:
                break
        return " ".join("".join(self.pieces[first:end]).split())


def _width(token: str) -> int:
    """Half words."""
    return 1 if _WIDE.match(token) else 2


class _Pair:
    """Two texts while they are compared."""

    def __init__(self, ours: Sequence[str], theirs: Sequence[str], similarities: Vectors) -> None:
        self._similarities = similarities
        self._lengths = [np.array([len(window) + 1 for window in side]) for side in (ours, theirs)]
        self._size = max(1, sum(map(len, ours)) + sum(map(len, theirs)))
        front, back = _common_ends(ours, theirs)
        self._common = 2 * sum(map(len, ours[:front])) + 2 * sum(map(len, ours[len(ours) - back :]))
        self._a = _Text(ours[front : len(ours) - back], first=front, closes=not back)
        self._b = _Text(theirs[front : len(theirs) - back], first=front, closes=not back)

    def compared(self) -> Comparison:
        try:
            blocks = self._blocks()
            operations = [found for block in blocks for found in self._differences(*block)]
            spans = _joined(operations)
            self._check(spans)
        except _Refused as why:
            return Comparison(identical=min(1.0, self._common / self._size), refused=str(why))
        if not spans:
            return Comparison(identical=1.0)
        changed = sum(self._a.letters(a, b) + self._b.letters(c, d) for a, b, c, d in operations)
        return Comparison(
            # Never 1.0 with a difference left, however long the text.
            identical=min(1 - changed / self._size, float(np.nextafter(1.0, 0.0))),
            differing=tuple((self._a.shown(a, b), self._b.shown(c, d)) for a, b, c, d in spans),
        )

    def _blocks(self) -> list[tuple[range, range]]:
        """The units of both that do not pair up as they are, in order.

        Raises:
            _Refused: One of them is elsewhere in the other text.
        """
        a, b = self._a, self._b
        blocks: list[tuple[range, range]] = []
        moved = False
        ours = [a.outline(place) for place in range(len(a.windows))]
        theirs = [b.outline(place) for place in range(len(b.windows))]
        matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
        for kind, i, j, k, m in matcher.get_opcodes():
            if kind != "equal":
                alone = (theirs[k:m], ours) if i == j else (ours[i:j], theirs if k == m else ())
                moved = moved or not set(alone[0]).isdisjoint(alone[1])
                blocks.append((range(i, j), range(k, m)))
                continue
            for here, there in zip(range(i, j), range(k, m), strict=True):
                if a.unit(here) == b.unit(there):
                    self._common += a.letters(*_tokens(a, here)) + b.letters(*_tokens(b, there))
                else:
                    blocks.append((range(here, here + 1), range(there, there + 1)))
        if moved:
            raise _Refused("the order of the parts differs")
        return blocks

    def _differences(self, ours: range, theirs: range) -> list[_Op]:
        """Where the tokens of a block differ.

        Raises:
            _Refused: The windows of the block are not the same ones.
        """
        a, b = self._a, self._b
        found = [
            (i, j, k, m)
            for i, j, k, m in _aligned(a, b, ours, theirs)
            if not (a.ignorable(i, j) and b.ignorable(k, m))
        ]
        if not found:
            return found
        if not ours or not theirs:
            raise _Refused("a part has no counterpart")
        for text, units, side in ((a, ours, 0), (b, theirs, 2)):
            for unit in units:
                overlap = _overlap(text, unit, [op[side : side + 2] for op in found])
                if overlap < DIFFERENT:
                    raise _Refused(f"a part has no counterpart: overlap {overlap:.2f}")
                if overlap <= SAME:
                    raise _Refused(f"parts overlap by {overlap:.2f}: neither one nor two")
        self._witness(ours, theirs)
        return found

    def _witness(self, ours: range, theirs: range) -> None:
        """The vectors have to agree that these windows are the same ones.

        Where the two texts are cut alike, that is one similarity. Where they are not, a short
        window need not resemble the long one it is part of: then the mean has to be no stranger.
        """
        rows = [n for unit in ours for n in self._a.windows[unit]]
        columns = [n for unit in theirs for n in self._b.windows[unit]]
        block = self._similarities[np.ix_(rows, columns)]
        here = np.average(block.max(axis=1), weights=self._lengths[0][rows])
        there = np.average(block.max(axis=0), weights=self._lengths[1][columns])
        least = float(min(here, there))
        if not least > (SAME if block.size == 1 else DIFFERENT):
            raise _Refused(f"the vectors of two parts disagree: similarity {least:.2f}")

    def _check(self, spans: Sequence[_Op]) -> None:
        """The differences are few, short, and no exchange of two places."""
        a, b = self._a.tokens, self._b.tokens
        if len(spans) > MAX_SPANS:
            raise _Refused(f"{len(spans)} differing spans, more than {MAX_SPANS}")
        for i, j, k, m in spans:
            if max(j - i, m - k) > MAX_SPAN:
                raise _Refused(f"a differing span of {max(j - i, m - k)} tokens")
            added = abs(sum(map(_width, a[i:j])) - sum(map(_width, b[k:m])))
            if (i == j or k == m) and added > 2 * SUBSTANCE:
                raise _Refused("text was added or left out")
        here = sorted(token for i, j, _, _ in spans for token in a[i:j])
        there = sorted(token for _, _, k, m in spans for token in b[k:m])
        if here and here == there:
            raise _Refused("the order of the words differs")


def _common_ends(ours: Sequence[str], theirs: Sequence[str]) -> tuple[int, int]:
    """How many windows are the same, letter by letter, at the front and at the back.

    One fewer than there are: what lies around a difference belongs to it as context, and a word
    may reach over the edge.
    """
    most = min(len(ours), len(theirs))
    front = 0
    while front < most and ours[front] == theirs[front]:
        front += 1
    back = 0
    while back < most - front and ours[-1 - back] == theirs[-1 - back]:
        back += 1
    return max(0, front - 1), max(0, back - 1)


def _tokens(text: _Text, unit: int) -> tuple[int, int]:
    return text.edges[unit], text.edges[unit + 1]


def _aligned(a: _Text, b: _Text, ours: range, theirs: range) -> Iterator[_Op]:
    """The differences between the tokens of two runs of units."""
    start, end = a.edges[ours.start], a.edges[ours.stop]
    other, stop = b.edges[theirs.start], b.edges[theirs.stop]
    while start < end and other < stop and a.tokens[start] == b.tokens[other]:
        start, other = start + 1, other + 1
    while start < end and other < stop and a.tokens[end - 1] == b.tokens[stop - 1]:
        end, stop = end - 1, stop - 1
    if max(end - start, stop - other) > LONGEST_GAP:
        raise _Refused("the texts differ over too long a stretch")
    matcher = SequenceMatcher(None, a.tokens[start:end], b.tokens[other:stop], autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind != "equal":
            yield start + i, start + j, other + k, other + m


def _overlap(text: _Text, unit: int, changed: Sequence[tuple[int, ...]]) -> float:
    """The share of a unit's tokens that the other text has in the same order."""
    start, end = _tokens(text, unit)
    if start == end:
        return 1.0
    lost = sum(max(0, min(end, j) - max(start, i)) for i, j in changed)
    return 1 - lost / (end - start)


def _joined(operations: Sequence[_Op]) -> list[_Op]:
    """Differences with hardly a word between them are one."""
    spans: list[_Op] = []
    for i, j, k, m in operations:
        if spans and i - spans[-1][1] <= _APART and k - spans[-1][3] <= _APART:
            spans[-1] = (spans[-1][0], j, spans[-1][2], m)
        else:
            spans.append((i, j, k, m))
    return spans
