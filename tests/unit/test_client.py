"""The two clients beyond lookup and store: keys that hold still, and input that makes no sense."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from langchain_semcache import (
    AsyncSemcache,
    ConfigurationError,
    Reason,
    Request,
    Response,
    Semcache,
)
from langchain_semcache.testing.cache_machine import TEXTS, TableEncoder

ANSWER = Response.from_text("an answer")


@pytest.fixture
def cache():
    with Semcache.open(":memory:", encoder=TableEncoder(), strict=True) as opened:
        yield opened


def a_request(**fields: object) -> Request:
    return Request(**({"messages": TEXTS[0], "model": "m"} | fields))


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_the_key_is_made_before_the_call_that_may_change_the_request(cache, colour):
    """A client that strips a schema on its way must not store under another request's key."""
    schema = {"type": "json_schema", "strict": True}
    messages = [{"role": "user", "content": TEXTS[0]}]
    changing = a_request(messages=messages, parameters={"response_format": schema})

    def spoil() -> Response:
        del schema["strict"]
        messages.append({"role": "assistant", "content": "…"})
        return ANSWER

    async def spoil_later() -> Response:
        return spoil()

    if colour == "sync":
        cache.get_or_call(changing, spoil)
    else:
        asyncio.run(AsyncSemcache(cache.core).get_or_call(changing, spoil_later))

    def asked(**response_format: object) -> Request:
        return a_request(parameters={"response_format": response_format})

    assert cache.lookup(asked(type="json_schema", strict=True)).reason is Reason.EXACT
    assert not cache.lookup(asked(type="json_schema")).hit


@pytest.mark.parametrize(
    "fields",
    [{"messages": 5}, {"messages": None}, {"tenant": 7}, {"model": None}, {"parameters": ["x"]}],
)
def test_what_is_no_request_is_one_clear_error(cache, fields):
    (name,) = fields
    for ask in (cache.lookup, cache.explain, lambda request: cache.store(request, ANSWER)):
        with pytest.raises(ConfigurationError, match=f"^{name} of a request must be"):
            ask(a_request(**fields))


def test_a_single_text_is_not_taken_for_a_list_of_labels(cache):
    with pytest.raises(ConfigurationError, match="tags must be a list of labels"):
        cache.store(a_request(), ANSWER, tags="kb")
    with pytest.raises(ConfigurationError, match="tags must be a list of labels"):
        cache.invalidate(tags="kb")


def test_another_namespace_is_reached_by_its_name(cache):
    cache.store(a_request(), ANSWER)
    cache.store(a_request(namespace="other"), ANSWER)
    assert cache.stats().entries == 1
    assert cache.invalidate(namespace="other", dry_run=True) == 1
    assert cache.invalidate(namespace="other") == 1
    assert cache.lookup(a_request()).hit
    assert not cache.lookup(a_request(namespace="other")).hit


def test_an_invalidation_that_names_nothing_does_nothing(cache):
    cache.store(a_request(), ANSWER)
    assert cache.invalidate() == 0
    assert cache.invalidate(dry_run=True) == 0
    assert cache.stats().entries == 1


def test_an_age_may_be_given_in_seconds(cache):
    cache.store(a_request(), ANSWER)
    assert cache.invalidate(older_than=3600) == 0
    assert cache.invalidate(older_than=timedelta(hours=1)) == 0
    with pytest.raises(ConfigurationError, match=r"^older_than must not be negative"):
        cache.invalidate(older_than=-5)


def test_names_may_be_written_in_any_unicode_form():
    composed, decomposed = "Caf\u00e9", "Cafe\u0301"
    with Semcache.open(":memory:", encoder=TableEncoder(), namespace=decomposed) as cache:
        cache.store(a_request(model=decomposed), ANSWER)
        assert cache.lookup(a_request(model=composed)).hit
        assert cache.stats().entries == 1
        assert cache.invalidate(model=decomposed, dry_run=True) == 1
        assert cache.invalidate(namespace=composed, dry_run=True) == 1
        assert cache.clear() == 1
