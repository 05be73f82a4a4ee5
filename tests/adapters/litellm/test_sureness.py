"""Answers that their model was not sure of, through LiteLLM: in a program and on a real proxy."""

from __future__ import annotations

import asyncio
import time

import pytest

import litellm_hooks
from langchain_semcache import ConfigurationError
from langchain_semcache.eviction import Assessment
from langchain_semcache.verifiers.self_evaluation import prompt_for
from tests.adapters.litellm.conftest import Asker
from tests.services.litellm_proxy import LiteLLMProxy
from tests.services.openai_api import Reply

litellm = pytest.importorskip("litellm", reason="needs the extra litellm")

SURE, TORN = (0.98, 0.01, 0.005, 0.005), (0.1,) * 10
HOUR = 3600.0
SECTION = {"enabled": True, "share": 1, "doubtful_share": 1}
WORDS = iter("amber birch coral delta ember fjord grove heath inlet jetty knoll lagoon".split())


@pytest.fixture
def question():
    """One that no other test asks: the provider is shared."""
    return f"What is the capital of the kingdom of {next(WORDS).title()}?"


@pytest.fixture
def install(upstream):
    def make(**options):
        backend = litellm_hooks.install(
            ":memory:", strict=True, ttl=HOUR, confidence_eviction=SECTION, **options
        )
        return backend.semcache

    yield make
    litellm_hooks.uninstall()


def ask(upstream, question, *, way, api="chat", **options):
    options = {"model": "openai/gpt-4o", "api_key": "sk-1", "api_base": upstream.url} | options
    if api == "responses":
        options["input"] = question
        reply = (
            litellm.responses(**options)
            if way == "sync"
            else asyncio.run(_kept(litellm.aresponses(**options)))
        )
        return reply.output_text
    options["messages"] = [{"role": "user", "content": question}]
    options |= {"logprobs": True, "top_logprobs": 10}
    reply = (
        litellm.completion(**options)
        if way == "sync"
        else asyncio.run(_kept(litellm.acompletion(**options)))
    )
    return reply.choices[0].message.content


async def _kept(call):
    """LiteLLM stores behind its caller's back; a loop that ended would store nothing."""
    reply = await call
    await asyncio.sleep(0.2)
    return reply


def only(cache):
    (entry,) = cache.entries()
    return entry, Assessment.from_json(entry.assessment)


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(("tops", "factor"), [(SURE, 1.0), (TORN, 0.5)])
def test_doubtful_answers_live_shorter(install, upstream, question, way, api, tops, factor):
    cache = install()
    upstream.says[question] = Reply("It is Lyon.", tops=tops)
    before = upstream.calls
    for _ in range(2):
        assert ask(upstream, question, way=way, api=api) == "It is Lyon."
    assert upstream.calls == before + 1
    entry, known = only(cache)
    assert entry.expires_at - entry.created_at == HOUR * factor
    assert known.signals.entropy is not None


@pytest.mark.parametrize("way", ["sync", "async"])
def test_an_answer_that_its_model_takes_back_is_asked_for_again(
    install, upstream, question, way, monkeypatch
):
    monkeypatch.setattr(litellm, "api_key", "sk-1")
    monkeypatch.setattr(litellm, "api_base", upstream.url)
    cache = install(evaluator="openai/gpt-4o-mini")
    evaluations = cache.core.policy.evaluations
    upstream.says[question] = Reply("It is Lyon.", tops=TORN)
    upstream.says[prompt_for([("user", question)], "It is Lyon.")] = Reply("1")
    assert ask(upstream, question, way=way) == "It is Lyon."
    assert evaluations.settle(30)
    asked = upstream.bodies[-1]
    assert (asked["model"], asked["temperature"]) == ("gpt-4o-mini", 0)
    assert list(cache.entries()) == []
    assert cache.stats().evaluated == {"removed": 1}
    assert cache.stats().stores_by_reason == {"stored": 1}
    upstream.says[question] = Reply("It is Paris.", tops=SURE)
    upstream.says[prompt_for([("user", question)], "It is Paris.")] = Reply("5")
    assert ask(upstream, question, way=way) == "It is Paris."
    assert evaluations.settle(30)
    assert cache.stats().evaluated == {"removed": 1, "kept": 1}


def test_what_is_no_model_is_an_error(install):
    with pytest.raises(ConfigurationError, match="evaluator must be a model's name"):
        install(evaluator=4)


def test_on_a_proxy_the_model_is_one_of_its_config(tmp_path, upstream, question):
    """Asked with the credentials that the config has for it, and past the proxy's own cache."""
    semcache = {
        "location": "cache",
        "evaluator": "gpt-4o-mini",
        "confidence_eviction": SECTION,
        "ttl": HOUR,
    }
    with LiteLLMProxy(tmp_path / "proxy", upstream.url, semcache=semcache) as proxy:
        asker = Asker(proxy, upstream)
        upstream.says[question] = Reply("It is Lyon.", tops=TORN)
        upstream.says[prompt_for([("user", question)], "It is Lyon.")] = Reply("1")
        asker(question, logprobs=True, top_logprobs=10)
        until = time.monotonic() + 30
        while (told := proxy.ask("/semcache/stats")[1])["evaluated"] != {"removed": 1}:
            assert time.monotonic() < until, told
            time.sleep(0.05)
        assert told["entries"] == 0
        upstream.says[question] = Reply("It is Paris.", tops=SURE)
        upstream.says[prompt_for([("user", question)], "It is Paris.")] = Reply("5")
        again = asker(question, logprobs=True, top_logprobs=10)
        # Of the calls that were counted meanwhile one may be the evaluator's.
        assert (again.text, again.hit) == ("It is Paris.", False)
        assert asker(question, logprobs=True, top_logprobs=10).hit
