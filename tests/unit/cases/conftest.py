"""One cache with the default encoder; each pair of requests has a tenant of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from langchain_semcache import Decision, Request, Response, Semcache

_numbers = itertools.count()


@pytest.fixture(scope="package")
def cache() -> Iterator[Semcache]:
    with Semcache.open(":memory:", strict=True) as cache:
        yield cache


@pytest.fixture
def after(cache: Semcache) -> Callable[..., Decision]:
    """What becomes of a request after another one was answered; no others are seen."""

    def decided(stored: object, asked: object) -> Decision:
        tenant = f"pair-{next(_numbers)}"
        first = Request(messages=stored, model="m", tenant=tenant)  # type: ignore[arg-type]
        assert cache.store(first, Response.from_text("The first answer.")).stored
        assert cache.lookup(first).hit, "an identical request is always answered"
        return cache.lookup(Request(messages=asked, model="m", tenant=tenant))  # type: ignore[arg-type]

    return decided
