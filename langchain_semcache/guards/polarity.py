"""Negation and opposites: the answer to one is not the answer to the other."""

from __future__ import annotations

import re
from collections import Counter
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
from langchain_semcache.guards._reading import Reading, Refusal, content, stem
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
    r"^(?:no|well,? no|nope)\s?,|(?:don't|do not|never) forget|not only|"
    r"can(?:no|')?t (?:wait|help)|or not\b|if not\b|or why not\b|no matter|"
    r"(?:do|does|did)(?:n't| not) (?:know|understand) (?:how|what|where|which|why|if|when)|"
    r",\s*(?:is|are|do|does|did|was|were|can|could|would|should|has|have)n't (?:it|you|they|he|she|"
    r"we|there|i)\b|\bno\.?\s*(?=\d)|not to mention|nothing but|no doubt|whether or not|"
    r"\b(?:no|not) (?:less|later|earlier|more|fewer|sooner|longer) than|"
    r"not sure (?:how|what|where|which|why|if|when)|\bno one else\b"
)
_MAY_NEGATE = re.compile(rf"n't|\bother than\b|\b(?:{'|'.join(sorted(NEGATORS))})\b")
_NEGATED = re.compile(r"n't\b|\bcannot\b|\bother than\b")
_HIDDEN = re.compile(
    r"\b(?:avoid\w*|prevent\w*|lack\w*|fail\w*|unable|refus\w+|impossible|missing|absen\w+|"
    r"except|exclud\w+|omit\w*|instead of|rather than|unless|different from|too \w+ to|"
    r"unavailable|uncertain|unclear|unsure|unlike\w*|optional|ignor\w+|stop\w*|quit\w*|"
    r"zero|free of|"
    r"the opposite|hardly|rarely|barely|seldom)\b"
)
"""Words that may say in another way what a negation says."""
_PREFIXES = ("un", "dis", "non", "ir", "il", "non-")
_UNPREFIXED = frozenset(
    {"ability", "able", "cover", "count", "play", "patch", "position", "sues", "like", "aster",
     "ease", "pose", "posed", "course", "tract", "tress", "trict", "tribute", "sent", "solve"}
)  # fmt: skip
_SHORTEST_BASE = 4
_PAIR = 2
_DEGREE = "more vs less"
_DEGREES = frozenset(map(stem, ("more", "less", "fewer")))
_HAN_FRIENDS = re.compile("|".join(sorted(HAN_FALSE_FRIENDS, key=len, reverse=True)))
_HAN_ASKING = re.compile(
    r"(.{1,2})不\1|(.)没\2|没有?[吗呢啊吧]?(?=[?!。.,]|$)|不[呢啊]?(?=[?!。.,]|$)|^没有[啊呀呢]?[,。]"
)
_HAN_EVEN = re.compile(r"不能不|不可不|不会不|没有不|无不|不无")
_HAN_NEGATION = re.compile(r"无法|不|没|無|无|非|未|别|勿|禁止|請勿")
_HAN_OPPOSITE_FRIENDS = re.compile("|".join(sorted(HAN_OPPOSITE_FRIENDS, key=len, reverse=True)))
_HAN_PAIRS = tuple((a.split("|"), b.split("|")) for a, b in HAN_OPPOSITES)
_HAN_SIDES: dict[str, list[tuple[int, int]]] = {}
for _number, _pair in enumerate(_HAN_PAIRS):
    for _side, _words in enumerate(_pair):
        for _word in _words:
            _HAN_SIDES.setdefault(_word, []).append((_number, _side))
_HAN_NEGATIVE = re.compile(
    "|".join(
        word for pair in _HAN_PAIRS for one in pair for word in one if _HAN_NEGATION.search(word)
    )
)
_WORD = re.compile(r"[a-z]+")


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when one side is negated or names the opposite, and the other does not."""
    if question.has_han or stored.has_han:
        flips = _han_flips(question, stored)
        named = bool(flips)
        odd = han_negated(question.lower, named) != han_negated(stored.lower, named)
    else:
        flips = _flips(question, stored)
        named = bool(flips)
        odd = negations(question, named) % 2 != negations(stored, named) % 2
    if (len(flips) == 1 and odd) or _turned_twice(flips, question, stored):
        return None  # "not safe" is "unsafe", "less positive" is "more negative"
    if flips:
        return Refusal(Reason.POLARITY_DIFFERS, flips[0])
    if not odd or _hidden(question, stored):
        return None
    return Refusal(Reason.POLARITY_DIFFERS, "negated on one side", one_sided=True)


def _turned_twice(flips: list[str], question: Reading, stored: Reading) -> bool:
    """More of one is less of its opposite; another word beside "less" may be that opposite."""
    if _DEGREE not in flips:
        return False
    if len(flips) == _PAIR:
        return True
    ours, theirs = Counter(content(question)), Counter(content(stored))
    left = (ours - theirs).keys() - _DEGREES
    right = (theirs - ours).keys() - _DEGREES
    return len(flips) == 1 and len(left) == 1 and len(right) == 1


def _hidden(question: Reading, stored: Reading) -> bool:
    """Whether the side without a negation may say it by "avoid", "lack" or "unable"."""
    if question.has_han or stored.has_han:
        return False
    plain, negated = sorted((question, stored), key=lambda reading: negations(reading) % 2)
    return not set(_HIDDEN.findall(plain.lower)) <= set(_HIDDEN.findall(negated.lower))


@lru_cache(maxsize=64)
def negations(reading: Reading, opposites_named: bool = False) -> int:
    """How many English negations there are, idioms aside.

    With `opposites_named`, words like "never" are not counted: they are an opposite already.
    """
    if not _MAY_NEGATE.search(reading.lower):
        return 0
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
    if not _HAN_NEGATION.search(text):
        return False
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
        if word not in _PLACES
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


def _han_flips(question: Reading, stored: Reading) -> list[str]:
    """Opposites in Chinese, where a short word may hide in a longer one."""
    ours, our_others = _han_sides(question)
    theirs, their_others = _han_sides(stored)
    opposed = (ours - theirs) & (their_others - our_others)
    opposed |= (theirs - ours) & (our_others - their_others)
    return [f"{_HAN_PAIRS[n][0][0]} vs {_HAN_PAIRS[n][1][0]}" for n in sorted(opposed)]


@lru_cache(maxsize=64)
def _han_sides(reading: Reading) -> tuple[frozenset[int], frozenset[int]]:
    """The pairs of which the text holds the one, and those of which it holds the other."""
    text = _HAN_OPPOSITE_FRIENDS.sub(_masked, reading.lower)
    present = [word for word in _HAN_SIDES if word in text]
    return (
        frozenset(n for word in present for n, side in _HAN_SIDES[word] if side == 0),
        frozenset(n for word in present for n, side in _HAN_SIDES[word] if side == 1),
    )


def _masked(match: re.Match[str]) -> str:
    """Keep a word of two opposites that stands for itself; hide one that only looks like it."""
    word = match[0]
    return word if word in _HAN_SIDES else " "
