"""`explain`: every candidate, its verdict, and what would be served."""

from __future__ import annotations

import json

import pytest

from langchain_semcache import Reason, Request, Response, Semcache, SemcacheConfig
from langchain_semcache.cli.candidates import WORDS, Seen
from langchain_semcache.guards import Refusal
from langchain_semcache.records import Candidate, Verdict
from langchain_semcache.testing.index_values import make_entry
from langchain_semcache.threshold.confidence import Calibration

PASSWORD = "How do I reset my password?"


def told(result) -> dict:
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_same_words_are_an_exact_hit(semcache, at) -> None:
    found = told(semcache("explain", PASSWORD, *at, "--json"))
    assert (found["hit"], found["reason"], found["similarity"]) == (True, "exact", 1.0)
    assert found["stored_question"] == PASSWORD


def test_every_candidate_is_listed_with_its_verdict(semcache, at) -> None:
    found = told(semcache("explain", "How do I reset my router?", *at, "--json"))
    assert not found["hit"]
    assert {one["question"] for one in found["candidates"]} == {
        PASSWORD,
        "Where is order 4471?",
    }
    assert found["candidates"][0]["verdict"] == "below_threshold"


def test_the_guard_that_refuses_is_named(semcache, at, tmp_path) -> None:
    settings = tmp_path / "semcache.toml"
    settings.write_text("similarity_threshold = 0.5\n")
    shown = semcache("explain", "Where is order 4472?", *at, "--config", settings)
    assert "asks the model: numbers_differ" in shown.stdout
    assert "4471" in shown.stdout


def test_another_tenants_answers_are_not_candidates(semcache, at) -> None:
    question = "退款多久到账？"
    assert not told(semcache("explain", question, *at, "--json"))["hit"]
    assert told(semcache("explain", question, *at, "--tenant", "acme", "--json"))["hit"]


def test_a_model_narrows_the_scopes(semcache, at) -> None:
    assert told(semcache("explain", PASSWORD, *at, "--model", "small", "--json"))["hit"]
    other = told(semcache("explain", PASSWORD, *at, "--model", "large", "--json"))
    assert other["reason"] == "no_candidate"


def test_a_system_prompt_means_exactly_that_scope(semcache, tmp_path) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": PASSWORD},
    ]
    with Semcache.open(SemcacheConfig(location=str(tmp_path / "store"), encoder="hash")) as cache:
        cache.store(Request(messages=messages, model="m"), Response.from_text("Settings."))
    where = ("--location", str(tmp_path / "store"), "--encoder", "hash", "--json")
    asked = ("explain", PASSWORD, *where, "--model", "m")
    assert told(semcache(*asked, "--system", "Be brief."))["hit"]
    assert not told(semcache(*asked, "--system", "Be verbose."))["hit"]
    assert told(semcache(*asked))["hit"]


def test_answers_of_two_scopes_are_told_apart(semcache, tmp_path) -> None:
    """The parameters an application sends are not known here, so each scope is asked."""
    with Semcache.open(SemcacheConfig(location=str(tmp_path / "store"), encoder="hash")) as cache:
        for temperature in (0.2, 0.9):
            cache.store(
                Request(messages=PASSWORD, model="m", parameters={"temperature": temperature}),
                Response.from_text("Settings."),
            )
    where = ("--location", str(tmp_path / "store"), "--encoder", "hash")
    found = told(semcache("explain", PASSWORD, *where, "--json"))
    assert found["hit"]
    assert len(found["other_scopes"]) == 1
    assert found["other_scopes"][0]["scope"] != found["scope"]
    assert "2 scopes hold answers" in semcache("explain", PASSWORD, *where).stdout


def test_nothing_is_changed(semcache, at) -> None:
    before = semcache("show", *at, "--json").stdout
    assert "asks the model" in semcache("explain", "An entirely new question", *at).stdout
    assert semcache("show", *at, "--json").stdout == before


@pytest.mark.parametrize("question", ["", "   ", "\x00\x1b[31m"])
def test_a_question_without_words_is_no_traceback(semcache, at, question: str) -> None:
    shown = semcache("explain", question, *at)
    assert shown.exit_code == 0
    assert "asks the model" in shown.stdout
    assert "\x1b" not in shown.stdout


class Opinionated:
    """Finds everything alike that asks for a password."""

    identity = "opinionated"

    def judge(self, question: str, stored) -> list[float]:
        return [0.97 if "password" in one and "password" in question else 0.02 for one in stored]


@pytest.fixture
def weighed(own, tmp_path, monkeypatch) -> tuple[str, ...]:
    """A store with an error budget, a calibration, and a verifier that is asked."""
    monkeypatch.setattr(
        "langchain_semcache.assembly.make_verifier", lambda name, encoder: Opinionated()
    )
    made = Calibration(
        encoder="tokenizer-hash-v1;salt=cbf29ce484222325",
        verifier="opinionated",
        floor=0.5,
        bar=0.9,
        least=0.8,
        weights={"opinion": 1.0, "bias": 0.0},
    )
    (tmp_path / "calibration.json").write_text(made.to_json())
    settings = tmp_path / "semcache.toml"
    place = json.dumps(str(tmp_path / "calibration.json"))
    settings.write_text(f"max_error_rate = 0.01\ncalibration = {place}\n")
    return ("--location", str(own), "--encoder", "hash", "--config", str(settings))


