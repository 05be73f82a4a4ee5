"""A stored chat reply as LiteLLM's chunks, cut and paced as the settings say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from langchain_semcache.config import StreamSettings
from langchain_semcache.errors import MissingExtra
from langchain_semcache.streaming import (
    CALLS,
    REASONING,
    TEXT,
    Timing,
    arrange,
    due,
    play,
    play_async,
)

try:
    from litellm.litellm_core_utils.llm_response_utils.convert_dict_to_response import (
        convert_to_streaming_response,
    )
    from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper
    from litellm.types.utils import Delta, StreamingChoices
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

Reply: TypeAlias = dict[str, Any]
Fields: TypeAlias = dict[str, Any]


class Replay(CustomStreamWrapper):  # type: ignore[misc]
    """The stream of a stored reply.

    LiteLLM asks whether "detail" is in what a cache returns; a stream would be read to find out.
    """

    def __contains__(self, item: object) -> bool:
        return False

    def raise_on_model_repetition(self) -> None:
        """Nothing: an answer that repeats itself is no model that has lost its way."""


def replayed(
    reply: Reply, kwargs: Mapping[str, Any], settings: StreamSettings, clock: Callable[[], float]
) -> Replay:
    """The stream of a stored chat reply, for a synchronous call.

    LiteLLM's own replay cuts at spaces alone, which Chinese has none of, and its asynchronous one
    leaves reasoning out (1.108 does).
    """
    plan = _Plan.of(reply, settings)
    return _wrapped(play(plan.frames, plan.times, Timing.of(clock)), plan, kwargs)


def replayed_async(
    reply: Reply, kwargs: Mapping[str, Any], settings: StreamSettings, clock: Callable[[], float]
) -> Replay:
    """See `replayed`."""
    plan = _Plan.of(reply, settings)
    return _wrapped(play_async(plan.frames, plan.times, Timing.of(clock)), plan, kwargs)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The chunks of a reply, the later ones only as the fields of their deltas.

    `base` is the chunk that LiteLLM makes of the whole reply without its texts.
    """

    base: Any
    frames: list[Fields]
    times: list[float]

    @classmethod
    def of(cls, reply: Reply, settings: StreamSettings) -> _Plan:
        choice = reply["choices"][0]
        message = dict(choice["message"])
        content = message.get("content")
        if len(reply["choices"]) != 1 or not isinstance(content, str | None):
            return cls(_one_chunk(reply), [{}], [0.0])
        texts, makers = _texts(message)
        bare = {**reply, "choices": [{**choice, "message": message}]}
        base = _one_chunk(bare)
        parts = arrange(texts, None, settings.pace)
        times = due(texts, parts, None, settings.pace)
        begun: set[int] = set()
        frames = []
        for part in parts:
            frames.append(makers[part.source](part.text, part.source not in begun))
            begun.add(part.source)
        return cls(base, frames or [{}], times or [0.0])

    def chunk(self, place: int, fields: Fields) -> Any:
        """The first has everything but the texts, the last the end and the usage."""
        last = place == len(self.frames) - 1
        chunk = self.base.model_copy()
        told = self.base.choices[0]
        chunk.choices = list(self.base.choices)
        if place == 0:
            chunk.choices[0] = told.model_copy()
            delta = chunk.choices[0].delta = told.delta.model_copy()
            for name, value in fields.items():
                setattr(delta, name, _calls(value) if name == "tool_calls" else value)
            chunk.choices[0].finish_reason = told.finish_reason if last else None
        else:
            ended = told.finish_reason if last else None
            delta = Delta(**fields)
            chunk.choices[0] = StreamingChoices(index=0, delta=delta, finish_reason=ended)
        if not last and getattr(chunk, "usage", None) is not None:
            del chunk.usage
        return chunk


def _one_chunk(reply: Reply) -> Any:
    """The whole reply as one chunk.

    From 1.110 on LiteLLM makes several of it, of one choice: the end and the usage are in the last.
    """
    chunk, *others = convert_to_streaming_response(reply)
    told = chunk.choices[0]
    for other in others:
        more = other.choices[0]
        told.finish_reason = more.finish_reason or told.finish_reason
        for name, value in more.delta:
            if value is not None and getattr(told.delta, name, None) is None:
                setattr(told.delta, name, value)
        if (usage := getattr(other, "usage", None)) is not None:
            chunk.usage = usage
    return chunk


def _calls(calls: list[Fields]) -> Any:
    return Delta(tool_calls=calls).tool_calls


def _texts(message: Fields) -> tuple[list[tuple[int, str]], list[Callable[[str, bool], Fields]]]:
    """The texts to stream, taken out of the message, and what makes a delta of a piece of each."""
    texts: list[tuple[int, str]] = []
    makers: list[Callable[[str, bool], Fields]] = []
    for track, name in ((REASONING, "reasoning_content"), (TEXT, "content")):
        text = message.get(name)
        if text and isinstance(text, str):
            message[name] = None
            texts.append((track, text))
            makers.append(_field(name))
    calls = message.get("tool_calls") or []
    if calls and all(isinstance(call.get("function"), dict) for call in calls):
        message["tool_calls"] = None
        for index, call in enumerate(calls):
            texts.append((CALLS + index, call["function"].get("arguments") or "{}"))
            makers.append(_call(index, call))
    return texts, makers


def _field(name: str) -> Callable[[str, bool], Fields]:
    return lambda piece, _: {name: piece}


def _call(index: int, call: Fields) -> Callable[[str, bool], Fields]:
    def made(piece: str, first: bool) -> Fields:
        said = {**call, "index": index} if first else {"index": index, "type": "function"}
        function = {**call["function"], "arguments": piece} if first else {"arguments": piece}
        return {"tool_calls": [{**said, "function": function}]}

    return made


def _wrapped(
    frames: Iterator[Fields] | AsyncIterator[Fields], plan: _Plan, kwargs: Mapping[str, Any]
) -> Replay:
    """LiteLLM's stream over the chunks, each made when it is read."""
    if isinstance(frames, AsyncIterator):
        later = frames

        async def chunks() -> AsyncIterator[Any]:
            place = 0
            async for fields in later:
                yield plan.chunk(place, fields)
                place += 1

        stream: Any = chunks()
    else:
        stream = (plan.chunk(place, fields) for place, fields in enumerate(frames))
    return Replay(
        completion_stream=stream,
        model=kwargs.get("model"),
        custom_llm_provider="cached_response",
        logging_obj=kwargs.get("litellm_logging_obj"),
    )
