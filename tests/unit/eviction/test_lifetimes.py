"""What doubts do to the lifetime of an answer."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.eviction import Assessment, Bounds, Signals, Sureness, Unscored

RULES = Sureness(ttl_factor=0.5, endless_ttl=timedelta(days=4))
HOUR = timedelta(hours=1)
SURE, TORN, SEVERE = (Signals(Bounds(nats, nats)) for nats in (0.1, 2.2, 3.0))


@pytest.mark.parametrize(
    ("signals", "score", "factor"),
    [
        (Signals(), Unscored.NOT_ASKED, 1.0),
        (SURE, 5, 1.0),
        (SURE, 3, 0.5),
        (TORN, Unscored.NOT_ASKED, 0.5),
        (TORN, 5, 0.5),
        (TORN, 1, 0.25),
        (SEVERE, 3, 0.25),
        (SEVERE, 2, 0.0),
        (SURE, Unscored.UNREADABLE, 0.0),
    ],
)
def test_each_doubt_shortens_and_a_verdict_ends(signals, score, factor):
    assessment = RULES.assess(signals, score)
    assert (assessment.signals, assessment.score, assessment.factor) == (signals, score, factor)
    assert RULES.lifetime(HOUR, assessment) == HOUR * factor


def test_what_would_never_expire_is_given_an_end_only_in_doubt():
    assert RULES.lifetime(None, RULES.assess(SURE, 5)) is None
    assert RULES.lifetime(None, RULES.assess(TORN, 5)) == timedelta(days=2)
    assert RULES.lifetime(None, RULES.assess(SEVERE, 0)) == timedelta(0)


def test_a_factor_of_zero_keeps_no_doubtful_answer():
    rules = Sureness(ttl_factor=0)
    assert not rules.assess(TORN, Unscored.NOT_ASKED).kept
    assert rules.assess(SURE, Unscored.NOT_ASKED).kept


@pytest.mark.parametrize(
    ("expires_at", "before", "after", "end"),
    [
        (1100.0, 1.0, 1.0, 1100.0),
        (1100.0, 1.0, 0.5, 1050.0),
        (1050.0, 0.5, 0.25, 1025.0),
        (1050.0, 0.5, 1.0, 1050.0),  # never back
        (None, 1.0, 1.0, None),
        (None, 1.0, 0.5, 1000.0 + timedelta(days=2).total_seconds()),
    ],
)
def test_the_end_moves_as_if_the_doubt_had_been_there_from_the_start(
    expires_at, before, after, end
):
    assert RULES.end(1000.0, expires_at, before, after) == end


lifetimes = st.timedeltas(timedelta(seconds=1), timedelta(days=3650))
factors = st.sampled_from([1.0, 0.5, 0.25])


@given(lifetimes, factors, factors)
def test_shortening_later_is_shortening_at_once(ttl, before, after):
    before, after = max(before, after), min(before, after)
    at_first = RULES.lifetime(ttl, Assessment(factor=before)).total_seconds()
    later = RULES.end(0.0, at_first, before, after)
    assert math.isclose(
        later, RULES.lifetime(ttl, Assessment(factor=after)).total_seconds(), abs_tol=1e-5
    )


def test_more_of_the_doubtful_are_asked_about():
    rules = Sureness(share=0.1, doubtful_share=0.7)
    assert rules.asked_about(rules.assess(SURE, 5)) == 0.1
    assert rules.asked_about(rules.assess(TORN, 5)) == 0.7
