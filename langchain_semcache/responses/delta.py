"""Answers written against what they share: a dictionary, or the answer of a neighbour.

A record is a plain zstd frame, as it always was, or begins with `MAGIC` and says what it leans on.

A base is the beginning of a zstd frame, compressed with its dictionary, and what is written against
it is the rest of that frame. So the dictionary is digested once, and neither a write nor a read
prepares anything for one base; putting both in one prefix took five times as long and was no
smaller. A frame can only be continued by whoever began it: the writer compresses the base again,
and uses it only when that gives the stored bytes, which another release of zstd may not do.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag

import zstandard

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.records import Response
from langchain_semcache.responses.codec import MAX_BYTES, EnvelopeCodec, from_raw, to_raw
from langchain_semcache.responses.frames import EMPTY_END, Frames
from langchain_semcache.responses.history import History
from langchain_semcache.responses.numbers import read_number, write_number
from langchain_semcache.responses.parts import (
    ADDRESS_BYTES,
    MAX_BASE_BYTES,
    Base,
    Dictionary,
    Owner,
    Part,
    new_base,
)

MAGIC = 0xD1
"""First byte of a record that is no plain zstd frame; those begin with 0x28."""

VERSION = 1
MAX_SHARED_BYTES = 2 * MAX_BASE_BYTES
"""A larger answer, or one that is larger together with its base, leans on nothing: zstd would not
look back as far."""

_DIGEST_BYTES = 4


class Flag(IntFlag):
    DICTIONARY = 1
    BASE = 2
    WHOLE = 4  # the answer is the base itself
    HISTORY = 8


@dataclass(frozen=True, slots=True)
class Packed:
    """An answer, compressed one way: what it leans on, and what is left to say."""

    data: bytes
    leans_on: Part | None = None
    whole: bool = False

    @property
    def size(self) -> int:
        """Bytes of the record that this becomes, give or take two."""
        return len(self.data) + (2 + ADDRESS_BYTES + _DIGEST_BYTES + 2 if self.leans_on else 0)


@dataclass(frozen=True, slots=True)
class _Record:
    flags: Flag
    address: bytes | None
    digest: bytes
    raw_bytes: int
    history: bytes
    data: bytes


class DeltaCodec:
    """Writes responses, plain or leaning on parts, and reads all that was ever written.

    Safe to share between threads.
    """

    def __init__(self) -> None:
        self._plain = EnvelopeCodec()
        self._frames = Frames()

    def encode(
        self, response: Response, dictionary: Dictionary | None = None, bases: Sequence[Base] = ()
    ) -> bytes:
        """The smallest of all the ways to write a response that the parts allow.

        A base whose dictionary is another one than `dictionary` is passed by.

        Raises:
            ValueError, TypeError: The body is not JSON, too deep or too large.
        """
        raw = to_raw(response)
        ways = [self.alone(raw, dictionary)]
        for base in bases:
            known = dictionary if dictionary and base.dictionary == dictionary.address else None
            packed = self.against(raw, base, known)
            ways += [packed] if packed is not None else []
        return self.record(raw, min(ways, key=lambda way: way.size))

    def decode(
        self, entry_id: str, payload: bytes, parts: Mapping[bytes, Part] | None = None
    ) -> Response:
        """The response in a record; `parts` has all that `references` names, and what they name.

        Raises:
            CorruptEntry: Anything else than a record, or one that leans on what is not there.
        """
        return from_raw(entry_id, self.raw(entry_id, payload, parts))

    def raw(
        self, entry_id: str, payload: bytes, parts: Mapping[bytes, Part] | None = None
    ) -> bytes:
        """The envelope in a record, byte for byte what was stored; raises as `decode` does."""
        if payload[:1] != bytes([MAGIC]):
            return self._plain.decompressed(entry_id, payload)
        record = _parsed(entry_id, payload)
        try:
            raw = self._unpacked(entry_id, record, parts or {})
        except zstandard.ZstdError as error:
            raise CorruptEntry(entry_id, type(error).__name__) from error
        if len(raw) != record.raw_bytes or _digest(raw) != record.digest:
            raise CorruptEntry(entry_id, "it does not fit what it leans on")
        return raw

    def alone(self, raw: bytes, dictionary: Dictionary | None) -> Packed:
        """An envelope on its own, or with the dictionary where that is smaller."""
        plain = Packed(self._plain.compressed(raw))
        if dictionary is None or len(raw) > MAX_SHARED_BYTES:
            return plain
        helped = Packed(self._frames.whole(raw, dictionary), dictionary)
        return helped if helped.size < plain.size else plain

    def against(self, raw: bytes, base: Base, dictionary: Dictionary | None) -> Packed | None:
        """An envelope against a base and its dictionary; None where that cannot be done."""
        known = dictionary.address if dictionary else None
        if base.dictionary != known or base.raw_bytes + len(raw) > MAX_SHARED_BYTES:
            return None
        before = self._frames.opened(base, dictionary)
        head, tail = self._frames.continued(before, raw, dictionary)
        return Packed(tail, base) if head == base.head else None

    def base(self, owner: Owner, raw: bytes, dictionary: Dictionary | None) -> Base | None:
        """The base that an envelope can be for others; None for one that is too large."""
        if len(raw) > MAX_BASE_BYTES:
            return None
        head, _ = self._frames.continued(raw, b"", dictionary)
        address = dictionary.address if dictionary else None
        return new_base(owner, head, raw_bytes=len(raw), dictionary=address)

    def record(self, raw: bytes, packed: Packed, history: History | None = None) -> bytes:
        """The bytes to store."""
        told = history.to_bytes() if history else b""
        part = packed.leans_on
        if part is None and not told:
            return packed.data
        flags = Flag(0)
        if part is not None:
            flags |= Flag.DICTIONARY if isinstance(part, Dictionary) else Flag.BASE
        flags |= Flag.WHOLE if packed.whole else Flag(0)
        flags |= Flag.HISTORY if told else Flag(0)
        head = bytes([MAGIC, VERSION << 4 | flags]) + (part.address if part else b"")
        said = write_number(len(told)) + told if told else b""
        return head + _digest(raw) + write_number(len(raw)) + said + packed.data

    def _unpacked(self, entry_id: str, record: _Record, parts: Mapping[bytes, Part]) -> bytes:
        if record.address is None:
            return self._plain.decompressed(entry_id, record.data)
        part = parts.get(record.address)
        if Flag.DICTIONARY in record.flags and isinstance(part, Dictionary):
            return self._frames.read(record.data, part, record.raw_bytes)
        if Flag.BASE not in record.flags or not isinstance(part, Base):
            raise CorruptEntry(entry_id, "what it leans on is not there")
        dictionary = parts.get(part.dictionary) if part.dictionary else None
        if part.dictionary and not isinstance(dictionary, Dictionary):
            raise CorruptEntry(entry_id, "the dictionary of its base is not there")
        known = dictionary if isinstance(dictionary, Dictionary) else None
        whole = Flag.WHOLE in record.flags
        size = part.raw_bytes + (0 if whole else record.raw_bytes)
        rest = EMPTY_END if whole else record.data
        both = self._frames.read(part.head + rest, known, size)
        return both if whole else both[part.raw_bytes :]


def references(payload: bytes) -> tuple[bytes, ...]:
    """Addresses of the parts that a record names: one, or none. Never raises."""
    if payload[:1] != bytes([MAGIC]) or len(payload) < 2 + ADDRESS_BYTES:
        return ()
    leans = payload[1] & (Flag.DICTIONARY | Flag.BASE)
    return (payload[2 : 2 + ADDRESS_BYTES],) if leans else ()


def leans_on_base(payload: bytes) -> bool:
    """Whether a record is written against a base."""
    return bool(references(payload)) and bool(payload[1] & Flag.BASE)


def raw_size(payload: bytes) -> int | None:
    """Bytes of the envelope in a record, without reading it; None where that is not said."""
    try:
        if payload[:1] == bytes([MAGIC]):
            return _parsed("?", payload).raw_bytes
        size = zstandard.get_frame_parameters(payload).content_size
    except (CorruptEntry, zstandard.ZstdError):
        return None
    return size if size <= MAX_BYTES else None


def history_of(entry_id: str, payload: bytes) -> History:
    """What a record tells of the answers before it.

    Raises:
        CorruptEntry: It cannot be read.
    """
    if payload[:1] != bytes([MAGIC]):
        return History()
    try:
        return History.from_bytes(_parsed(entry_id, payload).history)
    except (ValueError, IndexError, struct.error) as error:
        raise CorruptEntry(entry_id, "its history cannot be read") from error


def _parsed(entry_id: str, payload: bytes) -> _Record:
    try:
        record = _fields(payload)
    except (ValueError, IndexError) as error:
        raise CorruptEntry(entry_id, f"its head is damaged: {error}") from error
    if record.raw_bytes > MAX_BYTES:
        raise CorruptEntry(entry_id, f"decodes to more than {MAX_BYTES} bytes")
    return record


def _fields(payload: bytes) -> _Record:
    if payload[1] >> 4 != VERSION:
        raise ValueError(f"record version {payload[1] >> 4}, expected {VERSION}")
    flags, place, address = Flag(payload[1] & 15), 2, None
    if flags & (Flag.DICTIONARY | Flag.BASE):
        address, place = payload[2 : 2 + ADDRESS_BYTES], 2 + ADDRESS_BYTES
    digest, place = payload[place : place + _DIGEST_BYTES], place + _DIGEST_BYTES
    raw_bytes, place = read_number(payload, place)
    history = b""
    if Flag.HISTORY in flags:
        length, place = read_number(payload, place)
        history, place = payload[place : place + length], place + length
    return _Record(flags, address, digest, raw_bytes, history, payload[place:])


def _digest(raw: bytes) -> bytes:
    return hashlib.blake2b(raw, digest_size=_DIGEST_BYTES).digest()
