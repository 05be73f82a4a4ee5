"""`pairs`: what is read, what is refused, and what is measured."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from langchain_semcache import ConfigurationError
from langchain_semcache.lab.pairs import Pair, interval, measure, read_pairs
from langchain_semcache.records import Reason
from langchain_semcache.testing.fakes import ScriptedEncoder
from langchain_semcache.threshold.confidence import Calibration

GOOD = [Pair("Why?", "How so?", True, "word"), Pair("Why?", "When?", False)]
TEXTS = {
    "pairs.jsonl": (
        '{"a": "Why?", "b": "How so?", "same": 1, "kind": "word"}\n\n'
        '{"question": "Why?", "stored": "When?", "label": false}\n'
    ),
    "pairs.tsv": "question\tstored\tlabel\tkind\nWhy?\tHow so?\t1\tword\nWhy?\tWhen?\t0\t\n",
    "pairs.csv": '"Why?","How so?",yes,word\n"Why?","When?",no,\n',
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_pairs_are_read_from_lines_and_tables(tmp_path: Path, name: str, packed: bool) -> None:
    path = tmp_path / (name + ".gz" * packed)
    data = TEXTS[name].encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    assert read_pairs(path) == GOOD


# Without the time of packing: two workers of one run must collect the same tests.
TORN = gzip.compress(b'{"a": "x"}' * 99, mtime=0)[:-12]
SPOILT = gzip.compress(bytes(range(256)) * 9, mtime=0)[:20] + b"\xff" * 60


@pytest.mark.parametrize(
    ("name", "data", "part"),
    [
        ("a.jsonl", b"", "holds no pairs"),
        ("a.jsonl", b"{", "line 1 is no JSON object"),
        ("a.jsonl", b"[1]", "line 1"),
        ("a.jsonl", b'{"a": "x", "b": "y"}', "lacks"),
        ("a.jsonl", b'{"a": "x", "b": 3, "same": 1}', "lacks"),
        ("a.jsonl", b'{"a": "x", "b": "y", "same": "perhaps"}', "'perhaps'"),
        ("a.jsonl", b"\xff\xfe", "cannot be read"),
        ("a.jsonl.gz", b"no gzip", "cannot be read"),
        ("a.jsonl.gz", TORN, "a.jsonl.gz"),
        ("a.jsonl.gz", SPOILT, "a.jsonl.gz"),
        ("a.csv", b'x,y,1\n"' + b"z" * 200_000, "a.csv"),
    ],
)
def test_what_is_no_file_of_pairs_is_named(
    tmp_path: Path, name: str, data: bytes, part: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ConfigurationError, match=part):
        read_pairs(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.jsonl"):
        read_pairs(tmp_path / "none.jsonl")


class Halfway:
    identity = "halfway"

    def judge(self, question, stored):
        return [0.5 for _ in stored]


def test_a_pair_is_measured_by_encoder_verifier_and_guards() -> None:
    encoder = ScriptedEncoder({"Order 1?": 1.0, "Order 2?": 0.8})
    pairs = [Pair("Order 1?", "Order 2?", False), Pair("Order 1?", "Order 1?", True)]
    told: list[int] = []
    one, other = measure(pairs, encoder, Halfway(), progress=told.append)
    assert one.observed.similarity == pytest.approx(0.8)
    assert one.observed.opinion == 0.5
    assert one.refusal is not None
    assert one.refusal.reason is Reason.NUMBERS_DIFFER
    assert other.observed.similarity == pytest.approx(1.0)
    assert other.refusal is None
    assert told == [2]


def test_without_a_verifier_there_is_no_opinion() -> None:
    (one,) = measure([Pair("a", "b", False)], ScriptedEncoder())
    assert one.observed.opinion is None


def test_an_interval_is_wilsons() -> None:
    assert interval(0, 0) == (0.0, 1.0)
    low, high = interval(5, 100)
    assert (round(low, 4), round(high, 4)) == (0.0215, 0.1118)
    assert interval(0, 100)[0] == 0.0


class Sure:
    identity = "sure"
    may_block = False

    def judge(self, question, stored):
        return [0.99] * len(stored)


def test_a_pair_stands_as_it_would_in_a_cache():
    """Where a guard has no last word, a calibration may have it."""
    asked = "unaccompanied minors, entry permitted"
    doubtful = "Are children let in without a grown-up?"
    encoder = ScriptedEncoder({asked: 1.0, doubtful: 0.9})
    learned = Calibration(
        encoder="scripted", verifier="sure", floor=0.5, bar=0.6, least=0.5,
        weights={"opinion": 1.0, "bias": 0.0}, outweighs=True,
    )  # fmt: skip
    never = replace(learned, outweighs=False)
    (one,) = measure([Pair(asked, doubtful, same=True)], encoder, Sure())
    assert one.refusal is not None
    assert one.teaches
    assert [one.stands(which) for which in (learned, never, None)] == [True, False, False]
    (alone,) = measure([Pair(asked, doubtful, same=True)], encoder)
    assert not alone.teaches
