"""What becomes of an answer, by how undecided its model was and by the score it gives itself.

Two signals: the entropy of the distributions that the tokens were drawn from, and a score from 0 to
5 that the model gives its own answer. Of the entropy only bounds may be known. A rule that keeps an
answer looks at the upper one, and a rule that is against it at the lower one, so that what is not
known decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TypeAlias

from langchain_semcache.eviction._entropy import Bounds

HIGHEST_SCORE = 5


class Level(IntEnum):
    """How undecided the model was, from its tokens alone; more is worse."""

    SURE = 0
    UNCLEAR = 1
    SUSPICIOUS = 2
    SEVERE = 3


class Unscored(Enum):
    """Why there is no score."""

    NOT_ASKED = "not asked"
    UNREADABLE = "unreadable"


Score: TypeAlias = int | Unscored
"""A whole number from 0 (wrong) to 5 (right), or why there is none."""


class Action(Enum):
    """What becomes of the answer."""

    KEEP = "keep"
    SHORTEN = "shorten"
    EVICT = "evict"


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of an answer; of one that is shortened, by how many of the two signals."""

    action: Action
    doubts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Where the lines are. Entropies are means over an answer, in nats.

    Attributes:
        sure_entropy: Below it the model was sure.
        suspicious_entropy: Above it the answer is suspicious.
        severe_entropy: From it on a bad score evicts.
        suspicious_difference: A top-k entropy difference below it is suspicious.
        good_score: From it on a score speaks for the answer.
        bad_score: Up to it a score evicts a severe answer.
    """

    sure_entropy: float = 1.5
    suspicious_entropy: float = 2.1
    severe_entropy: float = 2.3
    suspicious_difference: float = 0.3
    good_score: int = 4
    bad_score: int = 2


def level_of(entropy: Bounds | None, difference: Bounds | None, lines: Thresholds) -> Level | None:
    """How undecided the model was; None when nothing is told of its tokens.

    What straddles a line is unclear. A difference that is not told says nothing.
    """
    if entropy is None:
        return None
    if entropy.lower >= lines.severe_entropy:
        return Level.SEVERE
    even = difference is not None and difference.upper < lines.suspicious_difference
    if entropy.lower > lines.suspicious_entropy or even:
        return Level.SUSPICIOUS
    clear = difference is None or difference.lower >= lines.suspicious_difference
    return Level.SURE if clear and entropy.upper < lines.sure_entropy else Level.UNCLEAR


def decide(level: Level | None, score: Score, lines: Thresholds) -> Ruling:
    """What becomes of an answer. Total: there is a ruling on every level with every score.

    A score that cannot be read evicts, and so does a bad one of a severe answer. Otherwise each
    signal that does not speak for the answer is a doubt, and an answer without any is kept; what
    is not told, or was not asked, is no doubt.
    """
    if score is Unscored.UNREADABLE:
        return Ruling(Action.EVICT)
    said = score if isinstance(score, int) else HIGHEST_SCORE
    if level is Level.SEVERE and said <= lines.bad_score:
        return Ruling(Action.EVICT)
    undecided = level is not None and level is not Level.SURE
    doubts = int(undecided) + int(said < lines.good_score)
    return Ruling(Action.SHORTEN, doubts) if doubts else Ruling(Action.KEEP)
