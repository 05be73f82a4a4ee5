"""What a ruling does to the lifetime of an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from langchain_semcache.eviction._assessment import Assessment, Signals
from langchain_semcache.eviction._confidence import Action, Score, Thresholds, decide, level_of
from langchain_semcache.eviction._entropy import LARGEST_VOCABULARY


@dataclass(frozen=True, slots=True, kw_only=True)
class Sureness:
    """The rules by which answers that nobody is sure of live shorter, or not at all.

    Attributes:
        thresholds: Where the lines are.
        ttl_factor: What each doubt multiplies a lifetime by, in [0, 1]; 0 keeps none.
        endless_ttl: The lifetime that is shortened where an answer would never expire.
        vocabulary: Tokens that a model is taken to have.
        share: Of the answers that nothing speaks against, those whose model is asked about them.
        doubtful_share: The same of all others.
    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    ttl_factor: float = 0.5
    endless_ttl: timedelta = timedelta(days=7)
    vocabulary: int = LARGEST_VOCABULARY
    share: float = 0.02
    doubtful_share: float = 0.2

    def assess(self, signals: Signals, score: Score) -> Assessment:
        """What is known of an answer, with the factor that this makes."""
        level = level_of(signals.entropy, signals.difference, self.thresholds)
        ruling = decide(level, score, self.thresholds)
        factor = 0.0 if ruling.action is Action.EVICT else float(self.ttl_factor**ruling.doubts)
        return Assessment(signals=signals, score=score, factor=factor)

    def lifetime(self, ttl: timedelta | None, assessment: Assessment) -> timedelta | None:
        """How long the answer lives that would live for `ttl`; None is for ever."""
        if assessment.factor == 1:
            return ttl
        return (self.endless_ttl if ttl is None else ttl) * assessment.factor

    def end(
        self, created_at: float, expires_at: float | None, before: float, after: float
    ) -> float | None:
        """When an answer ends whose factor turns from `before` into `after`, both above 0.

        Times are seconds since the epoch, None is never. An end never moves back.
        """
        if after >= before:
            return expires_at
        if expires_at is None:
            return created_at + self.endless_ttl.total_seconds() * after
        return created_at + (expires_at - created_at) * after / before

    def asked_about(self, assessment: Assessment) -> float:
        """The share of such answers whose model is asked about them."""
        return self.share if assessment.factor == 1 else self.doubtful_share
