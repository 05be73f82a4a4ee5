"""One running stream for many identical requests at once: for tasks, also of several event loops.

A task of its own brings the chunks, so that a reader that is cancelled takes nothing from the
others. It brings them on demand of whichever reader is furthest, and a few more.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress
from typing import Generic, TypeVar

from langchain_semcache.engine.shared_buffer import Buffer, Interrupted, Seat, Streams, pulled
from langchain_semcache.engine.stream_reader import Kind, Reader

Chunk = TypeVar("Chunk")

AHEAD = 16
"""Chunks that are brought before anybody asks: where they come at once, one wake-up for all."""

LOOK_SECONDS = 1.0
"""How often a reader in another event loop looks whether the loop of the stream still runs."""


class _Shared(Generic[Chunk]):
    """One running stream. What readers of several loops touch is behind a lock.

    As long as only the reader is there whose call it is, it brings its chunks itself, one by one:
    a stream that nobody shares costs no task and is not read ahead of its reader.
    """

    def __init__(self, source: AsyncIterator[Chunk], kind: Kind[Chunk]) -> None:
        self.lock = threading.Lock()
        self.buffer: Buffer[Chunk] = Buffer(kind.size, kind.most)
        self._loop = asyncio.get_running_loop()
        self._source = source
        self._alone = False
        self._wanted = asyncio.Event()
        self._waiting: list[asyncio.Future[None]] = []
        self._elsewhere: set[Seat] = set()
        self._task: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None

    def seat(self, *, again: bool) -> Seat | None:
        """See `Sharable.seat`."""
        with self.lock:
            if not self.buffer.joinable(again=again):
                return None
            seat = self.buffer.sit(leads=False)
            if asyncio.get_running_loop() is not self._loop:
                self._elsewhere.add(seat)
            return seat

    def is_over(self) -> bool:
        """Whether no more chunks will come."""
        return self.buffer.ended

    async def next(self, seat: Seat) -> Chunk | None:
        """The reader's next chunk, waited for; None at the end.

        Raises:
            Exception: What the stream raised, or `FellBehind`.
        """
        here = asyncio.get_running_loop()
        while True:
            news: asyncio.Future[None] | None = None
            with self.lock:
                # Who joins while another one's task brings a chunk is given nothing before it is
                # there: that task may be cancelled, and the stream with it.
                chunk = None if self._alone else self.buffer.take(seat)
                if chunk is not None:
                    if self._task is not None and self.buffer.head - seat.position < AHEAD // 2:
                        self._ask(here)
                    return chunk
                if self.buffer.ended:
                    if self.buffer.error is not None:
                        raise self.buffer.error
                    return None
                if self._task is None and self.buffer.seats == {seat} and here is self._loop:
                    self._alone = True
                else:
                    news = here.create_future()
                    self._waiting.append(news)
                    self._ask(here)
            if news is not None:
                await self._news(news, here)
            elif (chunk := await self._bring_one(seat)) is not None:
                return chunk

    async def leave(self, seat: Seat) -> None:
        """The reader goes; with the last one of its event loop the stream is closed.

        A loop often ends with its last reader, and nobody is told: those who read along in another
        one are better off with a call of their own.
        """
        here = asyncio.get_running_loop()
        with self.lock:
            self.buffer.seats.discard(seat)
            if self.buffer.ended:
                return
            left = self.buffer.seats
            if left - self._elsewhere or (left and seat in self._elsewhere):
                self._ask(here)
                return
            self.buffer.end(Interrupted())
            self._tell()
        if here is self._loop:
            await self._stop()
        else:
            with suppress(RuntimeError):  # its loop is closed, and with it the stream
                self._loop.call_soon_threadsafe(self._stop_here)

    def _stop_here(self) -> None:
        self._stopping = self._loop.create_task(self._stop())

    async def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        await self._close()  # again, where the task was cancelled before it had begun

    async def _close(self) -> None:
        close = getattr(self._source, "aclose", None)
        if close is not None:
            await close()

    async def _bring_one(self, seat: Seat) -> Chunk | None:
        """One more chunk of the stream; the reader's next one, unless there is none or an error."""
        token = pulled.set((*pulled.get(), self))
        ended, error, chunk = True, None, None
        try:
            chunk = await anext(self._source)
            ended = False
        except StopAsyncIteration:
            pass
        except Exception as failure:  # noqa: BLE001 - it is raised again for each reader
            error = failure
        except BaseException:
            error = Interrupted()
            raise
        finally:
            pulled.reset(token)
            with self.lock:
                self._alone = False
                if chunk is not None:
                    self.buffer.append(chunk)
                    chunk = self.buffer.take(seat)
                elif ended:
                    self.buffer.end(error)
                self._tell()
        return chunk

    async def _bring(self) -> None:
        pulled.set((*pulled.get(), self))
        error: BaseException | None = None
        try:
            while not self.buffer.ended:
                chunk = await anext(self._source)
                with self.lock:
                    self.buffer.append(chunk)
                    enough = self.buffer.head - self.buffer.furthest >= AHEAD
                    if enough:
                        self._wanted.clear()
                    self._tell()
                if enough:
                    await self._wanted.wait()
        except StopAsyncIteration:
            pass
        except Exception as failure:  # noqa: BLE001 - it is raised again for each reader
            error = failure
        except BaseException:
            error = Interrupted()
            raise
        finally:
            try:
                await self._close()
            finally:
                with self.lock:
                    self.buffer.end(error)
                    self._tell()

    def _start(self, here: asyncio.AbstractEventLoop) -> None:
        """From now on a task brings the chunks; with the lock held."""
        if self._task is not None or self._alone:
            return
        if here is self._loop:
            self._task = self._loop.create_task(self._bring())
        else:
            with suppress(RuntimeError):  # the loop is closed; `_news` notices
                self._loop.call_soon_threadsafe(self._start_here)

    def _start_here(self) -> None:
        with self.lock:
            self._start(self._loop)

    def _ask(self, here: asyncio.AbstractEventLoop) -> None:
        if self._task is None and (len(self.buffer.seats) > 1 or here is not self._loop):
            self._start(here)
        if here is self._loop:
            self._wanted.set()
        else:
            with suppress(RuntimeError):  # the loop is closed; `_news` notices
                self._loop.call_soon_threadsafe(self._wanted.set)

    def _tell(self) -> None:
        for news in self._waiting:
            loop = news.get_loop()
            if loop is self._loop:
                _told(news)
            else:
                with suppress(RuntimeError):  # the reader went with its loop
                    loop.call_soon_threadsafe(_told, news)
        self._waiting.clear()

    async def _news(self, news: asyncio.Future[None], here: asyncio.AbstractEventLoop) -> None:
        if here is self._loop:
            await news
            return
        while not news.done():
            await asyncio.wait({news}, timeout=LOOK_SECONDS)
            if not news.done() and not self._loop.is_running():
                with self.lock:
                    self.buffer.end(Interrupted())
                return


def _told(news: asyncio.Future[None]) -> None:
    if not news.done():
        news.set_result(None)


class AsyncSharedStreams(Generic[Chunk]):
    """Streams by key; the first to ask for a key starts one, the others read along."""

    def __init__(self, kind: Kind[Chunk]) -> None:
        self._kind = kind
        self._streams: Streams[_Shared[Chunk]] = Streams()

    async def read(
        self, key: str, source: Callable[[], AsyncIterator[Chunk]]
    ) -> AsyncGenerator[Chunk, None]:
        """See `SharedStreams.read`."""
        reader = Reader(self._kind)
        failed: _Shared[Chunk] | None = None

        def begin() -> tuple[_Shared[Chunk], Seat]:
            begun = _Shared(source(), self._kind)
            return begun, begun.buffer.sit(leads=True)

        while True:
            shared, seat = self._streams.seated(key, begin, failed)
            if shared in pulled.get():
                await shared.leave(seat)
                async for own in source():
                    yield self._kind.copied(own, True)
                return
            try:
                while (chunk := await shared.next(seat)) is not None:
                    given = reader.given(chunk, leads=seat.leads)
                    if given is not None:
                        yield given
                reader.ended()
            except Exception as error:
                if error is not shared.buffer.error or not reader.survives(error, leads=seat.leads):
                    raise
                failed = shared
            else:
                return
            finally:
                await self._leave(key, shared, seat)

    async def _leave(self, key: str, shared: _Shared[Chunk], seat: Seat) -> None:
        try:
            await shared.leave(seat)
        finally:
            self._streams.left(key, shared)
