"""Who does what to whom, from where to where: the same words may ask the reverse."""

from __future__ import annotations

import re
from functools import lru_cache

from langchain_semcache.guards._chinese import (
    HAN_QUESTION_WORDS,
    HAN_SYMMETRIC,
)
from langchain_semcache.guards._english import (
    DIRECTIONS,
    STOPWORDS,
    SYMMETRIC,
)
from langchain_semcache.guards._reading import Reading, Refusal, shared, stem
from langchain_semcache.records import Reason

_TOKEN = re.compile(r"[^\W_]+(?:['._-][^\W_]+)*|[+#/*%]")
_HAN_NOISE = re.compile(r"[\s,.?!，。？！、的了呢吗啊吧]")
_HAN_ROLES = re.compile("喜欢|爱|恨|打|给|比|被|把|欠|帮|找|骂|追|到|教|借|导致|引起|[换转变]成|转")
_HAN_LINK = re.compile("和|与|跟|及|或者?|还是|同")
_ARTICLES = ("the", "an")  # "a" may be the name of a thing: does A cause B
_ASKING = frozenset({"what", "who", "which", "where"})
_LONGEST = 80
_LONGEST_QUESTION = 20
_REACH = 2
_SHARED = 0.7
"""How much of their words two sentences share that differ in order alone."""


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when two parts of the sentence have changed places around a word that gives roles.

    A clause that only moved to the front, or "A and B" for "B and A", is no difference.
    """
    if question.has_han or stored.has_han:
        swapped = _han_swap(question.lower, stored.lower)
    else:
        swapped = _exchanged(question, stored) or _block_swap(question, stored)
    return Refusal(Reason.WORD_ORDER_DIFFERS, swapped) if swapped else None


@lru_cache(maxsize=64)
def governed(reading: Reading) -> dict[str, frozenset[str]]:
    """For each word of direction, what it governs: the word or two that follow it."""
    roles: dict[str, set[str]] = {}
    words = reading.words
    for place, word in enumerate(words):
        if word not in DIRECTIONS:
            continue
        for follower in words[place + 1 : place + 1 + _REACH]:
            if follower in DIRECTIONS:
                break
            if follower not in STOPWORDS:
                roles.setdefault(word, set()).add(stem(follower))
    return {word: frozenset(found) for word, found in roles.items()}


def _exchanged(question: Reading, stored: Reading) -> str:
    """The same word of direction governs a word of the other sentence, on both sides."""
    if max(len(question.words), len(stored.words)) > _LONGEST_QUESTION:
        return ""  # "to" before a verb says nothing of roles: longer texts are compared as a whole
    ours, theirs = governed(question), governed(stored)
    here, there = set(question.stems), set(stored.stems)
    for marker in sorted(ours.keys() & theirs.keys()):
        left = (ours[marker] - theirs[marker]) & there
        right = (theirs[marker] - ours[marker]) & here
        if left and right and shared(question, stored) >= _SHARED:
            return f"{marker} {min(left)} vs {marker} {min(right)}"
    return ""


def _block_swap(question: Reading, stored: Reading) -> str:
    ours, theirs = _tokens(question.lower), _tokens(stored.lower)
    if len(ours) > _LONGEST or len(ours) != len(theirs) or sorted(ours) != sorted(theirs):
        return ""
    found = swap(ours, theirs)
    if found is None:
        return ""
    first, middle, second = found
    if set(middle) - {"a"} <= SYMMETRIC or not _ASKING.isdisjoint((*first, *second)):
        return ""
    return f"{' '.join(first)} … {' '.join(second)}"


@lru_cache(maxsize=64)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in _TOKEN.findall(text) if word not in _ARTICLES)


def swap(
    ours: tuple[str, ...], theirs: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] | None:
    """X, m, Y when one is … X m Y … and the other … Y m X … with something between them."""
    start = next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
    if start is None or len(ours) != len(theirs):
        return None
    end = len(ours)
    while ours[end - 1] == theirs[end - 1]:
        end -= 1
    a, b = ours[start:end], theirs[start:end]
    for size in range(1, len(a)):
        if a[:size] != b[len(b) - size :]:
            continue
        for tail in range(1, len(a) - size):
            if (
                a[len(a) - tail :] == b[:tail]
                and a[size : len(a) - tail] == b[tail : len(b) - size]
            ):
                return a[:size], a[size : len(a) - tail], a[len(a) - tail :]
    return None


def _han_swap(ours: str, theirs: str) -> str:
    a, b = _HAN_NOISE.sub("", ours), _HAN_NOISE.sub("", theirs)
    if len(a) > _LONGEST or a == b or sorted(a) != sorted(b) or _joined(a, b):
        return ""
    found = swap(tuple(a), tuple(b))
    if found is None:
        return ""
    first, middle, second = ("".join(part) for part in found)
    if set(middle) <= HAN_SYMMETRIC or (_asks(first, second) and not _HAN_ROLES.search(middle)):
        return ""
    return f"{first} … {second}"


def _joined(ours: str, theirs: str) -> bool:
    """Whether they differ only in what comes first around an "and" or "or"."""
    for link in _HAN_LINK.finditer(ours):
        for other in _HAN_LINK.finditer(theirs):
            if link[0] != other[0]:
                continue
            for start in range(min(link.start(), other.start())):
                first, second = ours[start : link.start()], theirs[start : other.start()]
                swapped = f"{ours[:start]}{second}{link[0]}{first}"
                end = link.end() + len(second)
                if ours[link.end() : end] == second and theirs == swapped + ours[end:]:
                    return True
    return False


def _asks(*parts: str) -> bool:
    return any(word in part for part in parts for word in HAN_QUESTION_WORDS)
