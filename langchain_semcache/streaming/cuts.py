"""Where a stream was cut, written small; and where a text may be cut anew."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from langchain_semcache.records import JSON

VERSION = 1

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVabcdefghijklmnopqrstuvwxyzWXYZ-_"
"""Base 32: the first half ends a number, the second half says that more digits follow."""
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}

MOST_PIECES = 4_000_000
"""A longer record is not one of ours."""

_WORD = re.compile(r"\s*\S+\s*|\s+")
DENSE, LONG = 4, 32
"""A word is cut after so many code points, where its script has no spaces, and anywhere else."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uabff\uf900-\U0003ffff]")
"""Thai, Lao, Burmese, Khmer, and from the radicals on what is written in Chinese and Japanese."""


class ShapeUnreadable(ValueError):
    """A stored record of cuts that no recorder wrote."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a stream was cut: for each part its track, its code points, and the pause before it.

    Pauses are in milliseconds; that of the first part is the time until it came.
    """

    parts: tuple[tuple[int, int, int], ...] = ()

    def sizes(self) -> dict[int, list[int]]:
        """The code points of the parts of each track, in order."""
        found: dict[int, list[int]] = {}
        for track, size, _ in self.parts:
            found.setdefault(track, []).append(size)
        return found

    def to_json(self) -> dict[str, JSON]:
        """The record: runs of tracks, then one digit for most sizes and pauses."""
        tracks: list[tuple[int, int]] = [
            (track, len(list(run))) for track, run in groupby(part[0] for part in self.parts)
        ]
        record: dict[str, JSON] = {
            "v": VERSION,
            "tracks": _numbers(number for run in tracks for number in run),
            "sizes": _numbers(part[1] for part in self.parts),
        }
        if any(part[2] for part in self.parts):
            record["pauses"] = _numbers(part[2] for part in self.parts)
        return record

    @classmethod
    def from_json(cls, record: JSON) -> Shape:
        """Read a record back.

        Raises:
            ShapeUnreadable: It is none, or of a version that is not known here.
        """
        if not isinstance(record, Mapping) or record.get("v") != VERSION:
            raise ShapeUnreadable("not a record of cuts")
        runs, sizes = _read(record.get("tracks")), _read(record.get("sizes"))
        if len(runs) % 2 or sum(runs[1::2]) != len(sizes):
            raise ShapeUnreadable("tracks and sizes do not fit")
        pauses = _read(record["pauses"]) if "pauses" in record else [0] * len(sizes)
        if len(pauses) != len(sizes):
            raise ShapeUnreadable("pauses and sizes do not fit")
        tracks = [
            track for track, count in zip(runs[::2], runs[1::2], strict=True) for _ in range(count)
        ]
        return cls(tuple(zip(tracks, sizes, pauses, strict=True)))


def words(text: str, *, most: int | None = None) -> list[str]:
    """The text word by word, of a script without spaces a few characters at a time.

    The pieces join to the text. None ends inside a character as a reader sees it: between the
    halves of a surrogate pair, before a combining mark, or inside a joined or modified emoji.

    Args:
        most: Pieces at most; of a longer text several words at a time.
    """
    most_of_one = DENSE if _UNSPACED.search(text) else LONG
    cut: list[str] = []
    for word in _WORD.findall(text):
        if len(word) <= most_of_one:
            cut.append(word)
        else:
            cut += _fine(word)
    size = 1 if most is None else 1 + len(cut) // most
    return cut if size == 1 else ["".join(cut[at : at + size]) for at in range(0, len(cut), size)]


def _fine(word: str) -> Iterator[str]:
    most = DENSE if _UNSPACED.search(word) else LONG
    start = 0
    while len(word) - start > most:
        end = start + most
        while end < len(word) and _inside(word, end):
            end += 1
        yield word[start:end]
        start = end
    if start < len(word):
        yield word[start:]


def _inside(text: str, at: int) -> bool:
    """Whether a cut before `at` would part what is read as one character."""
    before, after = text[at - 1], text[at]
    return (
        unicodedata.category(after).startswith("M")
        or after.isspace()
        or "\u200d" in (before, after)
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff")
    )


def _numbers(values: Iterator[int]) -> str:
    return "".join(map(_number, values))


def _number(value: int) -> str:
    value = max(0, value)
    digits = _DIGITS[value % 32]
    while value := value // 32:
        digits = _DIGITS[32 + value % 32] + digits
    return digits


def _read(text: JSON) -> list[int]:
    if not isinstance(text, str) or len(text) > MOST_PIECES:
        raise ShapeUnreadable("numbers are missing")
    found: list[int] = []
    value = 0
    for digit in text:
        part = _VALUES.get(digit)
        if part is None:
            raise ShapeUnreadable(f"{digit!r} is no digit")
        value = value * 32 + part % 32
        if part < 32:
            found.append(value)
            value = 0
    if text and _VALUES[text[-1]] >= 32:
        raise ShapeUnreadable("a number breaks off")
    return found