def test_confidence_and_opinion_stand_beside_each_candidate(semcache, weighed) -> None:
    asked = ("explain", "How can I reset my password?", *weighed)
    found = told(semcache(*asked, "--json"))
    assert (found["hit"], found["min_confidence"], found["verifier"]) == (True, 0.8, "opinionated")
    assert found["confidence"] == pytest.approx(0.97)
    near, far = found["candidates"]
    assert (near["opinion"], near["confidence"]) == (0.97, pytest.approx(0.97))
    assert near["guard"] is None
    assert near["around"] == [pytest.approx(far["similarity"])]
    assert near["in_words"] == "the same meaning: may be served"
    assert (far["verdict"], far["opinion"]) == ("below_threshold", 0.02)
    assert far["in_words"].startswith("too far away")
    shown = semcache(*asked).stdout
    assert "conf   verifier" in shown
    assert "confidence 0.970" in shown
    assert "error budget of 0.01 has the last word" in shown


def test_what_a_guard_says_is_told_also_of_what_is_too_far_away(semcache, weighed) -> None:
    question = "Please be so kind and tell us where on earth order 4472 is"
    (near, _) = told(semcache("explain", question, *weighed, "--json"))["candidates"]
    assert near["verdict"] == "below_threshold"
    assert near["guard"] == {
        "reason": "numbers_differ",
        "detail": "4472 vs 4471",
        "final": True,
    }
    assert "also names other numbers" in near["in_words"]


def test_a_verifier_that_fails_is_a_dash(semcache, weighed, monkeypatch) -> None:
    def broken(self, question, stored):
        raise RuntimeError("out of order")

    monkeypatch.setattr(Opinionated, "judge", broken)
    asked = ("explain", "How can I reset my password?", *weighed)
    found = told(semcache(*asked, "--json"))
    assert found["reason"] == "verifier_unavailable"
    assert found["candidates"][0]["opinion"] is None
    assert found["candidates"][0]["confidence"] is None
    assert "the verifier did not answer" in semcache(*asked).stdout


def test_it_is_readable_in_eighty_columns(semcache, weighed, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = semcache("explain", "How can I reset my password?", *weighed).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    for part in ("conf", "verifier", "stored question, and what became of it", PASSWORD):
        assert part in shown


def test_there_are_words_for_every_guard() -> None:
    refusals = {one for one in Reason if one.value.endswith(("_differ", "_differs"))}
    assert refusals <= set(WORDS)


@pytest.mark.weights
def test_a_long_question_meets_the_long_ones(semcache, tmp_path) -> None:
    """It is compared window by window, in a partition of its own."""
    long = " ".join(f"Step {n} of the plan is to move shelf {n} to room {n}." for n in range(40))
    question = f"{long} What can go wrong?"
    settings = tmp_path / "semcache.toml"
    place = json.dumps(str(tmp_path / "store"))
    settings.write_text(f"location = {place}\n[key]\nmax_question_bytes = 4000\n")
    with Semcache.open(SemcacheConfig.from_file(settings)) as cache:
        for text in (question, PASSWORD):
            cache.store(Request(messages=text, model="m"), Response.from_text("Nothing."))
    found = told(semcache("explain", question, "--config", settings, "--json"))
    assert (found["hit"], found["reason"]) == (True, "exact")
    near = told(semcache("explain", f"{question} Tell me.", "--config", settings, "--json"))
    (candidate,) = near["candidates"]
    assert candidate["question"] == question
    assert candidate["opinion"] is None


def test_a_question_about_the_asker_finds_its_own_words_only(semcache, tmp_path) -> None:
    place = str(tmp_path / "store")
    with Semcache.open(SemcacheConfig(location=place, encoder="hash")) as cache:
        request = Request(messages="Where is my order 4471?", model="m")
        cache.store(request, Response.from_text("On its way."))
    where = ("--location", place, "--encoder", "hash", "--json")
    assert told(semcache("explain", "Where is my order 4471?", *where))["reason"] == "exact"
    other = told(semcache("explain", "Where's my order 4471?", *where))
    assert (other["hit"], other["reason"]) == (False, "personal_question")


@pytest.mark.parametrize(
    ("reason", "detail", "words"),
    [
        (
            Reason.SEMANTIC,
            "negated on one side",
            (
                "the same meaning: may be served, although it asks for the opposite "
                "(negated on one side)"
            ),
        ),
        (
            Reason.POLARITY_DIFFERS,
            "negated on one side; confidence 0.410 < 0.56",
            "asks for the opposite (negated on one side; confidence 0.410 < 0.56)",
        ),
        (
            Reason.VERIFIER_UNAVAILABLE,
            "gone",
            "the verifier did not answer (gone); also asks for the opposite (negated on one side)",
        ),
    ],
)
def test_a_refusal_that_is_not_final_is_told_with_what_became_of_it(reason, detail, words) -> None:
    refusal = Refusal(Reason.POLARITY_DIFFERS, "negated on one side", one_sided=True, final=False)
    candidate = Candidate(make_entry(1), 0.8)
    verdict = Verdict(candidate, reason, detail, 0.7, doubt=Reason.POLARITY_DIFFERS)
    assert Seen(verdict, refusal, 0.9, 0.7).words() == words
