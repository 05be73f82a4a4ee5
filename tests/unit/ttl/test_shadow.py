"""A second policy played through, held against what would really have happened."""

from __future__ import annotations

import random
import statistics

import pytest

from langchain_semcache.ttl.shadow import PENDING, Played, Score
from langchain_semcache.ttl.tally import Durations, Estimate, Mean, difference


class Truth:
    """One entry whose answer changes, asked for at random, under two lifetimes: what happened."""

    def __init__(self, seed: int, *, live: float, shadow: float, change: float = 400.0) -> None:
        chance = random.Random(seed)
        self.played = Played.since(0.0)
        self.live_hits = self.shadow_hits = self.live_old = self.shadow_old = self.requests = 0
        now, version, next_change = 0.0, 0, chance.expovariate(1 / change)
        live_at, live_version, shadow_at, shadow_version = 0.0, 0, 0.0, 0
        for _ in range(400):
            now += chance.expovariate(1 / 20)
            while next_change <= now:
                version, next_change = version + 1, next_change + chance.expovariate(1 / change)
            hit, would = now < live_at + live, now < shadow_at + shadow
            said = self.played.request(now, hit=hit, live_ttl=live, shadow_ttl=shadow)
            assert said == would
            self.requests += 1
            self.live_hits += hit
            self.shadow_hits += would
            self.live_old += hit and live_version != version
            self.shadow_old += would and shadow_version != version
            if not hit:
                self.played.refreshed(now, changed=version != live_version, prior=1 / 1_000)
                live_at, live_version = now, version
            if not would:
                shadow_at, shadow_version = now, version


@pytest.mark.parametrize("lifetimes", [(100, 300), (300, 100), (200, 200), (50, 1_000)])
def test_hits_are_those_that_would_have_been_and_old_answers_nearly_so(lifetimes):
    live, shadow = lifetimes
    worlds = [Truth(seed, live=live, shadow=shadow) for seed in range(150)]
    score = Score()
    for world in worlds:
        score.fold(world.played)
    report = score.report("other")
    requests = sum(world.requests for world in worlds)
    assert (report.requests, report.entries) == (requests, 150)
    assert report.hit_rate.value * requests == pytest.approx(sum(w.shadow_hits for w in worlds))
    assert report.live_hit_rate.value * requests == pytest.approx(sum(w.live_hits for w in worlds))
    old = sum(w.shadow_old for w in worlds) / sum(w.shadow_hits for w in worlds)
    live_old = sum(w.live_old for w in worlds) / sum(w.live_hits for w in worlds)
    assert report.stale.value == pytest.approx(old, rel=0.08)
    assert report.live_stale.value == pytest.approx(live_old, rel=0.08)
    assert report.stale_known > 0.95


def test_equal_policies_do_not_differ():
    worlds = [Truth(seed, live=150, shadow=150) for seed in range(20)]
    score = Score()
    for world in worlds:
        score.fold(world.played)
    change = score.report("same").hit_rate_change
    assert (change.value, change.low, change.high) == (0, 0, 0)


def test_hits_without_a_refresh_stay_unknown_and_few_are_kept():
    played = Played.since(0.0)
    for second in range(1, 2 * PENDING):
        played.request(float(second), hit=True, live_ttl=1e9, shadow_ttl=1e9)
    assert len(played.live.pending) == PENDING
    score = Score()
    score.fold(played)
    report = score.report("other")
    assert (report.stale, report.stale_known) == (Estimate(None), 0)
    assert report.hit_rate.value == 1


def test_an_answer_that_cannot_be_compared_says_nothing():
    played = Played.since(0.0)
    played.request(10.0, hit=True, live_ttl=20, shadow_ttl=20)
    played.refreshed(30.0, changed=None, prior=1e-9)
    assert played.live_known == 0
    played.request(40.0, hit=True, live_ttl=20, shadow_ttl=20)
    played.refreshed(60.0, changed=True, prior=1e-9)
    assert 0.33 < played.live_stale < 0.45


def test_intervals_hold_the_truth_in_19_of_20():
    """Entries differ in how often they are asked for and hit; requests of one go together."""
    inside = 0
    for seed in range(300):
        chance = random.Random(seed)
        mean = Mean()
        for _ in range(200):
            count = chance.randint(1, 30)
            mean.add(count * chance.betavariate(2, 2), count)
        estimate = mean.estimate()
        inside += estimate.low <= 0.5 <= estimate.high
    assert 0.91 <= inside / 300 <= 0.985


def test_quantiles_are_right_to_a_bucket():
    chance = random.Random(3)
    values = [chance.lognormvariate(-3, 1) for _ in range(20_000)]
    durations = Durations()
    for value in values:
        durations.add(value)
    found = durations.quantile(0.99)
    assert found.value == pytest.approx(statistics.quantiles(values, n=100)[98], rel=0.06)
    assert found.low <= found.value <= found.high
    assert durations.quantile(0.5).value == pytest.approx(statistics.median(values), rel=0.05)
    assert Durations().quantile(0.5) == Estimate(None)


def test_a_difference_is_as_unsure_as_both_together():
    assert difference(Estimate(3.0, 2.0, 4.0), Estimate(1.0, 0.5, 1.5)) == Estimate(2.0, 0.5, 3.5)
    assert difference(Estimate(3.0), Estimate(1.0)) == Estimate(2.0)
    assert difference(Estimate(None), Estimate(1.0)) == Estimate(None)
