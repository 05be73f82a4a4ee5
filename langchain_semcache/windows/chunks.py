"""A long text as windows that an encoder takes whole, and one vector for all of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from langchain_semcache.ports import Vector, Vectors
from langchain_semcache.windows import _boundaries as boundaries

MAX_WINDOWS = 64
"""A text of more windows is not compared window by window."""

LONGEST_PIECE = 8
"""Characters a token has at most on average: a longer text has too many windows for certain."""


def split(text: str, *, count_tokens: Callable[[str], int], max_tokens: int) -> tuple[str, ...]:
    """Cut `text` into at most `MAX_WINDOWS` windows of at most `max_tokens` each.

    Nothing is dropped: joined, the windows are `text`. Cuts are made between paragraphs rather
    than sentences, sentences rather than clauses, and so on, and never within a character as a
    reader sees it; among equals the letters behind a place decide, so that an insertion moves the
    cuts near it and no others.

    Args:
        text: Any text.
        count_tokens: As an encoder counts, marks of begin and end included.
        max_tokens: The encoder's window.

    Returns:
        The windows in order; none when there are too many, or when one character alone does not
        fit: then only the identical text can be found again.
    """
    if not text or len(text) > MAX_WINDOWS * max_tokens * LONGEST_PIECE:
        return ()
    marks = count_tokens("")
    spans = [_measured(text, marks, count_tokens)]
    if spans[0].size > MAX_WINDOWS * max_tokens:
        return ()
    leaves: list[_Span] = []
    borders: list[_Cut] = []
    while spans:
        span = spans.pop()
        if not span.counted and (span.size <= max_tokens or not span.cuts):
            size = count_tokens(text[span.start : span.end])
            span = replace(span, size=size, counted=True)
        if span.counted and span.size <= max_tokens:
            leaves.append(span)
        else:
            halves, border = _halves(span, text, marks)
            if border is None:
                return ()
            spans.extend(reversed(halves))
            borders.append(border)
        if len(leaves) + len(spans) > 2 * MAX_WINDOWS:
            return ()

    def fits(window: slice) -> bool:
        return count_tokens(text[window]) <= max_tokens

    windows = _merged(leaves, borders, max_tokens, marks, fits)
    return tuple([text[span] for span in windows]) if len(windows) <= MAX_WINDOWS else ()


def pooled(vectors: Vectors, weights: ArrayLike) -> Vector:
    """The mean of the windows' vectors, each as heavy as its window is long, of unit length.

    For the search alone: one changed word hardly moves it. Where opposite vectors leave nothing,
    the heaviest stands for all.

    Args:
        vectors: float32 [n, dimension], rows of length 1.
        weights: n numbers from 0 up, in characters or tokens.

    Raises:
        ValueError: There is no vector, or not one finite weight from 0 up for each, or all are 0.
    """
    heavy = np.asarray(weights, dtype=np.float64)
    if vectors.ndim != 2 or not len(vectors) or heavy.shape != (len(vectors),):
        raise ValueError(f"{vectors.shape} vectors with {heavy.shape} weights")
    if not np.isfinite(heavy).all() or (heavy < 0).any() or not heavy.any():
        raise ValueError("weights are finite numbers from 0 up, and not all of them 0")
    mean = (heavy / heavy.sum()) @ vectors.astype(np.float64)
    length = float(np.linalg.norm(mean))
    if length < 1e-9:
        return np.array(vectors[int(heavy.argmax())], dtype=np.float32)
    return np.asarray(mean / length, dtype=np.float32)


_Cut: TypeAlias = tuple[int, int, int]
"""A place, its rank and its weight."""


@dataclass(frozen=True, slots=True)
class _Span:
    """A stretch of the text and where it may be cut.

    Attributes:
        size: Its tokens, marks included; an estimate unless `counted`.
        cuts: Places inside with their ranks and weights, in order.
        costs: Tokens of the text up to the start, each cut and the end, where that is known.
    """

    start: int
    end: int
    size: float
    counted: bool
    cuts: tuple[_Cut, ...] = ()
    costs: tuple[float, ...] = field(default=(), repr=False)


def _measured(text: str, marks: int, count_tokens: Callable[[str], int]) -> _Span:
    """The whole text, each of its sentences counted once."""
    cuts = _weighted(boundaries.sentences(text), text, 0)
    edges = [0, *(place for place, _, _ in cuts), len(text)]
    costs, total = [0.0], 0.0
    for start, end in pairwise(edges):
        total += max(0, count_tokens(text[start:end]) - marks)
        costs.append(total)
    return _summed(0, len(text), cuts, tuple(costs), marks)


def _weighted(found: Iterator[tuple[int, int]], text: str, offset: int) -> tuple[_Cut, ...]:
    ranked = [(offset + place, rank) for place, rank in found]
    weights = boundaries.weights(text, [place for place, _ in ranked])
    return tuple(
        [(place, rank, weight) for (place, rank), weight in zip(ranked, weights, strict=True)]
    )


def _halves(span: _Span, text: str, marks: int) -> tuple[tuple[_Span, ...], _Cut | None]:
    """The two parts of a span that is too long, and where; none of a single character."""
    if not span.cuts:
        found = boundaries.finer(text[span.start : span.end])
        span = replace(span, cuts=_weighted(found, text, span.start))
        if not span.cuts:
            return (), None
    at = _best(span)
    place = span.cuts[at][0]
    left, right = span.cuts[:at], span.cuts[at + 1 :]
    if span.costs:
        before, after = span.costs[: at + 2], span.costs[at + 1 :]
        halves = (
            _summed(span.start, place, left, before, marks),
            _summed(place, span.end, right, after, marks),
        )
        return halves, span.cuts[at]
    # Inside a sentence tokens are taken to lie evenly; what seems to fit is counted.
    share = (place - span.start) / (span.end - span.start)
    tokens = max(0.0, span.size - marks)
    halves = (
        _Span(span.start, place, tokens * share + marks, counted=False, cuts=left),
        _Span(place, span.end, tokens * (1 - share) + marks, counted=False, cuts=right),
    )
    return halves, span.cuts[at]


def _summed(
    start: int, end: int, cuts: tuple[_Cut, ...], costs: tuple[float, ...], marks: int
) -> _Span:
    """A span of whole sentences; of one sentence the sum is its count."""
    size = costs[-1] - costs[0] + marks
    return _Span(start, end, size, not cuts, cuts, costs if cuts else ())


def _best(span: _Span) -> int:
    """The cut of the best rank; among equals the heaviest, and of these the one in the middle.

    Below sentences only the middle half is looked at, where it has a cut of that rank.
    """
    cuts = span.cuts
    first, last = 0, len(cuts)
    middle = (span.start + span.end) / 2
    if cuts[0][1] < boundaries.SENTENCE:  # then all of them are of that rank
        quarter = (span.end - span.start) / 4
        first = bisect_left(cuts, (int(middle - quarter), -1, -1))
        last = bisect_right(cuts, (int(middle + quarter), 9, 0))
        if first == last:
            first, last = 0, len(cuts)
    best = max(map(_VALUE, cuts[first:last]))
    equals = [at for at in range(first, last) if _VALUE(cuts[at]) == best]
    return min(equals, key=lambda at: abs(cuts[at][0] - middle))


_VALUE = itemgetter(1, 2)


def _merged(
    leaves: Sequence[_Span],
    borders: Sequence[_Cut],
    max_tokens: int,
    marks: int,
    fits: Callable[[slice], bool],
) -> list[slice]:
    """Neighbours of one paragraph that fit into a window together, over the worst cuts first.

    The order is that of the cuts and not of the text, so that what is far from a change stays.
    """
    starts = {span.end: span.start for span in leaves}
    ends = {span.start: span.end for span in leaves}
    sizes = {span.start: span.size for span in leaves}
    for place, rank, _ in sorted(borders, key=_RANKED):
        if rank == boundaries.PARAGRAPH:
            break
        start, end = starts[place], ends[place]
        size = sizes[start] + sizes[place] - marks
        if size <= max_tokens and fits(slice(start, end)):
            ends[start], starts[end], sizes[start] = end, start, size
            del starts[place], ends[place], sizes[place]
    return [slice(start, end) for start, end in sorted(ends.items())]


_RANKED = itemgetter(1, 2, 0)


def lengths(windows: Sequence[str]) -> tuple[int, ...]:
    """Characters of each window: the weights for `pooled`."""
    return tuple(map(len, windows))
