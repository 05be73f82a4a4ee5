"""Whether two questions of different chats are about the same thing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from langchain_semcache.context._attributes import OtherAttribute, same_attribute
from langchain_semcache.context._context import Context, Referent
from langchain_semcache.context._mentions import is_han, plain

_SHARED, _HAN_SHARED = 0.6, 0.45  # how high a common name must rank on both sides
_LEAD = 0.1  # by how much it must outrank what only one of the chats names
_HAN_UNSURE = 0.5  # Chinese names are cut by rule: a lone piece of text may be no name at all
_IN_TAIL = 0.7
_TURNED = 0.6


class Agreement(Enum):
    """Why an answer from another chat may be the answer here."""

    NEEDLESS = "neither question needs its chat"
    SUBJECT = "both lean on the same thing"
    ATTRIBUTE = "both lean on the same thing and ask for the same of it"


@dataclass(frozen=True, slots=True)
class Difference:
    """Why an answer from another chat is not the answer here; `detail` says it in words."""

    detail: str


def relate(
    asked: str, question: Context, answered: str, stored: Context
) -> Agreement | Difference | OtherAttribute:
    """How two questions in chats compare: by what they lean on, and by what they ask for of it.

    Args:
        asked, answered: What the two questions ask, each as `asked_part` has it.
    """
    found = compare(question, stored)
    if found is not Agreement.SUBJECT:
        return found
    known = {item.name for item in question.referents} & {item.name for item in stored.referents}
    ours, theirs = _named(asked, known), _named(answered, known)
    if ours - theirs and theirs - ours:
        return Difference(f"names {min(ours - theirs)}, the stored one {min(theirs - ours)}")
    same = same_attribute(asked, answered, known)
    if isinstance(same, OtherAttribute):
        return same
    return Agreement.ATTRIBUTE if same else Agreement.SUBJECT


def _named(text: str, names: set[str]) -> set[str]:
    folded = plain(text).casefold()
    return {name for name in names if name in folded}


def compare(question: Context, stored: Context) -> Agreement | Difference:
    """Whether what `stored` was answered in matters to `question`, and how it differs.

    In doubt they differ. Symmetric in its verdict.
    """
    if question.standalone and stored.standalone:
        return Agreement.NEEDLESS
    if question.digest == stored.digest:
        return Agreement.SUBJECT
    if question.reply or stored.reply:
        if question.reply and stored.reply and _same_exchange(question, stored):
            return Agreement.SUBJECT
        return Difference("replies to what was said last, which is something else")
    same = _same_subject(question.referents, stored.referents, question.tail, stored.tail)
    if same and not _replaced(question, stored):
        return Agreement.SUBJECT
    return Difference(f"refers to {_shown(question)}, the stored one to {_shown(stored)}")


def _same_exchange(question: Context, stored: Context) -> bool:
    """Whether the assistant said the same last, to the same where that says little: "No."."""
    if question.said != stored.said:
        return False
    return len(question.told) > 1 or (
        question.asked == stored.asked and question.tail == stored.tail
    )


def _shown(context: Context) -> str:
    return context.referents[0].name if context.referents else "nothing that is named"


def _same_subject(
    ours: tuple[Referent, ...], theirs: tuple[Referent, ...], our_tail: str, their_tail: str
) -> bool:
    if not (ours and theirs):
        return False
    han = any(is_han(item.name) for item in (*ours, *theirs))
    if not han and _turned(ours, theirs):
        return False
    unsure = _HAN_UNSURE if han else 1.0
    best, alone = _shared(ours, theirs, their_tail, unsure)
    other_best, other_alone = _shared(theirs, ours, our_tail, unsure)
    best = max(best, other_best)
    lead = best - min(alone, other_alone)
    return best >= (_HAN_SHARED if han else _SHARED) and lead >= _LEAD


def _replaced(question: Context, stored: Context) -> bool:
    """Whether the last thing asked is the same but for a word, or was answered by another thing."""
    ours, theirs = question.asked, stored.asked
    if not (ours and theirs):
        return False
    if ours == theirs:
        told, other = set(question.told), set(stored.told)
        return bool(told - other and other - told) and 2 * len(told & other) < len(told | other)
    head = _common(ours, theirs)
    shortest = min(len(ours), len(theirs)) - head
    end = min(shortest, _common(ours[::-1], theirs[::-1]))
    here, there = ours[head : len(ours) - end], theirs[head : len(theirs) - end]
    frame = head + end
    return bool(here and there) and frame >= max(2, len(here), len(there))


def _common(ours: tuple[int, ...], theirs: tuple[int, ...]) -> int:
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(ours), len(theirs)))


def _shared(
    ours: tuple[Referent, ...], theirs: tuple[Referent, ...], tail: str, unsure: float
) -> tuple[float, float]:
    """How high the best common name ranks, and how high what only `ours` has."""
    weights = {item.name: item.weight for item in theirs}
    best = alone = 0.0
    for item in ours:
        rank = item.weight / ours[0].weight
        match = _match(item.name, weights)
        if match is not None:
            best = max(best, min(rank, weights[match] / theirs[0].weight))
        elif len(item.name) > 1 and is_han(item.name) and item.name in tail:
            best = max(best, min(rank, _IN_TAIL))
        else:
            alone = max(alone, rank if item.sure else rank * unsure)
    return best, alone


def _match(name: str, names: dict[str, float]) -> str | None:
    """The same name, or for a Chinese one a longer or shorter form of it."""
    if name in names:
        return name
    if len(name) < 2 or not is_han(name):
        return None
    return next((other for other in names if len(other) > 1 and _within(name, other)), None)


def _within(name: str, other: str) -> bool:
    return name in other or other in name


def _turned(ours: tuple[Referent, ...], theirs: tuple[Referent, ...]) -> bool:
    """Whether both chats know both things, and each has turned to another of them."""
    mine, yours = ours[0], theirs[0]
    if mine.name == yours.name:
        return False
    here = next((item.weight for item in ours if item.name == yours.name), 0.0) / mine.weight
    there = next((item.weight for item in theirs if item.name == mine.name), 0.0) / yours.weight
    if max(here, there) >= _TURNED:
        return False
    return bool((here or yours.sure) and (there or mine.sure))
