from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

from langchain_semcache.langchain.wire import request_of
from langchain_semcache.request import RequestSettings, Resolved, resolve


def _resolved(prompt: str, llm_string: str, tenant: str = "") -> Resolved:
    return resolve(
        request_of(prompt, llm_string, tenant),
        settings=RequestSettings(),
        encoder_identity="e",
        count_tokens=lambda text: len(text.split()),
        max_tokens=512,
    )


def test_a_conversation_is_read_from_langchains_json() -> None:
    """Roles and texts, and no more."""
    prompt = dumps([SystemMessage("s"), HumanMessage("ü 中"), AIMessage("a"), HumanMessage("q")])
    found = _resolved(prompt, "[('_type', 'm')]")
    assert found.query.text == "q"
    assert found.query.exact_only is None


@pytest.mark.parametrize(
    "prompt", ["plain", "", "[", '[{"lc"', '[{"lc": 1', '[{"lc": 2, "x": 1}]', '[{"lc": 1}, 7]']
)
def test_what_is_no_conversation_is_a_bare_prompt(prompt: str) -> None:
    """Completion models hand over any text."""
    assert request_of(prompt, "[]", "").messages == prompt


def test_a_models_fields_and_the_calls_options_are_parameters() -> None:
    """The call wins; secrets are not among them."""
    chat = ChatOpenAI(model="stub", api_key="sk-secret", temperature=0.2, base_url="http://h/v1")
    text = chat._get_llm_string(stop=["\n"], temperature=0.7, tools=[{"name": "t"}])
    request = request_of("p", text, "acme")
    assert request.model == "stub"
    assert request.tenant == "acme"
    assert request.surface == "langchain"
    assert request.parameters["temperature"] == 0.7
    assert request.parameters["tools"] == [{"name": "t"}]
    assert request.parameters["stop"] == ["\n"]
    assert "sk-secret" not in repr(request)


def test_two_classes_with_equal_fields_are_two_models() -> None:
    """Two providers may call different models by one name."""
    one = json.dumps({"lc": 1, "id": ["a", "Chat"], "kwargs": {"model": "m"}})
    two = json.dumps({"lc": 1, "id": ["b", "Chat"], "kwargs": {"model": "m"}})
    scopes = {_resolved("p", text + "---[]").scope.digest for text in (one, two)}
    assert len(scopes) == 2


@pytest.mark.parametrize("llm_string", ["", "{", '{"a": 1}', '{"a": 1}--[]', "[", "[1]", "x---[]"])
def test_an_unknown_form_counts_as_a_whole(llm_string: str) -> None:
    """Nothing is lost, nothing guessed."""
    assert request_of("p", llm_string, "").parameters == {"llm_string": llm_string}


@given(st.text(), st.text(), st.text())
def test_different_strings_are_different_requests(prompt: str, one: str, other: str) -> None:
    """Whatever the two strings hold, no two models are confused, and nothing is raised."""
    first, second = _resolved(prompt, one), _resolved(prompt, other)
    if first.scope == second.scope:
        assert _same(one, other)


def _same(one: str, other: str) -> bool:
    """Texts that are one after the normalisation that every key undergoes."""
    import unicodedata

    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)


OPTIONS = st.dictionaries(
    st.sampled_from(["temperature", "seed", "stop", "tools", "anything"]),
    st.integers() | st.text("ab", max_size=3) | st.lists(st.integers(), max_size=3),
)


@given(OPTIONS, OPTIONS)
def test_options_are_told_apart_by_value(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Equal options are one scope, in any order; different ones are two."""

    def scope(options: dict[str, Any]) -> str:
        return _resolved("p", str(sorted(options.items()))).scope.digest

    assert scope(one) == scope(dict(reversed(one.items())))
    assert (scope(one) == scope(other)) is (one == other)
