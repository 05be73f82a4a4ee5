"""Whose answer it is, and for how long: personal questions, and answers that change by the day."""

from __future__ import annotations

from datetime import timedelta

import pytest

from langchain_semcache import ConfigurationError, Reason, Request, Response, Semcache
from langchain_semcache.clock import ManualClock
from langchain_semcache.testing.fakes import ScriptedEncoder

PERSONAL = ("Where is my order?", "where's my order")
TODAY, TODAYS = "What is the weather today?", "How is the weather today?"
LASTING = "What is the capital of Italy?"
MINUTES = timedelta(minutes=1).total_seconds()
HOUR = timedelta(hours=1).total_seconds()


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def open_(clock):
    made = []

    def opened(**settings):
        script = {PERSONAL[0]: 1.0, PERSONAL[1]: 0.99, TODAY: [0, 1.0], TODAYS: [0.1, 0.99]}
        encoder = ScriptedEncoder(script)
        cache = Semcache.open(":memory:", encoder=encoder, clock=clock, strict=True, **settings)
        made.append(cache)
        return cache

    yield opened
    for cache in made:
        cache.close()


def store(cache, text, **terms):
    return cache.store(Request(messages=text), Response.from_text("An answer."), **terms)


def ask(cache, text, **fields):
    return cache.lookup(Request(messages=text, **fields))


def test_a_personal_question_is_matched_exactly_only(open_):
    cache = open_()
    store(cache, PERSONAL[0])
    other = ask(cache, PERSONAL[1])
    assert (other.hit, other.exact_only) == (False, Reason.PERSONAL_QUESTION)
    assert other.reason is Reason.PERSONAL_QUESTION
    assert ask(cache, PERSONAL[0]).reason is Reason.EXACT
    assert not ask(cache, PERSONAL[0], tenant="somebody else").hit


def test_a_personal_question_is_not_embedded(open_):
    cache = open_()
    store(cache, PERSONAL[0])
    other = ask(cache, PERSONAL[1])
    assert "embed" not in other.stages
    assert other.verdicts == ()


@pytest.mark.parametrize(
    ("settings", "terms", "lives"),
    [
        ({}, {}, 10 * MINUTES),
        ({}, {"ttl": timedelta(hours=5)}, 10 * MINUTES),
        ({}, {"ttl": None}, 10 * MINUTES),
        ({}, {"ttl": 60}, MINUTES),
        ({"volatile_ttl": HOUR}, {}, HOUR),
        ({"volatile_ttl": HOUR, "ttl": MINUTES}, {}, MINUTES),
        ({"volatile_ttl": None, "ttl": 2 * HOUR}, {}, 2 * HOUR),
    ],
)
def test_what_changes_by_the_day_is_kept_for_a_while(open_, clock, settings, terms, lives):
    cache = open_(**settings)
    assert store(cache, TODAY, **terms).stored
    clock.advance(lives - 1)
    assert ask(cache, TODAY).hit
    clock.advance(1)
    assert not ask(cache, TODAY).hit


def test_what_changes_by_the_day_may_not_be_kept_at_all(open_):
    cache = open_(volatile_ttl=0)
    result = store(cache, TODAY)
    assert (result.stored, result.reason) == (False, Reason.TTL_ZERO)
    assert store(cache, LASTING).stored


def test_what_lasts_is_kept_as_long_as_it_was_asked_to_be(open_, clock):
    cache = open_(ttl=None)
    store(cache, LASTING)
    clock.advance(1000 * HOUR)
    assert ask(cache, LASTING).hit


def test_a_lifetime_that_is_none_is_refused(open_):
    with pytest.raises(ConfigurationError, match="volatile_ttl"):
        open_(volatile_ttl=-1)
