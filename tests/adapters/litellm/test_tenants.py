"""Whose answers are whose, on a real proxy with real keys."""

from __future__ import annotations

from contextlib import suppress

import openai
import pytest

from tests.adapters.litellm.conftest import Asker
from tests.services.litellm_proxy import LiteLLMProxy

QUESTION = "What does our contract say about notice periods?"
REWORDED = "What does our contract say about periods of notice?"


def test_a_client_cannot_pass_one_model_off_as_another(ask):
    claim = {"model_group": "gpt-4o", "caching_groups": [["gpt-4o", "gpt-4o-mini"]]}
    for api in ("chat", "responses"):
        ask(QUESTION, api=api, model="gpt-4o-mini", body={"metadata": claim})
        assert not ask(QUESTION, api=api).hit


def test_by_default_no_two_keys_share(ask):
    """B20: same team or not, with a team or without, the administrator too."""
    for key in ("alice", "bob", "carol", "dave", "admin"):
        assert ask(QUESTION, key=key).calls == 1, key
        assert ask(QUESTION, key=key).hit


def test_nor_do_two_end_users_of_one_key(ask):
    def asked(user: str | None):
        headers = {"x-end-user": user} if user else {}
        return ask(QUESTION, extra_headers=headers).calls

    assert [asked(user) for user in ("u1", "u2", None, "u1", "u2", None)] == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_nobody_gets_at_another_tenant_by_asking_for_it(ask, api):
    """X13: by body, metadata, header, namespace or key."""
    first = ask(QUESTION, key="alice", api=api)
    identity = {
        "user_api_key": "hash-of-alice",
        "user_api_key_team_id": "t1",
        "semcache_tenant": "key:hash-of-alice",
        "redis_namespace": "key:hash-of-alice",
        "semcache": {"hit": True, "reason": "exact"},
    }
    key = ask(QUESTION, key="alice", api=api).headers["x-litellm-cache-key"]
    served = 0
    for body in (
        {"metadata": identity},
        {"litellm_metadata": identity},
        identity,
        {"user": "hash-of-alice"},
        {"cache_key": key, "preset_cache_key": key},
        {"litellm_params": {"preset_cache_key": key, "metadata": identity}},
    ):
        for question in (QUESTION, REWORDED):
            with suppress(openai.BadRequestError, openai.PermissionDeniedError):
                # LiteLLM may refuse such a body outright.
                got = ask(question, key="carol", api=api, body=body, cache={"no-store": True})
                served += 1
                assert got.calls == 1, body
                assert got.text != first.text
                assert not got.hit
    assert served >= 6, "nearly every body was refused outright"


LEVELS = {
    "key": [("alice", "bob", False), ("alice", "carol", False)],
    "team": [("alice", "bob", True), ("alice", "carol", False), ("alice", "dave", False)],
    "organization": [("alice", "carol", True), ("alice", "dave", False), ("dave", "admin", False)],
    "everyone": [("alice", "dave", True)],
}


@pytest.mark.parametrize("level", LEVELS)
def test_sharing_goes_as_far_as_the_proxy_says(tmp_path, upstream, level):
    settings = {"location": ":memory:", "share": level}
    with LiteLLMProxy(tmp_path, upstream.url, semcache=settings) as running:
        for first, second, shared in LEVELS[level]:
            ask = Asker(running, upstream)
            ask(QUESTION, key=first)
            assert ask(QUESTION, key=second).hit is shared, (first, second)
            assert ask(REWORDED, key=first).hit
            # An end user is not told apart any more, so what he calls himself splits nothing.
            named = {"x-end-user": "u9"}
            assert ask(QUESTION, key=first, extra_headers=named, body={"user": "u9"}).hit
