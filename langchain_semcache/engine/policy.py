"""The numbers and rules that decisions are made by."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol, Self

from langchain_semcache.engine.dictionaries import Dictionaries
from langchain_semcache.engine.evaluating import Evaluations
from langchain_semcache.engine.freshness import UNLIMITED, Fixed, Freshness
from langchain_semcache.engine.shelf import Shelf
from langchain_semcache.guards import Refusal
from langchain_semcache.life import Life
from langchain_semcache.records import Conditions, Entry, Query, Reason, Verdict
from langchain_semcache.responses import DeltaCodec
from langchain_semcache.threshold.confidence import Calibration


class Guard(Protocol):
    """Compares a question with the question a candidate answers; None when nothing differs."""

    def __call__(self, question: str, stored: str) -> Refusal | None: ...


def _whole(text: str) -> tuple[str, ...]:
    return (text,)


def _as_it_is(query: Query) -> Query:
    return query


def _exactly(query: Query) -> Query:
    return replace(query, exact_only=query.exact_only or Reason.EXACT_WANTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The numbers and rules of a lookup.

    Attributes:
        similarity_threshold: Candidates are considered from this similarity on, inclusive.
        neighbours: How many candidates a search brings back.
        guard: The cheap refusals.
        refine: What else there is to know of a question before it is compared by meaning.
        split: A long question in windows that fit the encoder.
        calibration: What makes a probability of similarity and opinion; None serves the most
            similar candidate that no guard refuses.
        verifies: Whether a verifier is asked for its opinion.
        budgeted: Whether an error budget has the last word.
        codec: How responses are written down.
        now: Seconds since the epoch.
        max_age: Nothing is served that was stored longer ago.
        packs: Whether answers are written against what they share with others; they are read
            either way.
        rewrites: Whether the index can change how a stored answer is written.
        shelf: The parts that are at hand.
        dictionaries: Those to write with; None writes without.
        lives: What says how long those entries live that do not know it themselves.
        freshness: The rules that say so; None where lifetimes are fixed.
        evaluations: Who says how sure an answer is; None keeps all alike.
    """

    similarity_threshold: float
    neighbours: int
    guard: Guard
    codec: DeltaCodec
    now: Callable[[], float]
    refine: Callable[[Query], Query] = _as_it_is
    split: Callable[[str], tuple[str, ...]] = _whole
    calibration: Calibration | None = None
    verifies: bool = False
    budgeted: bool = False
    max_age: timedelta | None = None
    packs: bool = False
    rewrites: bool = False
    shelf: Shelf = field(default_factory=Shelf)
    dictionaries: Dictionaries | None = None
    lives: Fixed | Freshness = UNLIMITED
    freshness: Freshness | None = None
    evaluations: Evaluations | None = None

    def under(self, conditions: Conditions) -> Self:
        """The policy for one caller, who can ask for more than the settings and not for less."""
        refine, calibration = self.refine, self.calibration
        if conditions.exact:
            refine = _exactly
        if calibration is not None:
            calibration = replace(calibration, bar=max(calibration.bar, conditions.min_confidence))
        least = max(self.similarity_threshold, conditions.min_similarity)
        if calibration is None:
            # Without a calibration the similarity is all the confidence there is.
            least = max(least, conditions.min_confidence)
        return replace(
            self,
            refine=refine,
            calibration=calibration,
            similarity_threshold=least,
            max_age=conditions.max_age,
        )

    def is_too_old(self, entry: Entry) -> bool:
        """Whether the caller wants something fresher; age 0 is too old where none is allowed."""
        if self.max_age is None:
            return False
        age = self.now() - entry.created_at
        return age > self.max_age.total_seconds() or not self.max_age

    def life(self, entry: Entry) -> Life | None:
        """How its lifetime comes about; None where it was stored with one of its own."""
        return self.lives.life(entry) if entry.life else None

    def ends_at(self, entry: Entry, lives: Life | None) -> float | None:
        """When an entry with this life is over; None for never."""
        if lives is None:
            return entry.expires_at
        ends_at = self.lives.ends_at(entry, lives)
        if entry.expires_at is not None:
            ends_at = min(ends_at, entry.expires_at)
        return None if ends_at == math.inf else ends_at

    def is_over(self, entry: Entry) -> Life | None:
        """The life of an entry that is over by the rules, though it is still stored."""
        lives = self.life(entry)
        ends_at = None if lives is None else self.ends_at(entry, lives)
        return lives if ends_at is not None and self.now() >= ends_at else None

    def sureness(self, question: str, verdict: Verdict) -> float:
        """How sure a candidate is: what the candidates are ranked by, and what a budget is told."""
        if not self.budgeted or self.calibration is None or verdict.confidence is None:
            return verdict.sureness
        similarity = verdict.candidate.similarity
        return self.calibration.prudent(question, similarity, verdict.confidence, verdict.around)

    def may_outweigh(self, question: str, stored: str) -> bool:
        """Whether confidence has the last word where the refusal of a guard is not final."""
        calibration = self.calibration
        return calibration is not None and calibration.has_last_word(question, stored)
