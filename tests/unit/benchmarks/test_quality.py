"""The benchmark of quality on toy data: what it tunes, what it counts, and that every part runs."""

import gzip
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import _quality_conversations as conversations
import _quality_cost as cost
import _quality_gptcache as gptcache
import _quality_pairs as pairs
import _quality_strangers as strangers
import _quality_streams as streams
import one_sided
import quality
from _quality_data import Pool, Stream, pair_files
from _quality_setup import RememberingEncoder, RememberingVerifier, Setup, mean, share, table

from langchain_semcache.config import SemcacheConfig
from langchain_semcache.encoders import TokenizerHashEncoder
from langchain_semcache.threshold.confidence import Calibration
from training.data import Pair


class ByTopic:
    """A text is its first word, and as near to itself as the rest of it is short."""

    dimension, max_tokens, identity, may_block = 8, 64, "by topic", False
    topics = ("tea", "rain", "trains", "salt")

    def __init__(self):
        self.asked = []

    def count_tokens(self, text):
        return len(text.split())

    def encode(self, texts):
        self.asked += texts
        rows = np.full((len(texts), 8), 0.1, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[self.topics.index(text.split()[0])] = 1 + 1 / len(text)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Always:
    identity, may_block = "always", False

    def __init__(self):
        self.asked = []

    def judge(self, question, stored):
        self.asked += stored
        return [0.75] * len(stored)


def calibrated(folder, encoder, *, floor=0.9):
    weights = {"similarity": 40.0, "bias": -30.0}
    made = Calibration(
        encoder=encoder, verifier=None, floor=floor, bar=0.9, least=0.8, weights=weights
    )
    file = folder / "calibration.json"
    file.write_text(made.to_json(), "utf-8")
    return file


@pytest.fixture
def setup(tmp_path):
    file = calibrated(tmp_path, ByTopic.identity)
    config = SemcacheConfig.of(":memory:", verifier="none", calibration=str(file), ttl=None)
    encoder = RememberingEncoder(ByTopic())
    return Setup(data=tmp_path, encoder=encoder, verifier=None, config=config)


def similar(cosines, clusters):
    texts = [str(number) for number in range(len(clusters))]
    return streams.Similar(Stream("toy", texts, clusters), np.array(cosines, dtype=np.float32))


def test_the_bar_is_the_lowest_that_serves_one_trap_in_twenty():
    traps = np.array([0.6] * 94 + [0.8055] * 5 + [0.9])
    tuning = pairs.Tuning(np.append(traps, 0.99), np.array([False] * 100 + [True]))
    assert pairs.tuned([tuning]) == pytest.approx(0.806)
    assert pairs.tuned([pairs.Tuning(traps, np.ones(100, dtype=bool))]) == float("inf")


def test_a_fixed_bar_serves_the_nearest_that_was_stored():
    asked = similar([[1, 0.9, 0.8], [0.9, 1, 0.95], [0.8, 0.95, 1]], [1, 1, 2])
    assert list(streams.fixed(asked, 0.85)) == [streams.MISS, streams.RIGHT, streams.MISS]
    assert list(streams.fixed(asked, 0.93)) == [streams.MISS, streams.MISS, streams.WRONG]
    assert list(streams.fixed(asked, 0.99)) == [streams.MISS] * 3


def test_a_bar_holds_from_where_no_higher_one_errs_more():
    errors = [0.5, 0.01, 0.02, *([0.0] * (len(streams.BARS) - 3))]
    curve = streams.Curve(errors)
    assert curve.bar(0.6) == pytest.approx(streams.BARS[0])
    assert curve.bar(0.015) == pytest.approx(streams.BARS[3])
    assert streams.Curve([1.0] * len(streams.BARS)).bar(0.1) > 1


def test_a_stream_is_seeded_asks_once_and_knows_its_clusters():
    sources = [[[f"{n} a", f"{n} b", f"{n} c"] for n in range(30)], [["x", "y"], ["y", "z"]]]
    pool = Pool("toy", sources)
    pool.join(["x", "y"])
    pool.join(["y", "z"])
    stream = pool.stream(3, 20)
    assert stream == pool.stream(3, 20) != pool.stream(4, 20)
    assert len(set(stream.texts)) == len(stream.texts)
    answers = dict(zip(stream.texts, stream.clusters, strict=True))
    assert len({answers[text] for text in ("x", "y", "z")}) == 1
    assert len(set(stream.clusters)) == len({pool.root(text) for text in stream.texts})


def test_the_real_cache_hits_within_a_cluster_and_the_answer_tells_a_wrong_hit(setup):
    asked = ["tea now", "rain now", "tea today", "rain later", "tea again"] * 8
    texts = [f"{text} {'o' * number}" for number, text in enumerate(asked)]
    topics = [ByTopic.topics.index(text.split()[0]) for text in texts]
    outcomes = streams.replay(setup, Stream("toy", texts, topics), 0.5)
    assert streams.RIGHT in outcomes
    assert streams.WRONG not in outcomes
    strangers = streams.replay(setup, Stream("toy", texts, range(len(texts))), 0.5)
    assert streams.WRONG in strangers
    assert streams.RIGHT not in strangers


def test_a_full_cache_serves_rewordings_right_and_strangers_wrong(setup):
    known = strangers.Population(
        "toy", ["tea now", "rain now"], ["tea then", "rain then"], ["tea this", "trains"]
    )
    assert strangers._asked(setup, known) == ([0, 1], [0, strangers.MISS])
    assert strangers._nearest(setup, known) == ([0, 1], [0, strangers.MISS])
    row = strangers._row(setup, known)
    assert row["default right"]["share"] == 1
    assert row["default wrong"]["share"] == 0
    assert row["default new"]["share"] == row["cosine .90 new"]["share"] == 0.5


def test_an_answer_is_not_served_to_another_conversation(setup):
    def talk(topic):
        turns = (("user", f"{topic} first"), ("assistant", topic), ("user", "salt and where"))
        return [{"role": role, "content": content} for role, content in turns]

    hits = conversations.replay(setup, [(talk("tea"), talk("tea")), (talk("tea"), talk("rain"))])
    assert list(hits) == [True, False]


def test_what_was_encoded_or_judged_is_remembered():
    encoder, verifier = ByTopic(), Always()
    remembering, judging = RememberingEncoder(encoder), RememberingVerifier(verifier)
    first, again = remembering.encode(["tea", "rain", "tea"]), remembering.encode(["tea"])
    assert encoder.asked == ["tea", "rain"]
    assert np.array_equal(first[2], again[0])
    assert judging.judge("q", ["a", "b"]) == judging.judge("q", ["b", "a"]) == [0.75, 0.75]
    assert verifier.asked == ["a", "b"]


def test_the_verifier_is_timed_with_as_many_candidates_for_each_question():
    verifier, stored = Always(), [f"stored {number}" for number in range(5)]
    judge = cost._judge(verifier, stored)
    assert len(judge("q", "stored 0")) == len(judge("q", "stored 4")) == cost.CANDIDATES
    assert verifier.asked[3] == "stored 4"


def test_a_table_shows_percent_with_its_interval():
    rows = [{"what": "x", "share": share(1, 2), "mean": mean([0.25, 0.25]), "none": share(0, 0)}]
    shown = table(["what", "share", "mean", "none", "absent"], rows).splitlines()[-1]
    assert shown == "| x | 50.0 [9.5, 90.5] | 25.0 [25.0, 25.0] | - | - |"


def test_gptcache_serves_from_its_share_of_the_range_on():
    scored = SimpleNamespace(range=lambda: (0, 4.0), evaluation=lambda asked, kept: kept)
    assert gptcache._served(scored, {}, 3.2)
    assert not gptcache._served(scored, {}, 3.19)
    assert gptcache.Nearest(np.eye(3)).search(np.eye(3)[1], 2)[0] == (0.0, 1)
    assert gptcache.verdicts(None, [], np.empty((0, 2)), np.empty((0, 2))) == {}


@pytest.fixture
def data(tmp_path):
    """Every file the benchmark reads, each with a few rows."""

    def write(name, rows):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)

    for name in (
        *("en_gptcache_mock999", "en_checklist_a", "en_paws_wiki_dev", "en_qqp_20k"),
        *("zh_pawsx_a", "zh_lcqmc_dev", "zh_afqmc_dev"),
    ):
        words = [f"{name} {number // 2}" for number in range(80)]
        same = [number // 2 % 2 for number in range(80)]
        rows = [
            {"a": f"how is {word} made", "b": f"how is {word} made {place % 2 * 'here'}", "same": y}
            for place, (word, y) in enumerate(zip(words, same, strict=True))
        ]
        write(f"pairs_{name}", rows)
    texts = [[f"what is {n}", f"what is {n} then", f"so what is {n}"] for n in range(40)]
    write("clusters_en_qqp_min3", [{"cluster": n, "texts": t} for n, t in enumerate(texts)])
    turn = [{"role": "user", "content": "how is it made"}]
    talks = [{"a": turn, "b": turn, "same": n // 2 % 2, "subtype": "toy"} for n in range(12)]
    write("chatpairs_zh_kdconv_a", talks)
    asked = [{"text": f"{n} how many are there", "intent": str(n % 6)} for n in range(60)]
    write("intents_en_clinc150", asked)
    return tmp_path


def test_what_tunes_and_what_is_reported_are_different_rows(data):
    files = {file.name: file for file in pair_files(data, 15)}
    assert len(files) == 11
    for name, file in files.items():
        assert len(file.odd) == 15
        assert len(file.even) == (0 if name.startswith("sets/") else 15)
    assert {pair.stored[-4:] for pair in files["en_qqp_20k"].odd} == {"here"}
    assert all(pair.same and pair.kind for pair in files["sets/paraphrases_en"].odd)
    assert not any(pair.same for pair in files["sets/traps_zh"].odd)


def test_every_part_runs_and_writes_its_counts(data, capsys):
    calibration = calibrated(data, TokenizerHashEncoder().identity, floor=0.5)
    out = data / "out.json"
    options = "--sample 20 --seeds 2 --encoder hash --verifier none"
    files = ["--data", str(data), "--calibration", str(calibration), "--json", str(out)]
    quality.main(["all", *options.split(), *files])
    found = json.loads(out.read_text("utf-8"))
    assert list(found) == list(quality.PARTS)
    assert all(found.values())
    assert {row["budget"] for row in found["streams"]} == {"0.5%", "1.0%", "2.0%", "3.0%"}
    shown = capsys.readouterr().out
    assert "not run" not in shown.replace("are not run", "")


def test_a_part_that_cannot_run_says_why(setup, capsys):
    assert quality.run(["pairs"], setup) == {}
    assert "not run: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("scores", "area"),
    [([0.9, 0.8, 0.2, 0.1], 1.0), ([0.1, 0.2, 0.8, 0.9], 0.0), ([0.5, 0.5, 0.5, 0.5], 0.5)],
)
def test_the_area_is_the_share_of_couples_in_order(scores, area):
    same = np.array([True, True, False, False])
    assert pairs.area(np.array(scores), same) == area


def test_refusals_are_counted_by_who_names_the_difference():
    found = one_sided.counted(
        [
            Pair("without a visa", "visa-free entry", True, "", "g", "own_en_a"),
            Pair("for 3 people", "the price for 5 children", False, "", "g", "own_en_a"),
            Pair("没有发票能退吗", "有发票能退吗", False, "", "g", "own_zh_a"),
        ]
    )
    assert found["English", "other", True, "one-sided"] == 1
    assert found["English", "other", False, "each names another"] == 1
    assert found["Chinese", "like", False, "one-sided"] == 1
    assert sum(found.values()) == 6
