"""LangChain's own suites for caches, on every kind of store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_tests.integration_tests.cache import AsyncCacheTestSuite, SyncCacheTestSuite

from langchain_semcache import SemanticCache
from langchain_semcache.testing.fakes import ScriptedEncoder
from tests.services.qdrant_http import QdrantService

STRICT: dict[str, Any] = {"strict": True, "deadline_seconds": 60.0}
"""What fails is raised; a server on a busy machine is given time."""


@pytest.fixture(params=["memory", "edge", pytest.param("server", marks=pytest.mark.services)])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where the cache keeps its entries."""
    if request.param != "server":
        yield ":memory:" if request.param == "memory" else str(tmp_path / "store")
        return
    with QdrantService() as service:
        yield service.url


class TestBlocking(SyncCacheTestSuite):
    @pytest.fixture
    def cache(self, location: str) -> Iterator[Any]:
        cache = SemanticCache(location, encoder=ScriptedEncoder(), **STRICT)
        yield cache
        cache.close()


class TestAsync(AsyncCacheTestSuite):
    @pytest.fixture
    async def cache(self, location: str) -> AsyncIterator[Any]:
        cache = SemanticCache(location, encoder=ScriptedEncoder(), **STRICT)
        yield cache
        cache.close()
