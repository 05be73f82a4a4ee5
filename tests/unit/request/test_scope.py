"""Who may share an answer: everything that changes it keeps requests apart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.records import Reason
from langchain_semcache.request import RequestSettings, Resolved, tenant_digest
from tests.unit.request.conftest import Resolve

TOOL = {"type": "function", "function": {"name": "a", "parameters": {"x": 1, "y": {"z": [1, 2]}}}}


class Recipe(BaseModel):
    title: str


class LongRecipe(BaseModel):
    title: str
    steps: int


def system(text: str) -> dict[str, str]:
    return {"role": "system", "content": text}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def scope(ask: Resolve, **parameters: object) -> str:
    return ask("q", parameters=parameters).scope.digest


CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"temperature": 0}, {"temperature": 1}),
    ({}, {"temperature": 0}),
    ({}, {"temperature": 1}),
    ({}, {"top_p": 1}),
    ({"top_p": 0.9}, {"top_p": 0.91}),
    ({"max_tokens": 16}, {"max_tokens": 4000}),
    ({"stop": "a", "top_p": 1}, {"stop": "atop_p: 1"}),
    ({"stop": ["a"]}, {"stop": ["b"]}),
    ({}, {"seed": 1}),
    ({"n": 1}, {"n": 2}),
    ({}, {"presence_penalty": 0.5}),
    ({}, {"frequency_penalty": 0.5}),
    ({"logit_bias": {1: 1}}, {"logit_bias": {1: 2}}),
    ({}, {"logprobs": True}),
    ({"logprobs": True}, {"logprobs": 1}),
    ({"reasoning_effort": "low"}, {"reasoning_effort": "high"}),
    ({"extra_body": {"k": 1}}, {"extra_body": {"k": 2}}),
    ({}, {"top_k": 5}),
    ({}, {"safety_settings": [{"a": "b"}]}),
    ({"api_base": "http://a"}, {"api_base": "http://b"}),
    ({"base_url": "http://a"}, {"base_url": "http://b"}),
    ({"user": "u1"}, {"user": "u2"}),
    ({}, {"something_new": 1}),
    ({"extra_headers": {"beta": "1"}}, {"extra_headers": {"beta": "2"}}),
    ({}, {"tools": [TOOL]}),
    ({"tools": [TOOL]}, {"tools": [TOOL, TOOL]}),
    ({"tools": [TOOL]}, {"tools": [{**TOOL, "description": "d"}]}),
    ({"tool_choice": "auto"}, {"tool_choice": "none"}),
    ({"tool_choice": "required"}, {"tool_choice": {"function": {"name": "a"}}}),
    ({"parallel_tool_calls": True}, {"parallel_tool_calls": False}),
    ({}, {"response_format": {"type": "json_object"}}),
    ({"response_format": Recipe}, {"response_format": LongRecipe}),
    (
        {"extra_body": {"chat_template_kwargs": {"token": "A"}}},
        {"extra_body": {"chat_template_kwargs": {"token": "B"}}},
    ),
    ({"extra_body": {"password": "A"}}, {"extra_body": {}}),
    ({"extra_body": {"key": SecretStr("A")}}, {"extra_body": {"key": SecretStr("B")}}),
    (
        {"tools": [{"properties": {"a": {"const": None}}}]},
        {"tools": [{"properties": {"a": {}}}]},
    ),
    ({"response_format": {"default": None}}, {"response_format": {}}),
    ({"response_format": '{"a": 1, "a": 2}'}, {"response_format": '{"a": 2}'}),
    ({"temperature": 10**400}, {"temperature": 10**401}),
    (
        {"tools": [{"properties": {"password": "text"}}]},
        {"tools": [{"properties": {}}]},
    ),
]


@pytest.mark.parametrize(("one", "other"), CHANGES)
def test_what_changes_the_answer_changes_the_scope(
    ask: Resolve, one: dict[str, object], other: dict[str, object]
) -> None:
    """Each such parameter keeps answers apart, unknown ones included."""
    assert scope(ask, **one) != scope(ask, **other)
    assert ask("q", parameters=one).query.partition != ask("q", parameters=other).query.partition


@pytest.mark.parametrize(
    "volatile",
    [
        {"stream": True},
        {"stream": False, "stream_options": {"include_usage": True}},
        {"timeout": 3},
        {"request_timeout": 3, "max_retries": 2, "num_retries": 1},
        {"metadata": {"request_id": "r1"}, "litellm_call_id": "c1"},
        {"request_id": "r", "x_request_id": "x", "client_request_id": "c", "trace_id": "t"},
        {"idempotency_key": "i", "user_agent": "u", "retries": 2, "X-Request-Id": "r"},
        {"api_base_secret": SecretStr("s"), "handle": SecretStr("s")},
        {"_litellm_stream_usage_injected": True},
        {"callbacks": [object()], "tags": ["a"], "run_id": "r"},
        {"api_key": "sk-1"},
        {"openai_api_key": "sk-1", "organization": "org"},
        {"azure_ad_token_provider": lambda: "t"},
        {"stop": None, "temperature": None},
        {"extra_headers": None},
    ],
)
def test_what_cannot_change_the_answer_is_left_out(
    ask: Resolve, volatile: dict[str, object]
) -> None:
    """How a call is made, watched or paid for does not keep answers apart."""
    resolved = ask("q", parameters=volatile)
    assert resolved.scope.digest == scope(ask)
    assert resolved.cacheable is None


def test_headers_count_but_for_ids_and_credentials(ask: Resolve) -> None:
    """A rotated key or a request id in the headers changes nothing."""
    plain = scope(ask, extra_headers={"beta": "1"})
    noisy = {"Beta": "1", "Authorization": "Bearer s", "User-Agent": "x", "X-Request-Id": "7"}
    assert scope(ask, extra_headers=noisy) == plain


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (0.2, 0.24, True),
        (0.2, 0.25, False),
        (0.25, 0.3, True),
        (0.35, 0.4, True),
        (0, 0.04, True),
        (0, -0.0, True),
        (1, 1.0, True),
        (1, True, False),
        (0.05, 0.1, True),
        (float("nan"), 0, False),
    ],
)
def test_temperature_is_rounded_half_up_to_one_digit(
    ask: Resolve, one: float, other: float, same: bool
) -> None:
    """Rounding follows the decimal spelling, not the binary value."""
    assert (scope(ask, temperature=one) == scope(ask, temperature=other)) is same


def test_top_p_is_rounded_to_two_digits(ask: Resolve) -> None:
    """0.945 is 0.95, although no binary fraction is."""
    assert scope(ask, top_p=0.945) == scope(ask, top_p=0.95)
    assert scope(ask, top_p=0.944) != scope(ask, top_p=0.95)
    finer = RequestSettings(top_p_digits=3)
    assert (
        ask("q", parameters={"top_p": 0.945}, settings=finer).scope
        != ask("q", parameters={"top_p": 0.95}, settings=finer).scope
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"tools": [TOOL]}, {"tools": ({"function": TOOL["function"], "type": "function"},)}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"a": 1, "b": 2}}},
            {"response_format": '{"json_schema": {"b": 2, "a": 1}, "type": "json_schema"}'},
        ),
        ({"response_format": Recipe}, {"response_format": Recipe}),
        ({"max_tokens": 5}, {"max_tokens": 5.0}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_order_and_spelling_do_not_matter(
    ask: Resolve, one: dict[str, object], other: dict[str, object]
) -> None:
    """Key order, tuples for lists and whole floats give the same scope."""
    assert scope(ask, **one) == scope(ask, **other)


def test_the_order_of_tools_counts(ask: Resolve) -> None:
    """A model reads its tools in order."""
    other = {"type": "function", "function": {"name": "b"}}
    assert scope(ask, tools=[TOOL, other]) != scope(ask, tools=[other, TOOL])


def test_resolving_does_not_touch_the_parameters(ask: Resolve) -> None:
    """The caller's mapping is read, never changed."""
    parameters = {"tools": [dict(TOOL)], "stop": None, "api_key": "s"}
    copy = {**parameters, "tools": [dict(TOOL)]}
    ask("q", parameters=parameters)
    assert parameters == copy


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"tenant": "a"}, {"tenant": "b"}),
        ({"tenant": "a"}, {}),
        ({"namespace": "a"}, {"namespace": "b"}),
        ({"namespace": "a", "tenant": "b"}, {"namespace": "b", "tenant": "a"}),
        ({"namespace": "ab", "tenant": "c"}, {"namespace": "a", "tenant": "bc"}),
        ({"surface": "core"}, {"surface": "langchain"}),
        ({"model": "a"}, {"model": "b"}),
        ({"encoder_identity": "e1"}, {"encoder_identity": "e2"}),
    ],
)
def test_who_asks_whom_is_part_of_the_scope(
    ask: Resolve, one: dict[str, Any], other: dict[str, Any]
) -> None:
    """Tenant, namespace, surface, model and encoder are hard partitions."""
    first, second = ask("q", **one), ask("q", **other)
    assert first.scope.digest != second.scope.digest
    assert first.query.partition != second.query.partition


