"""Responses as bytes: a versioned JSON envelope, compressed with zstd.

The envelope is data only. Nothing in it can name a class, so a poisoned store cannot make the
reader run or build anything.
"""

from __future__ import annotations

import json
import threading
from typing import Protocol

import zstandard

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.records import JSON, Response

VERSION = 1
LEVEL = 3
MAX_BYTES = 64 * 1024 * 1024
"""A larger record is not one of ours: the bound keeps a forged frame from filling memory."""

MAX_DEPTH = 200
"""Deeper JSON may be written, and then not be read on a thread with a smaller stack."""

_FIELDS = {"v", "kind", "body", "text", "finish", "refused", "calls"}


class ResponseCodec(Protocol):
    """Bytes for a response, and the same response back."""

    def encode(self, response: Response) -> bytes: ...

    def decode(self, entry_id: str, payload: bytes) -> Response:
        """Raises `CorruptEntry` for anything that no codec of ours wrote."""
        ...


class _PerThread(threading.local):
    """zstd contexts are not safe to share, and cost more to make than an answer to unpack."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self.decompressor = zstandard.ZstdDecompressor()


class EnvelopeCodec:
    """Each answer on its own. Safe to share between threads."""

    def __init__(self) -> None:
        self._zstd = _PerThread()

    def encode(self, response: Response) -> bytes:
        """Raises ValueError or TypeError when the body is not JSON, too deep or too large."""
        return self.compressed(to_raw(response))

    def compressed(self, raw: bytes) -> bytes:
        """An envelope as a plain zstd frame, which says its size and has a checksum."""
        return self._zstd.compressor.compress(raw)

    def decode(self, entry_id: str, payload: bytes) -> Response:
        return from_raw(entry_id, self.decompressed(entry_id, payload))

    def decompressed(self, entry_id: str, payload: bytes) -> bytes:
        """The envelope in a plain frame.

        Raises:
            CorruptEntry: It is no such frame, or one of a size that is never written.
        """
        try:
            # The frame's own claim is checked first: zstd would allocate whatever it says.
            if zstandard.get_frame_parameters(payload).content_size > MAX_BYTES:
                raise CorruptEntry(entry_id, f"decodes to more than {MAX_BYTES} bytes")
            return self._zstd.decompressor.decompress(payload, max_output_size=MAX_BYTES)
        except zstandard.ZstdError as error:
            raise CorruptEntry(entry_id, type(error).__name__) from error


def to_raw(response: Response) -> bytes:
    """The envelope of a response: JSON in UTF-8, not yet compressed.

    Raises:
        ValueError, TypeError: The body is not JSON, too deep or too large.
    """
    _check_depth(response.body)
    envelope = {
        "v": VERSION,
        "kind": response.kind,
        "body": response.body,
        # Plain text is its own body; writing it twice would double the record.
        "text": None if response.text == response.body else response.text,
        "finish": list(response.finish_reasons),
        "refused": response.refused,
        "calls": response.has_tool_calls,
    }
    text = json.dumps(envelope, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) > MAX_BYTES:
        raise ValueError(f"an answer of {len(raw)} bytes is more than would be read again")
    return raw


def from_raw(entry_id: str, raw: bytes) -> Response:
    """The response in an envelope.

    Raises:
        CorruptEntry: It is no envelope of this release.
    """
    try:
        envelope: JSON = json.loads(raw.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise CorruptEntry(entry_id, type(error).__name__) from error
    return _response(entry_id, envelope)


def _check_depth(body: JSON) -> None:
    level: list[JSON] = [body]
    for _ in range(MAX_DEPTH):
        inner: list[JSON] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        if not inner:
            return
        level = inner
    raise ValueError(f"an answer that is nested deeper than {MAX_DEPTH} levels")


def _response(entry_id: str, envelope: JSON) -> Response:
    if not isinstance(envelope, dict) or set(envelope) != _FIELDS:
        raise CorruptEntry(entry_id, "not a response envelope")
    if envelope["v"] != VERSION:
        raise CorruptEntry(entry_id, f"envelope version {envelope['v']!r}, expected {VERSION}")
    kind, body, finish = envelope["kind"], envelope["body"], envelope["finish"]
    text = body if envelope["text"] is None else envelope["text"]
    if not isinstance(kind, str) or not isinstance(text, str) or not isinstance(finish, list):
        raise CorruptEntry(entry_id, "a field of the envelope has the wrong type")
    endings = tuple(reason for reason in finish if reason is None or isinstance(reason, str))
    if len(endings) != len(finish):
        raise CorruptEntry(entry_id, "a finish reason is not text")
    return Response(
        body=body,
        kind=kind,
        text=text,
        finish_reasons=endings,
        refused=envelope["refused"] is True,
        has_tool_calls=envelope["calls"] is True,
    )
