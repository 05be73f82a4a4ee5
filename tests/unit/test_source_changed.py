"""`source_changed` and `invalidate(prompt=…)`, in both colours, with what they emit."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langchain_semcache import (
    AsyncSemcache,
    ConfigurationError,
    Reason,
    Request,
    Response,
    Semcache,
)
from langchain_semcache.clock import ManualClock
from langchain_semcache.events import EntriesRemoved, Event, StoreSkipped
from langchain_semcache.records import Removal

ANSWER = Response.from_text("An answer.")


class Seen(list[Event]):
    def emit(self, event: Event) -> None:
        self.append(event)


@pytest.fixture(params=["sync", "async"])
def cache(request: Any) -> Any:
    """Four answers, and a way to call either colour."""
    with Semcache.open(":memory:", encoder="hash", clock=ManualClock(), sinks=[Seen()]) as opened:
        for number, (tenant, digest) in enumerate(
            [("", "old"), ("", "new"), ("acme", "old"), ("acme", "new")]
        ):
            opened.store(
                Request(messages=f"Question {number}?", tenant=tenant),
                ANSWER,
                sources=[("faq.md", digest), ("faq.md", "common")]
                if number < 2
                else {"faq.md": digest, "terms.md": "1"},
                tags=("prompt:a", f"prompt:a@{number}"),
            )

        def call(name: str, *given: Any, **named: Any) -> Any:
            if request.param == "sync":
                return getattr(opened, name)(*given, **named)
            return asyncio.run(getattr(AsyncSemcache(opened.core), name)(*given, **named))

        call.opened = opened  # type: ignore[attr-defined]
        yield call


def test_exactly_what_was_made_of_other_content_goes(cache: Any) -> None:
    hashes = ["new", "common"]
    assert cache("source_changed", "faq.md", hashes, dry_run=True) == 2
    assert cache("source_changed", "faq.md", "new", dry_run=True) == 3
    assert cache("source_changed", "faq.md", hashes, tenant="acme") == 1
    assert cache("source_changed", "faq.md", hashes) == 1
    assert cache("source_changed", "faq.md", hashes) == 0
    assert cache("source_changed", "faq.md", None, namespace="elsewhere") == 0
    assert cache("source_changed", "terms.md", None) == 1
    assert cache("stats").entries == 1


def test_by_prompt(cache: Any) -> None:
    assert cache("invalidate", prompt="a@1", dry_run=True) == 1
    assert cache("invalidate", prompt="a@1", tenant="acme") == 0
    assert cache("invalidate", prompt="a", tenant="acme") == 2
    assert cache("invalidate", prompt="") == 0
    assert cache("invalidate", prompt="a", tags=["prompt:a@0"]) == 1


def test_the_event_says_why(cache: Any) -> None:
    cache("source_changed", "faq.md", "new", dry_run=True)
    cache("source_changed", "faq.md", ["new", "common"])
    cache("invalidate", prompt="a@1")
    cache("clear")
    seen = [event for event in _events(cache) if isinstance(event, EntriesRemoved)]
    assert seen == [
        EntriesRemoved(2, Removal.SOURCE_CHANGED),
        EntriesRemoved(1, Removal.INVALIDATED),
        EntriesRemoved(1, Removal.CLEARED),
    ]


def _events(cache: Any) -> list[Event]:
    (sink,) = (one for one in cache.opened.core.sink._sinks if isinstance(one, Seen))
    return list(sink)


@pytest.mark.parametrize("tenant", ["", "acme"])
def test_what_comes_late_is_not_kept(cache: Any, tenant: str) -> None:
    """Nor is it when the change is reported for its tenant only; a dry run reports nothing."""
    late = Request(messages="Late?", tenant="acme")
    cache("source_changed", "faq.md", "new", tenant=tenant or None, dry_run=True)
    assert cache("store", late, ANSWER, sources={"faq.md": "old"}).stored
    cache("source_changed", "faq.md", "new", tenant=tenant or None)
    result = cache("store", late, ANSWER, sources={"faq.md": "old"})
    assert (result.stored, result.reason) == (False, Reason.SOURCE_CHANGED)
    assert not cache("lookup", late).hit
    assert any(isinstance(event, StoreSkipped) for event in _events(cache))
    assert cache("store", late, ANSWER, sources={"faq.md": "new"}).stored
    assert cache("store", late, ANSWER, sources={"other.md": "old"}).stored


def test_a_change_that_is_reported_in_the_middle_of_a_store_ends_it(cache: Any) -> None:
    """Between the first look and the moment at which the entry is written."""
    index = cache.opened.core.workplace.index
    put = index.put

    def put_after_the_change(entry: Any, vector: Any) -> None:
        cache.opened.source_changed("faq.md", "new")
        put(entry, vector)

    index.put = put_after_the_change
    late = Request(messages="Late?")
    result = cache("store", late, ANSWER, sources={"faq.md": "old"})
    assert (result.stored, result.reason) == (False, Reason.SOURCE_CHANGED)
    assert not cache("lookup", late).hit


@pytest.mark.parametrize(
    ("source", "new_hash"), [(3, "a"), (None, None), ("faq.md", 3), ("faq.md", ""), ("faq.md", [1])]
)
def test_what_is_no_change_is_said(cache: Any, source: Any, new_hash: Any) -> None:
    with pytest.raises(ConfigurationError):
        cache("source_changed", source, new_hash)
    assert cache("stats").entries == 4
