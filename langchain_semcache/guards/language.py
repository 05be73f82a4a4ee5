"""The language of a question: the answer should come in the same one."""

from __future__ import annotations

import re
from functools import lru_cache

from langchain_semcache.guards._english import (
    LANGUAGES,
)
from langchain_semcache.guards._reading import Reading, Refusal
from langchain_semcache.records import Reason

_SCRIPTS = {
    "Han": re.compile(r"[\u3400-\u9fff\uf900-\ufaff]"),
    "kana": re.compile(r"[\u3040-\u30ff]"),
    "Hangul": re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"),
    "Cyrillic": re.compile(r"[\u0400-\u04ff]"),
    "Arabic": re.compile(r"[\u0600-\u06ff]"),
    "Devanagari": re.compile(r"[\u0900-\u097f]"),
    "Thai": re.compile(r"[\u0e00-\u0e7f]"),
    "Hebrew": re.compile(r"[\u0590-\u05ff]"),
    "Greek": re.compile(r"[\u0370-\u03ff]"),
}
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

    Latin words inside a Chinese sentence are names and code: only the little words of a
    language ("the", "is") can make a mixed sentence a European one.
    """
    latin, votes = _latin(reading)
    if reading.text.isascii():
        return latin
    weights = {
        script: len(pattern.findall(reading.text)) / _LETTERS_A_WORD
        for script, pattern in _SCRIPTS.items()
    }
    if weights["kana"]:  # Japanese writes both
        weights["kana"] += weights.pop("Han")
    (most, script), (next_most, _) = sorted(((w, s) for s, w in weights.items()), reverse=True)[:2]
    if not most or votes >= _CLEAR * most:
        return latin
    return script if most >= _CLEAR * max(next_most, votes) else ""


def _latin(reading: Reading) -> tuple[str, int]:
    """The European language of the little words, if that is clear, and how many there are."""
    present = set(reading.words)
    votes = [(len(present & words), name) for name, words in LANGUAGES.items()]
    (most, best), (next_most, _) = sorted(votes, reverse=True)[:2]
    clear = most >= _ENOUGH_WORDS and most >= _CLEAR * next_most
    return (best if clear else ""), most
