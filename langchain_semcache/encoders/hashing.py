"""A key function without a model: 64-bit SimHash over token and bigram hashes.

Near-repeats of a text get near hashes; meaning is not looked at, so "forgot my password" and "how
do I reset my login" are as far apart as any two texts. All arithmetic is on whole numbers: the
same text has the same hash in every process and on every platform.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.ports import Vectors

BITS = 64
_MASK = (1 << BITS) - 1
_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_SEPARATOR = b"\x1f"
_TOKEN_WEIGHT, _BIGRAM_WEIGHT = 2, 1

# Scripts that put no spaces between words go character by character: Thai and its neighbours, kana,
# Chinese characters. Their bigrams are then character bigrams. Everything else goes by words, and
# a symbol is a token of its own: "C", "C#" and "C++" are three things.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_UNSPACED += "\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+|[^\w\s]")


class TokenizerHashEncoder:
    """SimHash as an encoder: 64 values of plus or minus 1/8, one for each bit.

    The cosine of two vectors is `1 - 2 * hamming / 64`. Immutable, so safe to share.

    Args:
        salt: Hashes under different salts have nothing in common.
    """

    dimension = BITS
    max_tokens = sys.maxsize
    """Nothing is ever cut off."""

    def __init__(self, *, salt: str = "") -> None:
        self._seed = _fnv1a(salt.encode("utf-8", "surrogatepass"), _FNV_OFFSET)

    @property
    def identity(self) -> str:
        return f"tokenizer-hash-v1;salt={self._seed:016x}"

    def count_tokens(self, text: str) -> int:
        return len(tokenize(text))

    def signature(self, text: str) -> int:
        """The hash, in [0, 2**64). A text without tokens has the hash of its salt."""
        return int.from_bytes(np.packbits(self._bits(text)).tobytes(), "big")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), 64], every value 1/8 or -1/8."""
        bits = np.empty((len(texts), BITS), dtype=np.uint8)
        for row, text in enumerate(texts):
            bits[row] = self._bits(text)
        # Both are powers of two, so every value is exact.
        vectors: Vectors = bits.astype(np.float32) * np.float32(0.25) - np.float32(0.125)
        return vectors

    def _bits(self, text: str) -> NDArray[np.uint8]:
        """uint8 [64], most significant bit first."""
        seed: NDArray[np.uint8] = _as_bits([self._seed])[0]
        features = list(self._features(text))
        if not features:
            return seed
        hashes, weights = zip(*features, strict=True)
        # Every feature votes on every bit. On a tie the salt decides: were it always 0, short
        # texts, where ties are common, would look alike.
        votes = np.asarray(weights, dtype=np.int64) @ (_as_bits(hashes).astype(np.int64) * 2 - 1)
        bits: NDArray[np.uint8] = np.where(votes == 0, seed, votes > 0).astype(np.uint8)
        return bits

    def _features(self, text: str) -> Iterator[tuple[int, int]]:
        """Hash and weight of each token and of each pair of neighbours."""
        previous = None
        for token in tokenize(text):
            encoded = token.encode("utf-8", "surrogatepass")
            if previous is not None:
                pair = _fnv1a(encoded, _fnv1a(_SEPARATOR, previous))
                yield _mix(pair), _BIGRAM_WEIGHT
            previous = _fnv1a(encoded, self._seed)
            yield _mix(previous), _TOKEN_WEIGHT


def tokenize(text: str) -> list[str]:
    """Words, single characters of unspaced scripts, and symbols; NFKC and without case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _TOKEN.findall(folded)


def hamming(first: int, second: int) -> int:
    """In how many of their 64 bits two signatures differ."""
    return (first ^ second).bit_count()


def _fnv1a(data: bytes, state: int) -> int:
    for byte in data:
        state = ((state ^ byte) * _FNV_PRIME) & _MASK
    return state


def _mix(value: int) -> int:
    """Spread every bit over the whole word (the finaliser of MurmurHash3).

    The last bytes that went into FNV-1a hardly reach its middle bits, and SimHash needs each bit
    of a token to be a fair coin of its own.
    """
    value = ((value ^ (value >> 33)) * 0xFF51AFD7ED558CCD) & _MASK
    value = ((value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53) & _MASK
    return value ^ (value >> 33)


def _as_bits(hashes: Sequence[int]) -> NDArray[np.uint8]:
    """uint8 [len(hashes), 64], most significant bit first, whatever the machine's byte order."""
    words = np.array(hashes, dtype=">u8")
    return np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1)
