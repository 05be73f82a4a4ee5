"""The commands on a Qdrant server: looking at it must not make a collection either."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from langchain_semcache import Request, Response, Semcache, SemcacheConfig
from tests.services.qdrant_http import QdrantService

pytestmark = pytest.mark.services


@pytest.fixture
def service() -> Iterator[QdrantService]:
    with QdrantService() as running:
        yield running


@pytest.mark.parametrize("command", [("stats",), ("show",), ("explain", "Why?"), ("clear", "-y")])
def test_looking_at_an_empty_server_makes_no_collection(semcache, service, command) -> None:
    asked = semcache(*command, "--location", service.url, "--encoder", "hash")
    assert asked.exit_code == 2
    assert len(asked.stderr.splitlines()) == 1
    assert "no collection 'semcache'" in asked.stderr
    assert semcache("stats", "--location", service.url, "--encoder", "hash").exit_code == 2


def test_a_cache_on_a_server_can_be_looked_at_while_it_is_in_use(semcache, service) -> None:
    here = ("--location", service.url, "--encoder", "hash")
    with Semcache.open(SemcacheConfig(location=service.url, encoder="hash")) as cache:
        cache.store(Request(messages="Why?"), Response.from_text("Because."))
        assert json.loads(semcache("stats", *here, "--json").stdout)["entries"] == 1
        assert json.loads(semcache("show", *here, "--json").stdout)[0]["answer"] == "Because."
        assert json.loads(semcache("explain", "Why?", *here, "--json").stdout)["hit"]
        assert semcache("clear", *here, "--yes").stdout == "1 entry removed.\n"


def test_the_doctor_visits_a_server_and_leaves_it_as_it_was(semcache, service) -> None:
    here = ("--location", service.url, "--encoder", "hash")
    found = json.loads(semcache("doctor", *here, "--json").stdout)["checks"]
    (place,) = (check for check in found if check["what"].startswith("place"))
    assert place["good"] is True
    assert "made when first used" in place["detail"]
    assert semcache("stats", *here).exit_code == 2
