"""`explain`: every candidate, its verdict, and what would be served."""

from __future__ import annotations

import json

import pytest

from langchain_semcache import Request, Response, Semcache, SemcacheConfig

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
        "Where is my order 4471?",
    }
    assert found["candidates"][0]["verdict"] == "below_threshold"


def test_the_guard_that_refuses_is_named(semcache, at, tmp_path) -> None:
    settings = tmp_path / "semcache.toml"
    settings.write_text("similarity_threshold = 0.5\n")
    shown = semcache("explain", "Where is my order 4472?", *at, "--config", settings)
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
    semcache("explain", "An entirely new question", *at)
    assert semcache("show", *at, "--json").stdout == before


@pytest.mark.parametrize("question", ["", "   ", "\x00\x1b[31m"])
def test_a_question_without_words_is_no_traceback(semcache, at, question: str) -> None:
    shown = semcache("explain", question, *at)
    assert shown.exit_code == 0
    assert "asks the model" in shown.stdout
    assert "\x1b" not in shown.stdout
