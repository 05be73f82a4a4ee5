"""A stored reply as the chunks of a stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, AIMessageChunk, ToolCall
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, Generation

from langchain_semcache.config import StreamSettings
from langchain_semcache.langchain.generations import free_of_charge
from langchain_semcache.streaming import CALLS, REASONING, TEXT, Shape, arrange, due

_GROWING = {
    "text": ("text", TEXT),
    "reasoning": ("reasoning", REASONING),
    "thinking": ("thinking", REASONING),
}
"""Blocks of content that are streamed in pieces: the field that grows, and its track."""

_THOUGHT = "reasoning_content"

Fields: TypeAlias = dict[str, Any]
"""What a chunk's message is made with."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A chunk that is yet to be made: a stream begins before all of its chunks are there."""

    fields: Fields
    info: dict[str, Any] | None = None

    def chunk(self) -> ChatGenerationChunk:
        message = AIMessageChunk(**self.fields)
        return ChatGenerationChunk(message=message, generation_info=self.info)


@dataclass(frozen=True, slots=True)
class _Source:
    """A text of the reply, and the fields of a chunk that brings a piece of it.

    `made` is given the piece and whether it is the first of its text.
    """

    track: int
    text: str
    made: Callable[[str, bool], Fields]


def can_be_streamed(generation: Generation) -> bool:
    """Whether chunks add up to this reply: LangChain mends broken arguments of streamed calls."""
    return not message_of(generation).invalid_tool_calls


def message_of(generation: Generation) -> AIMessage:
    """The reply as a message, whatever class of generation it came in."""
    message = generation.message if isinstance(generation, ChatGeneration) else None
    return message if isinstance(message, AIMessage) else AIMessage(generation.text)


def replayed(
    generation: Generation, shape: Shape | None, settings: StreamSettings
) -> tuple[list[Planned], list[float]]:
    """The chunks of a stored reply, and when each is due, in seconds from the first.

    Text, reasoning and, where that was recorded, the arguments of calls come in pieces; whatever
    else there is, with the last chunk.
    """
    message = message_of(generation)
    rest = dict(message.additional_kwargs)
    sources, left = _sources(message, rest)
    texts = [(source.track, source.text) for source in sources]
    recorded = shape if settings.cuts == "recorded" else None
    parts = arrange(texts, recorded, settings.pace)
    times = due(texts, parts, shape, settings.pace)
    begun: set[int] = set()
    chunks: list[Fields] = []
    for part in parts:
        chunks.append(sources[part.source].made(part.text, part.source not in begun))
        begun.add(part.source)
    if not chunks or left:
        chunks.append({"content": left or ""})
        times.append(times[-1] if times else 0.0)
    last = chunks[-1]
    last["additional_kwargs"] = {**rest, **last.get("additional_kwargs", {})}
    last["response_metadata"] = message.response_metadata
    last["usage_metadata"] = free_of_charge(message)
    last["chunk_position"] = "last"
    planned = [Planned(fields) for fields in chunks[:-1]]
    return [*planned, Planned(last, generation.generation_info)], times


def _sources(message: AIMessage, rest: Fields) -> tuple[list[_Source], str | list[Any]]:
    """The texts to stream, taken out of `rest`, and the content that is left for the last chunk."""
    sources: list[_Source] = []
    thought = rest.get(_THOUGHT)
    if thought and isinstance(thought, str):
        del rest[_THOUGHT]
        sources.append(_Source(REASONING, thought, _thinking))
    content, left = message.content, list[Any]()
    if isinstance(content, str):
        if content:
            sources.append(_Source(TEXT, content, lambda piece, _: {"content": piece}))
    elif (growing := _blocks(content)) is not None:
        sources += growing
    else:
        left = list(content)
    sources += [_call(place, call) for place, call in enumerate(message.tool_calls)]
    return sources, left


def _thinking(piece: str, _: bool) -> Fields:
    return {"content": "", "additional_kwargs": {_THOUGHT: piece}}


def _blocks(content: list[Any]) -> list[_Source] | None:
    """The blocks as texts that grow; None where chunks of them would not add up to the same."""
    sources = []
    for place, block in enumerate(content):
        kind = _GROWING.get(block.get("type", "")) if isinstance(block, Mapping) else None
        text = block.get(kind[0]) if kind is not None else None
        if kind is None or not isinstance(text, str) or not text:
            return None
        if block.get("index", place) != place:
            return None
        sources.append(_Source(kind[1], text, _block(dict(block), kind[0], place)))
    return sources


def _block(block: Fields, field: str, index: int) -> Callable[[str, bool], Fields]:
    def made(piece: str, first: bool) -> Fields:
        said = block if first else {"type": block["type"]}
        return {"content": [{**said, field: piece, "index": index}]}

    return made


def _call(index: int, call: ToolCall) -> _Source:
    def made(piece: str, first: bool) -> Fields:
        name, known = (call["name"], call["id"]) if first else (None, None)
        part = tool_call_chunk(name=name, args=piece, id=known, index=index)
        return {"content": "", "tool_call_chunks": [part]}

    return _Source(CALLS + index, json.dumps(call["args"], ensure_ascii=False), made)
