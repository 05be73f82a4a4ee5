"""Where a text may be cut, and how well: paragraphs, sentences, clauses, words, characters."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence

HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Characters that are words of their own here: Han and kana, for a class in a pattern."""

CHARACTER, WORD, CLAUSE, SENTENCE, PARAGRAPH = range(5)
"""How well a text may be cut at a place, from worst to best."""

_SENTENCE = re.compile(
    r"""[.!?…]["'”’)\]]{0,3}\s+|[。！？…]["'”’」』）》]{0,3}\s*|\n\s*\n\s*|\r\s*\r\s*"""
)
_CLAUSE = re.compile(r"[,;:]\s+|[，、；：]\s*|[\n\r]\s*")
_WORD = re.compile(rf"\s+|[{HAN}]")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n|\r[^\S\r\n]*\r")
_LOCAL = 12
_FLAGS = 64
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_JOINERS = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")
_PREPENDED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Ends of sentences and paragraphs inside `text`, each with its rank, in order."""
    for found in _SENTENCE.finditer(text):
        place = found.end()
        if place < len(text) and not joined(text, place):
            yield place, PARAGRAPH if _BLANK_LINE.search(found[0]) else SENTENCE


def finer(text: str) -> Iterator[tuple[int, int]]:
    """Where else `text` may be cut, of the best rank there is inside: clauses, words, characters.

    A line that ends within a sentence is no better place than a comma: it may be mere layout.
    """
    for pattern, rank in ((_CLAUSE, CLAUSE), (_WORD, WORD)):
        places = [found.end() for found in pattern.finditer(text)]
        cuts = [(place, rank) for place in places if place < len(text) and not joined(text, place)]
        if cuts:
            yield from cuts
            return
    for place in range(1, len(text)):
        if not joined(text, place):
            yield place, CHARACTER


def weights(text: str, places: Sequence[int]) -> list[int]:
    """For each place a number that depends on the letters behind it alone: it moves with them."""
    if not places:
        return []
    first = places[0]
    # Four bytes a character: a slice of the bytes is one of the text, and cheaper to hash.
    letters = text[first : places[-1] + _LOCAL].encode("utf-32-le", "surrogatepass")
    starts = [4 * (place - first) for place in places]
    return [zlib.crc32(letters[start : start + 4 * _LOCAL]) for start in starts]


def joined(text: str, place: int) -> bool:
    """Whether a cut there might go through what a reader sees as one character.

    Follows UAX #29 closely enough to err on the side of not cutting.
    """
    left, right = text[place - 1], text[place]
    if right < "\u0300" and left < "\u0300":
        return left == "\r" and right == "\n"
    if "\u3400" <= right <= "\u9fff" and "\u3000" <= left <= "\u9fff":
        return False  # most of a Chinese text
    if right in _JOINERS or left == "\u200d" or left in _PREPENDED:
        return True
    if unicodedata.category(right)[0] == "M" or unicodedata.combining(left) == _VIRAMA:
        return True
    if "\U0001f3fb" <= right <= "\U0001f3ff" or "\U000e0020" <= right <= "\U000e007f":
        return True  # skin tones, and the letters of a regional flag
    return _hangul(left, right) or (_flag(left) and _flag(right) and _inside_flag(text, place))


_VIRAMA = 9  # its combining class: the mark that binds two consonants of an Indic script


def _hangul(left: str, right: str) -> bool:
    if "\u1160" <= right <= "\u11ff" or "\ud7b0" <= right <= "\ud7fb":
        return True
    leading = "\u1100" <= left <= "\u115f" or "\ua960" <= left <= "\ua97c"
    return leading and (
        "\u1100" <= right <= "\u115f" or "\ua960" <= right <= "\ua97c" or "가" <= right <= "힣"
    )


def _flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _inside_flag(text: str, place: int) -> bool:
    """Letters of flags pair up from the first of their run; a run without end is not counted."""
    behind = text[max(0, place - _FLAGS - 1) : place][::-1]
    before = len(behind) - len(behind.lstrip(_FLAG_LETTERS))
    return before > _FLAGS or before % 2 == 1
