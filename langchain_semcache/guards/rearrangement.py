"""A statement whose words are the same and whose order is not: who did what, where and when."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from langchain_semcache.guards._english import DIRECTIONS, MONTHS, STOPWORDS, words
from langchain_semcache.guards._moves import kept, numbered, one_block
from langchain_semcache.guards._reading import ARTICLES, Reading, Refusal, shared, stem
from langchain_semcache.records import Reason

_LITTLE = STOPWORDS | words(
    "into onto against under over between during while when after before since until through among "
    "within without per because than who which that also not however although near around across "
    "along including"
)
_ADDS = ARTICLES | {"and", "or", ","}
_OTHER_ROLES = frozenset({"with", "of", "for"})
_TOKEN = re.compile(r"[^\W_]+(?:['.][^\W_]+)*|,")
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being) (?:\w+ly )?\w+(?:ed|en|own|ung|ought)\b"
)
_MEANS = re.compile(
    r"\b(?:us(?:e[ds]?|ing)|employ(?:ed|s)?|utili[sz]\w+|by \w+ing|can be|"
    r"allows?|enables?|lets?)\b|`"
)
_LAST_DAY = 31
_LEAST = 4
_STATEMENT = 8
"""Words; a shorter text is a request or a title, in which one part may stand before or behind."""
_ASKS = re.compile(
    r"^(?:(?:so|and|please|hey|in \w+|at \w+|of \w+) )*(?:who|what|which|where|when|why|how|whose|"
    r"whom|is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|am|may|show|list|"
    r"find|tell|give|name|set|turn|add|play|select|remind|call|open|get|create|let|want|i want|"
    r"i need|i'd like)\b|\?"
)
_SHARED = 0.83
"""How much of all words the two must have in common: less is another wording."""
_FEWEST = 0.6
"""A text so much shorter than the other cannot share that much."""
_NEARLY_ALL = 0.88
"""Above this a change of construction does not explain another order."""
_MOST_WORDS = 40
_LONGEST_ITEM = 2


class Placed(NamedTuple):
    """A word that carries meaning, with what it hangs on."""

    word: str
    before: str
    marker: str


def rearranged(question: Reading, stored: Reading) -> str:
    """What has moved; empty when nothing has, or when a phrase took its preposition along."""
    shorter, longer = sorted((len(question.words), len(stored.words)))
    if shorter < _LEAST or longer > _MOST_WORDS or shorter < _FEWEST * longer:
        return ""
    alike = shared(question, stored)
    if alike < _SHARED or (
        alike < _NEARLY_ALL and _construction(question) != _construction(stored)
    ):
        return ""
    ours, theirs = placed(question), placed(stored)
    if min(len(ours), len(theirs)) < _LEAST:
        return ""
    left = numbered([p.word for p in ours])
    right = {key: n for n, key in enumerate(numbered([p.word for p in theirs]))}
    common = [(n, right[key]) for n, key in enumerate(left) if key in right]
    rank = {place: n for n, place in enumerate(sorted(there for _, there in common))}
    places = [rank[there] for _, there in common]
    stay = kept(places)
    moved = [(ours[a], theirs[b]) for n, (a, b) in enumerate(common) if n not in stay]
    if not moved:
        return _traded([(ours[a], theirs[b]) for a, b in common])
    harmless = (one_block(places), not _lost_hold(moved))
    loose = shorter < _STATEMENT or _asks(question) or _asks(stored)
    if any(harmless) if loose else all(harmless):
        return ""
    return " ".join(mine.word for mine, _ in moved[:3])


@lru_cache(maxsize=64)
def _construction(reading: Reading) -> tuple[int, int]:
    """How often something is done to something, or done by means of something.

    "X is used to do Y" moves words rightly beside "Y can be done with X".
    """
    return len(_PASSIVE.findall(reading.lower)), len(_MEANS.findall(reading.lower))


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when words have changed places, beyond a clause or an enumeration."""
    if question.has_han or stored.has_han:
        return None
    moved = rearranged(*sorted((question, stored), key=lambda reading: reading.lower))
    return Refusal(Reason.WORD_ORDER_DIFFERS, f"moved: {moved}") if moved else None


def _asks(reading: Reading) -> bool:
    return _ASKS.search(reading.lower) is not None


def _traded(common: list[tuple[Placed, Placed]]) -> str:
    """Two words that stay in place and trade their prepositions: from A to B, to A from B."""
    changed = {
        (mine.before, its.before): mine.word
        for mine, its in common
        if mine.before != its.before and {mine.before, its.before} <= DIRECTIONS | _OTHER_ROLES
    }
    for (before, after), word in changed.items():
        if (after, before) in changed:
            return f"{before} {word} vs {after} {word}"
    return ""


def _lost_hold(moved: list[tuple[Placed, Placed]]) -> bool:
    """Whether the block that moved hangs on another word than before."""
    return any(a.marker != b.marker for a, b in moved)


@lru_cache(maxsize=64)
def placed(reading: Reading) -> tuple[Placed, ...]:
    """The words that carry meaning: dates as one, an enumeration in alphabetical order."""
    tokens = _dated(_TOKEN.findall(reading.lower))
    found: list[Placed] = []
    before = marker = "^"
    for token in _in_order(tokens):
        if token in _ADDS:
            continue
        if token in _LITTLE:
            before = marker = token
            continue
        word = stem(token)
        found.append(Placed(word, before, marker))
        before = word
    return tuple(found)


def _dated(tokens: list[str]) -> list[str]:
    """With "march 5", "5 march" as one word."""
    found: list[str] = []
    for token in tokens:
        last = found[-1] if found else ""
        month, day = (last, token) if token.isdigit() else (token, last)
        if month in MONTHS and day.isdigit() and int(day) <= _LAST_DAY:
            found[-1] = f"{MONTHS[month]}/{int(day)}"
        else:
            found.append(token)
    return found


def _in_order(tokens: list[str]) -> list[str]:
    """With the items of "a, b and c" sorted."""
    found = list(tokens)
    place = 0
    while place < len(found):
        if found[place] not in ("and", "or"):
            place += 1
            continue
        start, items, end = _items(found, place)
        if len(items) > 1 and max(map(len, items)) <= _LONGEST_ITEM:
            joined = [word for item in sorted(items) for word in (*item, ",")][:-1]
            found[start:end] = joined
            place = start + len(joined)
        else:
            place += 1
    return found


def _items(tokens: list[str], conjunction: int) -> tuple[int, list[list[str]], int]:
    """The runs of words around a conjunction and the commas before it, articles aside."""
    first = conjunction + 1
    while first < len(tokens) and tokens[first] in ARTICLES:
        first += 1
    end = first
    while end < len(tokens) and not _bounds(tokens[end]):
        end += 1
    items = [tokens[first:end]]
    start = conjunction
    while start > 0:
        cut = start - 1 if tokens[start - 1] == "," else start
        begin = cut
        while begin > 0 and not _bounds(tokens[begin - 1]):
            begin -= 1
        if begin == cut or (start != conjunction and cut == start):
            break
        items.append(tokens[begin:cut])
        start = begin
    return start, [item for item in items if item], end


def _bounds(word: str) -> bool:
    return word in _LITTLE or word == ","
