"""Policies in shadow, through a whole cache: they are recorded, and never answer."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from langchain_semcache import AsyncSemcache, ConfigurationError, Request, Response, Semcache
from langchain_semcache.clock import ManualClock
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.testing.fakes import ScriptedEncoder

ASKED = "How do I reset it?"
LONG = {"name": "long", "rules": {"classes": {"rare": {"first": 3600}}}}
FIXED = {"name": "fixed", "rules": {"policy": "fixed"}}


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def open_(clock):
    made = []

    def opened(*shadows, index=None, policy="rules", **settings):
        cache = Semcache.open(
            ":memory:",
            index=index or MemoryIndex(64),
            encoder=ScriptedEncoder(),
            verifier="none",
            clock=clock,
            strict=True,
            freshness={"policy": policy, "shadows": list(shadows)},
            **settings,
        )
        made.append(cache)
        return cache

    yield opened
    for cache in made:
        cache.close()


def asked_every(seconds, cache, clock, times, *, text=ASKED, call=0.0, answers=None, **fields):
    """A caller that asks the model where the cache has nothing; how many hits it got."""
    hits = 0
    for number in range(times):
        clock.advance(seconds)
        request = Request(messages=text, **fields)
        decision = cache.lookup(request)
        hits += decision.hit
        if not decision.hit:
            clock.advance(call)
            said = "Hold the button." if answers is None else answers(number)
            cache.store(request, Response.from_text(said), tags=["kb"])
    return hits


def test_a_longer_life_would_have_hit_more_and_never_answers(open_, clock):
    alone, watched = open_(), open_(LONG)
    start = clock.now()
    without = asked_every(100, alone, clock, 38)
    clock.advance(start - clock.now())
    assert asked_every(100, watched, clock, 38) == without == 19
    (report,) = watched.stats().shadows
    assert report.name == "long"
    assert report.requests == 38
    assert report.live_hit_rate.value == 19 / 38
    assert report.hit_rate.value == 36 / 38
    assert report.hit_rate_change.value == pytest.approx(17 / 38)
    assert (report.live_ttl.value, report.ttl.value) == (180, 3600)


def test_a_policy_beside_itself_differs_in_nothing(open_, clock):
    """Also where traffic surges, and where answers are taken away."""
    cache = open_({"name": "same", "rules": {}})
    chance = np.random.default_rng(3)
    for number in range(600):
        clock.advance(float(chance.exponential(20 if number % 150 < 100 else 1)))
        request = Request(messages=f"Question {chance.integers(12)}?")
        if not cache.lookup(request).hit:
            cache.store(request, Response.from_text("Hold the button."), tags=["kb"])
        if number % 20 == 0:
            cache.invalidate(tags=["kb"])
    (report,) = cache.stats().shadows
    assert report.live_hit_rate.value > 0.2
    assert report.hit_rate == report.live_hit_rate
    assert report.hit_rate_change.value == 0


@pytest.mark.parametrize("way", ["invalidate", "source_changed", "clear", "remove"])
def test_what_is_taken_away_is_gone_for_every_policy(open_, clock, way):
    cache = open_(LONG)
    request = Request(messages=ASKED)
    cache.lookup(request)
    kept = cache.store(request, Response.from_text("Hold it."), sources={"faq.md": "v1"})
    away = {
        "invalidate": lambda: cache.invalidate(source="faq.md"),
        "source_changed": lambda: cache.source_changed("faq.md", "v2"),
        "clear": cache.clear,
        "remove": lambda: cache.remove(kept.entry_id),
    }
    cache.invalidate(source="faq.md", dry_run=True)
    clock.advance(10)
    assert cache.lookup(request).hit
    away[way]()
    clock.advance(10)
    assert not cache.lookup(request).hit
    cache.store(request, Response.from_text("Turn it."), sources={"faq.md": "v2"})
    (report,) = cache.stats().shadows
    assert report.hit_rate.value == report.live_hit_rate.value


def test_the_report_tells_how_much_older_answers_would_have_been(open_, clock):
    cache = open_(LONG)
    asked_every(100, cache, clock, 60, answers=lambda number: f"It costs {number // 10} euros.")
    (report,) = cache.stats().shadows
    assert report.stale.value > report.live_stale.value
    assert report.stale_change.value > 0
    assert report.stale_known > 0.8


def test_requests_would_have_taken_less_where_the_model_is_not_asked(open_, clock):
    cache = open_(LONG)
    asked_every(100, cache, clock, 200, call=2.0)
    (report,) = cache.stats().shadows
    assert report.live_p99.value == pytest.approx(2.0, rel=0.05)
    assert report.p99.value <= report.live_p99.value


def test_rules_can_be_tried_while_lifetimes_are_fixed_and_the_other_way_round(open_, clock):
    cache = open_(LONG, policy="fixed", ttl=150)
    assert asked_every(100, cache, clock, 40) == 20
    (report,) = cache.stats().shadows
    assert (report.live_ttl.value, report.ttl.value) == (150, 3600)
    assert report.hit_rate.value == 38 / 40
    other = open_(FIXED, ttl=7200)
    asked_every(100, other, clock, 38)
    (report,) = other.stats().shadows
    assert (report.live_ttl.value, report.ttl.value) == (180, 7200)
    assert report.hit_rate.value == 37 / 38


def test_a_sliding_shadow_slides(open_, clock):
    rules = {"sliding": True, "classes": {"rare": {"first": 100}, "frequent": {"first": 100}}}
    cache = open_({"name": "sliding", "rules": rules}, policy="fixed", ttl=50)
    assert asked_every(60, cache, clock, 20) == 0
    assert cache.stats().shadows[0].hit_rate.value == 19 / 20


def test_promotion_and_rollback_are_settings(open_, clock):
    """The rules of a shadow in the place of the others hold for what is stored already."""
    index = MemoryIndex(64)
    trying = open_(LONG, index=index)
    trying.store(Request(messages=ASKED), Response.from_text("Hold the button."))
    clock.advance(1_000)
    assert not trying.lookup(Request(messages=ASKED)).hit
    promoted = Semcache.open(
        ":memory:",
        index=index,
        encoder=ScriptedEncoder(),
        verifier="none",
        clock=clock,
        freshness={"policy": "rules", **LONG["rules"]},
    )
    assert promoted.lookup(Request(messages=ASKED)).hit
    assert not open_(index=index).lookup(Request(messages=ASKED)).hit


@pytest.mark.parametrize(
    ("sample", "requests"),
    [
        ({}, 20),
        ({"tags": ["kb"]}, 20),
        ({"tags": ["other"]}, 0),
        ({"tenants": ["acme"]}, 10),
        ({"models": ["small"]}, 10),
        ({"tenants": ["acme"], "models": ["small"]}, 0),
    ],
)
def test_traffic_is_split_by_label_and_user_group(open_, clock, sample, requests):
    cache = open_({**LONG, **sample})
    asked_every(100, cache, clock, 10, tenant="acme", model="large")
    asked_every(100, cache, clock, 10, tenant="zen", model="small")
    assert cache.stats().shadows[0].requests == requests


def test_traffic_is_split_by_the_hash_of_keys(open_, clock):
    cache = open_({**LONG, "share": 0.3})
    for number in range(60):
        asked_every(1, cache, clock, 2, text=f"Question {number}?", parameters={"n": number})
    report = cache.stats().shadows[0]
    assert 6 <= report.entries <= 30
    assert report.requests == 2 * report.entries


def test_an_entry_that_is_older_than_the_process_is_played_from_its_beginning(open_, clock):
    index = MemoryIndex(64)
    open_(LONG, index=index).store(Request(messages=ASKED), Response.from_text("Hold it."))
    clock.advance(100)
    again = open_({"name": "short", "rules": {"classes": {"rare": {"first": 60}}}}, index=index)
    assert again.lookup(Request(messages=ASKED)).hit
    report = again.stats().shadows[0]
    assert (report.live_hit_rate.value, report.hit_rate.value) == (1, 0)


def test_both_colours_record(clock):
    async def run():
        cache = await AsyncSemcache.open(
            ":memory:",
            encoder=ScriptedEncoder(),
            verifier="none",
            clock=clock,
            freshness={"policy": "rules", "shadows": [LONG]},
        )
        async with cache:
            request = Request(messages=ASKED)
            await cache.store(request, Response.from_text("Hold the button."))
            clock.advance(1_000)
            assert not (await cache.lookup(request)).hit
            return (await cache.stats()).shadows

    (report,) = asyncio.run(run())
    assert (report.requests, report.hit_rate.value) == (1, 1)


@pytest.mark.parametrize(
    ("shadows", "told"),
    [
        ([{"name": "a", "rules": {"surge": "double"}}], "shadow 'a': surge: "),
        ([{"name": "a", "rules": {"surg": "off"}}], "shadow 'a': surg: "),
        ([LONG, LONG], "several shadows are called 'long'"),
        ([{"name": "", "rules": {}}], "at least 1 character"),
        ([{"name": "a", "rules": {}, "share": 0}], "greater than 0"),
    ],
)
def test_a_wrong_shadow_is_one_line(shadows, told):
    with pytest.raises(ConfigurationError, match="freshness") as error:
        Semcache.open(":memory:", encoder="hash", freshness={"shadows": shadows})
    assert told in str(error.value)
    assert "\n" not in str(error.value)
