"""Answers that their model was not sure of, through LangChain: real models over real HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.globals import set_llm_cache
from langchain_core.messages import HumanMessage
from langchain_core.outputs import Generation
from langchain_openai import ChatOpenAI

from langchain_semcache import ConfigurationError, SemanticCache
from langchain_semcache.clock import ManualClock
from langchain_semcache.eviction import Assessment
from langchain_semcache.langchain import cached_streams
from langchain_semcache.langchain.generations import to_response
from langchain_semcache.langchain.middleware import SemanticCacheMiddleware
from langchain_semcache.records import Entry
from langchain_semcache.verifiers.self_evaluation import prompt_for
from tests.adapters.langchain.conftest import QUESTION
from tests.services.openai_api import OpenAIService, Reply

SURE, TORN = (0.98, 0.01, 0.005, 0.005), (0.1,) * 10
HOUR = 3600.0
ANSWER = "It is Lyon."
PROMPT = prompt_for([("user", QUESTION)], ANSWER)
WAYS = ["invoke", "ainvoke", "stream", "astream", "agent"]


@pytest.fixture
def upstream() -> Iterator[OpenAIService]:
    with OpenAIService() as service:
        yield service


def model_at(upstream: OpenAIService, **fields: Any) -> ChatOpenAI:
    return ChatOpenAI(
        model="gpt-4o", base_url=upstream.url, api_key="sk-1", max_retries=0, **fields
    )


def doubting(make_cache: Callable[..., SemanticCache], **settings: Any) -> SemanticCache:
    section = {"enabled": True, "share": 1, "doubtful_share": 1} | settings.pop("section", {})
    cache = make_cache(ttl=HOUR, confidence_eviction=section, **settings)
    set_llm_cache(cache)
    return cache


async def ask(cache: SemanticCache, model: ChatOpenAI, way: str) -> str:
    """One question, however it is asked; the text of the reply."""
    match way:
        case "invoke":
            return str(model.invoke(QUESTION).text)
        case "ainvoke":
            return str((await model.ainvoke(QUESTION)).text)
        case "stream":
            return "".join(
                str(chunk.text) for chunk in cached_streams(model, cache).stream(QUESTION)
            )
        case "astream":
            chunks = [chunk async for chunk in cached_streams(model, cache).astream(QUESTION)]
            return "".join(str(chunk.text) for chunk in chunks)
    set_llm_cache(None)
    agent = create_agent(model, [], middleware=[SemanticCacheMiddleware(cache)])
    done = agent.invoke({"messages": [HumanMessage(QUESTION)]})
    return str(done["messages"][-1].text)


def only(cache: SemanticCache) -> Entry:
    (entry,) = cache.semcache.entries()
    return entry


def settled(cache: SemanticCache) -> None:
    evaluations = cache.semcache.core.policy.evaluations
    assert evaluations is not None
    assert evaluations.settle(30)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("tops", "factor"), [(SURE, 1.0), (TORN, 0.5), ((), 1.0)])
async def test_doubtful_answers_live_shorter_however_they_are_asked_for(
    make_cache: Callable[..., SemanticCache],
    upstream: OpenAIService,
    way: str,
    tops: tuple[float, ...],
    factor: float,
) -> None:
    cache = doubting(make_cache)
    upstream.says[QUESTION] = Reply(ANSWER, tops=tops)
    model = model_at(upstream, logprobs=True, top_logprobs=10)
    assert await ask(cache, model, way) == ANSWER
    entry = only(cache)
    assert entry.expires_at is not None
    assert entry.expires_at - entry.created_at == HOUR * factor
    known = Assessment.from_json(entry.assessment)
    assert (known.signals.entropy is None) is not tops
    assert await ask(cache, model, way) == ANSWER
    assert upstream.calls == 1


@pytest.mark.parametrize("way", WAYS)
async def test_an_answer_that_its_model_takes_back_is_asked_for_again(
    make_cache: Callable[..., SemanticCache], upstream: OpenAIService, way: str
) -> None:
    """The rating goes past the cache that LangChain uses, and leaves nothing in it."""
    cache = doubting(make_cache, evaluator=model_at(upstream))
    upstream.says[QUESTION] = Reply(ANSWER, tops=TORN)
    upstream.says[PROMPT] = Reply("1")
    model = model_at(upstream, logprobs=True, top_logprobs=10)
    await ask(cache, model, way)
    settled(cache)
    assert upstream.bodies[-1]["messages"][-1]["content"] == PROMPT
    assert list(cache.semcache.entries()) == []
    assert cache.semcache.stats().evaluated == {"removed": 1}
    upstream.says[QUESTION] = Reply("It is Paris.", tops=SURE)
    assert await ask(cache, model, way) == "It is Paris."


async def test_an_answer_that_was_taken_back_is_not_let_in_again(
    make_cache: Callable[..., SemanticCache], upstream: OpenAIService
) -> None:
    cache = doubting(make_cache, evaluator=model_at(upstream).bind(temperature=0))
    upstream.says[QUESTION] = Reply(ANSWER, tops=TORN)
    upstream.says[PROMPT] = Reply("2")
    model = model_at(upstream, logprobs=True, top_logprobs=10)
    for _ in range(2):
        model.invoke(QUESTION)
        settled(cache)
    assert upstream.calls == 3
    assert cache.semcache.stats().stores_by_reason["unsure_reply"] == 1


def test_a_rating_is_kept_with_its_answer(
    make_cache: Callable[..., SemanticCache], upstream: OpenAIService, clock: ManualClock
) -> None:
    cache = doubting(make_cache, evaluator=model_at(upstream))
    upstream.says[QUESTION] = Reply(ANSWER)
    upstream.says[PROMPT] = Reply("3")
    model = model_at(upstream)
    model.invoke(QUESTION)
    settled(cache)
    assert Assessment.from_json(only(cache).assessment).score == 3
    clock.advance(HOUR / 2)
    model.invoke(QUESTION)
    assert upstream.calls == 3


def test_the_probabilities_of_a_completion_model_are_read(
    make_cache: Callable[..., SemanticCache],
) -> None:
    told = {"tokens": ["a"], "token_logprobs": [-3.0], "top_logprobs": [{"a": -3.0, "b": -3.0}]}
    said = Generation(text="a", generation_info={"finish_reason": "stop", "logprobs": told})
    assert to_response([said]).logprobs == (told,)
    cache = doubting(make_cache)
    cache.update("p", "[('_type', 'openai'), ('stop', None)]", [said])
    assert Assessment.from_json(only(cache).assessment).signals.entropy is not None


def test_what_is_no_model_is_an_error(make_cache: Callable[..., SemanticCache]) -> None:
    with pytest.raises(ConfigurationError, match="evaluator must be a model"):
        doubting(make_cache, evaluator="gpt-4o")


def test_an_open_cache_has_its_evaluator_already(
    make_cache: Callable[..., SemanticCache], upstream: OpenAIService
) -> None:
    with pytest.raises(ConfigurationError, match="give it alone"):
        make_cache(doubting(make_cache).semcache, evaluator=model_at(upstream))
