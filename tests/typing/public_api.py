"""What a type checker must conclude about the public API. Checked by mypy, never run."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import assert_type

from langchain_core.caches import BaseCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListChatModel

from langchain_semcache import (
    AsyncSemcache,
    ConfigurationError,
    Decision,
    MissingExtra,
    Reason,
    Request,
    Response,
    SemanticCache,
    Semcache,
    SemcacheConfig,
    SemcacheError,
    Stats,
    StoreResult,
    VerifierUnavailable,
    content_hash,
    resting_on,
)
from langchain_semcache.ports import Evaluator, Verifier
from langchain_semcache.records import JSON
from langchain_semcache.threshold import Summary
from langchain_semcache.verifiers.judge import LLMJudge
from langchain_semcache.verifiers.self_evaluation import SelfEvaluation

request = Request(
    messages=[{"role": "user", "content": "How do I reset my password?"}],
    model="gpt-4o-mini",
    parameters={"temperature": 0.2},
    tenant="acme",
)
answer = Response.from_text("Open the settings.")


def the_blocking_cache() -> None:
    with Semcache.open(":memory:") as cache:
        assert_type(cache, Semcache)
        decision = cache.lookup(request)
        assert_type(decision, Decision)
        assert_type(decision.hit, bool)
        assert_type(decision.reason, Reason)
        assert_type(decision.response, Response | None)
        assert_type(decision.similarity, float | None)
        assert_type(decision.age, timedelta | None)
        assert_type(cache.store(request, answer, ttl=timedelta(hours=1)), StoreResult)
        assert_type(cache.explain(request), Decision)
        assert_type(cache.get_or_call(request, lambda: answer), Decision)
        assert_type(cache.report("an id", wrong=True), bool)
        assert_type(cache.invalidate(tags=("kb",), dry_run=True), int)
        assert_type(cache.source_changed("faq.md", content_hash("new")), int)
        assert_type(cache.source_changed("faq.md", None, tenant="acme", dry_run=True), int)
        cache.store(request, answer, sources=[("faq.md", "1"), ("faq.md", "2")])
        with resting_on({"faq.md": "1"}, tags=["kb"]):
            assert_type(cache.stats(), Stats)


async def the_async_cache() -> None:
    async with await AsyncSemcache.open(":memory:") as cache:
        assert_type(cache, AsyncSemcache)
        assert_type(await cache.lookup(request), Decision)
        assert_type(await cache.store(request, answer, tags=("kb",)), StoreResult)
        assert_type(await cache.explain(request), Decision)
        assert_type(await cache.report("an id", wrong=True), bool)
        assert_type(await cache.invalidate(tenant="acme", prompt="support@3"), int)
        assert_type(await cache.source_changed("faq.md", ["a", "b"]), int)
        assert_type(await cache.stats(), Stats)


def the_settings() -> None:
    config = SemcacheConfig.from_file("semcache.toml")
    assert_type(config, SemcacheConfig)
    assert_type(Semcache.open(config), Semcache)


class Opinion:
    identity = "opinion"

    def judge(self, question: str, stored: Sequence[str]) -> Sequence[float]:
        return [float(question == text) for text in stored]


def the_second_opinion() -> None:
    verifier: Verifier = Opinion()
    with Semcache.open(":memory:", verifier=verifier, max_error_rate=0.01) as cache:
        assert_type(cache.stats().verifier, str)
        assert_type(cache.stats().budget, Summary | None)
        assert_type(cache.lookup(request).confidence, float | None)
    SemanticCache(":memory:", verifier=LLMJudge(lambda prompt: "yes", model="judge-1"))
    SemanticCache(":memory:", verifier="cross-encoder:a/model")


class Rating:
    identity = "rating"

    def score(self, conversation: Sequence[tuple[str, str]], answer: str) -> int | None:
        return 5 if answer else None


def the_rating() -> None:
    evaluator: Evaluator = Rating()
    with Semcache.open(":memory:", evaluator=evaluator) as cache:
        assert_type(cache.stats().evaluated, Mapping[str, int])
    SemanticCache(":memory:", evaluator=SelfEvaluation(lambda prompt: "5", model="rater-1"))
    SemanticCache(":memory:", evaluator=FakeListChatModel(responses=["5"]))
    assert_type(Response.from_text("a", logprobs={"content": []}).logprobs, tuple[JSON, ...])


def the_langchain_door() -> None:
    cache: BaseCache = SemanticCache()
    set_llm_cache(cache)


def the_errors() -> None:
    root: type[SemcacheError] = MissingExtra
    usual: type[ValueError] = ConfigurationError
    failed: type[SemcacheError] = VerifierUnavailable
    del root, usual, failed
