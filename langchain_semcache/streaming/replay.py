"""A stored answer as a stream: which pieces, when each is due, and two drivers that wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias, TypeVar

from langchain_semcache.streaming.cuts import Shape, words
from langchain_semcache.streaming.pieces import CALLS

Pace: TypeAlias = Literal["fast", "recorded"] | float
"""As fast as it can be read, as the original came, or so many code points a second."""

MOST_PIECES = 256
"""Pieces of one text that is cut anew and not paced: each of them costs its host work."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of one of the texts that `arrange` was given: which of them, and the piece."""

    source: int
    text: str


def arrange(
    texts: Sequence[tuple[int, str]], shape: Shape | None, pace: Pace = "fast"
) -> list[Part]:
    """Cut the texts of an answer, each given with its track, into the pieces to stream.

    As the record says where it fits what is stored. A text that it does not fit, and all without a
    record, word by word; the arguments of a call then as a whole.
    """
    most = MOST_PIECES if pace == "fast" else None
    totals: dict[int, int] = {}
    for track, text in texts:
        totals[track] = totals.get(track, 0) + len(text)
    sizes = shape.sizes() if shape is not None else {}
    recorded = {
        track: _Cuts(cuts) for track, cuts in sizes.items() if sum(cuts) == totals.get(track)
    }
    return [
        Part(source, piece)
        for source, (track, text) in enumerate(texts)
        for piece in _cut(track, text, recorded, most)
    ]


def _cut(track: int, text: str, recorded: Mapping[int, _Cuts], most: int | None) -> Iterable[str]:
    if track in recorded:
        return recorded[track].of(text)
    return words(text, most=most) if track < CALLS else filter(None, [text])


class _Cuts:
    """The recorded sizes of one track, used up text by text."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._left = [size for size in reversed(sizes) if size]

    def of(self, text: str) -> Iterator[str]:
        start = 0
        while start < len(text):
            size = self._left.pop()
            if size > len(text) - start:  # one chunk held the end of this text and more
                self._left.append(size - (len(text) - start))
            yield text[start : start + size]
            start += size


def due(
    texts: Sequence[tuple[int, str]], parts: Sequence[Part], shape: Shape | None, pace: Pace
) -> list[float]:
    """When each part is to be given, in seconds from the start of the replay; the first at once.

    With "recorded" as the original came, without the wait for its first chunk; where the parts are
    not those of the original, its time is shared out by length. Without a record of pauses
    everything is due at once.
    """
    if pace == "fast" or not parts:
        return [0.0] * len(parts)
    ends = list(accumulate(len(part.text) for part in parts))
    if not isinstance(pace, str):
        return [(end - ends[0]) / pace for end in ends]
    recorded = shape.parts if shape is not None else ()
    if not recorded:
        return [0.0] * len(parts)
    times = list(accumulate(pause / 1e3 for _, _, pause in recorded))
    times = [time - times[0] for time in times]
    came = [(track, size) for track, size, _ in recorded]
    if came == [(texts[part.source][0], len(part.text)) for part in parts]:
        return times
    return [times[-1] * (end - ends[0]) / ends[-1] for end in ends]


@dataclass(frozen=True, slots=True)
class Timing:
    """How a driver knows the time and lets it pass.

    Attributes:
        clock: Seconds on a clock that never goes back.
        wait: Lets so many seconds pass on this thread.
        wait_async: The same for a task.
    """

    clock: Callable[[], float]
    wait: Callable[[float], object]
    wait_async: Callable[[float], Awaitable[object]] = asyncio.sleep

    @classmethod
    def of(cls, clock: Callable[[], float]) -> Timing:
        """Really waits."""
        return cls(clock, lambda seconds: threading.Event().wait(seconds))


def play(items: Sequence[Item], times: Sequence[float], timing: Timing) -> Iterator[Item]:
    """Each item when it is due, later where its reader is slower. Nothing runs between two."""
    started = timing.clock()
    for item, time in zip(items, times, strict=True):
        left = time and started + time - timing.clock()
        if left > 0:
            timing.wait(left)
        yield item


async def play_async(
    items: Sequence[Item], times: Sequence[float], timing: Timing
) -> AsyncIterator[Item]:
    """See `play`. Other tasks get their turn between two items."""
    started = timing.clock()
    for item, time in zip(items, times, strict=True):
        left = time and started + time - timing.clock()
        if left > 0:
            await timing.wait_async(left)
        else:
            await asyncio.sleep(0)
        yield item
