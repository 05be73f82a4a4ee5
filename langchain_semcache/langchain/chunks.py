"""LangChain's chunks as they pass: kept for the store and for others who read along."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from langchain_semcache.langchain.generations import endings, free_of_charge, refused
from langchain_semcache.streaming import CallPiece, NotTheSame, Piece

_TEXTS = {"text": "text", "reasoning": "reasoning", "thinking": "thinking"}
"""Blocks of content that grow by text, and the field that holds it."""

_CALLS = frozenset(
    {"function_call", "input_json_delta", "tool_call", "tool_call_chunk", "tool_use"}
)
"""Blocks that say again what the chunk's calls say."""


_BARE = Piece()


class Kept:
    """One chunk, safe from whoever reads it. Its consumer may write into the one it is handed.

    Args:
        shell: All of the chunk but its text; chunks that differ in nothing else share it.
        own: The chunk itself, for the reader whose call it came from.
    """

    __slots__ = ("_own", "_shell", "_text", "piece")

    def __init__(
        self, shell: ChatGenerationChunk, text: str | None, piece: Piece, own: Any
    ) -> None:
        self._shell = shell
        self._text = text
        self._own = own
        self.piece = piece

    def handed(self, leads: bool) -> Kept:
        """For the engine, which hands out what it keeps; `chunk` makes the difference."""
        return self if leads else Kept(self._shell, self._text, self.piece, None)

    def chunk(self) -> ChatGenerationChunk:
        """The chunk for its reader: the model's own, once, or a copy that is of no other call."""
        own, self._own = self._own, None
        return own if own is not None else self.copy(named=False)

    def copy(self, *, named: bool = True) -> ChatGenerationChunk:
        """A copy of its own."""
        text = self._text
        message = _copied(self._shell.message)
        if text is not None:
            message.__dict__["content"] = text
        if not named:
            # The reader's own message, of a call that somebody else has paid for.
            message.__dict__["id"] = None
            if isinstance(message, AIMessageChunk) and message.usage_metadata:
                message.__dict__["usage_metadata"] = free_of_charge(message)
        chunk = self._shell.model_copy()
        fields = chunk.__dict__
        fields["message"] = message
        fields["generation_info"] = _plain(fields["generation_info"])
        if text is not None:
            fields["text"] = text
        return chunk

    def last(self, count: int) -> Kept:
        """With nothing but so many code points at the end of its text.

        Raises:
            NotTheSame: Its text is not all there is of it.
        """
        piece = self.piece
        if self._text is None or piece.size != len(self._text):
            raise NotTheSame
        rest = piece.text[-count:]
        return Kept(self._shell, rest, Piece(text=rest, finish_reason=piece.finish_reason), None)


class Keeper:
    """Keeps the chunks of one stream. It costs a chunk of mere text a few microseconds."""

    def __init__(self) -> None:
        self._shell: ChatGenerationChunk | None = None
        self._fields: dict[str, Any] = {}
        self._piece = _BARE
        self._bare = True

    def __call__(self, chunk: ChatGenerationChunk) -> Kept:
        message = chunk.message
        content = message.content
        if not isinstance(content, str):
            whole = _whole_copy(chunk)
            return Kept(whole, None, _piece(whole, ""), chunk)
        shell = self._shell
        if (
            shell is None
            or {**message.__dict__, "content": ""} != self._fields
            or chunk.generation_info != shell.generation_info
            or message.__pydantic_extra__ != shell.message.__pydantic_extra__
            or type(message) is not type(shell.message)
            or type(chunk) is not type(shell)
        ):
            shell = self._shell = _whole_copy(chunk)
            self._fields = {**shell.message.__dict__, "content": ""}
            self._piece = _piece(shell, "")
            self._bare = self._piece == _BARE
        if self._bare:
            return Kept(shell, content, Piece(content), chunk)
        return Kept(shell, content, self._piece._replace(text=content), chunk)


def _piece(chunk: ChatGenerationChunk, content: str) -> Piece:
    """The chunk as a neutral piece; its content where that is text is given apart."""
    message = chunk.message
    blocks = message.content if isinstance(message.content, list) else []
    thought = message.additional_kwargs.get("reasoning_content")
    calls = message.tool_call_chunks if isinstance(message, AIMessageChunk) else []
    reasons = endings(chunk)
    others = [block for block in blocks if _is_other(block)]
    return Piece(
        text=content or "".join(_of(blocks, "text")),
        reasoning=(thought if isinstance(thought, str) else "")
        + "".join(_of(blocks, "reasoning") + _of(blocks, "thinking")),
        calls=tuple(
            CallPiece(
                index=call["index"] if isinstance(call["index"], int) else place,
                id=call["id"] or "",
                name=call["name"] or "",
                arguments=call["args"] or "",
            )
            for place, call in enumerate(calls)
        ),
        role="" if message.type == "AIMessageChunk" else message.type,
        usage=message.usage_metadata if isinstance(message, AIMessageChunk) else None,
        finish_reason=next((reason for reason in reasons if reason is not None), None),
        refused=refused(message),
        other=json.dumps(others, ensure_ascii=False, default=str, sort_keys=True) if others else "",
    )


def _of(blocks: Sequence[object], kind: str) -> list[str]:
    """The texts of the blocks of one kind; a mere text among blocks is text."""
    found: list[str] = []
    for block in blocks:
        if isinstance(block, str):
            found += [block] if kind == "text" else []
        elif isinstance(block, Mapping) and block.get("type") == kind:
            text = block.get(_TEXTS[kind])
            found += [text] if isinstance(text, str) else []
    return found


def _is_other(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") not in (*_TEXTS, *_CALLS)


def _whole_copy(chunk: ChatGenerationChunk) -> ChatGenerationChunk:
    copy = chunk.model_copy()
    copy.__dict__["message"] = _copied(chunk.message)
    copy.__dict__["generation_info"] = _plain(chunk.generation_info)
    return copy


def _copied(message: BaseMessageChunk) -> BaseMessageChunk:
    """As `model_copy(deep=True)`, in a fifth of the time: what messages hold is plain data."""
    copy = message.model_copy()
    fields = copy.__dict__
    for name, value in fields.items():
        if value.__class__ is dict or value.__class__ is list:
            fields[name] = _plain(value)
    return copy


def _plain(value: Any) -> Any:
    kind = value.__class__
    if kind is dict:
        return {name: _plain(inner) for name, inner in value.items()}
    if kind is list:
        return [_plain(inner) for inner in value]
    return value if value is None or kind in (str, int, float, bool) else deepcopy(value)
