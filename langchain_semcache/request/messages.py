"""A conversation, from any of the shapes in use, as canonical messages."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langchain_semcache.records import Message, Part, PartKind, RawMessage, ToolCall
from langchain_semcache.request._names import words
from langchain_semcache.request.canonical import nfc, packed
from langchain_semcache.request.parts import Findings, read_block_call, read_call, read_part

_ROLES = {
    "human": "user", "humanmessage": "user", "humanmessagechunk": "user",
    "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant",
    "model": "assistant",
    "developer": "system", "systemmessage": "system", "systemmessagechunk": "system",
    "function": "tool", "toolmessage": "tool", "toolmessagechunk": "tool",
    "functionmessage": "tool", "functionmessagechunk": "tool",
}  # fmt: skip
_READ = frozenset(
    {"additional_kwargs", "content", "function_call", "invalid_tool_calls", "name", "role",
     "tool_call_id", "tool_calls", "type"}
)  # fmt: skip
_VOLATILE = words(
    """
    artifact cache_control example id index lc_attributes lc_id lc_secrets model_config model_extra
    model_fields_set run_id status
    """
)
_OF_REPLIES = _VOLATILE | words(
    """
    annotations finish_reason provider_specific_fields response_metadata usage usage_metadata
    """
)
_CALLS = ("tool_calls", "invalid_tool_calls", "function_call")
_EMPTY = "{}"
_PLAIN = {"role", "content"}
_ATTRIBUTES = tuple(sorted(_READ))
_SIZED = (str, list, tuple, Mapping)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Canonical messages, and what was found in them."""

    messages: tuple[Message, ...]
    findings: Findings


def read_conversation(raw: str | Sequence[RawMessage]) -> Conversation:
    """Canonical messages of `raw`. Reads any shape; what it does not know it marks as unknown."""
    findings = Findings()
    if isinstance(raw, str):
        parts = (Part(PartKind.TEXT, nfc(raw)),) if raw else ()
        return Conversation((Message(role="user", parts=parts),), findings)
    return Conversation(tuple([_read(item, findings) for item in _items(raw)]), findings)


def encode_message(message: Message) -> str:
    """One message as text; different messages never give the same text."""
    name = "" if message.name is None else f"={message.name}"
    fields = [message.role, name, message.tool_call_id or "", str(len(message.parts))]
    for part in message.parts:
        fields += (part.kind, part.value)
    for call in message.tool_calls:
        fields += (call.name, call.arguments, call.id)
    return packed(*fields)


def role_of(name: object) -> str:
    """One name for each role: user, assistant, system, tool; others in lower case."""
    text = name.lower() if isinstance(name, str) else ""
    return _ROLES.get(text, text)


def _items(raw: object) -> Sequence[object]:
    """The messages, of which one may stand alone."""
    if isinstance(raw, (list, tuple)):
        return raw
    if raw is None:
        return ()
    return list(raw) if isinstance(raw, Sequence) and not isinstance(raw, bytes) else (raw,)


def _read(raw: object, findings: Findings) -> Message:
    try:
        return _message(raw, findings)
    except Exception:  # noqa: BLE001 - foreign code: whatever it raises, it has no identity
        findings.has_unknown = True
        findings.unidentifiable.append(type(raw).__qualname__)
        return Message(role="")


def _message(raw: object, findings: Findings) -> Message:
    if type(raw) is dict and raw.keys() == _PLAIN and type(text := raw["content"]) is str:
        parts = (Part(PartKind.TEXT, nfc(text)),) if text else ()  # by far the most common shape
        return Message(role=role_of(raw["role"]), parts=parts)
    if isinstance(raw, Message):
        return _record(raw, findings)
    if isinstance(raw, str):
        raw = {"role": "user", "content": raw}
    elif isinstance(raw, (tuple, list)) and len(raw) == 2 and isinstance(raw[0], str):
        raw = {"role": raw[0], "content": raw[1]}
    fields = _unwrapped(raw) if isinstance(raw, Mapping) else _attributes(raw)
    if not fields:
        findings.has_unknown = True
        return Message(role="", parts=(Part(PartKind.OPAQUE, findings.canonical(raw)),))
    if "role" not in fields and "content" not in fields:
        return _item(fields, findings)
    return _fields(fields, findings)


def _record(message: Message, findings: Findings) -> Message:
    return _fields(
        {
            "role": message.role,
            "content": message.parts,
            "name": message.name,
            "tool_calls": message.tool_calls,
            "tool_call_id": message.tool_call_id,
        },
        findings,
    )


