"""Bounds on the entropy of a truncated distribution hold for every distribution that fits it."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from langchain_semcache.eviction import (
    Bounds,
    Token,
    entropy,
    entropy_bounds,
    mean,
    signals,
    top_difference,
)

SLACK = 1e-9
weights = st.lists(
    st.floats(0, 1) | st.floats(0, 1e-6) | st.sampled_from([0.0, 1.0]), min_size=2, max_size=60
).filter(lambda found: math.fsum(found) > 1e-3)


@st.composite
def distributions(draw):
    """A whole distribution, most probable first."""
    drawn = draw(weights)
    total = math.fsum(drawn)
    return sorted((weight / total for weight in drawn), reverse=True)


@st.composite
def truncated(draw):
    """A distribution, and what a provider that shows the top k tells of it."""
    whole = draw(distributions())
    k = draw(st.integers(0, len(whole)))
    chosen = draw(st.integers(0, len(whole) - 1))
    apart = chosen >= k > 0
    return whole, Token(whole[chosen], tuple(whole[:k]), apart)


@given(truncated(), st.integers(0, 1000))
def test_the_entropy_lies_within_the_bounds(case, unused):
    whole, token = case
    found = entropy_bounds(token, vocabulary=len(whole) + unused)
    assert found.lower - SLACK <= entropy(whole) <= found.upper + SLACK


@given(truncated(), st.integers(0, 1000))
def test_a_larger_vocabulary_only_raises_the_upper_bound(case, more):
    whole, token = case
    small, large = (entropy_bounds(token, len(whole) + extra) for extra in (0, more))
    assert large.lower == pytest.approx(small.lower)
    assert large.upper >= small.upper - SLACK


@given(truncated())
def test_the_bounds_are_reached(case):
    """By distributions that a provider would tell the same of: they could not be any closer."""
    whole, token = case
    known = [*token.top, *([token.chosen] if token.apart or not token.top else [])]
    others, rest = len(whole) - len(known), max(0.0, 1 - math.fsum(known))
    cap = token.top[-1] if token.top else 1.0
    if not others or rest < 1e-6 or cap < 1e-6:
        return  # what is left over is rounding
    found = entropy_bounds(token, vocabulary=len(whole))
    even = [*known, *[rest / others] * others]
    assert entropy(even) == pytest.approx(found.upper, abs=1e-6)
    full = min(others, math.floor(rest / cap + 1e-12))
    concentrated = [*known, *[cap] * full, max(0.0, rest - full * cap)]
    assert entropy(concentrated) == pytest.approx(found.lower, abs=1e-6)


@given(distributions())
def test_a_whole_distribution_leaves_nothing_open(whole):
    found = entropy_bounds(Token(top=tuple(whole)), vocabulary=len(whole))
    assert found.lower == pytest.approx(found.upper, abs=1e-6)
    assert found.lower == pytest.approx(entropy(whole), abs=1e-6)


@given(distributions(), st.data())
def test_more_alternatives_never_tell_less(whole, data):
    k = data.draw(st.integers(1, len(whole)))
    more = data.draw(st.integers(k, len(whole)))
    few, many = (entropy_bounds(Token(top=tuple(whole[:n])), len(whole)) for n in (k, more))
    assert many.lower >= few.lower - 1e-6
    assert many.upper <= few.upper + 1e-6


@given(
    st.lists(st.floats(0, 1) | st.none(), max_size=5), st.integers(1, 10) | st.integers(1, 10**6)
)
@example([0.25] * 4, 1)  # more tokens than there are
def test_whatever_is_told_the_bounds_are_bounds(told, vocabulary):
    top = tuple(sorted((p for p in told[1:] if p is not None), reverse=True))
    token = Token(told[0] if told else None, top, bool(top))
    found = entropy_bounds(token, vocabulary)
    assert 0 <= found.lower <= found.upper
    assert found.upper <= math.log(vocabulary) + 1e-6


@given(st.lists(distributions(), min_size=1, max_size=5), st.integers(2, 5))
def test_the_difference_of_the_top_lies_between_even_and_sure(wholes, k):
    tokens = [Token(top=tuple(whole[:k])) for whole in wholes]
    found = top_difference(tokens)
    most = max(len(token.top) for token in tokens)
    assert 0 <= found.lower <= found.upper <= math.log(most) + SLACK


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
names = st.sampled_from(
    ["content", "token", "logprob", "top_logprobs", "bytes", "tokens", "token_logprobs"]
)
anything = st.recursive(
    values | st.sampled_from([10**400, -(10**400)]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(anything, max_size=3))
def test_whatever_a_provider_says_something_is_made_of_it(told):
    """A reply that is to be stored never fails over what stands beside it."""
    found = signals(told)
    if found.entropy is not None:
        assert 0 <= found.entropy.lower <= found.entropy.upper


bounds = st.tuples(st.floats(0, 12), st.floats(0, 12)).map(lambda pair: Bounds(*sorted(pair)))


@given(st.lists(bounds, min_size=1), st.data())
def test_a_mean_of_bounds_bounds_the_mean(found, data):
    inside = [data.draw(st.floats(one.lower, one.upper)) for one in found]
    both = mean(found)
    assert both.lower - SLACK <= math.fsum(inside) / len(inside) <= both.upper + SLACK
