"""What confidence is computed from: numbers about two questions, each with a plain meaning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

NAMES = (
    "similarity",
    "opinion",
    "overlap",
    "overlap_chinese",
    "chinese",
    "longer",
    "short",
    "same_attribute",
    "far",
    "close",
    "lead",
    "alone",
)
"""In the order of `features`."""

CROWD = 5
"""Stored questions beside a candidate that its lead is measured over."""

_LEAST = 1e-4
_SHORT = 4
_FAR, _CLOSE = 0.5, 0.7
"""Similarities below and above which a step counts otherwise than between."""
_HAN = ("\u3400", "\u9fff")


@dataclass(frozen=True, slots=True)
class Observed:
    """Two questions, and what was measured of them.

    Attributes:
        similarity: Cosine of their vectors, in [0, 1].
        opinion: The verifier's probability that one answer fits both; None without a verifier.
        same_attribute: Whether both are follow-ups that are known to ask for the same of the same
            thing: its price, its age.
        around: Similarities of `question` and the stored questions nearest to it, this one apart,
            best first. Empty where nothing else is stored, or nothing else tells anything.
    """

    question: str
    stored: str
    similarity: float
    opinion: float | None = None
    same_attribute: bool = False
    around: Sequence[float] = ()


def features(observed: Observed) -> tuple[float, ...]:
    """One number for each of `NAMES`."""
    ours, theirs = units(observed.question), units(observed.stored)
    opinion = 0.0 if observed.opinion is None else logit(observed.opinion)
    chinese = float(is_chinese(observed.question) and is_chinese(observed.stored))
    both = len(ours) + len(theirs)
    overlap = 2 * len(ours & theirs) / both if both else 1.0
    lead, alone = _lead(observed.similarity, observed.around[:CROWD])
    return (
        observed.similarity,
        opinion,
        overlap,
        # Questions share more characters than words, whatever they ask.
        overlap * chinese,
        chinese,
        abs(math.log((1 + len(ours)) / (1 + len(theirs)))),
        float(min(len(ours), len(theirs)) < _SHORT),
        float(observed.same_attribute),
        max(0.0, _FAR - observed.similarity),
        max(0.0, observed.similarity - _CLOSE),
        lead,
        alone,
    )


def _lead(similarity: float, around: Sequence[float]) -> tuple[float, float]:
    """How much nearer it is than those around it, on average, and which share of them is missing.

    A question that was asked before stands out from its neighbours; a new one has several that are
    as near. Where some are missing, what is known of the others counts for that much less.
    """
    if not around:
        return 0.0, 1.0
    known = len(around) / CROWD
    return known * (similarity - sum(around) / len(around)), 1 - known


def relative_distance(similarity: float, around: Sequence[float]) -> float:
    """How far a candidate is, from 0 to 1: as a share of how far those around it are on average.

    Those that are missing count as wholly unlike the question.
    """
    reach = 1 - sum(around[:CROWD]) / CROWD
    apart = max(0.0, 1 - similarity)  # a cosine may be 1 + 1e-7
    return apart / reach if apart < reach else 1.0


@lru_cache(maxsize=256)
def is_untried(text: str) -> bool:
    """Whether letters occur that neither English nor Chinese is written with.

    The pairs that calibrations are fitted on are in these two languages; what the models make of
    others has been compared with no labels.
    """
    if text.isascii():
        return False
    return any(char.isalpha() and not char.isascii() and not is_chinese(char) for char in text)


def logit(probability: float) -> float:
    """log(p / (1 - p)), with p kept away from 0 and 1."""
    kept = min(1 - _LEAST, max(_LEAST, probability))
    return math.log(kept / (1 - kept))


@lru_cache(maxsize=256)
def units(text: str) -> frozenset[str]:
    """The distinct words of a text, and the characters of one that is written without spaces."""
    found: set[str] = set()
    for word in text.lower().split():
        if is_chinese(word):
            found.update(char for char in word if char.isalnum())
        else:
            found.add("".join(char for char in word if char.isalnum()) or word)
    return frozenset(found)


def is_chinese(text: str) -> bool:
    """Whether Chinese characters occur."""
    return any(_HAN[0] <= char <= _HAN[1] for char in text)
