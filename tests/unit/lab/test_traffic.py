"""`traffic`: three forms of files, made-up traffic, and one line for what is neither."""

from __future__ import annotations

import gzip
import json

import pytest

from langchain_semcache import ConfigurationError
from langchain_semcache.lab.traffic import Arrival, Popularity, demo_traffic, read_traffic
from langchain_semcache.streaming import TextFingerprint, TokenFingerprint

OWN = '{"t": 5, "prompt": "hello", "out_tok": 3}'


@pytest.fixture
def written(tmp_path):
    def write(*rows: object, name: str = "traffic.jsonl"):
        text = "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
        path = tmp_path / name
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
        return path

    return write


def test_our_own_form(written) -> None:
    path = written(
        {"t": 7.5, "prompt": "退款多久到账？", "out_tok": 4},
        "",
        {"t": 5, "prompt": "hello", "out_tok": 3},
        {"t": 9, "prompt": 12, "out_tok": 0},
    )
    traffic = read_traffic(path)
    assert traffic.arrivals == (
        Arrival(0.0, TextFingerprint("hello").hex, 3),
        Arrival(2.5, TextFingerprint("退款多久到账？").hex, 4),
        Arrival(4.0, TextFingerprint("12").hex, 1),
    )
    assert (traffic.name, traffic.drawn) == ("traffic.jsonl", False)
    assert (traffic.prompts, traffic.tokens) == (3, 8)


def test_mooncake_is_the_same_prompt_where_blocks_and_length_are(written) -> None:
    row = {"t_ms": 1500, "in_tok": 700, "out_tok": 9, "hash_ids": [0, 1]}
    path = written(row, {**row, "t_ms": 2000}, {**row, "in_tok": 701}, name="m.jsonl.gz")
    first, *_ = traffic = read_traffic(path).arrivals
    assert first == Arrival(0.0, TokenFingerprint([0, 1, 700]).hex, 9)
    assert [one.prompt == first.prompt for one in traffic] == [True, False, True]
    assert traffic[2].at == 0.5


def test_azure_does_not_say_what_was_asked_so_it_is_drawn(written) -> None:
    rows = [{"t": n, "in_tok": 10, "out_tok": n + 1} for n in range(200)]
    traffic = read_traffic(written(*rows))
    assert traffic.drawn
    assert 10 < traffic.prompts <= 20
    assert traffic == read_traffic(written(*rows))
    assert traffic != read_traffic(written(*rows), Popularity(seed=1))
    assert read_traffic(written(*rows), Popularity(prompts=1)).prompts == 1


def test_an_answer_is_as_long_as_the_first_to_its_prompt_was(written) -> None:
    path = written(OWN, {"t": 6, "prompt": "hello", "out_tok": 99})
    assert [one.tokens for one in read_traffic(path).arrivals] == [3, 3]


def test_more_popular_prompts_come_more_often() -> None:
    even = Popularity(prompts=10, skew=0).drawn(5000)
    skewed = Popularity(prompts=10, skew=2).drawn(5000)
    first = TokenFingerprint([0]).hex
    assert even.count(first) == pytest.approx(500, abs=75)
    assert skewed.count(first) == pytest.approx(5000 / 1.5498, abs=150)  # Σ 1/n² of ten


def test_only_the_first_requests_are_read(written) -> None:
    path = written(OWN, OWN, "no request at all")
    assert len(read_traffic(path, limit=2).arrivals) == 2


def test_made_up_traffic_is_always_the_same() -> None:
    traffic = demo_traffic()
    assert traffic == demo_traffic()
    assert (len(traffic.arrivals), traffic.prompts, traffic.tokens) == (1500, 245, 166507)
    assert [one.at for one in traffic.arrivals] == sorted(one.at for one in traffic.arrivals)
    assert traffic.arrivals[0].at == 0.0
    assert len(demo_traffic(requests=7).arrivals) == 7


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("not json", "line 2 is no JSON"),
        ("[1]", "line 2 is no JSON object"),
        ('{"t": 1, "prompt": "a"}', "line 2 lacks the number 'out_tok'"),
        ('{"prompt": "a", "out_tok": 1}', "line 2 lacks the number 't'"),
        ('{"t": NaN, "prompt": "a", "out_tok": 1}', "line 2 lacks the number 't'"),
        ('{"t": true, "prompt": "a", "out_tok": 1}', "line 2 lacks the number 't'"),
        ('{"t": -1, "prompt": "a", "out_tok": 1}', "below 0"),
        ('{"t": 1, "prompt": ["a"], "out_tok": 1}', "'prompt' that is no text"),
        ('{"t": 1, "hash_ids": [-1], "in_tok": 1, "out_tok": 1}', "'hash_ids'"),
        ('{"t": 1, "hash_ids": [1], "out_tok": 1}', "'in_tok'"),
        ('{"t": 1, "in_tok": 1, "out_tok": 1}', "some lines say what was asked"),
    ],
)
def test_what_is_no_request_is_named(written, line: str, part: str) -> None:
    path = written(OWN, line)
    with pytest.raises(ConfigurationError, match=part) as raised:
        read_traffic(path)
    assert str(path) in str(raised.value)


def test_what_is_no_file_of_traffic_is_named(written, tmp_path) -> None:
    for path in (
        tmp_path / "none.jsonl",
        tmp_path,
        written(OWN, name="a.txt").rename(tmp_path / "plain.gz"),
        written(""),
    ):
        with pytest.raises(ConfigurationError, match=str(path)):
            read_traffic(path)
