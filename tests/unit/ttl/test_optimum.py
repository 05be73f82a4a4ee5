"""The best lifetime, against a search over all of them and a simulation of what it claims."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.ttl import best_lifetime

RATES = st.floats(1e-7, 10)
WORTH = st.floats(1e-3, 0.99)


def gain(lifetime: float, change: float, request: float, worth: float) -> float:
    """Hits a second, less what staleness costs, by the renewal–reward theorem."""
    served = request * lifetime
    stale = request * (lifetime + math.expm1(-change * lifetime) / change)
    return (served - stale / worth) / (lifetime + 1 / request)


@given(RATES, RATES, WORTH)
def test_no_other_lifetime_gains_more(change: float, request: float, worth: float) -> None:
    best = best_lifetime(change, request, worth)
    most = gain(best, change, request, worth)
    for factor in (0.01, 0.5, 0.9, 1.1, 2.0, 100.0):
        other = gain(best * factor, change, request, worth)
        assert other <= most + 1e-6 * abs(most) + 1e-12


def test_what_the_formula_calls_the_gain_is_what_happens() -> None:
    """A stream of requests against an answer that changes: hits and stale hits, counted."""
    chance = random.Random(7)
    change, request, lifetime = 0.01, 0.05, 60.0
    now = stored = -math.inf
    now, next_change, hits, stale, asked = 0.0, chance.expovariate(change), 0, 0, 0
    changed_at = -math.inf
    while asked < 200_000:
        now += chance.expovariate(request)
        asked += 1
        while next_change <= now:
            changed_at = next_change
            next_change += chance.expovariate(change)
        if now < stored + lifetime:
            hits += 1
            stale += changed_at > stored
        else:
            stored = now
    worth = 0.1
    counted = (hits - stale / worth) / now
    assert counted == pytest.approx(gain(lifetime, change, request, worth), rel=0.03)


def test_asked_for_hardly_ever_it_goes_when_it_is_stale_with_that_probability() -> None:
    assert best_lifetime(0.001, 0.0, 0.05) == pytest.approx(-math.log(0.95) / 0.001)


@given(RATES, RATES, WORTH)
def test_faster_changes_and_more_requests_make_it_shorter(
    change: float, request: float, worth: float
) -> None:
    best = best_lifetime(change, request, worth)
    assert best_lifetime(change * 2, request, worth) <= best * (1 + 1e-9)
    assert best_lifetime(change, request * 2, worth) <= best * (1 + 1e-9)
    assert best_lifetime(change, request, worth / 2) <= best * (1 + 1e-9)


def test_what_never_changes_lives_for_ever() -> None:
    assert best_lifetime(0.0, 1.0, 0.05) == math.inf


@pytest.mark.parametrize(
    "wrong", [(1.0, 1.0, 0.0), (1.0, 1.0, 1.1), (-1.0, 1.0, 0.5), (1.0, math.inf, 0.5)]
)
def test_what_is_no_rate_is_refused(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match=r"worth|rates"):
        best_lifetime(*wrong)
