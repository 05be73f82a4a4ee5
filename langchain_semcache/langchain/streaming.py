"""`.stream()` and `.astream()` from the cache.

LangChain asks a cache in `invoke` only; a model that can stream never does. `cached_streams` makes
a copy of the model whose private streaming methods look first, so that callbacks, events and
agents see an ordinary stream.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, closing
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.load import dumps
from langchain_core.messages import BaseMessage, message_chunk_to_message
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult, Generation

from langchain_semcache.langchain.cache import SemanticCache

Model = TypeVar("Model", bound=BaseChatModel)


def cached_streams(model: Model, cache: SemanticCache) -> Model:
    """A copy of the model whose `invoke`, `stream` and their async twins use this cache.

    One entry serves all of them, and identical streams that are asked for at once are one: the
    others read along from its beginning. How a stored answer is streamed is in the settings
    `streams`. The copy is of the model's own class, so that `bind_tools` and
    `with_structured_output` work as before. A stream is stored after its clean end only; a
    consumer that stops early, or an error, leaves nothing behind. A model that cannot stream
    answers `stream` through `invoke`, as ever.
    """
    copy = model.model_copy(update={"cache": cache})
    if not isinstance(copy, _Cached):
        copy.__class__ = cast("type[Model]", _with_cached_streams(type(model)))
    return copy


@functools.cache
def _with_cached_streams(kind: type[BaseChatModel]) -> type[BaseChatModel]:
    # Only what the model has itself is wrapped: by these LangChain tells whether it can stream.
    streams = kind._stream is not BaseChatModel._stream  # noqa: SLF001
    astreams = kind._astream is not BaseChatModel._astream  # noqa: SLF001
    bases = [_CachedStream] * streams + [_CachedAsyncStream] * astreams + [kind]
    # The class keeps its name: LangChain derives the cache key from it, and stream and invoke must
    # come to the same key.
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    return type(kind.__name__, tuple(bases), names) if len(bases) > 1 else kind


_looked_up: ContextVar[object] = ContextVar("langchain_semcache_looked_up", default=None)
"""The model whose `invoke` is under way: it has asked the cache, and will store the reply."""


class _Cached(BaseChatModel):
    """Mixed in before a model's own class."""

    def _generate_with_cache(self, *args: Any, **kwargs: Any) -> ChatResult:
        token = _looked_up.set(self)
        try:
            return super()._generate_with_cache(*args, **kwargs)
        finally:
            _looked_up.reset(token)

    async def _agenerate_with_cache(self, *args: Any, **kwargs: Any) -> ChatResult:
        token = _looked_up.set(self)
        try:
            return await super()._agenerate_with_cache(*args, **kwargs)
        finally:
            _looked_up.reset(token)

    def _own_cache(self, options: dict[str, Any]) -> SemanticCache | None:
        """The cache to ask; None when `invoke` has done so, or caching was switched off since.

        A stream brings one reply: where several are asked for, it is not what `invoke` would keep.
        """
        several = options.get("n", getattr(self, "n", None)) not in (None, 1)
        if several or _looked_up.get() is self or not isinstance(self.cache, SemanticCache):
            return None
        return self.cache

    def _key(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> tuple[str, str]:
        """What LangChain would give a cache for this call in `invoke`."""
        without_ids = [message.model_copy(update={"id": None}) for message in messages]
        return dumps(without_ids), self._get_llm_string(stop=stop, **options)

    def _whole(self, chunks: Sequence[ChatGenerationChunk]) -> list[Generation]:
        """The whole reply, as `invoke` would have returned it."""
        whole = chunks[0] + list(chunks[1:])
        message = message_chunk_to_message(whole.message)
        message.response_metadata = {**(whole.generation_info or {}), **message.response_metadata}
        if self.output_version == "v1":
            message.response_metadata["output_version"] = "v1"
            message = message.model_copy(update={"content": message.content_blocks})
        return [ChatGeneration(message=message, generation_info=whole.generation_info)]


class _CachedStream(_Cached):
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        cache = self._own_cache(kwargs)
        if cache is None:
            yield from super()._stream(messages, stop, run_manager, **kwargs)
            return
        # The model is told of no manager: others may read along, and each tells its own.
        upstream = functools.partial(super()._stream, messages, stop, None, **kwargs)
        asked = cache.traced(*self._key(messages, stop, kwargs))
        with closing(cache.streams.read(asked, upstream, self._whole)) as chunks:
            for chunk in chunks:
                # Like every model: whoever passes a manager wants it told here. LangChain's own
                # `stream` passes none and tells it itself.
                if run_manager is not None:
                    run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk


class _CachedAsyncStream(_Cached):
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        cache = self._own_cache(kwargs)
        if cache is None:
            async for chunk in super()._astream(messages, stop, run_manager, **kwargs):
                yield chunk
            return
        upstream = functools.partial(super()._astream, messages, stop, None, **kwargs)
        asked = cache.traced(*self._key(messages, stop, kwargs))
        async with aclosing(cache.streams.aread(asked, upstream, self._whole)) as chunks:
            async for chunk in chunks:
                if run_manager is not None:
                    await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk
