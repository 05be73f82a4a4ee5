"""`report`: a wrong answer goes, a right one stays, and the outcome is one line."""

from __future__ import annotations

import json

import pytest

from langchain_semcache.threshold.confidence import Calibration

PASSWORD = "How do I reset my password?"


@pytest.fixture
def where(own) -> tuple[str, ...]:
    return ("--location", str(own), "--encoder", "hash")


@pytest.fixture
def stored(semcache, where) -> dict[str, str]:
    return {e["question"]: e["id"] for e in json.loads(semcache("show", *where, "--json").stdout)}


@pytest.fixture
def budgeted(tmp_path) -> tuple[str, ...]:
    """Settings with an error budget."""
    made = Calibration(
        encoder="tokenizer-hash-v1;salt=cbf29ce484222325", verifier=None,
        floor=0.5, bar=0.9, least=0.8, weights={"similarity": 1.0, "bias": 0.0},
    )  # fmt: skip
    (tmp_path / "calibration.json").write_text(made.to_json())
    settings = tmp_path / "semcache.toml"
    calibration = json.dumps(str(tmp_path / "calibration.json"))
    settings.write_text(f"max_error_rate = 0.01\ncalibration = {calibration}\n")
    return ("--config", str(settings))


def test_a_wrong_answer_is_removed(semcache, where, stored) -> None:
    ran = semcache("report", stored[PASSWORD][:8], "--wrong", *where)
    assert ran.exit_code == 0, ran.output
    line, question = ran.stdout.splitlines()
    assert line == f"Removed entry {stored[PASSWORD][:8]}: the model is asked the next time."
    assert question.strip() == PASSWORD
    assert PASSWORD not in semcache("show", *where, "--json").stdout


def test_a_right_answer_stays(semcache, where, stored) -> None:
    ran = semcache("report", stored[PASSWORD], "--right", *where, "--json")
    assert json.loads(ran.stdout) == {
        "entry_id": stored[PASSWORD],
        "question": PASSWORD,
        "wrong": False,
        "removed": False,
        "counted": False,
        "pair_kept": False,
    }
    assert PASSWORD in semcache("show", *where, "--json").stdout
    told = semcache("report", stored[PASSWORD], "--right", *where).stdout
    assert told.startswith("Kept entry")
    assert "nothing to count" in told


def test_an_error_budget_counts_it_and_may_be_told_otherwise(
    semcache, where, stored, budgeted
) -> None:
    wrong = semcache("report", stored[PASSWORD], "--wrong", *where, *budgeted)
    assert wrong.exit_code == 0, wrong.output
    assert "the error budget counts it" in wrong.stdout
    # The entry is gone, but the budget remembers its id.
    right = semcache("report", stored[PASSWORD], "--right", *where, *budgeted)
    assert right.stdout.startswith("Cleared entry")
    again = semcache("report", stored[PASSWORD], "--wrong", *where, *budgeted)
    assert "was gone already" in again.stdout
    # What the budget wrote down is no answer, and in no namespace that anyone made.
    assert json.loads(semcache("stats", *where, "--json").stdout)["namespaces"] == {"default": 2}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("00000000", "--wrong"), "no id begins with '00000000'"),
        (("", "--wrong"), "give more of the id"),
        (("0",), "--wrong or --right"),
        ((), "--help"),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line_and_changes_nothing(
    semcache, where, stored, arguments, part: str
) -> None:
    ran = semcache("report", *arguments, *where)
    assert ran.exit_code == 2, ran.output
    (line,) = ran.stderr.splitlines()
    assert part in line
    shown = json.loads(semcache("show", *where, "--json").stdout)
    assert {entry["id"] for entry in shown} == set(stored.values())


def test_only_the_namespace_that_is_meant_is_looked_through(semcache, where, stored) -> None:
    asked = ("report", stored[PASSWORD], "--wrong", *where)
    other = semcache(*asked, "--namespace", "other")
    assert "in namespace 'other'" in other.stderr
    assert semcache(*asked, "--namespace", "default").stdout.startswith("Removed entry")
