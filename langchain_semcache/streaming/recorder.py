"""Looks on while a stream passes, and says at its end whether it was an answer to keep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum

from langchain_semcache.streaming.cuts import Shape
from langchain_semcache.streaming.pieces import Piece

MOST_CALLS = 128
"""Calls in one answer whose names and ids are told; OpenAI allows as many tools."""


class Ending(StrEnum):
    """How a recorded stream ended.

    Only WHOLE is an answer to keep. UNSAID is one of a provider that never says why it stops, which
    the adapter has to know.
    """

    WHOLE = "whole"
    UNSAID = "unsaid"
    CUT_OFF = "cut off"
    CANCELLED = "cancelled"
    FAILED = "failed"
    FILTERED = "filtered"
    TOO_LARGE = "too large"


class Recorder:
    """Is told of every chunk of one stream, in order.

    It never touches a chunk and never raises. Not safe to share between threads at once.

    Args:
        clock: Seconds on a clock that never goes back.
        most: Code points that are recorded; of a longer stream nothing is kept.
        complete: Finish reasons, in lower case, of whole answers.
        refused: Those of answers that were filtered or declined.

    Attributes:
        role, usage, finish_reason: What the stream said of itself, last.
        calls: Name and id of each call, by its index.
    """

    __slots__ = (
        "_at",
        "_clock",
        "_complete",
        "_declined",
        "_ended",
        "_marks",
        "_most",
        "_refused",
        "_size",
        "calls",
        "finish_reason",
        "role",
        "usage",
    )

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        most: int,
        complete: Collection[str],
        refused: Collection[str],
    ) -> None:
        self._clock = clock
        self._at = clock()
        self._most = most
        self._complete = complete
        self._refused = refused
        self._marks: list[tuple[Piece, float]] = []
        self._size = 0
        self._ended: Ending | None = None
        self._declined = False
        self.role = ""
        self.usage: Mapping[str, object] | None = None
        self.finish_reason: str | None = None
        self.calls: dict[int, tuple[str, str]] = {}

    @property
    def recording(self) -> bool:
        """Whether it still keeps what it is told; after a stream that is too large it does not."""
        return self._ended is None

    @property
    def size(self) -> int:
        """Code points so far."""
        return self._size

    def add(self, piece: Piece) -> None:
        """Note one chunk, as it comes."""
        if self._ended is not None:
            return
        self._size += piece.size
        if self._size > self._most:
            self._ended = Ending.TOO_LARGE
            self._marks.clear()
            return
        self._marks.append((piece, self._clock() - self._at))
        if piece.role:
            self.role = piece.role
        if piece.usage:
            self.usage = piece.usage
        self._declined = self._declined or piece.refused
        if piece.finish_reason is not None:
            self.finish_reason = piece.finish_reason
        for call in piece.calls:
            if (call.name or call.id) and len(self.calls) < MOST_CALLS:
                name, known = self.calls.get(call.index, ("", ""))
                self.calls[call.index] = (name + call.name, known or call.id)

    def end(self) -> Ending:
        """The stream has ended by itself."""
        if self._ended is None:
            self._ended = self._judged()
        return self._ended

    def cancel(self) -> Ending:
        """Its consumer stopped before its end."""
        self._ended = self._ended or Ending.CANCELLED
        return self._ended

    def fail(self) -> Ending:
        """It raised."""
        self._ended = self._ended or Ending.FAILED
        return self._ended

    def shape(self, *, pauses: bool) -> Shape:
        """How the stream was cut and, if asked for, when its chunks came."""
        rows: list[tuple[int, int, int]] = []
        before = 0
        for piece, at in self._marks:
            tracks = piece.tracks()
            now = round(at * 1e3) if pauses else 0
            for place, (track, size) in enumerate(tracks):
                rows.append((track, size, now - before if place == 0 else 0))
            if tracks:
                before = now
        return Shape(tuple(rows))

    def _judged(self) -> Ending:
        if self._declined:
            return Ending.FILTERED
        if self.finish_reason is None:
            return Ending.UNSAID
        reason = self.finish_reason.lower()
        if reason in self._refused:
            return Ending.FILTERED
        return Ending.WHOLE if reason in self._complete else Ending.CUT_OFF
