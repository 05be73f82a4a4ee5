"""A sentence, read once for all guards."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from langchain_semcache.guards._english import STOPWORDS
from langchain_semcache.records import Reason

_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": "-", "–": "-", "−": "-"})
_DOUBLED = re.compile(r"''|(?<!`)``(?!`)")
_WORD = re.compile(r"[^\W_]+(?:['.+#_-]*[^\W_]+)*(?:\+\+|#)?")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_EDGES = " \t\r\n.?!,;:。？！，；：…~、\"'"
_SHORTEST_STEM = 3
_LATIN = re.compile(r"[a-z]+")
ARTICLES = frozenset({"a", "an", "the"})
LIKE_WORDS = 0.6
"""From this share of common words on, what is not shared is the difference. Below it guards refuse
as large a share of our own true pairs as of the traps for what only one question names
(benchmarks/one_sided.py)."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a stored answer is not the answer to this question.

    Attributes:
        detail: Names the difference.
        one_sided: Only one of the questions names something that the other lacks.
        final: Whether nothing else may outweigh it. It is not where the refusal is one-sided and
            the two are in other words: then that may be a matter of wording.
    """

    reason: Reason
    detail: str
    one_sided: bool = False
    final: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """NFKC text with plain quotes, in its own case and folded, and its words.

    Compared by identity, so that what a guard remembers of it is found without hashing the text.
    """

    text: str
    lower: str
    words: tuple[str, ...]
    stems: tuple[str, ...]
    has_han: bool

    @property
    def core(self) -> str:
        """The folded text without punctuation at its ends."""
        return self.lower.strip(_EDGES)


@lru_cache(maxsize=64)
def read(text: str) -> Reading:
    """Read `text`. Remembers the last few: one question meets several candidates."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    if "''" in plain or "``" in plain:
        plain = _DOUBLED.sub('"', plain)
    lower = plain.casefold()
    found = tuple(_WORD.findall(lower))
    return Reading(plain, lower, found, tuple(map(stem, found)), bool(_HAN.search(plain)))


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A crude English stem, the same for the forms of a regular word."""
    word = word.removesuffix("'s").replace("'", "")
    for ending in ("ing", "ied", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            if ending == "s" and word.endswith(("ss", "us", "is")):
                break
            word = word.removesuffix(ending) + ("y" if ending in ("ied", "ies") else "")
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "lse":
        word = word[:-1]
    return word[:-1] if len(word) > _SHORTEST_STEM and word.endswith("e") else word


def differing(reason: Reason, ours: Collection[str], theirs: Collection[str]) -> Refusal:
    """The refusal for what only the one and only the other question names."""
    return Refusal(reason, f"{shown(ours)} vs {shown(theirs)}", one_sided=not ours or not theirs)


def weightiest(found: Iterable[Refusal | None]) -> Refusal | None:
    """The first that is not one-sided, or else the first; reads no further than it must."""
    first: Refusal | None = None
    for refusal in found:
        if refusal is not None and not refusal.one_sided:
            return refusal
        first = first or refusal
    return first


def shown(items: Iterable[str]) -> str:
    """The first three items in alphabetical order, for `detail`."""
    return "/".join(sorted(items)[:3]) or "-"


@lru_cache(maxsize=64)
def content(reading: Reading) -> tuple[str, ...]:
    """The stems of the words that carry meaning, in order."""
    return tuple(
        stem
        for word, stem in zip(reading.words, reading.stems, strict=True)
        if word not in STOPWORDS
    )


def shared(question: Reading, stored: Reading) -> float:
    """The part of all words, articles aside, that the two have in common, from 0 to 1."""
    ours, theirs = _bag(question), _bag(stored)
    both = sum(min(count, theirs[word]) for word, count in ours.items() if word in theirs)
    return 2 * both / max(1, sum(ours.values()) + sum(theirs.values()))


def reworded(question: Reading, stored: Reading) -> bool:
    """Whether the shorter text has less than `LIKE_WORDS` of its words in common with the other.

    Chinese is counted by characters. What one text says beyond all that the other says *is* the
    difference, however long it is, so the shorter one counts.
    """
    ours, theirs = _units(question), _units(stored)
    return len(ours & theirs) < LIKE_WORDS * min(len(ours), len(theirs))


@lru_cache(maxsize=64)
def _units(reading: Reading) -> frozenset[str]:
    if not reading.has_han:
        return frozenset(reading.stems)
    return frozenset(_HAN.findall(reading.lower)).union(_LATIN.findall(reading.lower))


@lru_cache(maxsize=64)
def _bag(reading: Reading) -> Counter[str]:
    return Counter(
        stem
        for word, stem in zip(reading.words, reading.stems, strict=True)
        if word not in ARTICLES
    )
