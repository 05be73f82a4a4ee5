"""What is seen of entries, how it fades, and what a clock that runs back does to it."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.ttl import DAY, Changes, Evidence, Fading, Pace, Rate

START = 1_700_000_000.0


def hits(evidence: Evidence, count: int, at: float) -> None:
    for _ in range(count):
        evidence.hit(at, keep_days=7)


def misses(evidence: Evidence, count: int, at: float) -> None:
    for _ in range(count):
        evidence.miss(at, keep_days=7, in_a_row=3)


def test_hit_rate_is_of_the_last_seven_days() -> None:
    evidence = Evidence.from_now(START)
    hits(evidence, 10, START)
    misses(evidence, 5, START + 3 * DAY)
    assert evidence.tally(START + 3 * DAY, keep_days=7) == (10, 15)
    assert evidence.tally(START + 7 * DAY, keep_days=7) == (0, 5)
    hits(evidence, 1, START + 12 * DAY)
    assert evidence.tally(START + 12 * DAY, keep_days=7) == (1, 1)
    assert len(evidence.days) == 1


def test_three_misses_in_a_row_fire_and_a_hit_makes_good_for_one() -> None:
    evidence = Evidence.from_now(START)
    misses(evidence, 2, START)
    hits(evidence, 1, START)
    misses(evidence, 2, START)
    assert evidence.triggers.value == 0
    misses(evidence, 1, START)
    assert evidence.triggers.value == 1
    misses(evidence, 3, START)
    assert evidence.triggers.value == 2
    hits(evidence, 1, START)
    assert evidence.triggers.value == 1
    hits(evidence, 5, START)
    assert evidence.triggers.value == 0


def test_misses_of_long_ago_are_forgiven() -> None:
    evidence = Evidence.from_now(START)
    misses(evidence, 90, START)
    assert evidence.triggers.at_time(START) == 30
    assert evidence.triggers.at_time(START + 60 * DAY) < 0.01


def test_a_count_fades_and_is_not_revived_by_a_clock_that_runs_back() -> None:
    count = Fading(100.0)
    count.add(1.0, START)
    assert count.at_time(START + 100) == pytest.approx(math.exp(-1))
    assert count.at_time(START - 1_000) == 1.0
    count.add(1.0, START - 1_000)
    assert count.at_time(START) == 2.0


@given(st.floats(0.001, 10.0), st.integers(0, 10_000))
def test_a_rate_is_what_it_counts(rate: float, seed: int) -> None:
    chance = random.Random(seed)
    counter, now = Rate.faded(2_000 / rate, START), START
    for _ in range(3_000):
        now += chance.expovariate(rate)
        counter.add(now)
    count, seconds = counter.counted(now)
    assert count / seconds == pytest.approx(rate, rel=0.15)


def test_a_surge_shows_once_it_is_known_what_is_usual() -> None:
    pace = Pace.from_now(START)
    for second in range(0, 540, 10):
        pace.add(START + second)
    assert pace.ratio(START + 540) == 1.0
    for second in range(540, 1_800, 10):
        pace.add(START + second)
    assert pace.ratio(START + 1_800) == pytest.approx(1.0, abs=0.15)
    for tenth in range(600):
        pace.add(START + 1_800 + tenth / 10)
    assert pace.ratio(START + 1_860) > 3
    assert pace.ratio(START + 3_600) < 0.2


@pytest.mark.parametrize("gap", [20.0, 60.0])
def test_what_chance_brings_into_a_minute_is_no_surge(gap: float) -> None:
    chance = random.Random(1)
    pace, now, surges = Pace.from_now(START), START, 0
    for _ in range(4_000):
        now += chance.expovariate(1 / gap)
        pace.add(now)
        surges += pace.ratio(now) > 1
    assert surges < 0.1 * 4_000


@given(st.floats(1e-6, 1e-3), st.floats(0.05, 3.0), st.integers(0, 1_000))
def test_change_rates_are_found_from_looks(rate: float, share: float, seed: int) -> None:
    """`share` is how much of the mean time between changes lies between two looks."""
    chance = random.Random(seed)
    gap = share / rate
    changes, prior = Changes(), 3 * rate
    for _ in range(3_000):
        changed = chance.random() < -math.expm1(-share)
        changes.look(gap, START, changed=changed, believed=changes.rate(prior, START))
    assert changes.rate(prior, START) == pytest.approx(rate, rel=0.3)


def test_nothing_seen_is_what_was_believed() -> None:
    assert Changes().rate(1e-4, START) == pytest.approx(1e-4)


def test_a_look_at_no_distance_says_nothing() -> None:
    changes = Changes()
    changes.look(0.0, START, changed=True, believed=1e-4)
    changes.look(-5.0, START, changed=True, believed=1e-4)
    assert changes.rate(1e-4, START) == pytest.approx(1e-4)
