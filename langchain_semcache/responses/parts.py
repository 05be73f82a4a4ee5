"""What answers share: a dictionary of their tenant, or one whole answer that others lean on.

A part is stored once, as a record without a vector under `records.PARTS`, and is called by the
digest of its content. It belongs to one namespace and one tenant, and they are in that digest: no
record can lean on somebody else's part, whatever it names.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import zstandard

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.records import PARTS, Entry
from langchain_semcache.responses.numbers import read_number, write_number

ADDRESS_BYTES = 16
MAX_DICTIONARY_BYTES = 4 * 1024 * 1024
"""A larger one is not one of ours: the bound keeps a forged part from filling memory."""

MAX_BASE_BYTES = 96 * 1024
"""A larger answer is no base for others: a window of zstd has to hold two of them."""

_VERSION = 1
_PACKING_LEVEL = 12


class PartKind(StrEnum):
    DICTIONARY = "dictionary"
    BASE = "base"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose parts they are; `tenant` is the digest that `Entry.tenant` holds."""

    namespace: str
    tenant: str

    @classmethod
    def of(cls, entry: Entry) -> Owner:
        return cls(entry.namespace, entry.tenant)


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A zstd dictionary.

    Attributes:
        content: As it is stored; `address` is its digest.
        trained: The dictionary as zstd wants it.
        answers: On how many answers it was trained: the larger of two is the later version.
    """

    address: bytes
    content: bytes
    trained: bytes
    answers: int


@dataclass(frozen=True, slots=True)
class Base:
    """An answer that others are written against.

    Attributes:
        content: As it is stored; `address` is its digest.
        dictionary: Address of the dictionary it is compressed with; None without one.
        raw_bytes: Size of its envelope.
        head: The beginning of a zstd frame that decodes to its envelope. What is written against
            it is the rest of that frame.
    """

    address: bytes
    content: bytes
    dictionary: bytes | None
    raw_bytes: int
    head: bytes


Part = Dictionary | Base


def kind_of(part: Part) -> PartKind:
    return PartKind.DICTIONARY if isinstance(part, Dictionary) else PartKind.BASE


def address_of(kind: PartKind, owner: Owner, content: bytes) -> bytes:
    """The first 16 bytes of SHA-256 over what the part is, whose, and what is in it."""
    digest = hashlib.sha256()
    for field in (kind.value, owner.namespace, owner.tenant):
        text = field.encode("utf-8", "surrogatepass")
        digest.update(write_number(len(text)) + text)
    digest.update(content)
    return digest.digest()[:ADDRESS_BYTES]


def part_id(address: bytes) -> str:
    """The id under which a part is stored."""
    return str(uuid.UUID(bytes=address))


def new_dictionary(owner: Owner, trained: bytes, *, answers: int) -> Dictionary:
    """The part for a dictionary that was just trained."""
    packed = zstandard.ZstdCompressor(level=_PACKING_LEVEL).compress(trained)
    content = bytes([_VERSION]) + write_number(answers) + packed
    address = address_of(PartKind.DICTIONARY, owner, content)
    return Dictionary(address, content, trained, answers)


def new_base(owner: Owner, head: bytes, *, raw_bytes: int, dictionary: bytes | None) -> Base:
    """The part for an answer whose frame begins with `head`."""
    packed_with = bytes([dictionary is not None]) + (dictionary or b"")
    content = bytes([_VERSION]) + packed_with + write_number(raw_bytes) + head
    return Base(address_of(PartKind.BASE, owner, content), content, dictionary, raw_bytes, head)


def to_entry(part: Part, owner: Owner, *, kind: str, now: float) -> Entry:
    """The record of a part; `kind` is that of the answers a dictionary is for."""
    tags = [owner_tag(owner.namespace)]
    if isinstance(part, Dictionary):
        tags.append(dictionary_tag(kind))
    return Entry(
        id=part_id(part.address),
        scope=PARTS,
        partition=PARTS,
        fingerprint=kind_of(part).value,
        namespace=PARTS,
        tenant=owner.tenant,
        model="",
        question="",
        payload=part.content,
        created_at=now,
        tags=tuple(tags),
    )


def from_entry(entry: Entry, owner: Owner) -> Part:
    """The part in a record.

    Raises:
        CorruptEntry: It is none, or its content is not what its id says.
    """
    try:
        kind = PartKind(entry.fingerprint)
        address = address_of(kind, owner, entry.payload)
        if entry.namespace == PARTS and part_id(address) == entry.id:
            return _READERS[kind](address, entry.payload)
    except (ValueError, IndexError, zstandard.ZstdError) as error:
        raise CorruptEntry(entry.id, f"a part: {error}") from error
    raise CorruptEntry(entry.id, "a part whose content is not what its name says")


def owner_tag(namespace: str) -> str:
    """The tag by which the parts of a namespace are found."""
    return f"namespace:{namespace}"


def owner_namespace(entry: Entry) -> str | None:
    """The namespace that a part's record belongs to; None for what is no such record."""
    named = [tag for tag in entry.tags if tag.startswith("namespace:")]
    return named[0].removeprefix("namespace:") if named else None


def dictionary_tag(kind: str) -> str:
    """The tag by which the dictionaries for one kind of answer are found."""
    return f"dictionary:{kind}"


def _dictionary(address: bytes, content: bytes) -> Dictionary:
    _check(content)
    answers, place = read_number(content, 1)
    packed = content[place:]
    if zstandard.get_frame_parameters(packed).content_size > MAX_DICTIONARY_BYTES:
        raise ValueError(f"a dictionary of more than {MAX_DICTIONARY_BYTES} bytes")
    trained = zstandard.ZstdDecompressor().decompress(packed)
    return Dictionary(address, content, trained, answers)


def _base(address: bytes, content: bytes) -> Base:
    _check(content)
    place = 2 + (ADDRESS_BYTES if content[1] else 0)
    dictionary = content[2:place] if content[1] else None
    raw_bytes, place = read_number(content, place)
    if raw_bytes > MAX_BASE_BYTES:
        raise ValueError(f"a base of more than {MAX_BASE_BYTES} bytes")
    return Base(address, content, dictionary, raw_bytes, content[place:])


def _check(content: bytes) -> None:
    if content[0] != _VERSION:
        raise ValueError(f"version {content[0]}, expected {_VERSION}")


_READERS: Mapping[PartKind, Callable[[bytes, bytes], Part]] = {
    PartKind.DICTIONARY: _dictionary,
    PartKind.BASE: _base,
}
