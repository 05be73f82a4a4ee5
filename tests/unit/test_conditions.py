"""What one caller may ask of a hit beyond the settings: more, and never less."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from langchain_semcache import (
    AsyncSemcache,
    Conditions,
    Decision,
    Reason,
    Request,
    Response,
    Semcache,
)
from langchain_semcache.clock import ManualClock
from langchain_semcache.testing.cache_machine import TEXTS, TableEncoder

pytestmark = pytest.mark.parametrize("colour", ["sync", "async"])


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def cache(clock):
    with Semcache.open(
        ":memory:", encoder=TableEncoder(), clock=clock, strict=True, similarity_threshold=0.9
    ) as opened:
        opened.store(Request(messages=TEXTS[0]), Response.from_text("an answer"))
        yield opened


def ask(cache: Semcache, colour: str, text: str = TEXTS[0], **conditions: object) -> Decision:
    request, wanted = Request(messages=text), Conditions(**conditions)
    if colour == "sync":
        return cache.lookup(request, conditions=wanted)
    return asyncio.run(AsyncSemcache(cache.core).lookup(request, conditions=wanted))


def near(cache: Semcache) -> str:
    """A text that hits by meaning, where nobody asks for more."""
    return next(
        text for text in TEXTS[1:] if cache.lookup(Request(messages=text)).reason is Reason.SEMANTIC
    )


@pytest.mark.parametrize(
    ("passed", "allowed", "hit"),
    [(10, 10, True), (10, 9.5, False), (0, 0, False), (0, 1, True), (10, 3600, True)],
)
def test_nothing_older_is_served_than_the_caller_allows(cache, clock, colour, passed, allowed, hit):
    other = near(cache)
    clock.advance(passed)
    for text in (TEXTS[0], other):
        decision = ask(cache, colour, text, max_age=timedelta(seconds=allowed))
        assert decision.hit is hit
        assert hit or decision.reason is Reason.TOO_OLD


def test_a_fresh_second_best_is_served_where_the_best_is_too_old(cache, clock, colour):
    other = near(cache)
    clock.advance(10)
    cache.store(Request(messages=other), Response.from_text("fresher"))
    decision = ask(cache, colour, TEXTS[0], max_age=timedelta(seconds=5))
    assert decision.hit
    assert decision.response.text == "fresher"


def test_only_the_very_words_where_the_caller_says_so(cache, colour):
    other = near(cache)
    assert ask(cache, colour, TEXTS[0], exact=True).reason is Reason.EXACT
    assert ask(cache, colour, other, exact=True).reason is Reason.EXACT_WANTED


@pytest.mark.parametrize("name", ["min_similarity", "min_confidence"])
def test_a_caller_can_raise_a_bar_and_not_lower_it(cache, colour, name):
    other = near(cache)
    served = cache.lookup(Request(messages=other)).similarity
    assert ask(cache, colour, other, **{name: served + 1e-3}).reason is Reason.BELOW_THRESHOLD
    assert ask(cache, colour, other, **{name: served - 1e-3}).hit
    far = next(
        t
        for t in TEXTS
        if cache.lookup(Request(messages=t)).reason is not Reason.SEMANTIC
        and not cache.lookup(Request(messages=t)).hit
    )
    assert not ask(cache, colour, far, **{name: 0.0}).hit
