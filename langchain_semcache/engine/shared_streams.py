"""One running stream for many identical requests at once: for threads.

Whoever needs a chunk that nobody has yet brings it, one at a time, so that no reader waits for
another one to go on reading.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from typing import Generic, TypeVar

from langchain_semcache.engine.shared_buffer import Buffer, Interrupted, Seat, Streams, pulled
from langchain_semcache.engine.stream_reader import Kind, Reader

Chunk = TypeVar("Chunk")


class _Shared(Generic[Chunk]):
    """One running stream."""

    def __init__(self, source: Iterator[Chunk], kind: Kind[Chunk]) -> None:
        self.changed = threading.Condition()
        self.buffer: Buffer[Chunk] = Buffer(kind.size, kind.most)
        self._source = source
        self._busy = False
        self._waiting = 0

    def seat(self, *, again: bool) -> Seat | None:
        """See `Sharable.seat`."""
        with self.changed:
            return self.buffer.sit(leads=False) if self.buffer.joinable(again=again) else None

    def is_over(self) -> bool:
        """Whether no more chunks will come."""
        return self.buffer.ended

    def next(self, seat: Seat) -> Chunk | None:
        """The reader's next chunk, waited for; None at the end.

        Raises:
            Exception: What the stream raised, or `FellBehind`.
        """
        while True:
            with self.changed:
                while True:
                    chunk = self.buffer.take(seat)
                    if chunk is not None:
                        return chunk
                    if self.buffer.ended:
                        if self.buffer.error is not None:
                            raise self.buffer.error
                        return None
                    if not self._busy:
                        self._busy = True
                        break
                    self._waiting += 1
                    self.changed.wait()
                    self._waiting -= 1
            chunk = self._bring(seat)
            if chunk is not None:
                return chunk

    def _bring(self, seat: Seat) -> Chunk | None:
        """One more chunk of the stream; the reader's next one, unless there is none or an error."""
        token = pulled.set((*pulled.get(), self))
        ended, error, chunk = True, None, None
        try:
            chunk = next(self._source)
            ended = False
        except StopIteration:
            pass
        except Exception as failure:  # noqa: BLE001 - it is raised again for each reader
            error = failure
        except BaseException:
            error = Interrupted()
            raise
        finally:
            pulled.reset(token)
            with self.changed:
                self._busy = False
                if chunk is not None:
                    self.buffer.append(chunk)
                    chunk = self.buffer.take(seat)
                elif ended:
                    self.buffer.end(error)
                if self._waiting:
                    self.changed.notify_all()
        return chunk

    def leave(self, seat: Seat) -> bool:
        """The reader goes; True when it was the last one of a stream that runs."""
        with self.changed:
            self.buffer.seats.discard(seat)
            if self.buffer.seats or self.buffer.ended:
                return False
            self.buffer.end(Interrupted())
            return True

    def close(self) -> None:
        close = getattr(self._source, "close", None)
        if close is not None:
            close()


class SharedStreams(Generic[Chunk]):
    """Streams by key; the first to ask for a key starts one, the others read along."""

    def __init__(self, kind: Kind[Chunk]) -> None:
        self._kind = kind
        self._streams: Streams[_Shared[Chunk]] = Streams()

    def read(self, key: str, source: Callable[[], Iterator[Chunk]]) -> Generator[Chunk, None, None]:
        """The chunks of `source`, which runs once for all readers of the same key at a time.

        A reader may stop whenever it likes; the stream is closed when the last one has. If a stream
        fails, whoever started it is told; of the others one starts it again, and they read along
        where it begins with what they were given, and else get the failure.
        """
        reader = Reader(self._kind)
        failed: _Shared[Chunk] | None = None

        def begin() -> tuple[_Shared[Chunk], Seat]:
            begun = _Shared(source(), self._kind)
            return begun, begun.buffer.sit(leads=True)

        while True:
            shared, seat = self._streams.seated(key, begin, failed)
            if shared in pulled.get():
                shared.leave(seat)
                for own in source():
                    yield self._kind.copied(own, True)
                return
            try:
                yield from self._chunks(shared, seat, reader)
            except Exception as error:
                if error is not shared.buffer.error or not reader.survives(error, leads=seat.leads):
                    raise
                failed = shared
            else:
                return
            finally:
                self._leave(key, shared, seat)

    def _chunks(self, shared: _Shared[Chunk], seat: Seat, reader: Reader[Chunk]) -> Iterator[Chunk]:
        while (chunk := shared.next(seat)) is not None:
            given = reader.given(chunk, leads=seat.leads)
            if given is not None:
                yield given
        reader.ended()

    def _leave(self, key: str, shared: _Shared[Chunk], seat: Seat) -> None:
        last = shared.leave(seat)
        self._streams.left(key, shared)
        if last:
            shared.close()
