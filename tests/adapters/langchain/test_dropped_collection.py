"""A collection that somebody else drops while it is in use."""

from __future__ import annotations

import pytest

from langchain_semcache import SemanticCache
from langchain_semcache.clock import ManualClock
from langchain_semcache.testing.fakes import ScriptedEncoder
from tests.adapters.langchain.models import ScriptedModel
from tests.services.qdrant_http import QdrantService

pytestmark = pytest.mark.services


@pytest.fixture
def setup():
    clock = ManualClock()
    with QdrantService() as service:
        cache = SemanticCache(service.url, encoder=ScriptedEncoder(), clock=clock)
        yield service, clock, ScriptedModel(cache=cache)
        cache.close()


def test_clearing_it_makes_a_usable_one(setup):
    """X09: clear on a missing collection is harmless, and the cache works right after."""
    service, clock, model = setup
    model.invoke("q")
    service.call("DELETE", "/collections/semcache", b"", None)
    model.cache.clear()
    clock.advance(5)
    model.invoke("q")
    model.invoke("q")
    assert model.calls == 2


def test_hits_come_back_without_a_restart(setup):
    """B39: the calls meanwhile go to the model."""
    service, clock, model = setup
    model.invoke("q")
    service.call("DELETE", "/collections/semcache", b"", None)
    for _ in range(6):
        model.invoke("q")
        clock.advance(5)
    calls = model.calls
    model.invoke("q")
    assert model.calls == calls
