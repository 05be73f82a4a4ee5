"""The language of a question: the answer should come in the same one."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from langchain_semcache.guards._english import (
    LANGUAGES,
)
from langchain_semcache.guards._reading import Reading, Refusal
from langchain_semcache.records import Reason

_SCRIPTS = {
    "Han": re.compile(r"[\u3400-\u9fff\uf900-\ufaff]"),
    "kana": re.compile(r"[\u3040-\u30ff]"),
    "Hangul": re.compile(r"[\u3400-\u9fff\uf900-\ufaff]"),
    "Cyrillic": re.compile(r"[\u0400-\u04ff]"),
    "Arabic": re.compile(r"[\u0600-\u06ff]"),
    "Devanagari": re.compile(r"[\u0900-\u097f]"),
    "Thai": re.compile(r"[\u0e00-\u0e7f]"),
    "Hebrew": re.compile(r"[\u0590-\u05ff]"),
    "Greek": re.compile(r"[\u0370-\u03ff]"),
}
_LATIN_WORD = re.compile(r"[a-zA-Z\u00c0-\u024f]{2,}")
_LETTERS_A_WORD = 1.5
_CLEAR = 2.0
_ENOUGH_WORDS = 2


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when the two are clearly written in different scripts or languages."""
    ours, theirs = language(question), language(stored)
    if ours and theirs and ours != theirs:
        return Refusal(Reason.LANGUAGE_DIFFERS, f"{ours} vs {theirs}")
    return None


@lru_cache(maxsize=64)
def language(reading: Reading) -> str:
    """A script, or a language that is written in Latin letters; empty when it is not clear.

    Latin words inside a Chinese sentence are names and code: it stays Chinese.
    """
    text = reading.text
    weights = {"Latin": float(len(_LATIN_WORD.findall(text)))}
    if not text.isascii():
        for script, pattern in _SCRIPTS.items():
            weights[script] = len(pattern.findall(text)) / _LETTERS_A_WORD
        if weights["kana"]:  # Japanese writes both
            weights["kana"] += weights.pop("Han")
    best, second = sorted(weights.items(), key=lambda item: -item[1])[:2] + [("", 0.0)] * (
        2 - min(2, len(weights))
    )
    if not best[1] or best[1] < _CLEAR * second[1]:
        return ""
    return _latin(reading) if best[0] == "Latin" else best[0]


def _latin(reading: Reading) -> str:
    """Which European language the little words belong to."""
    present = set(reading.words)
    votes = Counter({name: len(present & words) for name, words in LANGUAGES.items()})
    (best, most), (_, next_most) = votes.most_common(2)
    return best if most >= _ENOUGH_WORDS and most >= _CLEAR * next_most else ""
