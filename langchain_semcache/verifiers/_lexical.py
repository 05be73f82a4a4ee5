"""What can be seen of two questions without understanding them: the verifier's other input.

A model of meaning knows "price" from "cost" and takes 3.11 for 3.12; letters know the opposite. So
each piece of one question is marked with what the other one has of it: the same piece, the same
pair of neighbours, a word spelled nearly like it.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.verifiers._sounds import sound

Floats = NDArray[np.float32]
Booleans = NDArray[np.bool_]

WIDTH = 14
"""Columns of `marks`."""

_SPACE = "▁"
_CJK = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")
_HEARD = 0.8
_SURPRISE = 15.0
"""The rarest pieces have a log probability of about minus this."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """One question, cut into the pieces of the encoder; marks of begin and end left out.

    Attributes:
        keys: The pieces in lower case, without the sign for a space.
        words: For each piece the word it is part of, in lower case.
        traits: float32 [pieces, 6]: digit, punctuation, CJK, capital, begins a word, rarity.
    """

    keys: tuple[str, ...]
    words: tuple[str, ...]
    traits: Floats


def read_pieces(pieces: Sequence[str], scores: Sequence[float]) -> Pieces:
    """The pieces of one question, as the tokenizer spells them, with their log probabilities."""
    bare = [piece.replace(_SPACE, "") for piece in pieces]
    keys = [piece.lower() for piece in bare]
    traits: list[tuple[float, ...]] = []
    words: list[str] = []
    first, after_mark = 0, False
    for n, (piece, text) in enumerate(zip(pieces, bare, strict=True)):
        begins = piece.startswith(_SPACE) or n == 0
        digit, mark, cjk, capital = _kind(text)
        traits.append((digit, mark, cjk, capital, begins, min(1.0, -scores[n] / _SURPRISE)))
        if begins or mark or after_mark:
            words += ["".join(keys[first:n])] * (n - first)
            first = n
        after_mark = mark
    words += ["".join(keys[first:])] * (len(pieces) - first)
    table = np.array(traits, dtype=np.float32).reshape(len(pieces), 6)
    return Pieces(tuple(keys), tuple(words), table)


def same_pieces(ours: Pieces, theirs: Pieces) -> Booleans:
    """Boolean [pieces of `ours`, pieces of `theirs`]: where both have the same piece."""
    number = {key: n for n, key in enumerate(theirs.keys)}
    left = np.array([number.get(key, -1) for key in ours.keys], dtype=np.int64)
    right = np.array([number[key] for key in theirs.keys], dtype=np.int64)
    return np.equal.outer(left, right)


def marks(ours: Pieces, theirs: Pieces, same: Booleans | None = None) -> Floats:
    """float32 [pieces of `ours`, WIDTH]: the traits, and what of each piece the other side has.

    Give `same_pieces(ours, theirs)` where it is known already.
    """
    count = len(ours.keys)
    result = np.zeros((count, WIDTH), dtype=np.float32)
    result[:, :6] = ours.traits
    if not count or not theirs.keys:
        return result
    if same is None:
        same = same_pieces(ours, theirs)
    pairs = same[:-1, :-1] & same[1:, 1:]
    result[:, 6] = same.any(axis=1)
    result[1:, 7] = pairs.any(axis=1)
    result[:-1, 8] = pairs.any(axis=1)
    own = Counter(ours.keys)
    result[:, 9] = np.array([own[key] for key in ours.keys]) > same.sum(axis=1)
    result[:, 10] = _likeness(ours, theirs)
    place = np.arange(count, dtype=np.float32) / count
    partner = same.argmax(axis=1) / len(theirs.keys)
    result[:, 11] = place
    result[:, 12] = np.where(same.any(axis=1), np.abs(place - partner), 0)
    result[:, 13] = min(count, 40) / 40
    return result


def _likeness(ours: Pieces, theirs: Pieces) -> list[float]:
    """How much of each piece's spelling the other side has, from 0 to 1: typing errors score high.

    Of a word of letters: Dice coefficient of letter pairs with the likest word. Of Chinese, which
    has no spaces: the share of the piece's characters that occur anywhere, a little less for one
    that only sounds like one that does.
    """
    all_theirs = set("".join(theirs.keys))
    chinese = bool(ours.traits[:, 2].any())
    heard = {sound(char) for char in all_theirs if chinese and not char.isascii()}
    others = set(theirs.words)
    spelled = [_letter_pairs(other) for other in others]
    known: dict[str, float] = {}
    result = []
    for key, word, cjk in zip(ours.keys, ours.words, ours.traits[:, 2].tolist(), strict=True):
        if cjk:
            found = (1.0 if c in all_theirs else _HEARD * (sound(c) in heard) for c in key)
            result.append(sum(found) / max(1, len(key)))
            continue
        if word not in known:
            known[word] = 1.0 if word in others else _likest(_letter_pairs(word), spelled)
        result.append(known[word])
    return result


def _likest(pairs: frozenset[str], others: Sequence[frozenset[str]]) -> float:
    """The largest Dice coefficient of letter pairs."""
    return max(2 * len(pairs & other) / (len(pairs) + len(other)) for other in others)


@lru_cache(maxsize=4096)
def _letter_pairs(word: str) -> frozenset[str]:
    framed = f"^{word}$"
    return frozenset(framed[n : n + 2] for n in range(len(framed) - 1))


@lru_cache(maxsize=8192)
def _kind(text: str) -> tuple[bool, bool, bool, bool]:
    digit = any(char.isdigit() for char in text)
    mark = not any(char.isalnum() for char in text)
    cjk = any(unicodedata.name(char, "").startswith(_CJK) for char in text)
    return digit, mark, cjk, text[:1].isupper()