def test_a_missing_tenant_is_a_bucket_of_its_own(ask: Resolve) -> None:
    """No tenant is no wildcard; and the tenant's name is not in the scope."""
    assert ask("q").scope.tenant == tenant_digest("")
    assert ask("q", tenant="acme").scope.tenant == tenant_digest("acme") != tenant_digest("")
    assert "acme" not in repr(ask("q", tenant="acme"))


def test_defaults_apply_where_the_request_is_silent(ask: Resolve) -> None:
    """Namespace and tenant of the settings are what the request leaves open."""
    settings = RequestSettings(namespace="shop", tenant="acme")
    assert ask("q", settings=settings).scope == ask("q", namespace="shop", tenant="acme").scope
    assert ask("q", settings=settings, tenant="b").scope.tenant == tenant_digest("b")


def test_further_volatile_and_secret_names(ask: Resolve) -> None:
    """An application can name its own."""
    settings = RequestSettings(
        volatile_parameters=frozenset({"user"}), secret_parameters=frozenset({"X-Pass"})
    )
    parameters = {"user": "u1", "x_pass": "p", "extra_headers": {"x-pass": "p"}}
    assert (
        ask("q", parameters=parameters, settings=settings).scope
        == ask("q", parameters={"extra_headers": {}}, settings=settings).scope
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([system("As a pirate"), user("q")], [system("As a lawyer"), user("q")]),
        ([system("As a pirate"), user("q")], [user("q")]),
        ([system("Be a poet. "), user("Summarise")], [user("Be a poet. Summarise")]),
        (
            [system("Rules. " * 300 + "never"), user("q")],
            [system("Rules. " * 300 + "always"), user("q")],
        ),
        ([system("a"), system("b"), user("q")], [system("ab"), user("q")]),
        ([system("a"), system("b"), user("q")], [system("b"), system("a"), user("q")]),
        ([user("q"), system("late")], [user("q"), system("later")]),
    ],
)
def test_the_system_prompt_is_a_hard_partition(
    ask: Resolve, one: list[object], other: list[object]
) -> None:
    """Other instructions, wherever they stand, never share an answer."""
    first, second = ask(one), ask(other)
    assert first.scope.digest != second.scope.digest
    assert first.query.partition != second.query.partition


