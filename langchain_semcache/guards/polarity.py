"""Negation and opposites: the answer to one is not the answer to the other."""

from __future__ import annotations

import re
from functools import lru_cache

from langchain_semcache.guards._chinese import (
    HAN_FALSE_FRIENDS,
    HAN_OPPOSITE_FRIENDS,
    HAN_OPPOSITES,
)
from langchain_semcache.guards._english import (
    NEGATORS,
    OPPOSITES,
    PARTICLE_VERBS,
    PARTICLES,
)
from langchain_semcache.guards._reading import Reading, Refusal, stem
from langchain_semcache.records import Reason

_OPPOSITES = tuple(
    (f"{one[0]} vs {other[0]}", frozenset(map(stem, one)), frozenset(map(stem, other)))
    for one, other in OPPOSITES
)
_PLACES = {
    word: tuple(pair for pair in _OPPOSITES if word in pair[1] or word in pair[2])
    for _, one, other in _OPPOSITES
    for word in one | other
}
_ENGLISH_FRIENDS = re.compile(
    r"not only|can(?:no|')?t (?:wait|help)|or not\b|if not\b|why (?:don't|not)|no matter|"
    r"(?:do|does|did)(?:n't| not) (?:know|understand) (?:how|what|where|which|why|if|when)|"
    r",\s*(?:is|are|do|does|did|was|were|can|could|would|should|has|have)n't (?:it|you|they|he|she|"
    r"we|there|i)\b|\bno\.?\s*(?=\d)|not to mention|nothing but|no doubt|whether or not|"
    r"\b(?:no|not) (?:less|later|earlier|more|fewer|sooner|longer) than|"
    r"not sure (?:how|what|where|which|why|if|when)|\bno one else\b"
)
_NEGATED = re.compile(r"n't\b|\bcannot\b|\bother than\b")
_PREFIXES = ("un", "dis", "non", "ir", "il", "non-")
_UNPREFIXED = frozenset(
    {"ability", "able", "cover", "count", "play", "patch", "position", "sues", "like", "aster",
     "ease", "pose", "posed", "course", "tract", "tress", "trict", "tribute", "sent", "solve"}
)  # fmt: skip
_SHORTEST_BASE = 4
_PAIR = 2
_DEGREE = "more vs less"
_HAN_FRIENDS = re.compile("|".join(sorted(HAN_FALSE_FRIENDS, key=len, reverse=True)))
_HAN_ASKING = re.compile(
    r"(.{1,2})不\1|(.)没\2|没有?[吗呢啊吧]?(?=[?!。.,]|$)|不[呢啊]?(?=[?!。.,]|$)|^没有[啊呀呢]?[,。]"
)
_HAN_EVEN = re.compile(r"不能不|不可不|不会不|没有不|无不|不无")
_HAN_NEGATION = re.compile(r"无法|不|没|無|无|非|未|别|勿|禁止|請勿")
_HAN_OPPOSITE_FRIENDS = re.compile("|".join(sorted(HAN_OPPOSITE_FRIENDS, key=len, reverse=True)))
_HAN_PAIRS = tuple((a.split("|"), b.split("|")) for a, b in HAN_OPPOSITES)
_HAN_NEGATIVE = re.compile(
    "|".join(
        word for pair in _HAN_PAIRS for one in pair for word in one if _HAN_NEGATION.search(word)
    )
)
_WORD = re.compile(r"[a-z]+")


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when one side is negated or names the opposite, and the other does not."""
    if question.has_han or stored.has_han:
        flips = _han_flips(question.lower, stored.lower)
        named = bool(flips)
        odd = han_negated(question.lower, named) != han_negated(stored.lower, named)
    else:
        flips = _flips(question, stored)
        named = bool(flips)
        odd = negations(question, named) % 2 != negations(stored, named) % 2
    if (len(flips) == 1 and odd) or (len(flips) == _PAIR and _DEGREE in flips):
        return None  # "not safe" is "unsafe", "less positive" is "more negative"
    if flips:
        return Refusal(Reason.POLARITY_DIFFERS, flips[0])
    return Refusal(Reason.POLARITY_DIFFERS, "negated on one side") if odd else None


@lru_cache(maxsize=64)
def negations(reading: Reading, opposites_named: bool = False) -> int:
    """How many English negations there are, idioms aside.

    With `opposites_named`, words like "never" are not counted: they are an opposite already.
    """
    text = _ENGLISH_FRIENDS.sub(" ", reading.lower)
    contracted = len(_NEGATED.findall(text))
    without = _NEGATED.sub(" ", text)
    negators = NEGATORS - _PLACES.keys() if opposites_named else NEGATORS
    return contracted + sum(word in negators for word in _WORD.findall(without))


@lru_cache(maxsize=64)
def han_negated(text: str, opposites_named: bool = False) -> bool:
    """Whether a Chinese sentence is negated: question forms and words like 不错 are not.

    With `opposites_named`, words like 禁止 are not counted: they are an opposite already.
    """
    if opposites_named:
        text = _HAN_NEGATIVE.sub(" ", text)
    text = _HAN_FRIENDS.sub(" ", _HAN_ASKING.sub(" ", text))
    text = _HAN_EVEN.sub(" ", text)
    return len(_HAN_NEGATION.findall(text)) % 2 == 1


def _flips(question: Reading, stored: Reading) -> list[str]:
    ours, theirs = set(question.stems), set(stored.stems)
    only_ours, only_theirs = ours - theirs, theirs - ours
    if not only_ours and not only_theirs:
        return []
    pairs = {pair for word in only_ours if word in _PLACES for pair in _PLACES[word]}
    flips = [
        label
        for label, one, other in pairs
        if _opposed(one, other, ours, theirs) or _opposed(other, one, ours, theirs)
    ]
    flips += [f"{word} negated by prefix" for word in _prefixed(only_ours, only_theirs)]
    flips += [f"{word} negated by prefix" for word in _prefixed(only_theirs, only_ours)]
    return sorted(flips) or _particles(question, stored)


def _opposed(one: frozenset[str], other: frozenset[str], ours: set[str], theirs: set[str]) -> bool:
    """One side has only the one, the other side only the other."""
    return (
        not one.isdisjoint(ours)
        and one.isdisjoint(theirs)
        and not other.isdisjoint(theirs)
        and other.isdisjoint(ours)
    )


def _prefixed(plain: set[str], others: set[str]) -> list[str]:
    bases = {w for w in plain if len(w) >= _SHORTEST_BASE and w not in _UNPREFIXED}
    return [
        word
        for word in others
        for prefix in _PREFIXES
        if word.startswith(prefix) and word.removeprefix(prefix) in bases
    ]


def _particles(question: Reading, stored: Reading) -> list[str]:
    """Find log in / log out, scale up / scale down."""
    ours, theirs = _phrases(question), _phrases(stored)
    return [
        f"{verb} {particle}"
        for verb, particle in ours - theirs
        for opposite in (PARTICLES.get(particle), _BACK.get(particle))
        if opposite and (verb, opposite) in theirs - ours
    ]


_VERBS = frozenset(map(stem, PARTICLE_VERBS))
_BACK = {out: into for into, out in PARTICLES.items()}


def _phrases(reading: Reading) -> set[tuple[str, str]]:
    return {
        (verb, particle)
        for verb, particle in zip(reading.stems, reading.words[1:], strict=False)
        if verb in _VERBS and (particle in PARTICLES or particle in _BACK)
    }


def _han_flips(ours: str, theirs: str) -> list[str]:
    """Opposites in Chinese, where a short word may hide in a longer one."""
    ours, theirs = (
        _HAN_OPPOSITE_FRIENDS.sub(_masked, ours),
        _HAN_OPPOSITE_FRIENDS.sub(_masked, theirs),
    )
    return [
        f"{one[0]} vs {other[0]}"
        for one, other in _HAN_PAIRS
        if _han_opposed(one, other, ours, theirs) or _han_opposed(other, one, ours, theirs)
    ]


def _masked(match: re.Match[str]) -> str:
    """Keep a word of two opposites that stands for itself; hide one that only looks like it."""
    word = match[0]
    return word if any(word in a or word in b for a, b in _HAN_PAIRS) else " "


def _han_opposed(one: list[str], other: list[str], ours: str, theirs: str) -> bool:
    return (
        any(w in ours for w in one)
        and not any(w in theirs for w in one)
        and any(w in theirs for w in other)
        and not any(w in ours for w in other)
    )
