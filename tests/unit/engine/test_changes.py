"""What was reported as changed, and for how long that is remembered."""

from __future__ import annotations

import pytest

from langchain_semcache.clock import ManualClock
from langchain_semcache.engine import changes
from langchain_semcache.engine.changes import SourceChanges

OLD, NEW = [("faq.md", "old")], [("faq.md", "new")]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def note(noted: SourceChanges, *current: str, tenant: str | None = None, **where: str) -> None:
    source, namespace = where.get("source", "faq.md"), where.get("namespace", "n")
    noted.note(source, current, namespace=namespace, tenant=tenant)


def outdated(noted: SourceChanges, sources, tenant: str = "t", namespace: str = "n"):
    return noted.outdated(sources, namespace=namespace, tenant=tenant)


def test_other_content_is_outdated_and_the_new_is_not(clock) -> None:
    noted = SourceChanges(clock)
    assert outdated(noted, OLD) is None
    note(noted, "new")
    assert outdated(noted, OLD) == "faq.md"
    assert outdated(noted, NEW) is None
    assert outdated(noted, [*NEW, *OLD]) == "faq.md"
    assert outdated(noted, [("terms.md", "old")]) is None
    note(noted, "old")
    assert outdated(noted, OLD) is None


def test_of_a_source_that_is_gone_everything_is(clock) -> None:
    noted = SourceChanges(clock)
    note(noted)
    assert outdated(noted, NEW) == "faq.md"


def test_a_change_concerns_its_tenant_and_its_namespace(clock) -> None:
    noted = SourceChanges(clock)
    note(noted, "new", tenant="t")
    assert outdated(noted, OLD) == "faq.md"
    assert outdated(noted, OLD, tenant="other") is None
    assert outdated(noted, OLD, namespace="other") is None


def test_what_was_said_last_of_a_source_counts(clock) -> None:
    noted = SourceChanges(clock)
    note(noted, "mine", tenant="t")
    clock.advance(5)
    note(noted, "new")
    assert outdated(noted, NEW) is None
    assert outdated(noted, [("faq.md", "mine")]) == "faq.md"
    clock.advance(5)
    note(noted, "mine", tenant="t")
    assert outdated(noted, [("faq.md", "mine")]) is None
    assert outdated(noted, NEW) == "faq.md"
    assert outdated(noted, NEW, tenant="other") is None


def test_it_is_forgotten_when_no_call_can_be_under_way(clock) -> None:
    noted = SourceChanges(clock)
    note(noted, "new")
    clock.advance(changes.UNDER_WAY_SECONDS - 1)
    assert outdated(noted, OLD) == "faq.md"
    clock.advance(1)
    assert outdated(noted, OLD) is None


def test_the_oldest_is_forgotten_of_too_many(clock, monkeypatch) -> None:
    monkeypatch.setattr(changes, "REMEMBERED", 2)
    noted = SourceChanges(clock)
    for source in ("a", "b", "a", "c"):
        note(noted, "new", source=source)
    assert outdated(noted, [("b", "old")]) is None
    assert outdated(noted, [("a", "old")]) == "a"
    assert outdated(noted, [("c", "old")]) == "c"
