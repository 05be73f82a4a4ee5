"""`lab fragmentation`: a table, a document, a picture and spans; and one line for what is wrong."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from langchain_semcache.lab import otel

needs_otel = pytest.mark.skipif(
    not all(map(otel._installed, otel._NEEDED)), reason="needs the extra otel"
)
DEMO = ("lab", "fragmentation", "--demo", "--limit", 300)
SMALL = (*DEMO, "--memory", "20kB", "--memory", "0.5MB", "--memory", "2000000")


def told(result) -> dict:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def failed(result) -> str:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


@pytest.fixture
def traffic(tmp_path: Path) -> Path:
    path = tmp_path / "traffic.jsonl"
    rows = [{"t": n, "prompt": f"question {n % 5}", "out_tok": 20} for n in range(50)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_table_shows_the_avalanche(semcache) -> None:
    ran = semcache(*DEMO)
    assert ran.exit_code == 0, ran.output
    assert "made-up traffic on three stores of one size" in ran.stdout
    assert "300 requests" in ran.stdout
    assert "Avalanche below" in ran.stdout
    assert "█" in ran.stdout


def test_where_the_largest_size_is_too_small_it_says_so(semcache) -> None:
    ran = semcache(*DEMO, "--memory", "20kB")
    assert "Avalanche up to 20.0 kB, the largest tried" in ran.stdout


def test_it_is_readable_in_eighty_columns(semcache, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = semcache(*DEMO)
    assert "…" not in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80
    for title in ("memory", "hits", "segments", "answers", "partial", "run", "evictions"):
        assert title in ran.stdout


def test_the_document_holds_everything_a_plot_needs(semcache) -> None:
    found = told(semcache(*SMALL, "--json"))
    assert [row["memory"] for row in found["rows"]] == [20_000, 500_000, 2_000_000]
    assert (found["requests"], found["segment"], found["prompts_drawn"]) == (300, 64, True)
    for row in found["rows"]:
        assert row["tokens"]["hit_rate"] <= row["answers"]["hit_rate"]
        for layout in ("tokens", "segments", "answers"):
            one = row[layout]
            assert one["inserts"] == one["entries"] + one["evictions"]
    assert found["rows"][0]["tokens"]["partial_rate"] > 0
    assert found["avalanche"]["memory"] > 20_000
    assert found == told(semcache(*SMALL, "--json"))


def test_a_file_is_played(semcache, traffic) -> None:
    found = told(semcache("lab", "fragmentation", traffic, "--memory", "1MB", "--json"))
    assert (found["traffic"], found["requests"], found["prompts"]) == ("traffic.jsonl", 50, 5)
    assert found["rows"][0]["answers"]["hit_rate"] <= 45 / 50
    assert found["avalanche"] is None
    ran = semcache("lab", "fragmentation", traffic, "--memory", "1MB")
    assert "No avalanche" in ran.stdout


def test_what_an_entry_costs_can_be_said(semcache) -> None:
    plain = told(semcache(*SMALL, "--json"))["footprints"]
    dear = told(semcache(*SMALL, "--json", "--overhead", 164))["footprints"]
    coarse = told(semcache(*SMALL, "--json", "--segment", 10_000))["footprints"]
    more = {name: (dear[name] - plain[name]) / 100 for name in plain}
    entries = told(semcache(*DEMO, "--memory", "1GB", "--json"))["rows"][0]
    assert more == {name: entries[name]["entries"] for name in plain}
    assert coarse["segments"] < plain["segments"]


def test_alone_it_lists_what_there_is(semcache) -> None:
    ran = semcache("lab")
    assert ran.exit_code == 0
    assert "fragmentation" in ran.stdout


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra lab")
def test_a_picture_is_drawn(semcache, tmp_path) -> None:
    picture = tmp_path / "curve.png"
    ran = semcache(*SMALL, "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "The picture is in" in ran.stdout


@needs_otel
def test_spans_of_requests_from_all_over_are_written(semcache, tmp_path) -> None:
    path = tmp_path / "trace.jsonl"
    ran = semcache(*SMALL, "--trace-out", path, "--sample", 10)
    assert "10 requests to the store of tokens of" in ran.stdout
    (resource,) = json.loads(path.read_text())["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    asked = [
        one["value"]["stringValue"]
        for span in spans
        for one in span["attributes"]
        if one["key"] == "req_id"
    ]
    assert asked == [f"{n:06d}" for n in range(29, 300, 30)]
    assert {span["name"] for span in spans} >= {"llm.request", "cache.token.get"}


@needs_otel
def test_a_receiver_that_is_not_there_is_one_line(shell, tmp_path) -> None:
    ran = shell(*SMALL, "--otlp", "http://127.0.0.1:9", cwd=tmp_path)
    assert ran.returncode == 2, ran.stderr
    (line,) = ran.stderr.splitlines()
    assert "http://127.0.0.1:9 takes no traces" in line


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ((), "name one FILE of traffic, or --demo"),
        (("none.jsonl",), "none.jsonl cannot be read"),
        (("none.jsonl", "--demo"), "name one FILE of traffic, or --demo"),
        (("--demo", "--memory", "3x"), "'3x' is no size"),
        (("--demo", "--memory", "0"), "'0' is no size"),
        (("--demo", "--plot", "a.gif"), "let it end in .png"),
        (("--demo", "--otlp", "localhost"), "no URL of a receiver"),
        (("--demo", "--segment", "0"), "segment"),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line(semcache, options, part: str) -> None:
    assert part in failed(semcache("lab", "fragmentation", *options))
