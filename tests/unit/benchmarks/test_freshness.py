"""The benchmark of a full cache on toy data: what it counts, and that it runs."""

import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import _freshness_evict as evict
import freshness

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
