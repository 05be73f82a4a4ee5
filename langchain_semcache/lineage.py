"""What an answer rests on: the names of sources, their hashes, and versions of prompts.

A prompt's version is a tag like any other, `prompt:NAME@VERSION`, with `prompt:NAME` beside it: so
one version can be let go of, or all of them, and nothing new has to be stored for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from langchain_semcache.errors import ConfigurationError

Sources: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]
"""Names, each with a version or hash. As pairs, one name may be there at several versions: the
pieces of one file that a retriever found."""

Pairs: TypeAlias = tuple[tuple[str, str], ...]


def content_hash(content: str | bytes) -> str:
    """The hash of a document as lineage writes it: `sha256:` and hexadecimal digits.

    Of text it is that of its UTF-8 bytes: what `sha256sum` says of a file with just this text.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def prompt_tags(name: str, version: object = None) -> tuple[str, ...]:
    """The tags of an answer that was asked for with this prompt."""
    if version is None or version == "":
        return (f"prompt:{name}",)
    return (f"prompt:{name}", f"prompt:{name}@{version}")


def source_pairs(sources: Sources | None) -> Pairs:
    """The sources as pairs of a name and a hash, each pair once, in order.

    Raises:
        ConfigurationError: They are something else.
    """
    given: object = sources.items() if isinstance(sources, Mapping) else sources
    found = [] if given is None else _listed(given)
    pairs = [_pair(one) for one in found or ()]
    if found is None or None in pairs:
        raise ConfigurationError(
            "sources must be names with a version or hash each, all of them text, as in "
            '{"faq.md": "sha256:…"}'
        )
    return tuple(dict.fromkeys(pair for pair in pairs if pair is not None))


def hashes(new_hash: str | Iterable[str] | None) -> tuple[str, ...]:
    """The hashes that a source has now; none when it is gone.

    Raises:
        ConfigurationError: It is neither text nor a list of texts.
    """
    given: object = [new_hash] if isinstance(new_hash, str) else new_hash
    found = [] if given is None else _listed(given)
    texts = tuple(text for text in found or () if isinstance(text, str) and text)
    if found is None or len(texts) != len(found):
        raise ConfigurationError(
            "new_hash must be the source's hash, a list of hashes (one for each piece of it), or "
            "None when the source is gone"
        )
    return texts


def _listed(given: object) -> list[object] | None:
    """The items; None of what has none, and of a text."""
    return None if isinstance(given, str) or not isinstance(given, Iterable) else list(given)


def _pair(one: object) -> tuple[str, str] | None:
    held = _listed(one) or []
    texts = [text for text in held if isinstance(text, str)]
    return (texts[0], texts[1]) if len(held) == len(texts) == 2 else None


@dataclass(frozen=True, slots=True)
class Lineage:
    """What the answers of a block rest on, and the tags that they get."""

    sources: Pairs = ()
    tags: tuple[str, ...] = ()


_lineage: ContextVar[Lineage | None] = ContextVar("langchain_semcache_lineage", default=None)


def current_lineage() -> Lineage | None:
    """What the blocks of `resting_on(...)` around say, if there are any."""
    return _lineage.get()


@contextmanager
def resting_on(sources: Sources | None = None, *, tags: Iterable[str] = ()) -> Iterator[None]:
    """Say what the answers of LangChain's calls inside rest on, where no retriever says it.

    Sources become a part of the match: with another hash it is another request. A block inside
    another adds to it. The setting follows the context, as that of `tenant` does.

    Raises:
        ConfigurationError: The sources are no names with hashes, or the tags are a single text.
    """
    if isinstance(tags, str):
        raise ConfigurationError(f"tags must be a list of labels, not the text {tags!r}")
    outer = _lineage.get() or Lineage()
    inner = Lineage((*outer.sources, *source_pairs(sources)), (*outer.tags, *tags))
    token = _lineage.set(inner)
    try:
        yield
    finally:
        _lineage.reset(token)
