"""What several readers of one running stream have in common, whatever their colour."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Generic, TypeVar

Chunk = TypeVar("Chunk")

pulled: ContextVar[tuple[object, ...]] = ContextVar("langchain_semcache_pulled", default=())
"""The streams that the work under way brings chunks of: to read one of them would never end."""


class Interrupted(Exception):
    """The stream was given up by whoever brought its chunks; nothing is wrong with the model."""

    def __init__(self) -> None:
        super().__init__(
            "the stream that this call read along with was given up by the call that had started "
            "it, and the model's next answer begins differently; ask again"
        )


class FellBehind(Exception):
    """A reader was slower than the others by more than is kept for it."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"this reader of a shared stream fell more than {most} characters behind the others; "
            "read faster, raise streams.max_characters, or turn streams.share off"
        )


class Seat:
    """One reader's place. `leads` says that it is the reader's own call that the others share."""

    __slots__ = ("leads", "position")

    def __init__(self, *, leads: bool) -> None:
        self.leads = leads
        self.position = 0


class Buffer(Generic[Chunk]):
    """The chunks of one stream so far, its readers, and how it ended. Its owner brings the lock.

    The chunks are kept from the beginning, so that one can join, until they are more than `most`
    in size. Then nobody can join any more, and only what somebody has still to read is kept, again
    up to `most`.

    Args:
        size: How large a chunk is.
        most: What is kept.
    """

    def __init__(self, size: Callable[[Chunk], int], most: int) -> None:
        self._size = size
        self._most = most
        self._chunks: list[Chunk] = []
        self._first = 0
        self._held = 0
        self.seats: set[Seat] = set()
        self.ended = False
        self.error: BaseException | None = None
        self.overflowed = False

    @property
    def head(self) -> int:
        """How many chunks there were."""
        return self._first + len(self._chunks)

    @property
    def furthest(self) -> int:
        """How many of them the fastest reader has read."""
        return max((seat.position for seat in self.seats), default=0)

    @property
    def joinable(self) -> bool:
        """Whether one more reader would get the whole answer."""
        return self.whole and self.error is None

    @property
    def whole(self) -> bool:
        """Whether all that came is still kept."""
        return not self.overflowed

    def sit(self, *, leads: bool) -> Seat:
        """A place at the beginning."""
        seat = Seat(leads=leads)
        self.seats.add(seat)
        return seat

    def append(self, chunk: Chunk) -> None:
        self._chunks.append(chunk)
        self._held += self._size(chunk)
        if self._held > self._most:
            self.overflowed = True
            self._let_go()

    def end(self, error: BaseException | None = None) -> None:
        """No more chunks will come; the first who says so is right."""
        if not self.ended:
            self.ended = True
            self.error = error

    def take(self, seat: Seat) -> Chunk | None:
        """The reader's next chunk, None when there is none yet.

        Raises:
            FellBehind: It is no longer kept.
        """
        if seat.position < self._first:
            raise FellBehind(self._most)
        if seat.position >= self.head:
            return None
        chunk = self._chunks[seat.position - self._first]
        seat.position += 1
        return chunk

    def _let_go(self) -> None:
        slowest = min((seat.position for seat in self.seats), default=self.head)
        drop = 0
        while self._first + drop < self.head and (
            self._first + drop < slowest or self._held > self._most
        ):
            self._held -= self._size(self._chunks[drop])
            drop += 1
        del self._chunks[:drop]
        self._first += drop