def test_a_paraphrase_shares_scope_and_partition(ask: Resolve) -> None:
    """The question itself is in neither: otherwise nothing would ever be found by meaning."""
    one = ask([system("s"), user("What is the capital of France?")])
    other = ask([system("s"), user("Tell me the capital of France")])
    assert one.scope == other.scope
    assert one.query.partition == other.query.partition
    assert one.query.fingerprint != other.query.fingerprint


def test_an_object_without_identity_makes_a_request_uncacheable(ask: Resolve) -> None:
    """What cannot be told apart tomorrow is not looked up today; the detail names a type."""
    resolved = ask("q", parameters={"hook": object()})
    assert resolved.cacheable is Reason.UNIDENTIFIABLE
    assert resolved.detail == "builtins.object"
    assert ask("q", parameters={"tools": [object()]}).cacheable is Reason.UNIDENTIFIABLE


class Raising:
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


class Unnamed:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    "parameters", [{"x": Raising()}, {"extra_headers": {Unnamed(): "v"}}, {"x": [{Unnamed(): 1}]}]
)
def test_an_object_that_raises_makes_a_request_uncacheable(
    ask: Resolve, parameters: dict[str, object]
) -> None:
    """Foreign code may fail; identifying a request does not."""
    assert ask("q", parameters=parameters).cacheable is Reason.UNIDENTIFIABLE


def test_no_secret_is_in_what_comes_out(ask: Resolve) -> None:
    """Digests only: no key, no header, no tenant."""
    parameters = {"api_key": "sk-secret", "extra_headers": {"x": "sk-secret"}}
    assert "sk-secret" not in repr(ask("q", parameters=parameters, tenant="t"))


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(["alpha", "beta", "gamma", "delta"]), st.integers(0, 3)),
    st.randoms(use_true_random=False),
)
def test_key_order_never_matters(ask: Resolve, parameters: dict[str, int], random: Any) -> None:
    """Any order of the parameters gives one scope, and any change of one another."""
    names = list(parameters)
    random.shuffle(names)
    shuffled = {name: parameters[name] for name in names}
    assert scope(ask, **shuffled) == scope(ask, **parameters)
    for name in names:
        assert scope(ask, **{**parameters, name: parameters[name] + 1}) != scope(ask, **parameters)


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature_digits": -1},
        {"top_p_digits": 1.5},
        {"max_question_bytes": True},
        {"query_from": "(?P<question>("},
        {"query_from": " "},
        {"query_from": "Question: (.*)"},
    ],
)
def test_a_wrong_setting_is_named(wrong: dict[str, Any]) -> None:
    """The message names the setting at construction."""
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        RequestSettings(**wrong)


def test_resolved_is_a_value(ask: Resolve) -> None:
    """The same request resolves to an equal value every time."""
    assert isinstance(ask("q"), Resolved)
    assert ask("q") == ask("q")
