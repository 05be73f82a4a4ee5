"""A Chinese statement whose words are the same and whose order is not."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from langchain_semcache.guards._chinese import HAN_SYMMETRIC
from langchain_semcache.guards._moves import kept, numbered, one_block
from langchain_semcache.guards._reading import Reading, Refusal
from langchain_semcache.records import Reason

_RUN = re.compile(r"[a-z]+|\d+(?:\.\d+)?|[\u4e00-\u9fff]+")
_LITTLE = frozenset(
    "的了在是和与及或也都就而且于之其由被把将从到对为以向给这那该个他她它们有年月日一我你吗呢啊什么怎"
)
_SHORTEST = 16
"""Characters of a statement; less is compared letter by letter for a swap."""
_ASKS = re.compile(
    "[?？吗呢谁哪几怎]|什么|如何|多少|是否|为何|请|[帮给]我|推荐|找[出一个到]|返回|列出|显示|计算|我[想要]|多[大长高]"
)
"""Questions and requests put their parts in any order; statements do not."""
_LONGEST = 300
_LEAST = 5
_SHARED = 0.2
"""The part of the pairs of characters that both have: less is another wording."""


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when words have changed places, other than around an "and"."""
    if not (question.has_han and stored.has_han):
        return None
    if min(len(question.core), len(stored.core)) < _SHORTEST:
        return None
    if _ASKS.search(question.lower) or _ASKS.search(stored.lower):
        return None
    moved = rearranged(*sorted((question, stored), key=lambda reading: reading.lower))
    return Refusal(Reason.WORD_ORDER_DIFFERS, f"moved: {moved}") if moved else None


def rearranged(question: Reading, stored: Reading) -> str:
    """The first pair of characters that has moved; empty when none has."""
    ours, theirs = pairs(question), pairs(stored)
    if max(len(ours), len(theirs)) > _LONGEST:
        return ""
    here, there = Counter(word for word, _ in ours), Counter(word for word, _ in theirs)
    both = sum((here & there).values())
    if 2 * both < _SHARED * (len(ours) + len(theirs)):
        return ""
    sure = {word for word, count in here.items() if there[word] == count}
    left = [(word, at) for word, at in ours if word in sure]
    right = {
        key: place
        for place, key in enumerate(numbered([word for word, _ in theirs if word in sure]))
    }
    places = [right[key] for key in numbered([word for word, _ in left])]
    if len(places) < _LEAST:
        return ""
    stay = kept(places)
    moved = [index for index in range(len(places)) if index not in stay]
    if not moved or _enumerated(places, left, question.core):
        return ""
    return left[moved[0]][0]


def _enumerated(places: list[int], left: list[tuple[str, int]], text: str) -> bool:
    """Whether two neighbours have changed places around an "and"."""
    if not one_block(places):
        return False
    first = next(index for index, place in enumerate(places) if index != place)
    turn = places.index(first)
    end, start = left[turn - 1][1] + len(left[turn - 1][0]), left[turn][1]
    return end < start and set(text[end:start]) <= HAN_SYMMETRIC


@lru_cache(maxsize=64)
def pairs(reading: Reading) -> tuple[tuple[str, int], ...]:
    """Pairs of neighbouring characters, none of them a little word; Latin words and numbers."""
    found = []
    for run in _RUN.finditer(reading.core):
        text, at = run[0], run.start()
        if text.isascii():
            found.append((text, at))
            continue
        found += [
            (text[n : n + 2], at + n)
            for n in range(len(text) - 1)
            if text[n] not in _LITTLE and text[n + 1] not in _LITTLE
        ]
    return tuple(found)
