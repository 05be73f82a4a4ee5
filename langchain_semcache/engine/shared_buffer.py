"""What several readers of one running stream have in common, whatever their colour."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

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
    """A reader of another call's stream was slower than the others by more than is kept for it."""

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
    up to `most`. What the reader has still to read whose own call it is, is kept in any case: no
    call fails because others read along.

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

    def joinable(self, *, again: bool) -> bool:
        """Whether one more reader would get the whole answer; see `Sharable.seat`."""
        return not self.overflowed and (self.error is None or again)

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
        owed = min((seat.position for seat in self.seats if seat.leads), default=self.head)
        drop = 0
        while self._first + drop < owed and (
            self._first + drop < slowest or self._held > self._most
        ):
            self._held -= self._size(self._chunks[drop])
            drop += 1
        del self._chunks[:drop]
        self._first += drop


class Sharable(Protocol):
    """One running stream, as the table of streams sees it."""

    def seat(self, *, again: bool) -> Seat | None:
        """A place for one more; None where it would not get the whole answer.

        `again` says that the stream took the place of one that failed: its failure counts then.
        """

    def is_over(self) -> bool:
        """Whether no more chunks will come."""


Stream = TypeVar("Stream", bound=Sharable)


class Streams(Generic[Stream]):
    """The running streams by key.

    All readers of a failed one have the same heir, however late they hear of the failure: a model
    that is down is not asked once for each of them.
    """

    def __init__(self) -> None:
        self._running: dict[str, Stream] = {}
        self._heirs: WeakKeyDictionary[Stream, Stream] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def seated(
        self, key: str, begin: Callable[[], tuple[Stream, Seat]], failed: Stream | None
    ) -> tuple[Stream, Seat]:
        """A place at the running stream, or at a new one; of a failed one, at its heir."""
        with self._lock:
            stream = self._running.get(key) if failed is None else self._heirs.get(failed)
            seat = None if stream is None else stream.seat(again=failed is not None)
            if stream is None or seat is None:
                stream, seat = begin()
                self._running[key] = stream
                if failed is not None:
                    self._heirs[failed] = stream
            return stream, seat

    def left(self, key: str, stream: Stream) -> None:
        """A reader of this stream has gone; forget it once it is over."""
        with self._lock:
            if stream.is_over() and self._running.get(key) is stream:
                del self._running[key]
