"""zstd at work with dictionaries that are digested once, and contexts that no two threads share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import zstandard
from zstandard import ZstdCompressionDict, ZstdCompressionParameters

from langchain_semcache.responses.parts import Base, Dictionary

LEVEL: Final = 9
"""With a lazy match finder that looks at 64 places. From level 13 on answers are 3 % smaller and
take three to ten times as long: benchmarks/responses.py."""

DIGESTED: Final = 16
"""Dictionaries kept ready; each takes about 2 MB with its tables."""

CONTEXTS: Final = 8
"""Compressors and decompressors kept by each thread, one a dictionary."""

EMPTY_END: Final = b"\x01\x00\x00"
"""The last block of a zstd frame that has nothing more to say (RFC 8878, 3.1.1.2)."""

_WINDOW_LOG: Final = 18

T = TypeVar("T")


class _Recent(Generic[T]):
    """The things used last, made when they are missing. Not safe between threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[bytes, T] = OrderedDict()

    def get(self, name: bytes, make: Callable[[], T]) -> T:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = make()
            if len(self._made) > self._most:
                self._made.popitem(last=False)
        else:
            self._made.move_to_end(name)
        return found


class _PerThread(threading.local):
    """zstd contexts are not safe to share, and cost more to make than an answer to unpack."""

    def __init__(self) -> None:
        self.compressors: _Recent[zstandard.ZstdCompressor] = _Recent(CONTEXTS)
        self.decompressors: _Recent[zstandard.ZstdDecompressor] = _Recent(CONTEXTS)


class Frames:
    """Frames without magic number, size and checksum: the record says what has to be known."""

    def __init__(self) -> None:
        self._mine = _PerThread()
        self._lock = threading.Lock()
        self._digested: _Recent[ZstdCompressionDict] = _Recent(DIGESTED)

    def whole(self, raw: bytes, dictionary: Dictionary | None) -> bytes:
        """One frame that holds everything."""
        return self._compressor(dictionary).compress(raw)

    def continued(
        self, before: bytes, raw: bytes, dictionary: Dictionary | None
    ) -> tuple[bytes, bytes]:
        """A frame in two pieces, one after another: of `before`, and of `raw`."""
        frame = self._compressor(dictionary).compressobj()
        head = frame.compress(before) + frame.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        return head, frame.compress(raw) + frame.flush()

    def opened(self, base: Base, dictionary: Dictionary | None) -> bytes:
        """The envelope of a base."""
        return self.read(base.head + EMPTY_END, dictionary, base.raw_bytes)

    def read(self, frame: bytes, dictionary: Dictionary | None, size: int) -> bytes:
        """What is in a frame of at most `size` bytes, unpacked.

        Raises:
            zstandard.ZstdError: It is no frame, or a larger one.
        """
        name = dictionary.address if dictionary else b""
        made = self._mine.decompressors.get(
            name,
            lambda: zstandard.ZstdDecompressor(
                dict_data=self._digest(dictionary) if dictionary else None,
                format=zstandard.FORMAT_ZSTD1_MAGICLESS,
            ),
        )
        return made.decompress(frame, max_output_size=max(1, size))

    def _compressor(self, dictionary: Dictionary | None) -> zstandard.ZstdCompressor:
        name = dictionary.address if dictionary else b""
        return self._mine.compressors.get(
            name,
            lambda: zstandard.ZstdCompressor(
                dict_data=self._digest(dictionary) if dictionary else None,
                compression_params=_parameters(),
            ),
        )

    def _digest(self, dictionary: Dictionary) -> ZstdCompressionDict:
        with self._lock:
            return self._digested.get(dictionary.address, lambda: _digested(dictionary))


def _digested(dictionary: Dictionary) -> ZstdCompressionDict:
    made = ZstdCompressionDict(dictionary.trained)
    made.precompute_compress(compression_params=_parameters())
    return made


def _parameters() -> ZstdCompressionParameters:
    return ZstdCompressionParameters.from_level(
        LEVEL,
        source_size=8192,
        dict_size=65536,
        window_log=_WINDOW_LOG,
        strategy=zstandard.STRATEGY_LAZY2,
        search_log=6,
        min_match=4,
        write_content_size=False,
        write_checksum=False,
        write_dict_id=False,
        format=zstandard.FORMAT_ZSTD1_MAGICLESS,
    )
