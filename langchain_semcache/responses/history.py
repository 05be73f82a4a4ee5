"""What an answer was before: how much changed at each refresh, and the last answer but one."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import zstandard

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.responses.numbers import read_number, write_number

KEPT = 4
"""Changes that an answer remembers; older ones are dropped."""

MAX_DELTA_BYTES = 4096
"""A longer way back to the answer before is not kept: the record is for the answer of today."""

MAX_COMPARED_BYTES = 256 * 1024
"""Larger answers are not compared: it would take more than a millisecond."""

_LEVEL = 3
_CHANGE = struct.Struct(">dd")


@dataclass(frozen=True, slots=True)
class Change:
    """One refresh.

    Attributes:
        at: When the new answer was stored, in seconds since the epoch.
        share: How much of the old answer the new one does not tell: bytes needed to get back to it
            from the new one, over those it takes by itself. 0 for the same, 1 for nothing in
            common; None where the two were too large to be compared.
    """

    at: float
    share: float | None


@dataclass(frozen=True, slots=True)
class History:
    """What a record holds of what came before it.

    Attributes:
        changes: The last refreshes, the latest last.
        previous_at: When the answer before this one was stored; None when it is not kept.
        previous_bytes: Size of its envelope.
        back: The zstd frame that makes it of the current envelope.
    """

    changes: tuple[Change, ...] = ()
    previous_at: float | None = None
    previous_bytes: int = 0
    back: bytes = b""

    def followed(self, old: bytes, new: bytes, *, old_at: float, now: float) -> History:
        """The history of the envelope that replaces `old`, which had this one."""
        if len(old) + len(new) > MAX_COMPARED_BYTES:
            return History((*self.changes, Change(now, None))[-KEPT:])
        back = zstandard.ZstdCompressor(
            level=_LEVEL, dict_data=_prefix(new), write_content_size=False
        ).compress(old)
        alone = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=False).compress(old)
        share = 0.0 if old == new else min(1.0, len(back) / len(alone))
        changes = (*self.changes, Change(now, share))[-KEPT:]
        if len(back) > MAX_DELTA_BYTES:
            return History(changes)
        return History(changes, old_at, len(old), back)

    def previous(self, entry_id: str, current: bytes) -> bytes | None:
        """The envelope before the current one; None when it is not kept.

        Raises:
            CorruptEntry: The way back does not fit the current envelope.
        """
        if self.previous_at is None:
            return None
        if self.previous_bytes > MAX_COMPARED_BYTES:
            raise CorruptEntry(entry_id, "its history is larger than any that is written")
        decompressor = zstandard.ZstdDecompressor(dict_data=_prefix(current))
        try:
            return decompressor.decompress(self.back, max_output_size=max(1, self.previous_bytes))
        except zstandard.ZstdError as error:
            raise CorruptEntry(entry_id, "its history cannot be read") from error

    def to_bytes(self) -> bytes:
        """As it lies in a record; empty when there is nothing to tell."""
        if not self.changes:
            return b""
        told = b"".join([_CHANGE.pack(one.at, _written(one.share)) for one in self.changes])
        head = bytes([len(self.changes)]) + told
        if self.previous_at is None:
            return head
        when = struct.pack(">d", self.previous_at)
        return head + when + write_number(self.previous_bytes) + self.back

    @classmethod
    def from_bytes(cls, data: bytes) -> History:
        """Raises ValueError or struct.error for what `to_bytes` did not write."""
        if not data:
            return cls()
        place = 1 + data[0] * _CHANGE.size
        changes = tuple(
            Change(at, None if math.isnan(share) else share)
            for at, share in _CHANGE.iter_unpack(data[1:place])
        )
        if len(changes) != data[0] or len(changes) > KEPT:
            raise ValueError("a history of another length")
        if place == len(data):
            return cls(changes)
        (previous_at,) = struct.unpack_from(">d", data, place)
        previous_bytes, place = read_number(data, place + 8)
        return cls(changes, previous_at, previous_bytes, data[place:])


def _written(share: float | None) -> float:
    return math.nan if share is None else share


def _prefix(raw: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(raw, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
