"""From the settings of `freshness` to the rules that lifetimes come from."""

from __future__ import annotations

import math
from datetime import timedelta
from functools import partial

from langchain_semcache.clock import Clock
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.engine.freshness import Fixed, Freshness
from langchain_semcache.engine.pool import WorkerPool
from langchain_semcache.engine.shadow_ttl import Sample, ShadowTtl
from langchain_semcache.engine.ttl_books import TtlBooks
from langchain_semcache.ports import EntryIndex
from langchain_semcache.request import tenant_digest
from langchain_semcache.settings import FreshnessSettings, ShadowSettings
from langchain_semcache.ttl import CLASSES, SLA, Bounds, Choice, Rule, Rules, TtlClass


def make_lives(
    config: SemcacheConfig, *, index: EntryIndex, clock: Clock, pool: WorkerPool
) -> tuple[Fixed | Freshness, Freshness | None]:
    """What says how long entries live that have no lifetime of their own, and what is learned."""
    settings = config.freshness
    fixed = Fixed(_seconds(config.ttl), _seconds(config.volatile_ttl))
    if settings.policy == "fixed" and not settings.shadows:
        return fixed, None
    freshness = Freshness(
        make_rules(config.freshness), clock=clock, pool=pool, books=TtlBooks(index, clock)
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
    rules = make_rules(settings)
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


def make_rules(settings: FreshnessSettings) -> Rules:
    """The rules that the settings describe."""
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
    )


def _seconds(lifetime: timedelta | None) -> float:
    """The duration in seconds; infinite for one without end."""
    return math.inf if lifetime is None else lifetime.total_seconds()
