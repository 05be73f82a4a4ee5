"""`.stream()` and `.astream()` from the cache.

LangChain asks a cache in `invoke` only; a model that can stream never does. `cached_streams` makes
a copy of the model whose private streaming methods look first, so that callbacks, events and
agents see an ordinary stream.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, TypeVar

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.load import dumps
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    message_chunk_to_message,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, Generation

from langchain_semcache.langchain.cache import SemanticCache

Model = TypeVar("Model", bound=BaseChatModel)

_PIECES = re.compile(r"\s*\S+\s*|\s+")


def cached_streams(model: Model, cache: SemanticCache) -> Model:
    """A copy of the model whose `invoke`, `stream` and their async twins use this cache.

    One entry serves all of them. The copy is of the model's own class, so that `bind_tools` and
    `with_structured_output` work as before. A stream is stored after its clean end only; a
    consumer that stops early, or an error, leaves nothing behind.
    """
    kind = type(model)
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    copy = model.model_copy(update={"cache": cache})
    # The class keeps its name: LangChain derives the cache key from it, and stream and invoke
    # must come to the same key.
    copy.__class__ = type(kind.__name__, (_CachedStreams, kind), names)
    return copy


class _CachedStreams(BaseChatModel):
    """Mixed in before a model's own class."""

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        cache, key = self._key(messages, stop, kwargs)
        found = cache.lookup(*key)
        if found:
            yield from _reported(_replay(found), run_manager)
            return
        chunks: list[ChatGenerationChunk] = []
        for chunk in super()._stream(messages, stop, run_manager, **kwargs):
            chunks.append(chunk)
            yield chunk
        if chunks:
            cache.update(*key, _joined(chunks))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        cache, key = self._key(messages, stop, kwargs)
        found = await cache.alookup(*key)
        if found:
            for chunk in _replay(found):
                if run_manager is not None:
                    await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk
            return
        chunks: list[ChatGenerationChunk] = []
        async for chunk in super()._astream(messages, stop, run_manager, **kwargs):
            chunks.append(chunk)
            yield chunk
        if chunks:
            await cache.aupdate(*key, _joined(chunks))

    def _key(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> tuple[SemanticCache, tuple[str, str]]:
        assert isinstance(self.cache, SemanticCache)
        without_ids = [message.model_copy(update={"id": None}) for message in messages]
        return self.cache, (dumps(without_ids), self._get_llm_string(stop=stop, **options))


def _joined(chunks: Sequence[ChatGenerationChunk]) -> list[Generation]:
    """The whole reply, as `invoke` would have returned it."""
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    message = message_chunk_to_message(whole.message)
    return [ChatGeneration(message=message, generation_info=whole.generation_info)]


def _reported(
    chunks: Iterator[ChatGenerationChunk], run_manager: CallbackManagerForLLMRun | None
) -> Iterator[ChatGenerationChunk]:
    for chunk in chunks:
        if run_manager is not None:
            run_manager.on_llm_new_token(chunk.text, chunk=chunk)
        yield chunk


def _replay(found: Sequence[Generation]) -> Iterator[ChatGenerationChunk]:
    """The stored reply as chunks: its text word by word, everything else with the last one."""
    generation = found[0]
    message = generation.message if isinstance(generation, ChatGeneration) else None
    if not isinstance(message, AIMessage):
        message = AIMessage(generation.text)
    words = _PIECES.findall(message.content) if isinstance(message.content, str) else []
    for word in words[:-1]:
        yield ChatGenerationChunk(message=AIMessageChunk(content=word, id=message.id))
    last = words[-1] if words else message.content
    usage = message.usage_metadata
    yield ChatGenerationChunk(
        message=AIMessageChunk(
            content=last,
            id=message.id,
            additional_kwargs=message.additional_kwargs,
            response_metadata=message.response_metadata,
            tool_call_chunks=_call_chunks(message),
            # Tokens stay, the cost is nothing: this is what LangChain does for `invoke`.
            usage_metadata={**usage, "total_cost": 0} if usage else None,  # type: ignore[typeddict-unknown-key]  # LangChain adds this key itself
            chunk_position="last",
        ),
        generation_info=generation.generation_info,
    )


def _call_chunks(message: AIMessage) -> list[Any]:
    return [
        {
            "type": "tool_call_chunk",
            "name": call["name"],
            "args": json.dumps(call["args"], ensure_ascii=False),
            "id": call["id"],
            "index": position,
        }
        for position, call in enumerate(message.tool_calls)
    ]
