"""Streams through the cache: replayed, or recorded while the model answers, and shared."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from contextvars import copy_context
from dataclasses import replace
from typing import TypeAlias

from langchain_core.outputs import ChatGenerationChunk, Generation

from langchain_semcache.client import AsyncSemcache, Semcache
from langchain_semcache.engine.flow import entry_id
from langchain_semcache.engine.shared_streams import SharedStreams
from langchain_semcache.engine.shared_streams_async import AsyncSharedStreams
from langchain_semcache.engine.stream_reader import Kind
from langchain_semcache.errors import CorruptEntry
from langchain_semcache.langchain.chunks import Keeper, Kept
from langchain_semcache.langchain.generations import Unstorable, to_generations, to_response
from langchain_semcache.langchain.provenance import Traced
from langchain_semcache.langchain.replaying import Planned, can_be_streamed, replayed
from langchain_semcache.records import Decision, Reason, Response
from langchain_semcache.request import Resolved
from langchain_semcache.responses.admission import COMPLETE, REFUSED
from langchain_semcache.streaming import (
    Ending,
    Recorder,
    Shape,
    ShapeUnreadable,
    Timing,
    play,
    play_async,
)

ADAPTER = "langchain"

STREAM = "stream"
"""Where the body of a stored reply has the record of how its stream was cut."""

Whole: TypeAlias = Callable[[Sequence[ChatGenerationChunk]], list[Generation]]
Asked: TypeAlias = Callable[[], Traced]


class Streams:
    """What a `SemanticCache` does about streams. It raises what the model raises, nothing else."""

    def __init__(self, sync: Semcache, asynchronous: AsyncSemcache) -> None:
        self._sync = sync
        self._async = asynchronous
        self._settings = sync.config.streams
        self._clock = sync.core.workplace.clock.monotonic
        self._timing = Timing.of(self._clock)
        kind: Kind[Kept] = Kind(
            reduced=lambda kept: kept.piece,
            copied=Kept.handed,
            last=Kept.last,
            most=self._settings.max_characters,
        )
        self._shared = SharedStreams(kind)
        self._ashared = AsyncSharedStreams(kind)

    def read(
        self, asked: Asked, upstream: Callable[[], Iterator[ChatGenerationChunk]], whole: Whole
    ) -> Generator[ChatGenerationChunk, None, None]:
        """The stored answer as a stream, else that of the model, asked once for identical calls.

        Each caller looks for itself: a replay under way may be of an answer that is gone by now.

        Args:
            asked: Makes the request, with what its answer rests on.
            upstream: Asks the model.
            whole: Makes the reply of its chunks, as it is stored.
        """
        traced = self._traced(asked)
        if traced is None:
            yield from upstream()
            return
        if (found := self._found(traced.asked)) is not None:
            for planned in play(*found, self._timing):
                yield planned.chunk()
            return
        source = functools.partial(self._source, traced, upstream, whole)
        key = self._shares(traced.asked)
        kept = self._shared.read(key, lambda: _in_one_context(source)) if key else source()
        with closing(kept):
            for one in kept:
                yield one.chunk()

    async def aread(
        self, asked: Asked, upstream: Callable[[], AsyncIterator[ChatGenerationChunk]], whole: Whole
    ) -> AsyncGenerator[ChatGenerationChunk, None]:
        """See `read`."""
        traced = await asyncio.to_thread(self._traced, asked)
        if traced is None:
            async for chunk in upstream():
                yield chunk
            return
        if (found := await self._afound(traced.asked)) is not None:
            async for planned in play_async(*found, self._timing):
                yield planned.chunk()
            return
        source = functools.partial(self._asource, traced, upstream, whole)
        key = self._shares(traced.asked)
        kept = self._ashared.read(key, source) if key else source()
        async with aclosing(kept):
            async for one in kept:
                yield one.chunk()

    def _traced(self, asked: Asked) -> Traced | None:
        try:
            return asked()
        except Exception as error:  # noqa: BLE001 - a cache must not break the call it caches
            self._sync.troubled(ADAPTER, error)
            return None

    def _shares(self, resolved: Resolved) -> str:
        """The entry whose stream may be shared; empty where each call is its own."""
        if not self._settings.share or resolved.cacheable is not None:
            return ""
        return entry_id(resolved.scope, resolved.query)

    def _source(
        self,
        traced: Traced,
        upstream: Callable[[], Iterator[ChatGenerationChunk]],
        whole: Whole,
    ) -> Generator[Kept, None, None]:
        keep = Keeper()
        recording = _Recording(self._recorder())
        try:
            with _closing(upstream()) as chunks:
                for chunk in chunks:
                    yield recording.passing(keep(chunk))
        except BaseException as error:
            self._dropped(recording.broken(error))
            raise
        if recording.ended() is Ending.TOO_LARGE:
            self._dropped(Ending.TOO_LARGE)
        elif recording.kept:
            try:
                reply = self._response(recording, whole)
                self._sync.store(traced.asked, reply, sources=traced.sources, tags=traced.tags)
            except Unstorable as error:
                self._sync.not_kept(str(error))
            except Exception as error:  # noqa: BLE001 - the answer is paid for and must arrive
                self._sync.troubled(ADAPTER, error)

    async def _asource(
        self,
        traced: Traced,
        upstream: Callable[[], AsyncIterator[ChatGenerationChunk]],
        whole: Whole,
    ) -> AsyncGenerator[Kept, None]:
        keep = Keeper()
        recording = _Recording(self._recorder())
        try:
            async with _aclosing(upstream()) as chunks:
                async for chunk in chunks:
                    yield recording.passing(keep(chunk))
        except BaseException as error:
            self._dropped(recording.broken(error))
            raise
        if recording.ended() is Ending.TOO_LARGE:
            self._dropped(Ending.TOO_LARGE)
        elif recording.kept:
            reply = functools.partial(self._response, recording, whole)
            try:
                await self._async.store(
                    traced.asked, reply, sources=traced.sources, tags=traced.tags
                )
            except Unstorable as error:
                self._async.not_kept(str(error))
            except Exception as error:  # noqa: BLE001 - the answer is paid for and must arrive
                self._async.troubled(ADAPTER, error)

    def _found(self, resolved: Resolved) -> tuple[list[Planned], list[float]] | None:
        try:
            decision = self._sync.lookup(resolved)
            try:
                return self._planned(decision)
            except CorruptEntry as error:
                self._sync.remove(error.entry_id)
                raise
        except Exception as error:  # noqa: BLE001 - a cache must not break the call it caches
            self._sync.troubled(ADAPTER, error)
            return None

    async def _afound(self, resolved: Resolved) -> tuple[list[Planned], list[float]] | None:
        try:
            decision = await self._async.lookup(resolved)
            try:
                return self._planned(decision)
            except CorruptEntry as error:
                await self._async.remove(error.entry_id)
                raise
        except Exception as error:  # noqa: BLE001 - a cache must not break the call it caches
            self._async.troubled(ADAPTER, error)
            return None

    def _planned(self, decision: Decision) -> tuple[list[Planned], list[float]] | None:
        if not decision.hit:
            return None
        generation = to_generations(decision)[0]
        if not can_be_streamed(generation):
            return None
        return replayed(generation, _shape(decision), self._settings)

    def _recorder(self) -> Recorder:
        most = self._settings.max_characters
        return Recorder(self._clock, most=most, complete=COMPLETE, refused=REFUSED)

    def _response(self, recording: _Recording, whole: Whole) -> Response:
        response = to_response(whole([kept.copy() for kept in recording.kept]))
        if not self._settings.record or not isinstance(response.body, dict):
            return response
        shape = recording.recorder.shape(pauses=self._settings.pace == "recorded")
        return replace(response, body={**response.body, STREAM: shape.to_json()})

    def _dropped(self, ending: Ending) -> None:
        if ending is Ending.TOO_LARGE:
            most = self._settings.max_characters
            reason, detail = Reason.REPLY_TOO_LARGE, f"more than {most} characters in one stream"
        else:
            reason, detail = Reason.INCOMPLETE_REPLY, f"the stream was {ending.value}"
        self._sync.not_kept(detail, reason)


def _in_one_context(
    source: Callable[[], Generator[Kept, None, None]],
) -> Generator[Kept, None, None]:
    """What the source yields, as if one thread read it: a shared one is brought by several.

    A model may set a context variable at its beginning and reset it at its end.
    """
    context = copy_context()
    chunks = context.run(source)
    try:
        while True:
            try:
                one = context.run(next, chunks)
            except StopIteration:
                return
            yield one
    finally:
        context.run(chunks.close)


class _Recording:
    """A recorder, and the chunks that make up the reply."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.kept: list[Kept] = []

    def passing(self, kept: Kept) -> Kept:
        self.recorder.add(kept.piece)
        if self.recorder.recording:
            self.kept.append(kept)
        else:
            self.kept.clear()
        return kept

    def broken(self, error: BaseException) -> Ending:
        failed = isinstance(error, Exception)
        return self.recorder.fail() if failed else self.recorder.cancel()

    def ended(self) -> Ending:
        return self.recorder.end()


def _shape(decision: Decision) -> Shape | None:
    body = decision.response.body if decision.response is not None else None
    record = body.get(STREAM) if isinstance(body, dict) else None
    try:
        return None if record is None else Shape.from_json(record)
    except ShapeUnreadable:
        return None  # it says how, not what: the answer is whole without it


@contextmanager
def _closing(chunks: Iterator[ChatGenerationChunk]) -> Iterator[Iterator[ChatGenerationChunk]]:
    """As `contextlib.closing`, for models too that return an iterator which cannot be closed."""
    try:
        yield chunks
    finally:
        close = getattr(chunks, "close", None)
        if close is not None:
            close()


@asynccontextmanager
async def _aclosing(
    chunks: AsyncIterator[ChatGenerationChunk],
) -> AsyncIterator[AsyncIterator[ChatGenerationChunk]]:
    """See `_closing`."""
    try:
        yield chunks
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()
