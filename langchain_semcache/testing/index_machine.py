"""Random sequences of operations on an `EntryIndex`, against a dictionary that does the same.

Usage::

    class MyMachine(IndexMachine):
        def make_index(self):
            return MyIndex(dimension=self.dimension)

    TestMyMachine = MyMachine.TestCase
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from langchain_semcache.ports import (
    EntryIndex,
    SupportsAmend,
    SupportsClose,
    SupportsRewrite,
    SupportsTrim,
    Vector,
)
from langchain_semcache.records import Entry, Selection
from langchain_semcache.testing.index_values import NOW, make_entry, unit

_NUMBERS = st.integers(0, 7)
_PARTITIONS = st.sampled_from(["p", "P", ""])
_NAMESPACES = st.sampled_from(["", "space"])
_TAGS = st.lists(st.sampled_from(["red", "blue"]), unique=True, max_size=2).map(tuple)
_SELECTIONS = st.builds(
    Selection,
    ids=st.none() | st.lists(_NUMBERS.map(lambda n: make_entry(n).id), max_size=3).map(tuple),
    tags=_TAGS,
    source=st.none() | st.sampled_from(["faq", "terms"]),
    created_before=st.none() | st.integers(0, 8).map(lambda n: NOW + n),
    expired_at=st.none() | st.integers(0, 40).map(lambda n: NOW + n),
)


class IndexMachine(RuleBasedStateMachine):
    """Inherit, say how an index is made, and run `TestCase`."""

    dimension: ClassVar[int] = 4
    keeps_entries: ClassVar[bool] = False
    """Whether `make_index`, called again after `close`, opens the same entries."""

    def __init__(self) -> None:
        super().__init__()
        rng = np.random.default_rng(3)
        self.vectors = [unit(row) for row in rng.standard_normal((6, self.dimension))]
        self.index = self.make_index()
        self.model: dict[str, tuple[Entry, Vector | None]] = {}
        self.now = NOW

    def make_index(self) -> EntryIndex:
        """An index of `dimension`; an empty one at the first call."""
        raise TypeError(f"{type(self).__name__} must say how its index is made")

    def teardown(self) -> None:
        """Close the index."""
        if isinstance(self.index, SupportsClose):
            self.index.close()

    # -- operations ---------------------------------------------------------------------------

    @rule(
        number=_NUMBERS,
        partition=_PARTITIONS,
        vector=st.none() | st.integers(0, 5),
        life=st.none() | st.integers(-2, 30),
        namespace=_NAMESPACES,
        tags=_TAGS,
        source=st.sampled_from(["faq", "terms"]),
    )
    def put(
        self,
        *,
        number: int,
        partition: str,
        vector: int | None,
        life: int | None,
        namespace: str,
        tags: tuple[str, ...],
        source: str,
    ) -> None:
        """Insert or replace one of eight entries."""
        entry = make_entry(
            number,
            partition=partition,
            expires_at=None if life is None else self.now + life,
            namespace=namespace,
            tags=tags,
            sources=((source, "digest"),),
            payload=bytes([number, len(self.model)]),
        )
        embedded = None if vector is None else self.vectors[vector]
        self.index.put(entry, embedded)
        self.model[entry.id] = (entry, embedded)

    @rule(seconds=st.integers(-3, 10))
    def time_passes(self, seconds: int) -> None:
        """Now and then a clock goes back."""
        self.now += seconds

    @rule(selection=_SELECTIONS, dry_run=st.booleans())
    def remove(self, selection: Selection, dry_run: bool) -> None:
        """The same entries go, and as many as were announced."""
        going = [key for key, (entry, _) in self.model.items() if _matches(selection, entry)]
        assert self.index.remove(selection, dry_run=dry_run) == len(going)
        if not dry_run:
            for key in going:
                del self.model[key]

    @rule(keep=st.integers(0, 6), namespace=_NAMESPACES)
    def trim(self, keep: int, namespace: str) -> None:
        """Of one namespace expired entries go, then the oldest; each entry has its own age."""
        if not isinstance(self.index, SupportsTrim):
            return
        mine = [key for key, (entry, _) in self.model.items() if entry.namespace == namespace]
        live = [key for key in mine if self._lives(self.model[key][0])]
        live.sort(key=lambda key: self.model[key][0].created_at)
        going = set(mine) - set(live[max(0, len(live) - keep) :])
        assert self.index.trim(keep, namespace=namespace, now=self.now) == len(going)
        for key in going:
            del self.model[key]

    @rule(number=_NUMBERS, stale=st.booleans(), payload=st.binary(max_size=3))
    def rewrite(self, number: int, stale: bool, payload: bytes) -> None:
        """Only what an entry still holds is replaced, and nothing else of it changes."""
        if not isinstance(self.index, SupportsRewrite):
            return
        key = make_entry(number).id
        entry, vector = self.model.get(key, (None, None))
        expected = b"as it never was" if entry is None or stale else entry.payload
        holds = entry is not None and not stale
        assert self.index.rewrite(key, expected=expected, payload=payload) is holds
        if entry is not None and holds:
            self.model[key] = (replace(entry, payload=payload), vector)

    @rule(number=_NUMBERS, stale=st.booleans(), lives=st.none() | st.integers(0, 40))
    def amend(self, number: int, stale: bool, lives: int | None) -> None:
        """An answer that is still there is given another end, and nothing else of it changes."""
        if not isinstance(self.index, SupportsAmend):
            return
        entry, vector = self.model.get(make_entry(number).id, (None, None))
        told = make_entry(number) if entry is None else entry
        told = replace(
            told,
            payload=b"as it never was" if stale else told.payload,
            expires_at=None if lives is None else NOW + lives,
            assessment=f"lives {lives}",
        )
        holds = entry is not None and not stale
        assert self.index.amend(told) is holds
        if holds:
            self.model[told.id] = (told, vector)

    @precondition(lambda self: self.keeps_entries)
    @rule()
    def reopen(self) -> None:
        """Nothing is lost between two lives."""
        if isinstance(self.index, SupportsClose):
            self.index.close()
        self.index = self.make_index()

    # -- answers ------------------------------------------------------------------------------

    @rule(partition=_PARTITIONS, query=st.integers(0, 5), limit=st.integers(0, 5))
    def search(self, partition: str, query: int, limit: int) -> None:
        """The best live entries of the partition, each with its own similarity."""
        vector = self.vectors[query]
        similarity = {
            key: max(0.0, min(1.0, float(held @ vector)))
            for key, (entry, held) in self.model.items()
            if held is not None and entry.partition == partition and self._lives(entry)
        }
        best = sorted(similarity.values(), reverse=True)[:limit]
        found = self.index.search(partition, vector, limit=limit, now=self.now)
        assert np.allclose([candidate.similarity for candidate in found], best, atol=1e-5)
        assert len({candidate.entry.id for candidate in found}) == len(found)
        for candidate in found:
            assert candidate.entry == self.model[candidate.entry.id][0]
            assert abs(similarity[candidate.entry.id] - candidate.similarity) < 1e-5

    @invariant()
    def fetch_agrees(self) -> None:
        """Each of the eight entries is there, with the right bytes, exactly while it lives."""
        for number in range(8):
            key = make_entry(number).id
            held = self.model.get(key)
            expected = held[0] if held is not None and self._lives(held[0]) else None
            assert self.index.fetch(key, now=self.now) == expected

    @invariant()
    def scan_agrees(self) -> None:
        """Everything that was not removed is listed once, expired or not."""
        listed = sorted(self.index.scan(Selection()), key=lambda entry: entry.id)
        assert listed == [self.model[key][0] for key in sorted(self.model)]

    def _lives(self, entry: Entry) -> bool:
        return entry.expires_at is None or self.now < entry.expires_at


def _matches(selection: Selection, entry: Entry) -> bool:
    """What a selection means, written a second time on purpose."""
    if selection.ids is not None and entry.id not in selection.ids:
        return False
    if any(tag not in entry.tags for tag in selection.tags):
        return False
    if selection.source is not None and all(s != selection.source for s, _ in entry.sources):
        return False
    if selection.created_before is not None and entry.created_at >= selection.created_before:
        return False
    if selection.expired_at is None:
        return True
    return entry.expires_at is not None and entry.expires_at <= selection.expired_at
