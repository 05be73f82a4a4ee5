"""What a model of heat expects reaches lifetimes and the choice of who goes."""

from __future__ import annotations

import time

import pytest

from langchain_semcache import ConfigurationError, Request, Response, Semcache
from langchain_semcache.clock import ManualClock
from langchain_semcache.testing.fakes import ScriptedEncoder

STEP = 60.0
PATIENCE = 10.0
HOT, COLD, NEW = "Is it hot?", "Is it cold?", "Is it new?"


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def open_(clock):
    made = []

    def opened(**settings):
        cache = Semcache.open(
            ":memory:",
            encoder=ScriptedEncoder(),
            verifier="none",
            clock=clock,
            strict=True,
            hotness={"model": "ewma", "half_life": 4},
            **settings,
        )
        made.append(cache)
        return cache

    yield opened
    for cache in made:
        cache.close()


def store(cache, text):
    return cache.store(Request(messages=text), Response.from_text("It is."))


def ask(cache, text, **fields):
    return cache.lookup(Request(messages=text, **fields))


def expected(cache, text):
    """Uses a second that are expected of an entry, once the model was asked on its thread."""
    entry_id, found = ask(cache, text).entry_id, cache.core.expected
    until = time.monotonic() + PATIENCE
    while found.rate(entry_id) is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    return found.rate(entry_id)


def test_what_is_expected_to_be_used_stays(open_, clock):
    cache = open_(max_entries=2, eviction="predicted")
    store(cache, HOT)
    for _ in range(30):
        ask(cache, HOT)
    store(cache, COLD)
    clock.advance(STEP)
    assert expected(cache, COLD) < expected(cache, HOT)
    store(cache, NEW)
    assert ask(cache, HOT).hit
    assert not ask(cache, COLD).hit
    assert ask(cache, NEW).hit


def test_a_cost_counts_where_models_have_a_price(open_, clock):
    cache = open_(max_entries=2, eviction="predicted", model_prices={"dear": 1_000.0})
    store(cache, HOT)
    for _ in range(30):
        ask(cache, HOT)
    cache.store(Request(messages=COLD, model="dear"), Response.from_text("It is."))
    clock.advance(STEP)
    expected(cache, HOT)
    store(cache, NEW)
    assert ask(cache, COLD, model="dear").hit
    assert not ask(cache, HOT).hit


def test_what_is_expected_to_be_used_often_is_refreshed_sooner(open_, clock):
    rules = {"policy": "rules", "stale_cost": 20, "classes": {"frequent": {"first": 180}}}
    cache = open_(freshness=rules)
    for text in (HOT, COLD):
        store(cache, text)
    for _ in range(60):
        ask(cache, HOT)
    usual = ask(cache, COLD).life.seconds
    clock.advance(STEP / 10)
    for _ in range(9):
        clock.advance(STEP / 10)
        ask(cache, COLD)
    hot, cold = expected(cache, HOT), expected(cache, COLD)
    assert hot > 3 * cold
    assert cache.get(ask(cache, COLD).entry_id) is not None
    assert usual > ask(cache, COLD).life.seconds


def test_predictions_need_a_model():
    with pytest.raises(ConfigurationError, match=r'eviction is "predicted", but hotness\.model'):
        Semcache.open(":memory:", encoder="hash", eviction="predicted", max_entries=5)


def test_a_wrong_model_is_one_line():
    with pytest.raises(
        ConfigurationError, match=r"hotness\.model: is 'none', 'popularity'"
    ) as told:
        Semcache.open(":memory:", encoder="hash", hotness={"model": "oracle"})
    assert "\n" not in str(told.value)
