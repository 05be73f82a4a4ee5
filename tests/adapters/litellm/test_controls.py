"""What one call says about caching, through a real proxy."""

from __future__ import annotations

import time

import pytest

from tests.adapters.litellm.conftest import Asker
from tests.services.litellm_proxy import LiteLLMProxy

QUESTION = "How high is the highest mountain of Africa?"
REWORDED = "What is the height of the highest mountain in Africa?"


def test_no_cache_asks_again_and_keeps_the_new_answer(ask):
    first = ask(QUESTION)
    fresh = ask(QUESTION, cache={"no-cache": True})
    assert fresh.calls == 1
    assert fresh.text != first.text
    assert ask(QUESTION).text == fresh.text


def test_no_store_leaves_no_trace_and_may_be_served(ask):
    assert ask(QUESTION, cache={"no-store": True}, settle=False).calls == 1
    time.sleep(0.3)
    assert ask(QUESTION).calls == 1
    assert ask(QUESTION, cache={"no-store": True}).hit


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("name", ["s-maxage", "s-max-age"])
def test_nothing_older_is_served_than_asked_for(ask, name, stream):
    """0 means never, for plain calls and streams alike."""
    ask(QUESTION)
    for question in (QUESTION, REWORDED):
        assert not ask(question, cache={name: 0, "no-store": True}, stream=stream).hit
        assert ask(question, cache={name: 600}, stream=stream).hit
    time.sleep(0.3)
    assert ask(QUESTION, cache={name: 0.2, "no-store": True}).reason == "too_old"


@pytest.mark.parametrize("wrong", [-1, "soon", [], {}])
def test_what_is_no_age_or_lifetime_counts_as_none_at_all(ask, wrong):
    ask(QUESTION)
    assert not ask(QUESTION, cache={"s-maxage": wrong, "no-store": True}).hit
    other = "How deep is the deepest lake of Asia?"
    ask(other, cache={"ttl": wrong})
    assert ask(other).calls == 1


def test_a_lifetime_of_ones_own(ask):
    ask(QUESTION, cache={"ttl": 1})
    assert ask(QUESTION).hit
    time.sleep(1.1)
    assert ask(QUESTION).calls == 1


def test_a_namespace_is_a_cache_of_ones_own(ask):
    assert ask(QUESTION, cache={"namespace": "mine"}).calls == 1
    assert ask(QUESTION, cache={"namespace": "yours"}).calls == 1
    assert ask(REWORDED, cache={"namespace": "mine"}).hit


def test_no_controls_at_all_are_no_error(ask):
    for nothing in (None, {}, True):
        assert ask("Does null mean nothing?", body={"cache": nothing}).text


def test_controls_of_another_shape_are_no_error_and_the_strictest(ask):
    for odd in (False, [], "whatever", 7):
        assert ask("Does false mean no?", body={"cache": odd}, settle=False).calls == 1


def test_matching_can_be_made_stricter(ask):
    ask(QUESTION)
    served = ask(REWORDED)
    assert served.reason == "semantic"
    alike = float(served.headers["x-litellm-semantic-similarity"])
    sure = float(served.headers["x-semcache-confidence"])
    for name, value in (("min-similarity", alike), ("min-confidence", sure)):
        strict = {name: value + 0.01, "no-store": True}
        assert not ask(REWORDED, cache=strict).hit
        assert ask(REWORDED, cache={name: value - 0.01}).hit
    assert ask(REWORDED, cache={"exact": True, "no-store": True}).reason == "exact_wanted"
    assert ask(QUESTION, cache={"exact": True}).reason == "exact"


def test_and_never_looser(ask):
    """X13: whatever a caller says, in controls, body or metadata."""
    ask(QUESTION)
    unlike = "How high is the highest mountain of Europe?"
    loose = {"similarity_threshold": 0.1, "min-similarity": 0, "min-confidence": 0, "exact": False}
    body = {**loose, "metadata": loose, "cache_key": ask(QUESTION).headers["x-litellm-cache-key"]}
    assert not ask(unlike, cache=loose).hit
    assert not ask(unlike, body=body).hit


@pytest.fixture(scope="module")
def quiet(tmp_path_factory, upstream):
    """A proxy that caches only what asks for it, for a second at most."""
    settings = {"location": ":memory:", "mode": "default_off", "ttl": 2}
    folder = tmp_path_factory.mktemp("quiet")
    with LiteLLMProxy(folder, upstream.url, semcache=settings) as running:
        yield running


def test_where_caching_is_off_by_default_a_call_asks_for_it(quiet, upstream):
    ask = Asker(quiet, upstream)
    assert [ask(QUESTION).calls for _ in range(2)] == [1, 1]
    wanted = {"use-cache": True}
    assert [ask(QUESTION, cache=wanted).calls for _ in range(2)] == [1, 0]


def test_a_caller_cannot_keep_an_answer_longer_than_the_proxy_does(quiet, upstream):
    ask = Asker(quiet, upstream)
    wanted = {"use-cache": True, "ttl": 10**9}
    ask("How long is this kept?", cache=wanted)
    assert ask("How long is this kept?", cache=wanted).hit
    time.sleep(2.1)
    assert not ask("How long is this kept?", cache=wanted).hit
