"""From a class to a lifetime: small named adjustments in a fixed order, and limits at the end.

Nothing here is written into an entry. A lifetime is worked out whenever it is asked for, so that a
changed rule changes the life of what is stored already.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final, Literal

from langchain_semcache.life import Life, Step
from langchain_semcache.ttl.classes import CLASSES, Choice, Facts, Seen, TtlClass, choose
from langchain_semcache.ttl.optimum import best_lifetime

SLA: Final[Mapping[str, float]] = MappingProxyType(
    {"gold": 1.2, "silver": 1.0, "bronze": 0.7, "iron": 0.4}
)
"""What the tier of a tenant multiplies a lifetime by."""

Surge = Literal["shorten", "stretch", "off"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a lifetime is held to, in seconds; the tenant's tier is what multiplies it."""

    least: float = 1.0
    most: float = 604_800.0
    tier: str = "silver"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Every number that lifetimes come from.

    Attributes:
        classes: By name.
        choice: How a class is chosen.
        surge: What more traffic than usual does: "shorten" keeps answers fresh while many read
            them, "stretch" spares the model while it is under load.
        surge_limit: The factor of a surge is never below this, nor above its inverse.
        canary_models, canary_tags: Patterns of the models and tags of a version on trial.
        canary_factor: What such an answer's lifetime is multiplied by.
        tiers: Factor by tier.
        bounds: For everybody who has none of their own.
        tenants: Bounds by digest of the tenant.
        stale_cost: Hits that one stale answer costs; None leaves out what was learned of changes.
        misses_in_a_row: Misses beside an entry that fire its trigger.
        days: Over which a hit rate is taken.
        sliding: A lifetime counts from when the entry was last served, not from writing.
        endless: What is shortened by doubt where a lifetime has no end, in seconds.
    """

    classes: Mapping[str, TtlClass] = field(default_factory=lambda: CLASSES)
    choice: Choice = field(default_factory=Choice)
    surge: Surge = "shorten"
    surge_limit: float = 0.3
    canary_models: tuple[str, ...] = ()
    canary_tags: tuple[str, ...] = ("canary",)
    canary_factor: float = 0.8
    tiers: Mapping[str, float] = field(default_factory=lambda: SLA)
    bounds: Bounds = field(default_factory=Bounds)
    tenants: Mapping[str, Bounds] = field(default_factory=dict)
    stale_cost: float | None = None
    misses_in_a_row: int = 3
    days: int = 7
    sliding: bool = False
    endless: float = 604_800.0

    def bounds_of(self, tenant: str) -> Bounds:
        return self.tenants.get(tenant, self.bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a lifetime depends on beside the rules.

    Attributes:
        facts: Of the entry.
        seen: Of the entry, since.
        triggers: How often misses in a row have fired.
        change_rate: Changes of its answer a second, as far as that was learned; 0 is unknown.
        request_rate: Requests for it a second.
        qps_ratio: Requests a second in its scope now, over what is usual there.
        confidence: What the doubt about the answer leaves of its lifetime, in (0, 1].
    """

    facts: Facts
    seen: Seen = field(default_factory=Seen)
    triggers: float = 0.0
    change_rate: float = 0.0
    request_rate: float = 0.0
    qps_ratio: float = 1.0
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class _So:
    """An adjustment in the making: the class, the circumstances, the rules."""

    of: TtlClass
    at: Circumstances
    rules: Rules


def _changes(seconds: float, so: _So) -> float:
    """What was learned of how often the answer changes, in place of the class's first lifetime."""
    if so.rules.stale_cost is None or not so.at.change_rate > 0:
        return seconds
    worth = min(1.0, 1.0 / so.rules.stale_cost)
    return best_lifetime(so.at.change_rate, so.at.request_rate, worth)


def _decay(seconds: float, so: _So) -> float:
    """The factor of the class, once for each time that its trigger has fired."""
    fired = {"updates": so.at.seen.updates, "misses": so.at.triggers, "none": 0.0}[so.of.trigger]
    left = so.of.factor**fired
    if so.of.factor > 0:
        left = max(left, _LEAST_LEFT)
    return shortened(seconds, left, so.rules.endless)


def _surge(seconds: float, so: _So) -> float:
    """max(limit, 1/ratio), or the other way round; less traffic than usual changes nothing."""
    ratio = so.at.qps_ratio
    if so.rules.surge == "off" or not ratio > 1:
        return seconds
    share = max(so.rules.surge_limit, 1.0 / ratio)
    return seconds * share if so.rules.surge == "shorten" else seconds / share


def _canary(seconds: float, so: _So) -> float:
    """Less for a model version on trial: what it says is to be replaced soon."""
    rules, facts = so.rules, so.at.facts
    on_trial = any(fnmatchcase(facts.model, pattern) for pattern in rules.canary_models) or any(
        fnmatchcase(tag, pattern) for tag in facts.tags for pattern in rules.canary_tags
    )
    return seconds * rules.canary_factor if on_trial else seconds


def _sla(seconds: float, so: _So) -> float:
    """The tier of the tenant."""
    return seconds * so.rules.tiers[so.rules.bounds_of(so.at.facts.tenant).tier]


def _confidence(seconds: float, so: _So) -> float:
    """Less for an answer that its own model is not sure of; also where it would live for ever."""
    return shortened(seconds, so.at.confidence, so.rules.endless)


_LEAST_LEFT: Final = 1e-9
"""However often a trigger fires, something is left for the least lifetime to be held to."""


def shortened(seconds: float, factor: float, endless: float) -> float:
    """So much of a lifetime; where that has no end, of `endless`."""
    return seconds if factor == 1 else (endless if seconds == math.inf else seconds) * factor


PIPELINE: Final[tuple[tuple[str, Callable[[float, _So], float]], ...]] = (
    ("changes", _changes),
    ("decay", _decay),
    ("surge", _surge),
    ("canary", _canary),
    ("sla", _sla),
    ("confidence", _confidence),
)
"""The adjustments, in the order in which they are made: from seconds to seconds."""


def life(at: Circumstances, rules: Rules) -> Life:
    """How long an entry lives under these circumstances, and how that comes about."""
    chosen = choose(at.facts, at.seen, rules.choice)
    so = _So(rules.classes[chosen.name], at, rules)
    seconds = so.of.first
    steps = []
    for name, adjustment in PIPELINE:
        after = adjustment(seconds, so) if seconds else 0.0
        if after != seconds:
            steps.append(Step(name, _factor(seconds, after), after))
            seconds = after
    bounds = rules.bounds_of(at.facts.tenant)
    held = min(max(seconds, bounds.least), bounds.most) if seconds else 0.0
    if held != seconds:
        steps.append(Step("limits", _factor(seconds, held), held))
    return Life(
        ttl_class=chosen.name,
        because=chosen.because,
        first=so.of.first,
        steps=tuple(steps),
        seconds=held,
    )


def _factor(before: float, after: float) -> float:
    """What a step multiplied by: 0 where it gave an end to what had none."""
    return after / before if before < math.inf else 0.0
