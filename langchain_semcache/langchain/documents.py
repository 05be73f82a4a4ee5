"""Which of the documents that a retriever returned are in a prompt. Pure text work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Final

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from langchain_semcache.lineage import Pairs, content_hash

SOURCE_HASH: Final = "source_hash"
"""Metadata of a document: the hash of the whole file that its `source` names, if that is kept."""

_WINDOW: Final = 64
"""So many characters in a row that a prompt shares with a document are no coincidence."""

_FEW: Final = 4
"""For more documents it is quicker to cut the prompt into all its spans once: 2 ms for 10,000
characters, where 13 documents of 2,000 characters took 5 ms."""

_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([ntrf\"/\\]))")
_PLAIN = dict.fromkeys("nrtf", " ")


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A document that a retriever returned.

    Attributes:
        text: Its text, every run of white space one blank.
        digest: The hash of its text as it was.
        pairs: The names it goes by, each with the hash that goes with the name.
    """

    text: str
    digest: str
    pairs: Pairs

    def named_like(self, other: Retrieved | None) -> Retrieved:
        """The same, going by the names of another one of the same text as well."""
        if other is None or other.pairs == self.pairs:
            return self
        return replace(self, pairs=tuple(dict.fromkeys((*other.pairs, *self.pairs))))


def retrieved(document: Document) -> Retrieved:
    """What has to be known of a document after it was retrieved.

    It goes by its id, its metadata `source` and its metadata `id`; without any of them by its hash.
    """
    digest = content_hash(document.page_content)
    told = document.metadata.get(SOURCE_HASH)
    of_source = told if isinstance(told, str) and told else digest
    names = [
        (_name(document.id), digest),
        (_name(document.metadata.get("source")), of_source),
        (_name(document.metadata.get("id")), digest),
    ]
    pairs = tuple(dict.fromkeys((name, hashed) for name, hashed in names if name))
    return Retrieved(_squeezed(document.page_content), digest, pairs or ((digest, digest),))


def shown(documents: Sequence[Retrieved], prompt: object) -> list[Retrieved]:
    """Those of the documents that the prompt shows, whole or in part.

    White space does not matter, nor does JSON's escaping. Of a document that was cut, or of which
    an extract is shown, a long enough piece has to be there that no whole document accounts for:
    overlapping chunks and common headers are not enough.
    """
    text = _readable(prompt)
    whole: list[Retrieved] = []
    rest: list[Retrieved] = []
    for one in documents:
        if one.text:
            (whole if one.text in text else rest).append(one)
    if rest:
        for one in sorted(whole, key=lambda document: -len(document.text)):
            text = text.replace(one.text, "\n")
        held = text if len(rest) <= _FEW else _spans(text)
        whole += [one for one in rest if any(piece in held for piece in _pieces(one.text))]
    return whole


def _name(value: object) -> str:
    """The name that this value is; empty where it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | PurePath):
        return ""
    return str(value)


def _pieces(text: str) -> Iterator[str]:
    """Pieces of a document of which each long enough extract holds one whole."""
    for start in range(0, len(text) - _WINDOW + 1, _WINDOW):
        yield text[start : start + _WINDOW]


def _spans(text: str) -> set[str]:
    return {text[start : start + _WINDOW] for start in range(len(text) - _WINDOW + 1)}


def _readable(prompt: object) -> str:
    """All text of a prompt, a line for each piece, and once more without escapes."""
    lines = "\n".join(_squeezed(text) for text in _texts(prompt))
    if "\\" not in lines:
        return lines
    return f"{lines}\n" + "\n".join(_squeezed(_unescaped(line)) for line in lines.split("\n"))


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else _PLAIN.get(found[2], found[2])

    # JSON spells what is beyond 16 bits as two halves.
    halves = _ESCAPED.sub(plain, text).encode("utf-16", "surrogatepass")
    return halves.decode("utf-16", "replace")


def _texts(value: object) -> Iterator[str]:
    """Every text in a message, in content blocks, in LangChain's JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, BaseMessage):
        yield from _texts(value.content)
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, Iterable):
        for one in value:
            yield from _texts(one)