def _fields(fields: Mapping[str, object], findings: Findings) -> Message:
    role = role_of(fields.get("role") or fields.get("type"))
    reply = role == "assistant"
    parts, calls = _content(fields.get("content"), findings, reply=reply)
    for call in _calls(fields, findings):
        _add(call, calls)
    for key, value in _extras(fields, _OF_REPLIES if reply else _VOLATILE):
        findings.has_media |= key in ("audio", "images")
        parts.append(Part(PartKind.OPAQUE, findings.canonical({key: value})))
    answers = findings.ordinal(fields.get("tool_call_id"))
    findings.has_tools |= role == "tool" or bool(answers)
    name = fields.get("name")
    return Message(
        role=role,
        parts=tuple(parts),
        name=nfc(name) if isinstance(name, str) and name else None,
        tool_calls=tuple(calls),
        tool_call_id=answers or None,
    )


def _content(raw: object, findings: Findings, *, reply: bool) -> tuple[list[Part], list[ToolCall]]:
    if isinstance(raw, str):
        return ([Part(PartKind.TEXT, nfc(raw))] if raw else []), []
    items = raw if isinstance(raw, (list, tuple)) else [] if raw is None else [raw]
    parts: list[Part] = []
    calls: list[ToolCall] = []
    for item in items:
        read = read_part(item, findings, reply=reply)
        if isinstance(read, ToolCall):
            calls.append(read)
        elif read is not None:
            parts.append(read)
    return parts, calls


def _calls(fields: Mapping[str, object], findings: Findings) -> list[ToolCall]:
    """The calls that stand beside the content, in whichever of the fields in use.

    Calls whose arguments could not be read go back to the model like the others.
    """
    extra = fields.get("additional_kwargs")
    extra = extra if isinstance(extra, Mapping) else {}
    calls: list[ToolCall] = []
    for place, name in itertools.product((fields, extra), _CALLS):
        if listed := place.get(name):
            items = listed if isinstance(listed, (list, tuple)) else [listed]
            calls += [read_call(raw, findings) for raw in items]
    return calls


def _add(call: ToolCall, calls: list[ToolCall]) -> None:
    """Messages may hold a call twice, once without its arguments: it counts once, with them."""
    for place, known in enumerate(calls):
        if call == known and call.id:
            return
        same = bool(call.id) and (call.id, call.name) == (known.id, known.name)
        if same and _EMPTY in (call.arguments, known.arguments):
            calls[place] = known if call.arguments == _EMPTY else call
            return
    calls.append(call)


def _extras(fields: Mapping[str, object], volatile: frozenset[str]) -> list[tuple[str, object]]:
    """What else a message holds: it counts, although we do not know what it means."""
    extras = [
        (name, value)
        for name, value in fields.items()
        if name not in _READ and name not in volatile and not _blank(value)
    ]
    if fields.get("status") == "error":
        extras.append(("status", "error"))
    more = fields.get("additional_kwargs")
    if isinstance(more, Mapping) and more:
        extras += [(k, v) for k, v in more.items() if k not in _CALLS and not _blank(v)]
    return sorted(extras, key=lambda extra: str(extra[0])) if extras else extras


def _blank(value: object) -> bool:
    """Absent, in one of its spellings."""
    return value is None or value is False or (isinstance(value, _SIZED) and not value)


def _item(fields: Mapping[str, object], findings: Findings) -> Message:
    """An item of the Responses API: calls and their results stand beside the messages."""
    kind = fields.get("type")
    if kind == "function_call":
        return Message(role="assistant", tool_calls=(read_block_call(fields, findings),))
    if kind == "function_call_output":
        output = {"role": "tool", "content": fields.get("output")}
        return _fields({**output, "tool_call_id": fields.get("call_id")}, findings)
    part = read_part(fields, findings, reply=False)
    findings.has_unknown = True
    parts = (part,) if isinstance(part, Part) else ()
    calls = (part,) if isinstance(part, ToolCall) else ()
    return Message(role=str(kind or ""), parts=parts, tool_calls=calls)


def _unwrapped(raw: Mapping[str, object]) -> Mapping[str, object]:
    """The fields of a message that some serialiser has put into an envelope."""
    inner = raw.get("kwargs") if raw.get("lc") == 1 else raw.get("data")
    if isinstance(inner, Mapping) and "content" in inner and "content" not in raw:
        return {"type": raw.get("type"), **inner}
    return raw


def _attributes(raw: object) -> dict[str, object]:
    """The fields of a message object, whatever class it has."""
    if not hasattr(raw, "content"):
        return {}
    held = getattr(raw, "__dict__", {})
    fields = {name: value for name, value in held.items() if not name.startswith("_")}
    extra = getattr(raw, "model_extra", None)
    fields.update(extra if isinstance(extra, Mapping) else {})
    for name in _ATTRIBUTES:
        if name not in fields and hasattr(raw, name):
            fields[name] = getattr(raw, name)
    return fields
