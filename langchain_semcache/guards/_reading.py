"""A sentence, read once for all guards."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from langchain_semcache.records import Reason

_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": "-", "–": "-", "−": "-"})
_WORD = re.compile(r"[^\W_]+(?:['.+#_-]*[^\W_]+)*(?:\+\+|#)?")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_EDGES = " \t\r\n.?!,;:。？！，；：…~、\"'"
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a stored answer is not the answer to this question; `detail` names the difference."""

    reason: Reason
    detail: str


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


def shown(items: object, limit: int = 3) -> str:
    """A few items of a collection, for `detail`."""
    listed = sorted(map(str, items)) if isinstance(items, (set, frozenset, list, tuple)) else []
    return "/".join(listed[:limit]) or "-"
