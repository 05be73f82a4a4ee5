"""The pure part of the hooks: whose call it is, what it asks for, what its answer depends on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache import Conditions, ConfigurationError, Decision, Response
from langchain_semcache.errors import CorruptEntry
from langchain_semcache.ttl import UNSET
from litellm_hooks._controls import lifetime, read_controls, readable
from litellm_hooks._identity import CLAIMED, TENANT, Noted, note, noted_tenant, tenant_of
from litellm_hooks._translate import (
    CHAT,
    RESPONSES,
    Caller,
    Unstorable,
    reply_of,
    request_of,
    response_of,
)
from litellm_hooks.settings import HookSettings, Mode, Share, unset_variables


@dataclass
class Someone:
    api_key: str | None = None
    user_id: str | None = None
    team_id: str | None = None
    org_id: str | None = None
    end_user_id: str | None = None


ALL = Someone("k", "u", "t", "o", "e")


@pytest.mark.parametrize(
    ("who", "share", "bucket"),
    [
        (ALL, Share.EVERYONE, "everyone"),
        (ALL, Share.ORGANIZATION, "organization:o"),
        (ALL, Share.TEAM, "team:t"),
        (ALL, Share.KEY, "key:k"),
        (ALL, Share.END_USER, "key:k/end_user:e"),
        (Someone("k", org_id="o"), Share.TEAM, "key:k"),
        (Someone("k", team_id="t"), Share.ORGANIZATION, "team:t"),
        (Someone(user_id="u"), Share.END_USER, "user:u"),
        (Someone(user_id="u", end_user_id="e"), Share.END_USER, "user:u/end_user:e"),
        (Someone(user_id="u"), Share.TEAM, "user:u"),
        (Someone(end_user_id="e"), Share.END_USER, ""),
        (Someone(), Share.KEY, ""),
        (Someone("a/end_user:b"), Share.END_USER, "key:a%2Fend_user%3Ab"),
    ],
)
def test_the_bucket_of_a_caller(who, share, bucket):
    """Who has no identity at all has no bucket, and never one that others without have as well."""
    assert tenant_of(who, share) == bucket


some_id = st.none() | st.text(max_size=5)


@given(st.builds(Someone, *[some_id] * 5), st.builds(Someone, *[some_id] * 5))
def test_at_the_strictest_level_two_callers_share_only_if_they_are_one(one, other):
    mine, theirs = (tenant_of(who, Share.END_USER) for who in (one, other))
    if mine and mine == theirs:
        key = (one.api_key or None, None if one.api_key else one.user_id)
        assert key == (other.api_key or None, None if other.api_key else other.user_id)
        assert (one.end_user_id or None) == (other.end_user_id or None)


@pytest.mark.parametrize("place", ["metadata", "litellm_metadata"])
def test_what_a_client_writes_notes_nothing(place):
    """Also where no hook has seen the call: only what the hook makes counts."""
    assert noted_tenant({place: {TENANT: "team:t1"}}) == ""
    assert noted_tenant(json.loads(json.dumps({place: {TENANT: Noted("team:t1")}}))) == ""


def test_a_note_stands_in_one_place_and_claims_are_gone():
    claims = dict.fromkeys((TENANT, *CLAIMED), "mine")
    data = {"metadata": {**claims, "own": 1}, "litellm_metadata": {**claims, "user_api_key": "k"}}
    note(data, "key:k")
    assert data["metadata"] == {"own": 1}, "this one may go to the provider"
    assert noted_tenant(data) == "key:k"
    note(data, "")
    assert noted_tenant(data) == ""


@pytest.mark.parametrize(
    ("said", "conditions"),
    [
        ({}, None),
        ({"s-maxage": 5}, Conditions(max_age=timedelta(seconds=5))),
        ({"s-max-age": "2.5"}, Conditions(max_age=timedelta(seconds=2.5))),
        ({"s-maxage": 10**400}, Conditions(max_age=timedelta(0))),
        ({"s-maxage": float("nan")}, Conditions(max_age=timedelta(0))),
        ({"s-maxage": True}, Conditions(max_age=timedelta(0))),
        ({"min-similarity": 2}, Conditions(min_similarity=1.0)),
        ({"min-confidence": "high"}, Conditions(min_confidence=1.0)),
        ({"min-confidence": -1}, Conditions()),
        ({"exact": True}, Conditions(exact=True)),
    ],
)
def test_what_cannot_be_read_is_the_strictest_there_is(said, conditions):
    assert read_controls({"cache": said}, Mode.DEFAULT_ON).conditions == conditions


@pytest.mark.parametrize(
    "call",
    [{"caching": False}, {"conversation": "c1"}, {"background": True}, {"text_completion": True}],
)
def test_calls_that_are_not_cached(call):
    assert not read_controls(call, Mode.DEFAULT_ON).used


@pytest.mark.parametrize(
    ("wish", "longest", "trusted", "kept"),
    [(5, 10, False, 5), (50, 10, False, 10), (50, 10, True, 50)],
)
def test_a_lifetime_is_a_wish(wish, longest, trusted, kept):
    controls = read_controls({"cache": {"ttl": wish}}, Mode.DEFAULT_ON)
    got = lifetime(controls, timedelta(seconds=longest), trusted=trusted)
    assert got == timedelta(seconds=kept)


@pytest.mark.parametrize("trusted", [False, True])
def test_without_a_wish_the_cache_says_how_long(trusted):
    controls = read_controls({"cache": {}}, Mode.DEFAULT_ON)
    assert lifetime(controls, timedelta(seconds=10), trusted=trusted) is UNSET


def request(authenticated: bool = True, **kwargs):
    caller = Caller(tenant="t", authenticated=authenticated)
    kwargs = {"model": "openai/gpt", "messages": [{"role": "user", "content": "hi"}]} | kwargs
    by_tags = kwargs.pop("by_tags", False)
    return request_of(
        kwargs, caller, owned=lambda name: name in {"api_key", "timeout"}, by_tags=by_tags
    )


BEHIND_A_ROUTER = {"litellm_metadata": {"model_group": "chat"}}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"timeout": 1}, {"timeout": 2}, True),
        ({"unheard_of": 1}, {"unheard_of": 2}, False),
        ({"api_base": "a"}, {"api_base": "b"}, False),
        ({"api_key": "a", "authenticated": False}, {"api_key": "b", "authenticated": False}, False),
        ({"api_base": "a", **BEHIND_A_ROUTER}, {"api_base": "b", **BEHIND_A_ROUTER}, True),
        ({"api_key": "a", **BEHIND_A_ROUTER}, {"api_key": "b", **BEHIND_A_ROUTER}, True),
        ({"user": "a"}, {"user": "b"}, True),
        ({"user": "a", "authenticated": False}, {"user": "b", "authenticated": False}, False),
        ({"prompt_id": "a"}, {"prompt_id": "b"}, False),
        ({"provider": {"order": ["a"]}}, {"provider": {"order": ["b"]}}, False),
        ({"account": "a"}, {"account": "b"}, False),
        ({"default_headers": {"x-a": "1"}}, {"default_headers": {"x-a": "2"}}, False),
        ({"custom_llm_provider": "a"}, {"custom_llm_provider": "b"}, False),
        (
            {"provider_specific_header": {"extra_headers": {"anthropic-beta": "x"}}},
            {"provider_specific_header": {"extra_headers": {}}},
            False,
        ),
        (
            {"provider_specific_header": {"extra_headers": {"authorization": "x"}}},
            {"provider_specific_header": {"extra_headers": {"authorization": "y"}}},
            True,
        ),
        (
            {"proxy_server_request": {"body": {"api_base": "mine"}}, **BEHIND_A_ROUTER},
            BEHIND_A_ROUTER,
            False,
        ),
        ({"metadata": {"tags": ["a"]}}, {"metadata": {"tags": ["b"]}}, True),
        (
            {"metadata": {"tags": ["a"]}, "by_tags": True},
            {"metadata": {"tags": ["b"]}, "by_tags": True},
            False,
        ),
    ],
)
def test_what_an_answer_depends_on(one, other, same):
    from langchain_semcache.request import RequestSettings, resolve

    def scope(said):
        return resolve(
            request(**said),
            settings=RequestSettings(),
            encoder_identity="e",
            count_tokens=len,
            max_tokens=100,
        ).scope.digest

    assert (scope(one) == scope(other)) is same


def test_a_model_group_of_the_client_does_not_hide_that_of_the_router():
    asked = {"metadata": {"model_group": "expensive"}, "litellm_metadata": {"model_group": "cheap"}}
    assert request(**asked).model == "cheap"


def chat(*contents: str) -> str:
    choices = [{"message": {"content": text}, "finish_reason": "stop"} for text in contents]
    return json.dumps({"choices": choices})


@pytest.mark.parametrize(
    ("written", "wanted"),
    [("no JSON", 1), ("[]", 1), ("{}", 1), (chat("a b"), 2), (chat("a", "b"), 1), (chat(), 1)],
)
def test_a_reply_that_is_none_or_has_other_choices_is_not_stored(written, wanted):
    """Of a stream of two choices LiteLLM makes one, with both texts in it."""
    with pytest.raises(Unstorable):
        response_of(written, CHAT, wanted)


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": ["x"]}, [], None, {"foo": 1}])
def test_a_record_that_is_no_reply_is_not_handed_to_litellm(body):
    stored = Response(body=body, kind="litellm.chat/1")
    decision = Decision(hit=True, reason="exact", response=stored, entry_id="id")
    for surface in (CHAT, RESPONSES):
        with pytest.raises(CorruptEntry):
            reply_of(decision, surface)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (
            {"similarty_threshold": 0.9},
            "similarty_threshold is not a setting; the settings are evaluator, mode",
        ),
        ({"share": "world"}, "share must be one of everyone, organization, team, key, end_user"),
        ({"evaluator": 4}, "evaluator must be the name of a model, not int"),
        ({"evaluator": "gpt-4o-mini", "confidence_eviction": {"shre": 1}}, "confidence_eviction"),
        ({"mode": "maybe"}, "mode must be one of default_on, default_off"),
        ({"max_error_rate": 2}, "max_error_rate"),
        ("./cache", "must be a mapping of settings"),
        ({1: 2}, "must be a mapping of settings"),
    ],
)
def test_a_wrong_setting_is_one_line(given, named):
    with pytest.raises(ConfigurationError, match=named) as caught:
        HookSettings.of(given)
    assert "\n" not in str(caught.value)


def test_no_settings_are_the_usual_ones():
    for nothing in (None, {}):
        assert HookSettings.of(nothing).share is Share.END_USER


@pytest.mark.parametrize(
    ("call", "tags"),
    [
        ({"prompt_id": "support"}, ("prompt:support",)),
        ({"prompt_id": "support", "prompt_version": 3}, ("prompt:support", "prompt:support@3")),
        (
            {"prompt_id": "support", "cache": {"tags": ["kb"]}},
            ("kb", "prompt:support"),
        ),
        ({"prompt_version": 3}, ()),
        ({"prompt_id": 7}, ()),
    ],
)
def test_the_prompt_of_a_call_is_a_tag(call, tags):
    assert read_controls(call, Mode.DEFAULT_ON).tags == tags


@pytest.mark.parametrize("flag", [True, 1, "true", "yes", "on", [0], {"a": 1}])
def test_a_flag_is_set_by_whatever_does_not_plainly_say_no(flag):
    read = read_controls(
        {"cache": {"no-cache": flag, "no-store": flag, "exact": flag}}, Mode.DEFAULT_ON
    )
    assert (read.reads, read.writes) == (False, False)
    assert read.conditions == Conditions(exact=True)


@pytest.mark.parametrize("flag", [False, None, 0, "", "false", "off"])
def test_a_flag_that_says_no_is_not_set(flag):
    read = read_controls(
        {"cache": {"no-cache": flag, "no-store": flag, "exact": flag}}, Mode.DEFAULT_ON
    )
    assert (read.reads, read.writes, read.conditions) == (True, True, None)


@pytest.mark.parametrize(
    ("said", "controls"),
    [
        (None, None),
        (True, None),
        (False, {"no-cache": True, "no-store": True}),
        ("no-cache", {"no-cache": True}),
        ("no-store", {"no-store": True}),
        ("what?", {"no-cache": True, "no-store": True}),
        ([], {"no-cache": True, "no-store": True}),
        (7, {"no-cache": True, "no-store": True}),
    ],
)
def test_controls_that_are_no_mapping_become_one(said, controls):
    changed = readable({"model": "m", "cache": said})
    assert changed == {"model": "m"} | ({"cache": controls} if controls else {})


def test_controls_that_litellm_can_read_stay():
    assert readable({"model": "m"}) is None
    assert readable({"model": "m", "cache": {"ttl": 3}}) is None


@pytest.mark.parametrize(
    ("n", "stream", "reads"), [(2, True, False), (2, False, True), (1, True, True)]
)
def test_a_stream_of_several_answers_is_not_read_from_the_cache(n, stream, reads):
    """LiteLLM ends a replayed stream once: the other answers in it would never end."""
    assert read_controls({"n": n, "stream": stream}, Mode.DEFAULT_ON).reads is reads


def test_a_reply_without_the_log_probabilities_that_were_asked_for_is_not_stored():
    choice = {"index": 0, "message": {"content": "Paris"}, "finish_reason": "stop"}
    written = json.dumps({"choices": [choice]})
    assert response_of(written, CHAT).text == "Paris"
    with pytest.raises(Unstorable, match="log probabilities"):
        response_of(written, CHAT, logprobs=True)
    told = json.dumps({"choices": [{**choice, "logprobs": {"content": [{"token": "Paris"}]}}]})
    assert response_of(told, CHAT, logprobs=True).text == "Paris"


def test_what_a_provider_says_back_of_one_call_is_not_stored():
    output = [{"type": "message", "content": [{"type": "output_text", "text": "Paris"}]}]
    body = {
        "id": "r",
        "status": "completed",
        "output": output,
        "model": "gpt-4o",
        "metadata": {"who": "alice"},
        "user": "alice",
        "safety_identifier": "a",
    }
    stored = response_of(json.dumps(body), RESPONSES).body
    assert isinstance(stored, dict)
    assert "alice" not in json.dumps(stored)
    assert stored["output"] == output


def test_teams_that_give_one_name_to_two_models_share_nothing():
    def of(team):
        deployment = {"id": team or "d", "team_id": team}
        call = {
            "model": f"openai/of-{team}",
            "messages": [{"role": "user", "content": "Who are you?"}],
            "metadata": {"model_group": "assistant", "model_info": deployment},
        }
        caller = Caller(tenant="organization:o", authenticated=True)
        return request_of(call, caller, owned=lambda _: False, namespace="", by_tags=False)

    assert of("t1").parameters != of("t2").parameters
    assert of("t1").parameters == of("t1").parameters
    assert of(None).parameters != of("t1").parameters


@pytest.mark.parametrize("wrong", ["http://user:s3cr3t@host:1", ["http://user:s3cr3t@host:1"]])
def test_settings_that_are_no_mapping_are_not_shown(wrong):
    with pytest.raises(ConfigurationError, match="must be a mapping") as raised:
        HookSettings.of(wrong)
    assert "s3cr3t" not in str(raised.value)


def test_a_url_in_place_of_a_name_hides_its_password():
    with pytest.raises(ConfigurationError, match="is not a setting") as raised:
        HookSettings.of({"http://user:s3cr3t@host:1": None})
    assert "s3cr3t" not in str(raised.value)


def test_numbers_and_flags_from_the_environment_are_what_they_say():
    """`os.environ/NAME` arrives as text."""
    read = HookSettings.of(
        {
            "ttl": "3600",
            "max_error_rate": "0.01",
            "neighbours": "5",
            "strict": "True",
            "namespace": "7",
            "location": "http://127.0.0.1:6333",
            "qdrant": {"grpc_port": "6335", "api_key": "12"},
        }
    ).cache
    assert read.ttl == timedelta(hours=1)
    assert (read.max_error_rate, read.neighbours, read.strict) == (0.01, 5, True)
    assert (read.namespace, read.qdrant.grpc_port) == ("7", 6335)


@pytest.mark.parametrize("wrong", [{"neighbours": "many"}, {"ttl": ""}, {"strict": "[]"}])
def test_text_that_is_no_number_stays_wrong(wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        HookSettings.of(wrong)


def test_a_variable_that_is_not_set_is_named_with_its_setting():
    written = {
        "location": "os.environ/QDRANT_URL",
        "ttl": None,
        "qdrant": {"api_key": "os.environ/QDRANT_KEY", "collection": "os.environ/SET"},
    }
    read = {"location": None, "ttl": None, "qdrant": {"api_key": None, "collection": "c"}}
    unset = {"location": "QDRANT_URL", "qdrant.api_key": "QDRANT_KEY"}
    assert unset_variables(written, read) == unset


def test_an_account_that_is_not_among_the_arguments_counts_except_behind_a_router():
    def account(name, **more):
        call = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **more}
        caller = Caller(tenant="t", authenticated=False, account=name)
        return request_of(call, caller, owned=lambda _: False).parameters

    assert account("a") != account("b")
    assert account("a", **BEHIND_A_ROUTER) == account("b", **BEHIND_A_ROUTER)


@pytest.mark.parametrize("share", ["http://u:s3cr3t@h", "http//u:s3cr3t@h", "u:s3cr3t@h"])
def test_a_url_in_place_of_a_value_hides_its_password(share):
    with pytest.raises(ConfigurationError, match="share must be one of") as raised:
        HookSettings.of({"share": share})
    assert "s3cr3t" not in str(raised.value)
