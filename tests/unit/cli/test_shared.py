"""`compact` and `history`: what answers share, and what they were before."""

from __future__ import annotations

import json

import pytest

from langchain_semcache import Request, Response, Semcache, SemcacheConfig

PRICE = "What does the plan cost?"


@pytest.fixture
def shared(tmp_path) -> tuple[str, ...]:
    """A store with one refreshed answer, and a base that nobody leans on."""
    long = " ".join(f"{n * n * 7919:x}" for n in range(120))
    place = str(tmp_path / "store")
    with Semcache.open(SemcacheConfig(location=place, encoder="hash")) as cache:
        for euros in (12, 14):
            text = f"The plan costs {euros} euros.\nIt is paid once a year."
            cache.store(Request(messages=PRICE, model="m"), Response.from_text(text))
        for question in ("how is green tea made here", "how is the green tea made here"):
            cache.store(Request(messages=question, model="m"), Response.from_text(long), tags=["t"])
        assert cache.stats().stored_response_bytes
        cache.invalidate(tags=["t"])
    return ("--location", place, "--encoder", "hash")


def test_compact_counts_removes_and_says_so(semcache, shared) -> None:
    assert "0 shared parts removed" in semcache("compact", *shared).stdout
    counted = json.loads(
        semcache("compact", *shared, "--grace", "0s", "--dry-run", "--json").stdout
    )
    assert (counted["parts"], counted["kept"], counted["dry_run"]) == (1, 0, True)
    assert counted["bytes"] > 0
    assert "1 shared parts removed" in semcache("compact", *shared, "--grace", "0s").stdout
    assert json.loads(semcache("compact", *shared, "--grace", "0s", "--json").stdout)["kept"] == 0


def test_stats_say_what_answers_take(semcache, shared) -> None:
    found = json.loads(semcache("stats", *shared, "--json").stdout)
    assert found["raw_response_bytes"] > 0
    assert found["stored_response_bytes"] > 0
    assert found["namespaces"] == {"default": 1}
    assert "with all they share" in semcache("stats", *shared).stdout


def test_history_shows_what_changed(semcache, shared) -> None:
    (entry,) = json.loads(semcache("show", *shared, "--json").stdout)
    shown = semcache("history", *shared, entry["id"][:8]).stdout
    assert "-The plan costs 12 euros." in shown
    assert "+The plan costs 14 euros." in shown
    assert "ago, " in shown
    assert "% new" in shown
    assert "alike in the first 3 words" in shown
    told = json.loads(semcache("history", *shared, entry["id"], "--json").stdout)
    assert told["previous"].startswith("The plan costs 12")
    assert told["current"].startswith("The plan costs 14")
    assert 0 < told["changes"][0]["share"] < 1
    assert told["words_alike"] == 3


def test_an_answer_that_was_never_replaced_has_no_history(semcache, at, ids) -> None:
    shown = semcache("history", *at, next(iter(ids.values())))
    assert shown.exit_code == 0
    assert "No other answer" in shown.stdout
