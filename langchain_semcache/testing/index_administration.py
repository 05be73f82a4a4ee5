"""What an `EntryIndex` promises whoever looks after it: removal, size, description, closing."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from langchain_semcache.ports import (
    EntryIndex,
    SupportsAmend,
    SupportsClose,
    SupportsDescribe,
    SupportsRewrite,
    SupportsTrim,
)
from langchain_semcache.records import Selection
from langchain_semcache.testing.index_values import NOW, IndexSuite, make_entry


class AdministrationSuite(IndexSuite):
    """Part of `EntryIndexSuite`."""

    # -- remove -------------------------------------------------------------------------------

    SELECTIONS: ClassVar[list[tuple[Selection, set[int]]]] = [
        (Selection(ids=(str(uuid.UUID(int=2)), str(uuid.UUID(int=99)))), {1}),
        (Selection(ids=()), set()),
        (Selection(namespace="space"), {2}),
        (Selection(namespace=""), {0, 1, 3, 4, 5, 6}),
        (Selection(tenant="tenant-b"), {3}),
        (Selection(model="model-b"), {4}),
        (Selection(scope="scope-b"), {5}),
        (Selection(tags=("red",)), {1, 2}),
        (Selection(tags=("red", "blue")), {2}),
        (Selection(tags=("re",)), set()),
        (Selection(source="faq.md"), {3, 4}),
        (Selection(source="faq"), set()),
        (Selection(created_before=NOW + 3), {0, 1, 2}),
        (Selection(expired_at=NOW + 50), {6}),
        (Selection(expired_at=NOW + 49), set()),
        (Selection(tags=("red",), namespace=""), {1}),
        (Selection(tenant="tenant-a", created_before=NOW + 4, tags=("red",)), {1, 2}),
        (Selection(tenant="tenant-b", model="model-b"), set()),
        (Selection(), {0, 1, 2, 3, 4, 5, 6}),
    ]

    def fill(self, index: EntryIndex) -> None:
        """Seven entries that each differ in something a selection can name."""
        changes: list[dict[str, Any]] = [
            {},
            {"tags": ("red",)},
            {"tags": ("blue", "red"), "namespace": "space"},
            {"tenant": "tenant-b", "sources": (("faq.md", "1"),)},
            {"model": "model-b", "sources": (("terms.md", "1"), ("faq.md", "2"))},
            {"scope": "scope-b"},
            {"expires_at": NOW + 50},
        ]
        for number, change in enumerate(changes):
            vector = None if number == 5 else self.near(0, 0.9 - number / 10)
            index.put(make_entry(number, **change), vector)

    @pytest.mark.parametrize(("selection", "numbers"), SELECTIONS)
    def test_remove_takes_exactly_what_matches(
        self, index: EntryIndex, selection: Selection, numbers: set[int]
    ) -> None:
        self.fill(index)
        everything, going = self.left(index), {f"question {n}" for n in numbers}
        assert {entry.question for entry in index.scan(selection)} == going
        assert index.remove(selection, dry_run=True) == len(going)
        assert self.left(index) == everything
        assert index.remove(selection) == len(going)
        assert self.left(index) == everything - going
        assert index.remove(selection) == 0
        assert set(self.find(index, self.axis(0))) == everything - going - {"question 5"}

    SOURCES: ClassVar[list[tuple[tuple[str, str], ...]]] = [
        (),
        (("faq.md", "1"),),
        (("faq.md", "2"),),
        # Another source has the digest that this one is asked for.
        (("faq.md", "2"), ("terms.md", "1")),
        (("terms.md", "2"), ("faq.md", "1")),
        # Two pieces of one file.
        (("faq.md", "1"), ("faq.md", "3")),
        (("faq", "9"), ("faq.md\0", "9"), ("terms.md", "2")),
    ]
    CHANGES: ClassVar[list[tuple[str, tuple[str, ...], set[int]]]] = [
        ("faq.md", ("1",), {2, 3, 5}),
        ("faq.md", ("2",), {1, 4, 5}),
        ("faq.md", ("1", "3"), {2, 3}),
        ("faq.md", ("4", "1", "2", "3"), set()),
        ("faq.md", ("4",), {1, 2, 3, 4, 5}),
        ("faq.md", (), {1, 2, 3, 4, 5}),
        ("faq.md", ("\ud800",), {1, 2, 3, 4, 5}),
        ("terms.md", ("1",), {4, 6}),
        ("terms.md", ("2",), {3}),
        ("faq", ("1",), {6}),
        ("none.md", ("1",), set()),
        ("\ud800", ("1",), set()),
    ]

    @pytest.mark.parametrize(("source", "current", "numbers"), CHANGES)
    def test_a_changed_source_takes_exactly_what_used_other_content_of_it(
        self, index: EntryIndex, source: str, current: tuple[str, ...], numbers: set[int]
    ) -> None:
        for number, sources in enumerate(self.SOURCES):
            index.put(make_entry(number, sources=sources), self.near(0, 0.5))
        selection = Selection(source=source, current=current)
        everything, going = self.left(index), {f"question {n}" for n in numbers}
        assert {entry.question for entry in index.scan(selection)} == going
        assert index.remove(selection, dry_run=True) == len(going)
        assert index.remove(selection) == len(going)
        assert self.left(index) == everything - going
        assert index.remove(selection) == 0

    def test_a_changed_source_is_one_condition_among_others(self, index: EntryIndex) -> None:
        for number, tenant in enumerate(("tenant-a", "tenant-b")):
            entry = make_entry(number, tenant=tenant, sources=(("faq.md", "1"),))
            index.put(entry, self.axis(0))
        selection = Selection(source="faq.md", current=("2",), tenant="tenant-b")
        assert index.remove(selection) == 1
        assert self.left(index) == {"question 0"}

    def test_a_removed_entry_is_gone_and_can_come_back(self, index: EntryIndex) -> None:
        index.put(make_entry(1), self.axis(0))
        index.remove(Selection(ids=(make_entry(1).id,)))
        assert index.fetch(make_entry(1).id, now=NOW) is None
        assert self.find(index, self.axis(0)) == []
        index.put(make_entry(1), self.axis(0))
        assert self.find(index, self.axis(0)) == ["question 1"]

    def test_clearing_an_empty_index_is_harmless(self, index: EntryIndex) -> None:
        assert index.remove(Selection()) == 0
        assert list(index.scan(Selection())) == []

    def test_many_entries_are_scanned_and_removed(self, index: EntryIndex) -> None:
        for number in range(600):
            index.put(make_entry(number, tags=("even",) if number % 2 == 0 else ()), None)
        assert len(list(index.scan(Selection()))) == 600
        assert index.remove(Selection(tags=("even",))) == 300
        assert len({entry.id for entry in index.scan(Selection())}) == 300

    # -- rewrite ------------------------------------------------------------------------------

    def test_a_rewrite_changes_the_payload_and_nothing_else(self, index: EntryIndex) -> None:
        if not isinstance(index, SupportsRewrite):
            pytest.skip("this index rewrites nothing")
        entry = make_entry(1, payload=b"as it was", tags=("red",), created_at=NOW - 1.125)
        index.put(entry, self.axis(0))
        index.put(make_entry(2, payload=b"as it was"), self.axis(1))
        assert index.rewrite(entry.id, expected=b"as it was", payload=b"\x00 as it is")
        assert index.fetch(entry.id, now=NOW) == replace(entry, payload=b"\x00 as it is")
        assert index.fetch(make_entry(2).id, now=NOW) == make_entry(2, payload=b"as it was")
        assert self.find(index, self.axis(0)) == ["question 1", "question 2"]

    def test_a_rewrite_of_what_was_replaced_meanwhile_does_nothing(self, index: EntryIndex) -> None:
        if not isinstance(index, SupportsRewrite):
            pytest.skip("this index rewrites nothing")
        entry = make_entry(1, payload=b"by somebody else")
        index.put(entry, None)
        assert not index.rewrite(entry.id, expected=b"as it was", payload=b"as it is")
        assert index.fetch(entry.id, now=NOW) == entry

    def test_a_rewrite_brings_nothing_back(self, index: EntryIndex) -> None:
        if not isinstance(index, SupportsRewrite):
            pytest.skip("this index rewrites nothing")
        index.put(make_entry(1, payload=b"as it was"), self.axis(0))
        index.remove(Selection(ids=(make_entry(1).id,)))
        assert not index.rewrite(make_entry(1).id, expected=b"as it was", payload=b"as it is")
        assert not index.rewrite(make_entry(2).id, expected=b"", payload=b"as it is")
        assert list(index.scan(Selection())) == []

    # -- amend --------------------------------------------------------------------------------

    @pytest.mark.parametrize("before", [None, NOW + 50])
    @pytest.mark.parametrize("after", [None, NOW + 9.123456789])
    def test_an_amendment_changes_the_end_and_the_assessment_and_nothing_else(
        self, index: EntryIndex, before: float | None, after: float | None
    ) -> None:
        if not isinstance(index, SupportsAmend):
            pytest.skip("this index amends nothing")
        entry = make_entry(1, tags=("red",), created_at=NOW - 1.125, expires_at=before)
        index.put(entry, self.axis(0))
        index.put(make_entry(2), self.axis(1))
        amended = replace(entry, expires_at=after, assessment='{"v":1}')
        told = replace(amended, question="other", tags=(), model="other")
        assert index.amend(told)
        assert index.fetch(entry.id, now=NOW) == amended
        assert index.amend(replace(amended, assessment=""))
        assert index.fetch(entry.id, now=NOW) == replace(amended, assessment="")
        assert index.fetch(make_entry(2).id, now=NOW) == make_entry(2)

    def test_what_is_amended_ends_when_it_says_everywhere(self, index: EntryIndex) -> None:
        if not isinstance(index, SupportsAmend):
            pytest.skip("this index amends nothing")
        short, long = make_entry(1, expires_at=NOW + 50), make_entry(2, expires_at=NOW + 50)
        index.put(short, self.axis(0))
        index.put(long, self.axis(1))
        assert index.amend(replace(short, expires_at=NOW + 10))
        assert index.amend(replace(long, expires_at=NOW + 90))
        assert self.find(index, self.axis(0), now=NOW + 9) == ["question 1", "question 2"]
        assert self.find(index, self.axis(0), now=NOW + 10) == ["question 2"]
        assert index.fetch(short.id, now=NOW + 10) is None
        assert index.fetch(long.id, now=NOW + 89) is not None
        assert index.remove(Selection(expired_at=NOW + 60)) == 1

    def test_an_amendment_of_what_was_replaced_meanwhile_does_nothing(
        self, index: EntryIndex
    ) -> None:
        if not isinstance(index, SupportsAmend):
            pytest.skip("this index amends nothing")
        entry = make_entry(1, payload=b"by somebody else")
        index.put(entry, self.axis(0))
        assert not index.amend(replace(entry, payload=b"as it was", expires_at=NOW + 1))
        assert not index.amend(replace(entry, created_at=entry.created_at - 1, expires_at=NOW + 1))
        assert index.fetch(entry.id, now=NOW) == entry
        index.remove(Selection(ids=(entry.id,)))
        assert not index.amend(entry)
        assert list(index.scan(Selection())) == []

    # -- trim, describe, close ----------------------------------------------------------------

    def test_trim_takes_expired_entries_first_then_the_oldest(self, index: EntryIndex) -> None:
        if not isinstance(index, SupportsTrim):
            pytest.skip("this index holds itself to no size")
        for number in range(6):
            expires_at = NOW if number == 5 else NOW + 100
            index.put(make_entry(number, expires_at=expires_at), self.near(0, 0.5))
        assert index.trim(3, namespace="", now=NOW) == 3
        assert self.left(index) == {"question 2", "question 3", "question 4"}
        assert index.trim(3, namespace="", now=NOW) == 0
        assert index.trim(0, namespace="", now=NOW) == 3
        assert self.left(index) == set()

    def test_trim_keeps_to_the_number_when_all_are_equally_old(self, index: EntryIndex) -> None:
        if not isinstance(index, SupportsTrim):
            pytest.skip("this index holds itself to no size")
        for number in range(20):
            index.put(make_entry(number, created_at=NOW), None)
        assert index.trim(7, namespace="", now=NOW) == 13
        assert len(self.left(index)) == 7

    def test_trim_neither_counts_nor_takes_what_is_of_another_namespace(
        self, index: EntryIndex
    ) -> None:
        if not isinstance(index, SupportsTrim):
            pytest.skip("this index holds itself to no size")
        for number in range(8):
            namespace = "space" if number % 2 else ""
            expires_at = NOW if number in {4, 5} else None
            entry = make_entry(number, namespace=namespace, expires_at=expires_at)
            index.put(entry, self.near(0, 0.5))
        assert index.trim(4, namespace="elsewhere", now=NOW) == 0
        assert index.trim(2, namespace="space", now=NOW) == 2
        others = {f"question {number}" for number in (0, 2, 4, 6)}
        assert self.left(index) == others | {"question 3", "question 7"}
        assert index.trim(0, namespace="space", now=NOW) == 2
        assert self.left(index) == others
        assert index.trim(3, namespace="", now=NOW) == 1
        assert self.left(index) == others - {"question 4"}

    def test_describe_counts_and_tells_no_text(self, index: EntryIndex) -> None:
        if not isinstance(index, SupportsDescribe):
            pytest.skip("this index does not describe itself")
        index.put(make_entry(1, question="a secret question"), self.axis(0))
        described = index.describe()
        assert described["points"] == 1
        assert described["dimension"] == self.dimension
        assert "secret" not in repr(described)

    def test_closing_twice_is_harmless(self, index: EntryIndex) -> None:
        if not isinstance(index, SupportsClose):
            pytest.skip("this index has nothing to close")
        index.put(make_entry(1), self.axis(0))
        index.close()
        index.close()
