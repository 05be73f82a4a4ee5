"""From a class to a lifetime: the numbers of the defaults, the order, the limits."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.ttl import (
    CLASSES,
    PIPELINE,
    Bounds,
    Circumstances,
    Facts,
    Rules,
    Seen,
    TtlClass,
    life,
)

RULES = Rules()
RARE = Circumstances(facts=Facts())
TIMELY = Circumstances(facts=Facts(time_words=True))
STABLE = Circumstances(facts=Facts(), seen=Seen(hits=99, lookups=100))


@pytest.mark.parametrize(
    ("at", "name", "seconds"),
    [(STABLE, "frequent", 3600), (TIMELY, "time_sensitive", 300), (RARE, "rare", 180)],
)
def test_first_lifetimes(at: Circumstances, name: str, seconds: float) -> None:
    lives = life(at, RULES)
    assert (lives.ttl_class, lives.seconds, lives.steps) == (name, seconds, ())


def test_each_class_decays_by_its_own_trigger() -> None:
    assert life(replace(RARE, triggers=2), RULES).seconds == pytest.approx(180 * 0.75**2)
    updated = replace(TIMELY, seen=Seen(updates=3))
    assert life(updated, RULES).seconds == pytest.approx(300 * 0.92**3)
    assert life(replace(TIMELY, triggers=2), RULES).seconds == 300
    assert life(replace(STABLE, triggers=2), RULES).seconds == 3600


@pytest.mark.parametrize("first", [300.0, math.inf])
@pytest.mark.parametrize("updates", [1, 200, 10**6])
def test_however_often_a_trigger_fires_the_limits_hold(first: float, updates: int) -> None:
    timely = replace(CLASSES["time_sensitive"], first=first, factor=0.01)
    rules = replace(RULES, classes={**CLASSES, "time_sensitive": timely})
    lives = life(replace(TIMELY, seen=Seen(updates=updates)), rules)
    whole = min(first, rules.endless)
    assert lives.seconds == max(rules.bounds.least, min(whole * 0.01**updates, rules.bounds.most))


@pytest.mark.parametrize(
    ("surge", "ratio", "factor"),
    [
        ("shorten", 0.2, 1.0),
        ("shorten", 1.0, 1.0),
        ("shorten", 2.0, 0.5),
        ("shorten", 100.0, 0.3),
        ("stretch", 2.0, 2.0),
        ("stretch", 100.0, 1 / 0.3),
        ("off", 100.0, 1.0),
    ],
)
def test_a_surge_goes_either_way(surge: str, ratio: float, factor: float) -> None:
    rules = replace(RULES, surge=surge)
    assert life(replace(RARE, qps_ratio=ratio), rules).seconds == pytest.approx(180 * factor)


@pytest.mark.parametrize(
    ("tier", "factor"), [("gold", 1.2), ("silver", 1.0), ("bronze", 0.7), ("iron", 0.4)]
)
def test_tiers(tier: str, factor: float) -> None:
    rules = replace(RULES, tenants={"acme": Bounds(tier=tier)})
    at = Circumstances(facts=Facts(tenant="acme"))
    assert life(at, rules).seconds == pytest.approx(180 * factor)
    assert life(RARE, rules).seconds == 180


@pytest.mark.parametrize(
    ("facts", "on_trial"),
    [
        (Facts(model="gpt-5-preview"), True),
        (Facts(model="gpt-5"), False),
        (Facts(tags=("kb", "canary")), True),
        (Facts(tags=("kb",)), False),
    ],
)
def test_a_version_on_trial_keeps_four_fifths(facts: Facts, on_trial: bool) -> None:
    rules = replace(RULES, canary_models=("*-preview",))
    assert life(Circumstances(facts=facts), rules).seconds == (144 if on_trial else 180)


def test_the_trace_names_every_step_in_order() -> None:
    rules = replace(RULES, tenants={"acme": Bounds(tier="iron", least=60)})
    at = Circumstances(
        facts=Facts(tenant="acme", tags=("canary",)), triggers=1, qps_ratio=2, change_rate=0.0
    )
    lives = life(at, rules)
    assert [(step.name, round(step.factor, 3)) for step in lives.steps] == [
        ("decay", 0.75),
        ("surge", 0.5),
        ("canary", 0.8),
        ("sla", 0.4),
        ("limits", 2.778),
    ]
    assert [step.seconds for step in lives.steps] == pytest.approx([135, 67.5, 54, 21.6, 60])
    assert str(lives) == (
        "rare (default): 180 s × decay 0.75 × surge 0.5 × canary 0.8 × sla 0.4 × limits 2.78 = 60 s"
    )


def test_the_order_is_fixed() -> None:
    assert [name for name, _ in PIPELINE] == [
        "changes",
        "decay",
        "surge",
        "canary",
        "sla",
        "confidence",
    ]


def test_zero_stays_zero_and_for_ever_is_held_by_the_limits_only() -> None:
    none = replace(RULES, classes={**CLASSES, "rare": TtlClass(0)})
    assert life(RARE, none).seconds == 0
    endless = replace(RULES, classes={**CLASSES, "rare": TtlClass(math.inf)})
    assert life(RARE, endless).seconds == 604_800
    assert life(RARE, replace(endless, bounds=Bounds(most=math.inf))).seconds == math.inf


def test_what_was_learned_of_changes_takes_the_place_of_the_first_lifetime() -> None:
    costly = replace(RULES, stale_cost=20.0)
    at = replace(RARE, change_rate=1e-5)
    # Asked for hardly ever: it goes when it is stale with a probability of 1/20.
    assert life(at, costly).seconds == pytest.approx(-math.log(0.95) / 1e-5, rel=1e-6)
    assert life(at, RULES).seconds == 180


_CIRCUMSTANCES = st.builds(
    Circumstances,
    facts=st.builds(
        Facts,
        time_words=st.booleans(),
        tags=st.sampled_from([(), ("canary",)]),
        tenant=st.sampled_from(["", "acme"]),
    ),
    seen=st.builds(
        Seen,
        hits=st.integers(0, 50),
        lookups=st.integers(50, 60),
        changed=st.floats(0, 9),
        updates=st.floats(0, 50),
    ),
    triggers=st.integers(0, 50),
    change_rate=st.floats(0, 1),
    request_rate=st.floats(0, 1_000),
    qps_ratio=st.floats(0, 1_000),
    confidence=st.sampled_from([1.0, 0.5, 0.25]),
)
_RULES = st.builds(
    Rules,
    surge=st.sampled_from(["shorten", "stretch", "off"]),
    stale_cost=st.sampled_from([None, 1.0, 3.0, 100.0]),
    tenants=st.sampled_from([{}, {"acme": Bounds(5.0, 50.0, "iron")}]),
)


@given(_CIRCUMSTANCES, _RULES)
def test_every_lifetime_is_within_its_limits_and_the_trace_adds_up(
    at: Circumstances, rules: Rules
) -> None:
    lives = life(at, rules)
    bounds = rules.bounds_of(at.facts.tenant)
    assert bounds.least <= lives.seconds <= bounds.most
    seconds = lives.first
    for step in lives.steps:
        # Of what would live for ever a product says nothing.
        assert seconds == math.inf or step.seconds == pytest.approx(seconds * step.factor)
        assert not math.isnan(step.seconds)
        seconds = step.seconds
    assert lives.seconds == seconds


@given(_CIRCUMSTANCES, _RULES, st.integers(1, 10))
def test_more_of_what_shortens_never_lengthens(at: Circumstances, rules: Rules, more: int) -> None:
    usual = life(at, rules).seconds
    assert life(replace(at, triggers=at.triggers + more), rules).seconds <= usual
    faster = life(replace(at, change_rate=at.change_rate + more), rules).seconds
    assert at.change_rate == 0 or faster <= usual * (1 + 1e-9)
    busier = life(replace(at, qps_ratio=at.qps_ratio * (1 + more)), rules).seconds
    assert busier <= usual if rules.surge == "shorten" else busier >= usual
