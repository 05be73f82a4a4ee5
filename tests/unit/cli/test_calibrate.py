"""`calibrate`: a file that a cache takes, and figures on pairs that it never saw."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from langchain_semcache import Reason, Request, Semcache, SemcacheConfig
from langchain_semcache.cli import models
from langchain_semcache.records import Feedback
from langchain_semcache.threshold.confidence import load

PASSWORD = "How do I reset my password?"


def written(path: Path, count: int) -> Path:
    rows = []
    for n in range(count):
        name = "".join(chr(97 + n // 26**place % 26) for place in range(3)) * 2
        topic = f"the colour of the box of {name}"
        rows += [
            {"a": f"What is {topic}?", "b": f"Tell me {topic}", "same": True},
            {"a": f"What is the size of {name}?", "b": f"What does {name} cost?", "same": False},
        ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return written(tmp_path / "pairs.jsonl", 150)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "calibration.json"


def failed(result) -> str:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def test_a_cache_takes_the_file_with_the_settings_it_prints(semcache, pairs, out) -> None:
    ran = semcache("calibrate", pairs, "--encoder", "hash", "--out", out)
    assert ran.exit_code == 0, ran.output
    for part in ("coverage", "false-pass", "95% interval", "expected calibration error"):
        assert part in ran.stdout
    settings = tomllib.loads(ran.stdout[ran.stdout.index("encoder = ") :])
    assert settings == {"encoder": "hash", "verifier": "none", "calibration": str(out)}
    with Semcache.open(SemcacheConfig(location=":memory:", **settings)) as cache:
        assert cache.core.policy.calibration == load(out)
        assert cache.core.policy.similarity_threshold == load(out).floor


def test_the_document_says_all_the_table_does(semcache, pairs, out) -> None:
    ran = semcache("calibrate", pairs, "--encoder", "hash", "--out", out, "--json")
    found = json.loads(ran.stdout)
    assert found["fitting"]["same"] + found["held_out"]["same"] == 150
    assert found["held_out"]["coverage"] > 0.9
    assert found["held_out"]["false_pass"] <= 0.1
    assert found["bar"] == load(out).bar
    assert found["feedback"] is None
    assert found["warnings"] == []
    assert {"low", "high", "count", "predicted", "observed"} == set(found["reliability"][0])


def test_feedback_joins_the_pairs_and_has_figures_of_its_own(
    semcache, pairs, out, tmp_path, monkeypatch
) -> None:
    served = tmp_path / "feedback.jsonl"
    served.write_text(
        "".join(
            json.dumps(
                {"question": f"Is {n} a prime?", "stored": f"Is it a prime {n}", "same": n < 20}
            )
            + "\n"
            for n in range(24)
        )
    )
    asked = ("calibrate", pairs, "--feedback", served, "--encoder", "hash", "--out", out)
    found = json.loads(semcache(*asked, "--json").stdout)
    assert found["feedback"]["same"] + found["feedback"]["different"] > 5
    monkeypatch.setenv("COLUMNS", "80")
    shown = semcache(*asked).stdout
    assert "On the feedback among them" in shown
    assert shown.count("coverage") == 2
    assert "…" not in shown
    assert "feedback.jsonl" in load(out).fitted_on


def test_few_pairs_are_warned_of(semcache, tmp_path, out) -> None:
    few = written(tmp_path / "few.jsonl", 20)
    ran = semcache("calibrate", few, "--encoder", "hash", "--out", out)
    assert ran.exit_code == 0
    assert "! only 40 pairs" in ran.stdout


def test_the_verifier_is_named_in_file_and_settings(semcache, pairs, out, monkeypatch) -> None:
    class Sure:
        identity = "sure"

        def judge(self, question, stored):
            return [0.9 if "Tell" in one else 0.1 for one in stored]

    monkeypatch.setattr(models, "make_verifier", lambda name, encoder: Sure())
    ran = semcache("calibrate", pairs, "--encoder", "hash", "--out", out, "--json")
    assert load(out).verifier == "sure"
    assert json.loads(ran.stdout)["settings"]["verifier"] == "local"


def test_feedback_is_read_from_a_cache(semcache, pairs, out, own) -> None:
    """What `Semcache.report` kept of the hits it served."""
    with Semcache.open(own, encoder="hash", similarity_threshold=0.6) as cache:
        for said, wrong in ((PASSWORD, False), ("Where is order 4471?", True)):
            hit = cache.lookup(Request(messages=f"{said}!", model="small"))
            assert hit.reason is Reason.SEMANTIC
            cache.report(hit.entry_id, wrong=wrong)
        kept = {(one.stored, one.right) for one in cache.feedback()}
    assert kept == {(PASSWORD, True), ("Where is order 4471?", False)}
    asked = ("calibrate", pairs, "--feedback", own, "--encoder", "hash", "--out", out, "--json")
    found = json.loads(semcache(*asked).stdout)
    halves = found["fitting"], found["held_out"]
    assert sum(half["same"] + half["different"] for half in halves) + found["left_out"] == 302
    assert str(own.name) in load(out).fitted_on
    line = failed(semcache(*asked[:1], *asked[2:], "--namespace", "other"))
    assert "no feedback is kept in" in line


def test_an_error_budget_does_not_keep_feedback_from_being_read(
    semcache, pairs, out, own, tmp_path
) -> None:
    """What weighs hits there may be what is to be made here."""
    settings = tmp_path / "semcache.toml"
    settings.write_text('encoder = "hash"\nmax_error_rate = 0.01\nmin_confidence = 0.9\n')
    ran = semcache("calibrate", pairs, "--feedback", own, "--config", settings, "--out", out)
    assert ran.exit_code == 0, ran.output


def test_a_pair_that_was_reported_with_its_question_is_learnt_from(semcache, out, own) -> None:
    where = ("--location", own, "--encoder", "hash")
    shown = json.loads(semcache("show", *where, "--json").stdout)
    (entry,) = (one["id"] for one in shown if "password" in one["question"])
    told = semcache(
        "report", entry, "--wrong", "--question", "How do I change my password?", *where
    )
    assert "The pair is kept for calibrate." in told.stdout
    with Semcache.open(SemcacheConfig(location=str(own), encoder="hash")) as cache:
        (said,) = cache.feedback()
    assert said == Feedback("How do I change my password?", "How do I reset my password?", False)


def test_a_place_without_a_cache_is_named_and_stays_empty(semcache, tmp_path, out) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "there is no cache in" in failed(
        semcache("calibrate", "--feedback", empty, "--encoder", "hash", "--out", out)
    )
    assert list(empty.iterdir()) == []
    away = semcache("calibrate", "--feedback", "http://u:secret@127.0.0.1:9", "--out", out)
    assert "does not answer" in failed(away)
    assert "secret" not in away.stderr


@pytest.mark.parametrize("wish", ["0", "1", "-0.1", "nan", "x"])
def test_a_wish_out_of_range_is_one_line(semcache, pairs, out, wish: str) -> None:
    line = failed(semcache("calibrate", pairs, "--out", out, f"--max-false-pass={wish}"))
    assert "max-false-pass" in line
    assert not out.exists()


def test_without_pairs_or_a_place_it_says_what_is_missing(semcache, pairs, out, tmp_path) -> None:
    assert "FILE" in failed(semcache("calibrate", "--out", out))
    assert "--out" in failed(semcache("calibrate", pairs))
    assert "--out" in failed(semcache("calibrate", pairs, "--out", tmp_path))
    assert "--out" in failed(semcache("calibrate", pairs, "--out", tmp_path / "no" / "c.json"))


def test_nothing_is_written_when_nothing_can_be_fitted(semcache, tmp_path, out) -> None:
    file = tmp_path / "same.jsonl"
    file.write_text('{"a": "x", "b": "y", "same": 1}\n' * 5)
    assert "different" in failed(semcache("calibrate", file, "--encoder", "hash", "--out", out))
    assert not out.exists()
