"""How close is enough: the bar that keeps wrong answers within a budget over all requests.

The user sets `max_error_rate`, the share of *all* requests of a namespace that may be answered
wrongly from the cache. A would-be hit with calibrated confidence c costs `ratio * (1 - c)` expected
errors, its risk. Three rules follow, from the weakest need of evidence to the strongest.

1. The account. A hit is served only while the risks served so far, since ever, stay within
   `allowance(max_error_rate * requests)`. With honest risks the errors then exceed the budget with
   probability at most 1 - confidence_level, over all moments together (see `bounds`): no label,
   and no assumption about the traffic, is needed.
2. The bar. Of many ways to spend an account the one that serves most is to take the cheapest hits:
   a bar on the risk (the fractional knapsack; as a threshold on a monotone risk it is the one of
   conformal risk control, Angelopoulos, Bates, Fisch, Lei and Schuster 2022). It is the largest at
   which the recent traffic would have spent no more than the allowance. A risk of at most half
   the budget passes always: whoever serves only such risks cannot overspend. A risk beyond
   1 - least_confidence passes never.
3. The ratio of observed to expected errors, from labels. It is the mean of a Gamma posterior,
   `(s * parent + wrong) / (s + expected)`: the class leans on the namespace, the entry on its class
   (the shrinkage of standardised mortality ratios, Clayton and Kaldor 1987). Nothing starves for
   being new. It never falls below 1: to find calibration too careful is for the calibration.

When labels show with confidence that the errors exceed the budget all the same, the namespace falls
back to exact matches. See `review`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.threshold.ledger import Ledger, class_bucket


class Mode(StrEnum):
    """What a namespace serves."""

    OPEN = "open"
    EXACT_ONLY = "exact_only"


class Verdict(StrEnum):
    """Why a would-be hit was served or not."""

    WITHIN_BUDGET = "within_budget"
    BELOW_BAR = "below_bar"
    ACCOUNT_SPENT = "account_spent"
    REPORTED_WRONG = "reported_wrong"
    EXACT_ONLY = "exact_only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The settings of an error budget.

    Attributes:
        max_error_rate: Wrong answers served, as a share of all requests; more than 0, at most 0.5.
        least_confidence: No budget buys an answer less sure than this, however little is spent.
        confidence_level: Of each bound and of the account; 0.5 to 0.9999.
        shadow_share: Share of the served hits for which the model is asked as well, to compare.
        exact_only_share: Share of the would-be hits compared in exact-only mode. The model is asked
            there anyway, so that a comparison costs little and the way back is short.
        strength: Expected errors after which labels weigh as much as the calibration does.
        block_seconds: Evidence ages in blocks of this length …
        blocks: … of which so many are looked at. Labels correct a calibration that is off as far as
            the labels of one such window carry: to halve its error, `max_error_rate` times
            `shadow_share` times the requests of a window should reach `strength`.
    """

    max_error_rate: float
    least_confidence: float = 0.8
    confidence_level: float = 0.95
    shadow_share: float = 0.05
    exact_only_share: float = 1.0
    strength: float = 4.0
    block_seconds: float = 86_400.0
    blocks: int = 7

    def __post_init__(self) -> None:
        """Check every setting.

        Raises:
            ConfigurationError: One is out of range; the message names it and what it accepts.
        """
        _check("max_error_rate", self.max_error_rate, 1e-6, 0.5)
        _check("least_confidence", self.least_confidence, 0.0, 1 - 1e-4)
        _check("confidence_level", self.confidence_level, 0.5, 0.9999)
        _check("shadow_share", self.shadow_share, 0.0, 1.0)
        _check("exact_only_share", self.exact_only_share, 0.001, 1.0)
        _check("strength", self.strength, 0.01, 1e6)
        _check("block_seconds", self.block_seconds, 1e-3, 1e9)
        _check("blocks", self.blocks, 1, 64)
        if not isinstance(self.blocks, int):
            raise ConfigurationError(f"blocks must be a whole number, not {self.blocks!r}")

    def block(self, now: float) -> int:
        """The block of time that a moment belongs to; the same for every worker."""
        return int(now // self.block_seconds)

    def oldest(self, now: float) -> int:
        """The first block that still counts."""
        return self.block(now) - self.blocks + 1


def _check(name: str, value: object, least: float, most: float) -> None:
    if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
        return
    raise ConfigurationError(f"{name} must be a number from {least:g} to {most:g}, got {value!r}")


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Errors per request: what the labels say, and the bounds around it.

    Each bound holds at every moment of one turn within the window; as the window moves on, it is a
    new bound. It assumes that which hits are labelled was left to chance, and no label comes before
    the window begins. Without a label the upper bound is the share of requests answered.
    """

    estimate: float | None
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What may be served at present: all that one decision needs beside the ledger.

    Attributes:
        turn: The turn these terms are for.
        mode: What is served at all.
        risk_bar: The largest risk that passes.
        spend_rate: Expected errors that may be spent per request since ever.
        ratio: Observed to expected errors of the namespace.
        class_ratios: The same by class bucket, where there is evidence.
        error_rate: Over the requests of this turn within the window.
    """

    turn: int
    mode: Mode
    risk_bar: float
    spend_rate: float
    ratio: float
    class_ratios: Mapping[int, float]
    error_rate: ErrorRate

    def class_ratio(self, class_: str) -> float:
        """Observed to expected errors of a class; the namespace's where nothing is known."""
        return self.class_ratios.get(class_bucket(class_), self.ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The decision about one would-be hit, to be kept until its label has come.

    Attributes:
        serve: Whether to answer from the cache.
        passes: Whether it would be served in open mode.
        verdict: Why.
        bar: The confidence that this hit needed: more than 1 where none is enough.
        risk: Its expected errors.
        share: Probability with which it is to be compared with the model's answer.
    """

    entry_id: str
    class_: str
    confidence: float
    serve: bool
    passes: bool
    verdict: Verdict
    bar: float
    risk: float
    share: float
    turn: int


@dataclass(frozen=True, slots=True)
class Transition:
    """The namespace changed its mode: to be announced."""

    before: Mode
    after: Mode
    error_rate: ErrorRate


@dataclass(frozen=True, slots=True)
class Review:
    """What looking at the evidence came to: the terms from now on, and whether the mode changed."""

    ledger: Ledger
    terms: Terms
    transition: Transition | None


def mode_of(turn: int) -> Mode:
    """Turns alternate, so that the later of two workers' turns settles the mode."""
    return Mode.EXACT_ONLY if turn % 2 else Mode.OPEN
