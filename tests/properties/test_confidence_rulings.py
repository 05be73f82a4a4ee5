"""More entropy or a lower score never makes the ruling on an answer any better."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.eviction import (
    Action,
    Bounds,
    Level,
    Thresholds,
    Unscored,
    decide,
    level_of,
)

WORSE = (Action.KEEP, Action.SHORTEN, Action.EVICT)


def badness(ruling):
    return (WORSE.index(ruling.action), ruling.doubts)


@st.composite
def thresholds(draw):
    sure, suspicious, severe = sorted(draw(st.lists(st.floats(0, 5), min_size=3, max_size=3)))
    bad, good = sorted(draw(st.lists(st.integers(0, 5), min_size=2, max_size=2, unique=True)))
    return Thresholds(
        sure_entropy=sure,
        suspicious_entropy=suspicious,
        severe_entropy=severe,
        suspicious_difference=draw(st.floats(0, 2)),
        good_score=good,
        bad_score=bad,
    )


bounds = st.tuples(st.floats(0, 6), st.floats(0, 6)).map(lambda pair: Bounds(*sorted(pair)))
# From the best to the worst. An answer that was not asked about stands where nothing is against it.
scores = st.sampled_from([Unscored.NOT_ASKED, 5, 4, 3, 2, 1, 0, Unscored.UNREADABLE])
ORDER = [5, 4, 3, 2, 1, 0, Unscored.UNREADABLE]


@given(thresholds(), bounds, bounds, st.none() | bounds, scores)
def test_more_entropy_never_makes_it_better(lines, one, other, difference, score):
    low = Bounds(min(one.lower, other.lower), min(one.upper, other.upper))
    high = Bounds(max(one.lower, other.lower), max(one.upper, other.upper))
    better, worse = (
        decide(level_of(entropy, difference, lines), score, lines) for entropy in (low, high)
    )
    assert badness(better) <= badness(worse)


@given(thresholds(), bounds, bounds, bounds, scores)
def test_a_smaller_difference_never_makes_it_better(lines, entropy, one, other, score):
    small = Bounds(min(one.lower, other.lower), min(one.upper, other.upper))
    large = Bounds(max(one.lower, other.lower), max(one.upper, other.upper))
    better, worse = (
        decide(level_of(entropy, difference, lines), score, lines) for difference in (large, small)
    )
    assert badness(better) <= badness(worse)


@given(thresholds(), st.none() | st.sampled_from(Level), st.data())
def test_a_lower_score_never_makes_it_better(lines, level, data):
    place = data.draw(st.integers(0, len(ORDER) - 1))
    lower = data.draw(st.integers(place, len(ORDER) - 1))
    better, worse = (decide(level, ORDER[at], lines) for at in (place, lower))
    assert badness(better) <= badness(worse)


@given(thresholds(), bounds, st.none() | bounds, st.data(), scores)
def test_knowing_less_never_keeps_or_evicts(lines, entropy, difference, data, score):
    """Wider bounds: what was not kept is not kept, and what was not evicted is not evicted."""
    wide = Bounds(data.draw(st.floats(0, entropy.lower)), data.draw(st.floats(entropy.upper, 12.0)))
    told = decide(level_of(entropy, difference, lines), score, lines)
    less = decide(level_of(wide, difference, lines), score, lines)
    if less.action in (Action.KEEP, Action.EVICT):
        assert less == told


@given(thresholds(), st.sampled_from(Level))
def test_being_asked_and_scoring_well_changes_nothing(lines, level):
    assert decide(level, 5, lines) == decide(level, Unscored.NOT_ASKED, lines)
