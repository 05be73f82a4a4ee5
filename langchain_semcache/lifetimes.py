"""From settings to what says how long answers stay: the rules of lifetimes, and who has to go."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial

from langchain_semcache.clock import Clock
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.engine.capacity import Capacity, Preference
from langchain_semcache.engine.freshness import Fixed, Freshness
from langchain_semcache.engine.pool import WorkerPool
from langchain_semcache.engine.shadow_ttl import Sample, ShadowTtl
from langchain_semcache.engine.ttl_books import TtlBooks
from langchain_semcache.events import EventSink
from langchain_semcache.eviction import Limits
from langchain_semcache.ports import EntryIndex
from langchain_semcache.request import tenant_digest
from langchain_semcache.settings import FreshnessSettings, ShadowSettings
from langchain_semcache.ttl import CLASSES, SLA, Bounds, Choice, Rule, Rules, TtlClass


def make_lives(
    config: SemcacheConfig,
    *,
    index: EntryIndex,
    clock: Clock,
    pool: WorkerPool,
    rate: Callable[[str], float | None] | None = None,
) -> tuple[Fixed | Freshness, Freshness | None]:
    """What says how long entries live that have no lifetime of their own, and what is learned.

    `rate` tells uses a second that are expected of an entry, None where nothing is.
    """
    settings = config.freshness
    endless = config.confidence_eviction.endless_ttl.total_seconds()
    fixed = Fixed(_seconds(config.ttl), _seconds(config.volatile_ttl), endless)
    if settings.policy == "fixed" and not settings.shadows:
        return fixed, None
    freshness = Freshness(
        make_rules(config.freshness, endless=endless),
        clock=clock,
        pool=pool,
        books=TtlBooks(index, clock),
        rate=rate,
    )
    freshness.load(config.namespace)
    lives = fixed if settings.policy == "fixed" else freshness
    freshness.shadows = tuple(
        [
            _shadow(shadow, settings.under(shadow), lives, fixed, freshness)
            for shadow in settings.shadows
        ]
    )
    return lives, freshness


def _shadow(
    shadow: ShadowSettings,
    settings: FreshnessSettings,
    live: Fixed | Freshness,
    fixed: Fixed,
    freshness: Freshness,
) -> ShadowTtl:
    rules = make_rules(settings, endless=fixed.endless)
    by_rules = settings.policy == "rules"
    return ShadowTtl(
        shadow.name,
        Sample(
            shadow.share,
            shadow.tags,
            tuple([tenant_digest(tenant) for tenant in shadow.tenants]),
            shadow.models,
        ),
        live=live.life,
        shadow=partial(freshness.life_under, rules=rules) if by_rules else fixed.life,
        sliding=by_rules and settings.sliding,
        clock=freshness.clock,
    )


def make_capacity(
    config: SemcacheConfig,
    *,
    index: EntryIndex,
    dimension: int,
    clock: Clock,
    sink: EventSink,
    uses: Callable[[str], float] | None = None,
    over: Callable[[Iterable[str]], Sequence[str]] | None = None,
) -> Capacity | None:
    """Who has to go when the cache is full, when there is a bound; see `Capacity`."""
    limits = Limits(
        max_entries=config.max_entries,
        max_bytes=config.max_bytes,
        tenant_max_entries=config.tenant_max_entries,
        tenant_max_bytes=config.tenant_max_bytes,
    )
    if not limits.any:
        return None
    return Capacity(
        limits,
        by=Preference(
            policy=config.eviction,
            prices=config.model_prices,
            uses=uses if config.eviction == "predicted" else None,
            over=over,
        ),
        index=index,
        dimension=dimension,
        clock=clock,
        sink=sink,
    )


def make_rules(settings: FreshnessSettings, *, endless: float = Rules().endless) -> Rules:
    """The rules that the settings describe; see `Rules.endless`."""
    classes = {
        name: TtlClass(_seconds(its.first), its.factor, its.trigger)
        for name, its in settings.classes.items()
    }
    rules = [
        Rule(rule.use, rule.tag, rule.source, rule.model, rule.kind, rule.time_words)
        for rule in settings.rules
    ]
    bounds = Bounds(_seconds(settings.least), _seconds(settings.most))
    tenants = {
        tenant_digest(tenant): Bounds(
            bounds.least if its.least is None else _seconds(its.least),
            bounds.most if its.most is None else _seconds(its.most),
            its.tier,
        )
        for tenant, its in settings.tenants.items()
    }
    return Rules(
        classes={**CLASSES, **classes},
        choice=Choice(
            rules=rules,
            otherwise=settings.otherwise,
            hit_rate=settings.hit_rate,
            least_lookups=settings.least_lookups,
            least_changes=settings.least_changes,
        ),
        surge=settings.surge,
        surge_limit=settings.surge_limit,
        canary_models=settings.canary_models,
        canary_tags=settings.canary_tags,
        canary_factor=settings.canary_factor,
        tiers={**SLA, **settings.tiers},
        bounds=bounds,
        tenants=tenants,
        stale_cost=settings.stale_cost,
        misses_in_a_row=settings.misses_in_a_row,
        days=settings.hit_rate_days,
        sliding=settings.sliding,
        endless=endless,
    )


def _seconds(lifetime: timedelta | None) -> float:
    """The duration in seconds; infinite for one without end."""
    return math.inf if lifetime is None else lifetime.total_seconds()
