"""LangChain's generations as a `Response`, and back.

Messages are written as plain data and rebuilt by class names that are fixed here. LangChain's own
`load` is not used: what lies in a store can therefore never name a class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, Generation, GenerationChunk
from langchain_core.utils.uuid import uuid7
from pydantic import BaseModel, JsonValue, TypeAdapter
from pydantic_core import to_jsonable_python

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.records import JSON, Decision, Response

KIND = "langchain.generations/1"

MESSAGES: Mapping[str, type[BaseMessage]] = {
    "AIMessage": AIMessage,
    "AIMessageChunk": AIMessageChunk,
    "ToolMessage": ToolMessage,
}
_PLAIN = {"Generation": Generation, "GenerationChunk": GenerationChunk}
_CHAT = {"ChatGeneration": ChatGeneration, "ChatGenerationChunk": ChatGenerationChunk}
_ENDINGS = ("finish_reason", "stop_reason", "done_reason", "finishReason", "stopReason")
_ALWAYS_TELL = frozenset(
    """
    anthropic bedrock_converse deepseek fireworks google_genai groq mistralai ollama openai xai
    """.split()
)
"""Providers (`model_provider`) whose integrations pass on why a reply ended: without that, it was
cut. Of any other, a reply without a reason is taken as whole."""
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


class Unstorable(TypeError):
    """A reply of a class that could not be rebuilt; it is returned but not kept."""


def to_response(generations: Sequence[Generation]) -> Response:
    """The reply as data.

    Raises:
        Unstorable: A generation or message has a class of its own.
    """
    texts = [generation.text for generation in generations]
    messages = [g.message for g in generations if isinstance(g, ChatGeneration)]
    calls = [bool(_calls(message)) for message in messages] or [False] * len(texts)
    whole = bool(texts) and all(
        text.strip() or call for text, call in zip(texts, calls, strict=True)
    )
    return Response(
        body={"generations": [_dump(generation) for generation in generations]},
        kind=KIND,
        text="\n".join(texts) if whole else "",
        finish_reasons=tuple(ending for g in generations for ending in endings(g)),
        refused=any(refused(message) for message in messages),
        has_tool_calls=whole and any(calls),
        logprobs=tuple(told for g in generations if (told := logprobs(g)) is not None),
    )


def to_generations(decision: Decision) -> list[Generation]:
    """Fresh objects for one hit: nothing that a caller does to them reaches the store.

    Raises:
        CorruptEntry: The stored record is not one of ours.
    """
    entry_id = decision.entry_id or ""
    response = decision.response
    if response is None or response.kind != KIND or not isinstance(response.body, dict):
        raise CorruptEntry(entry_id, "not LangChain generations")
    stored = response.body.get("generations")
    if not isinstance(stored, list) or not stored:
        raise CorruptEntry(entry_id, "no generations")
    try:
        return [_load(item, decision) for item in stored]
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptEntry(entry_id, type(error).__name__) from error


def hit_facts(decision: Decision) -> dict[str, JSON]:
    """What a caller may want to know about a hit; plain data."""
    return {
        "hit": decision.hit,
        "reason": decision.reason.value,
        "entry_id": decision.entry_id,
        "similarity": decision.similarity,
        "confidence": decision.confidence,
        "age_seconds": decision.age.total_seconds() if decision.age is not None else None,
    }


def free_of_charge(message: AIMessage) -> UsageMetadata | None:
    """The tokens of a stored reply at a cost of nothing, as LangChain itself says it of a hit."""
    usage = message.usage_metadata
    return cast("UsageMetadata", {**usage, "total_cost": 0}) if usage else None


def dump_message(message: BaseMessage) -> JSON:
    """A message as data, with the name of its class.

    Raises:
        Unstorable: It is no plain AIMessage, AIMessageChunk or ToolMessage, or JSON cannot hold it.
    """
    name = type(message).__name__
    if MESSAGES.get(name) is not type(message):
        raise Unstorable(f"messages of class {name} are not stored")
    parsed = message.additional_kwargs.get("parsed")
    if isinstance(parsed, BaseModel):
        kwargs = {**message.additional_kwargs, "parsed": _parsed(parsed)}
        message = message.model_copy(update={"additional_kwargs": kwargs})
    return {"class": name, "fields": _data(message.model_dump())}


def _parsed(answer: BaseModel) -> dict[str, object]:
    """A structured answer as the arguments its class is called with on a hit.

    Raises:
        Unstorable: The class would not make the same answer of what it writes.
    """
    for by_alias in (True, False):
        written = answer.model_dump(mode="json", by_alias=by_alias)
        try:
            if type(answer).model_validate(written) == answer:
                return written
        except ValueError:
            continue
    raise Unstorable("the structured answer would not come back as it was")


def load_message(item: JSON, decision: Decision) -> BaseMessage:
    """The message again, with an id of its own and the facts of this hit.

    With the stored id LangGraph would replace the earlier message instead of appending.
    """
    if not isinstance(item, dict) or not isinstance(item["fields"], dict):
        raise TypeError("not a message")
    fields = dict(item["fields"])
    message = MESSAGES[str(item["class"])].model_validate(fields)
    message.id = f"lc_run--{uuid7()}-0"  # as LangChain names the messages of its runs
    message.response_metadata["semcache"] = hit_facts(decision)
    return message


def _dump(generation: Generation) -> JSON:
    name = type(generation).__name__
    info = _data(generation.generation_info)
    if isinstance(generation, ChatGeneration) and _CHAT.get(name) is type(generation):
        return {"class": name, "message": dump_message(generation.message), "info": info}
    if _PLAIN.get(name) is type(generation):
        return {"class": name, "text": generation.text, "info": info}
    raise Unstorable(f"generations of class {name} are not stored")


def _data(value: object) -> JSON:
    try:
        # Infinity stays what it is, and is refused later: null would be another value.
        written = _JSON.validate_python(to_jsonable_python(value, inf_nan_mode="constants"))
    except ValueError as error:
        raise Unstorable(f"a reply that JSON cannot hold ({type(error).__name__})") from error
    if written != value:
        raise Unstorable("a reply that JSON would change")
    return written


def _load(item: JSON, decision: Decision) -> Generation:
    if not isinstance(item, dict):
        raise TypeError("not a generation")
    info = item["info"]
    if info is not None and not isinstance(info, dict):
        raise TypeError("not generation info")
    name = str(item["class"])
    if name in _CHAT:
        message = load_message(item["message"], decision)
        return _CHAT[name].model_validate({"message": message, "generation_info": info})
    return _PLAIN[name].model_validate({"text": item["text"], "generation_info": info})


def _calls(message: BaseMessage) -> object:
    return (
        getattr(message, "tool_calls", None)
        or getattr(message, "invalid_tool_calls", None)
        or message.additional_kwargs.get("function_call")
    )


def endings(generation: Generation) -> list[str | None]:
    """How the provider says the reply ended; nothing when it never says."""
    places = [generation.generation_info or {}]
    if isinstance(generation, ChatGeneration):
        places.append(generation.message.response_metadata)
    endings = [place[name] for place in places for name in _ENDINGS if name in place]
    # A provider that uses one name of several leaves the others null.
    endings = [ending for ending in endings if ending is not None] or endings[:1]
    status = places[-1].get("status")
    if status in ("incomplete", "failed", "cancelled", "in_progress"):
        endings.append(status)
    if not endings and not status and places[-1].get("model_provider") in _ALWAYS_TELL:
        endings.append(None)
    return [None if ending is None else str(ending) for ending in endings]


def logprobs(generation: Generation) -> JSON:
    """What the provider says of the probabilities of its tokens; None when it does not."""
    places = [generation.generation_info or {}]
    if isinstance(generation, ChatGeneration):
        places.append(generation.message.response_metadata)
    found = [place["logprobs"] for place in places if place.get("logprobs") is not None]
    return cast("JSON", found[0]) if found else None


def refused(message: BaseMessage) -> bool:
    """Whether the provider says that it declines."""
    content = message.content
    blocks = content if isinstance(content, list) else []
    return bool(message.additional_kwargs.get("refusal")) or any(
        isinstance(block, dict) and block.get("type") == "refusal" for block in blocks
    )
