"""One piece of a message, from any of the shapes in use, as a `Part`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from langchain_semcache.records import Part, PartKind, ToolCall
from langchain_semcache.request._names import words
from langchain_semcache.request.canonical import Canonicaliser, nfc, read_json

_TEXT = frozenset({"text", "input_text", "output_text", "text-plain"})
_MEDIA = words(
    """
    audio audio_url document file image image_file image_url input_audio input_file input_image
    input_video media video video_url
    """
)
_THOUGHT = frozenset({"thinking", "reasoning", "redacted_thinking", "refusal"})
_CALL = frozenset({"tool_use", "tool_call", "function_call", "invalid_tool_call"})
_VOLATILE = words("cache_control id index status type")
_OF_REPLIES = _VOLATILE | words("annotations citations logprobs signature")
"""What a service writes beside the text of its reply. On our side such a field is a switch."""

_VISIBLE = _TEXT | _THOUGHT
_ARGUMENTS = ("input", "args", "arguments", "partial_json")
_OWN_IDS = "lc_"  # made up by LangChain for a block that had none


@dataclass(slots=True)
class Findings:
    """What reading a conversation brought to light, beside its messages."""

    call_ids: dict[str, str] = field(default_factory=dict)
    has_tools: bool = False
    has_media: bool = False
    has_unknown: bool = False
    unidentifiable: list[str] = field(default_factory=list)

    def ordinal(self, call_id: object) -> str:
        """A name for a call id that depends on its place in the conversation only."""
        if not isinstance(call_id, str) or not call_id:
            return ""
        return self.call_ids.setdefault(call_id, f"call-{len(self.call_ids)}")

    def canonical(self, value: object) -> str:
        """Canonical JSON with long strings as digests, so that no base64 travels on."""
        writer = Canonicaliser(compact=True)
        text = writer.write(value)
        self.unidentifiable.extend(writer.unidentifiable)
        return text

    def arguments(self, value: object) -> str:
        """Canonical JSON of a call's arguments in full."""
        writer = Canonicaliser()
        text = writer.write(value)
        self.unidentifiable.extend(writer.unidentifiable)
        return text


def read_part(raw: object, findings: Findings, *, reply: bool) -> Part | ToolCall | None:
    """One element of a content list; None when there is nothing in it.

    `reply` says that the message is one that a model wrote.
    """
    if isinstance(raw, str):
        return Part(PartKind.TEXT, nfc(raw)) if raw else None
    if isinstance(raw, Part):
        return _record(raw, findings)
    try:
        if not isinstance(raw, Mapping):
            dump = getattr(raw, "model_dump", None)
            raw = dump() if callable(dump) else raw
        if isinstance(raw, Mapping):
            return _mapping(raw, findings, reply=reply)
    except Exception:  # noqa: BLE001 - foreign code
        findings.unidentifiable.append(type(raw).__qualname__)
    findings.has_unknown = True
    return Part(PartKind.OPAQUE, findings.canonical(raw))


def _record(part: Part, findings: Findings) -> Part | None:
    if part.kind is PartKind.TEXT:
        return Part(PartKind.TEXT, nfc(part.value)) if part.value else None
    findings.has_media |= part.kind is PartKind.MEDIA
    findings.has_unknown |= part.kind is PartKind.OPAQUE
    return Part(part.kind, nfc(part.value))


def _mapping(
    raw: Mapping[str, object], findings: Findings, *, reply: bool
) -> Part | ToolCall | None:
    kind = raw.get("type", "text")
    if not isinstance(kind, str):
        findings.has_unknown = True
        return Part(PartKind.OPAQUE, findings.canonical(raw))
    volatile = _OF_REPLIES if reply and kind in _VISIBLE else _VOLATILE
    body = _extras(raw, volatile)
    if kind in _TEXT:
        text = raw.get("text")
        if isinstance(text, str) and body.keys() <= {"text"}:
            return Part(PartKind.TEXT, nfc(text)) if text else None
    if kind in _CALL:
        return read_block_call(raw, findings)
    return _other(kind, raw, body, findings)


def _other(
    kind: str, raw: Mapping[str, object], body: dict[str, object], findings: Findings
) -> Part:
    part_id = raw.get("id")
    if part_id is not None and kind not in _THOUGHT and not str(part_id).startswith(_OWN_IDS):
        body["id"] = part_id  # a stored file is named by nothing else
    if kind in _MEDIA:
        findings.has_media = True
        if isinstance(url := body.get(kind), str):  # the short form of {"url": …}
            body[kind] = {"url": url}
        return Part(PartKind.MEDIA, findings.canonical({"type": kind, **body}))
    if "tool" in kind or "function" in kind:
        findings.has_tools = True
        for name in ("id", "tool_use_id", "tool_call_id", "call_id"):
            if name in body:
                body[name] = findings.ordinal(body[name])
    findings.has_unknown |= kind not in _THOUGHT
    return Part(PartKind.OPAQUE, findings.canonical({"type": kind, **body}))


def _extras(raw: Mapping[str, object], volatile: frozenset[str]) -> dict[str, object]:
    """What a part holds beyond the volatile; an empty list of annotations is none."""
    return {
        name: value
        for name, value in raw.items()
        if name not in volatile
        and value is not None
        and not (name in _OF_REPLIES and isinstance(value, list) and not value)
    }


def read_block_call(raw: Mapping[str, object], findings: Findings) -> ToolCall:
    """A call written as a content block, or as an item of its own.

    A block that was streamed holds its arguments as the text of `partial_json`.
    """
    findings.has_tools = True
    given = [raw[name] for name in _ARGUMENTS if raw.get(name) not in (None, "", {})]
    arguments = given[0] if given else {}
    if any(parsed_json(other) != parsed_json(arguments) for other in given[1:]):
        arguments = given  # which of them is sent is the client's affair
    return _call(raw.get("name"), arguments, raw.get("call_id") or raw.get("id"), findings)


def read_call(raw: object, findings: Findings) -> ToolCall:
    """An element of `tool_calls`: OpenAI's shape, LangChain's, a record, or an object."""
    findings.has_tools = True
    if isinstance(raw, ToolCall):
        return _call(raw.name, raw.arguments, raw.id, findings)
    if not isinstance(raw, Mapping):
        dump = getattr(raw, "model_dump", None)
        raw = dump() if callable(dump) else {"name": "", "args": raw}
    function = raw.get("function")
    if isinstance(function, Mapping):
        return _call(function.get("name"), function.get("arguments"), raw.get("id"), findings)
    return read_block_call(raw, findings)


def _call(name: object, arguments: object, call_id: object, findings: Findings) -> ToolCall:
    text = findings.arguments(parsed_json(arguments))
    return ToolCall(nfc(name) if isinstance(name, str) else "", text, findings.ordinal(call_id))


def parsed_json(value: object) -> object:
    """The mapping that a JSON text spells, the value itself otherwise; nothing is {}."""
    if not isinstance(value, str):
        return {} if value is None else value
    return read_json(value) if value else {}
