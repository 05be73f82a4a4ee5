"""The benchmark of a full cache on toy data: what it counts, and that it runs."""

import gzip
import json
import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import _freshness_evict as evict
import _freshness_ttl as ttl
import freshness
import pytest

from langchain_semcache.eviction import LRU


def test_hits_are_counted_after_the_warming_up():
    assert evict.hit_rate(LRU(), "aabb", 1, 0) == 0.5
    assert evict.hit_rate(LRU(), "aabb", 1, 2) == 0.5
    assert evict.hit_rate(LRU(), "abab", 1, 0) == 0.0


def test_who_knows_the_future_need_not_keep_what_just_came():
    assert evict.belady("abab", 1, 0) == 0.25
    assert evict.belady("abcab", 2, 0) == 0.4
    assert evict.hit_rate(LRU(), "abcab", 2, 0) == 0.0


def test_it_runs_from_files_to_a_table(tmp_path, capsys, monkeypatch):
    blocks = [json.dumps({"hash_ids": [0, number % 7]}) for number in range(60)]
    queries = [
        json.dumps({"date": f"d{number % 3}", "country": "C", "query": f"q{number}", "pop": number})
        for number in range(1, 40)
    ]
    for name, lines in ((evict.MOONCAKE, blocks), (evict.BING, queries)):
        with gzip.open(tmp_path / name, "wt", encoding="utf-8") as file:
            file.write("\n".join(lines))
    assert evict.mooncake(tmp_path)[:4] == ["0", "0", "0", "1"]
    stream = evict.bing(tmp_path, uses=300)
    assert abs(len(stream) - 300) <= 2
    assert stream == evict.bing(tmp_path, uses=300)
    rows = evict.rows("toy", evict.mooncake(tmp_path), [3], "second")
    assert rows[0]["Belady"] >= rows[0]["heat"]
    monkeypatch.setattr(evict, "run", lambda data, part: rows)
    freshness.main(["evict", "--data", str(tmp_path), "--json", str(tmp_path / "out.json")])
    assert "| toy | second | 3 |" in capsys.readouterr().out
    assert json.loads((tmp_path / "out.json").read_text()) == rows


def test_answers_change_by_class_and_the_world_is_the_same_each_time():
    assert ttl.class_of("coronavirus cases in italy") == "figures"
    assert ttl.class_of("coronavirus news") == "news"
    assert ttl.class_of("what is coronavirus") == "knowledge"
    assert ttl.class_of("coronavirus") == "general"
    one, other = (ttl.World(seed=1, spread=0.0, until=30 * ttl.DAY) for _ in range(2))
    question = "Italy: coronavirus cases"
    last = one.version(question, 30 * ttl.DAY)
    assert last == other.version(question, 30 * ttl.DAY)
    assert abs(last - 360) < 60
    assert one.version(question, 0.0) == 0


def test_a_replay_counts_hits_and_the_old_ones_among_them():
    world = ttl.World(seed=1, spread=0.0, until=40 * ttl.HOUR)
    question = "Italy: coronavirus cases"
    first = next(h for h in range(40) if world.version(question, h * ttl.HOUR) > 0)
    stream = [ttl.Ask(h * ttl.HOUR, question) for h in range(first + 1)]
    found = ttl.replay(stream, world, ttl.Single(100 * ttl.HOUR), 0)
    assert found == ttl.Outcome(first / (first + 1), 1 / (first + 1))
    assert ttl.replay(stream, world, ttl.Single(0.0), 0) == ttl.Outcome(0.0, 0.0)


def test_hits_are_compared_at_equal_shares_of_old_answers():
    known = [ttl.Outcome(0.2, 0.0), ttl.Outcome(0.6, 0.02)]
    assert ttl.frontier(known, 0.01) == pytest.approx(0.4)
    assert math.isnan(ttl.frontier(known, 0.03))


def test_the_rules_learn_what_one_lifetime_cannot():
    """Half of the questions change by the hour, half never, and all are asked for alike."""
    chance = random.Random(1)
    names = [f"Italy: {what} {n}" for n in range(20) for what in ("coronavirus cases", "masks")]
    times = sorted(chance.uniform(0, 20 * ttl.DAY) for _ in range(3_000))
    stream = [ttl.Ask(at, chance.choice(names)) for at in times]
    world = ttl.World(seed=1, spread=0.7, until=20 * ttl.DAY)
    learned = ttl.replay(stream, world, ttl.Learned(10), 1_500)
    single = [ttl.replay(stream, world, ttl.Single(seconds), 1_500) for seconds in ttl.SINGLE]
    assert learned.hits > ttl.frontier(single, learned.stale) + 0.05
