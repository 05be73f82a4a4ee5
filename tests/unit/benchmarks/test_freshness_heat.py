"""The benchmark of heat on toy data: what its streams are, what it tunes on, and that it runs."""

from __future__ import annotations

import gzip
import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import _freshness_heat as heat
import freshness

from langchain_semcache.hotness.accesses import accesses
from langchain_semcache.hotness.ranking import Quality


def write(path: Path, rows: list[dict[str, object]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(json.dumps(row) for row in rows))


def test_queries_are_drawn_by_their_popularity_within_their_day(tmp_path: Path) -> None:
    days = [
        {"date": f"2020-01-0{day}", "country": "C", "query": query, "pop": pop}
        for day in (2, 1)
        for query, pop in (("often", 90), ("seldom", 10))
    ]
    write(tmp_path / heat.BING, days)
    stream = heat.bing(tmp_path, draws=2_000)
    uses = stream.uses
    assert (uses.end, uses.keys) == (10, 3)
    shares = np.bincount(uses.entries) / len(uses.entries)
    assert sorted(shares.round(1).tolist()) == [0.0, 0.1, 0.9]
    again = heat.bing(tmp_path, draws=2_000)
    assert again.uses.steps.tolist() == uses.steps.tolist()


def test_the_made_up_day_has_what_it_says() -> None:
    uses = heat.made_up(hours=3).uses
    rhythmic = uses.steps[(uses.entries >= 1_000) & (uses.entries < 2_000)]
    entries = uses.entries[(uses.entries >= 1_000) & (uses.entries < 2_000)]
    some = np.sort(rhythmic[entries == entries[0]]) % 30
    assert len(set(some.tolist())) <= 5
    steady = uses.entries[uses.entries < 1_000]
    assert len(steady) / 180 == pytest.approx(60, rel=0.1)


def test_the_average_is_tuned_on_what_it_is_given_and_no_more() -> None:
    """Steady first, then every use is by chance: the second part must not change what is chosen."""
    chance = np.random.default_rng(2)
    first = [(60.0 * step, step % 7) for step in range(100)]
    second = [(60.0 * step, int(chance.integers(0, 7))) for step in range(100, 200)]
    whole = heat.Stream(accesses("whole", [*first, *second]), 3)
    half = heat.Stream(accesses("half", first), 3)
    chosen = [heat.tuned(one, start=50, end=100).identity for one in (whole, half)]
    assert chosen[0] == chosen[1]


def test_an_interval_of_equal_models_is_nothing() -> None:
    one = [Quality(0.5, 0.5, 0.5, 0.5, 1.0)] * 9
    better = [Quality(0.7, 0.5, 0.5, 0.5, 1.0)] * 9
    assert heat.interval(one, one) == "+0.000 to +0.000"
    assert heat.interval(better, one) == "+0.200 to +0.200"


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch: make tests installs it")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_it_runs_from_files_to_a_table(tmp_path, capsys) -> None:
    rows = [{"t_ms": 10_000 * step, "hash_ids": [0, step % 3, step]} for step in range(60)]
    write(tmp_path / heat.MOONCAKE, rows)
    out = tmp_path / "out.json"
    asked = ["--epochs", "1", "--max-windows", "60", "--stream", "Mooncake", "--json", str(out)]
    freshness.main(["heat", "--data", str(tmp_path), *asked])
    assert "| Mooncake | popularity, 64 steps | 1000 |" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert [row["model"] for row in found][-1] == "LSTM"
    assert all(0 <= row["ndcg"] <= 1 for row in found)
