"""A cache whose similarities are scripted, models that count their calls, and what was logged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.globals import set_llm_cache

from langchain_semcache import SemanticCache
from langchain_semcache.clock import ManualClock
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.testing.fakes import ScriptedEncoder
from tests.adapters.langchain.models import OpenAIStub, ScriptedModel, StreamingModel

QUESTION = "What is the capital of France?"
PARAPHRASE = "Tell me the capital of France"
SCRIPT = {QUESTION: 1.0, PARAPHRASE: 0.99}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def encoder() -> ScriptedEncoder:
    """`QUESTION` and `PARAPHRASE` are alike; every other text is unlike all others."""
    return ScriptedEncoder(SCRIPT)


@pytest.fixture
def index(encoder: ScriptedEncoder) -> MemoryIndex:
    return MemoryIndex(encoder.dimension)


@pytest.fixture
def make_cache(
    encoder: ScriptedEncoder, index: MemoryIndex, clock: ManualClock
) -> Iterator[Callable[..., SemanticCache]]:
    """Caches over one index, closed at the end."""
    made: list[SemanticCache] = []

    def make(location: Any = ":memory:", **settings: Any) -> SemanticCache:
        defaults: dict[str, Any] = {
            "encoder": encoder,
            "clock": clock,
            "similarity_threshold": 0.95,
        }
        if location == ":memory:":
            defaults["index"] = index
        made.append(SemanticCache(location, **(defaults | settings)))
        return made[-1]

    yield make
    for cache in made:
        cache.close()


@pytest.fixture
def cache(make_cache: Callable[..., SemanticCache]) -> SemanticCache:
    """The cache that LangChain uses in this test."""
    cache = make_cache()
    set_llm_cache(cache)
    return cache


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def streaming() -> StreamingModel:
    return StreamingModel()


@pytest.fixture
def openai() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        yield stub


@pytest.fixture
def warnings_of(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What our own logger has said at WARNING or above."""
    caplog.set_level(logging.DEBUG)

    def said() -> list[str]:
        return [
            record.getMessage()
            for record in caplog.records
            if record.name.startswith("langchain_semcache") and record.levelno >= logging.WARNING
        ]

    return said
