"""The promises of an `EntryIndex`, as tests that every backend inherits.

Usage::

    class TestMyIndex(EntryIndexSuite):
        @pytest.fixture
        def index(self):
            index = MyIndex(dimension=self.dimension)
            yield index
            index.close()

Time is a number that the tests choose; nothing here waits.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

from langchain_semcache.errors import IndexUnavailable
from langchain_semcache.ports import EntryIndex
from langchain_semcache.records import Candidate, Selection
from langchain_semcache.testing.index_administration import AdministrationSuite
from langchain_semcache.testing.index_values import NOW, make_entry, unit


class EntryIndexSuite(AdministrationSuite):
    """Inherit, provide the fixture `index`, and pass."""

    # -- fetch --------------------------------------------------------------------------------

    def test_a_stored_entry_comes_back_equal(self, index: EntryIndex) -> None:
        entry = make_entry(
            1,
            namespace="space",
            tags=("b", "a"),
            sources=(("faq.md", "sha256:1"), ("terms.md", "sha256:2")),
            payload=bytes(range(256)),
            created_at=1_700_000_000.1234567,
            expires_at=1_700_000_100.7654321,
        )
        index.put(entry, self.axis(0))
        assert index.fetch(entry.id, now=NOW) == entry

    def test_exact_times_survive(self, index: EntryIndex) -> None:
        rng = np.random.default_rng(5)
        entries = [
            make_entry(i, created_at=float(t), expires_at=float(t) + 1e6)
            for i, t in enumerate(rng.uniform(1.6e9, 1.9e9, 50))
        ]
        for entry in entries:
            index.put(entry, None)
        assert [index.fetch(entry.id, now=0.0) for entry in entries] == entries

    def test_fetch_of_nothing_is_none(self, index: EntryIndex) -> None:
        assert index.fetch(make_entry(1).id, now=NOW) is None

    def test_an_id_need_not_be_a_uuid(self, index: EntryIndex) -> None:
        entry = make_entry(1, id="sha256:3f/é 中")
        index.put(entry, self.axis(0))
        assert index.fetch(entry.id, now=NOW) == entry
        assert index.fetch("sha256:3f/é", now=NOW) is None
        assert index.remove(Selection(ids=(entry.id,))) == 1

    def test_unicode_and_control_characters_survive(self, index: EntryIndex) -> None:
        text = 'naïve 中文 العربية 🦜\u200d\x00\u2028 "quoted" \\ \n'
        entry = make_entry(1, question=text, tags=(text,), sources=((text, text),), model=text)
        index.put(entry, self.axis(0))
        assert index.fetch(entry.id, now=NOW) == entry
        assert index.remove(Selection(tags=(text,), source=text, model=text), dry_run=True) == 1

    def test_an_empty_and_a_large_payload_survive(self, index: EntryIndex) -> None:
        entries = [make_entry(1, payload=b""), make_entry(2, payload=bytes(300_000))]
        for entry in entries:
            index.put(entry, None)
        assert [index.fetch(entry.id, now=NOW) for entry in entries] == entries

    # -- put ----------------------------------------------------------------------------------

    def test_put_replaces_and_keeps_one_entry(self, index: EntryIndex) -> None:
        for round_ in range(20):
            index.put(make_entry(1, question=f"round {round_}"), self.axis(round_ % 2))
        assert [e.question for e in index.scan(Selection())] == ["round 19"]
        assert self.find(index, self.axis(1)) == ["round 19"]

    def test_replacing_moves_an_entry_to_its_new_partition(self, index: EntryIndex) -> None:
        index.put(make_entry(1), self.axis(0))
        index.put(make_entry(1, partition="partition-b"), self.axis(0))
        assert self.find(index, self.axis(0)) == []
        assert self.find(index, self.axis(0), partition="partition-b") == ["question 1"]

    def test_replacing_takes_the_new_vector(self, index: EntryIndex) -> None:
        index.put(make_entry(1), self.axis(0))
        index.put(make_entry(1), self.axis(2))
        index.put(make_entry(2), self.near(0, 0.5))
        assert self.find(index, self.axis(0), limit=1) == ["question 2"]

    def test_an_entry_without_vector_is_fetched_but_never_found(self, index: EntryIndex) -> None:
        index.put(make_entry(1), None)
        assert index.fetch(make_entry(1).id, now=NOW) == make_entry(1)
        assert self.find(index, self.axis(0)) == []
        assert self.left(index) == {"question 1"}

    def test_replacing_without_vector_takes_the_entry_out_of_search(
        self, index: EntryIndex
    ) -> None:
        index.put(make_entry(1), self.axis(0))
        index.put(make_entry(1), None)
        assert self.find(index, self.axis(0)) == []

    def test_a_vector_of_another_length_is_refused(self, index: EntryIndex) -> None:
        index.put(make_entry(1), self.axis(0))
        longer = unit(np.ones(self.dimension + 1))
        with pytest.raises(IndexUnavailable):
            index.put(make_entry(2), longer)
        with pytest.raises(IndexUnavailable):
            index.search("partition-a", longer, limit=1, now=NOW)
        assert index.fetch(make_entry(2).id, now=NOW) is None
        assert self.find(index, self.axis(0)) == ["question 1"]

    # -- search -------------------------------------------------------------------------------

    def test_search_of_an_empty_index_finds_nothing(self, index: EntryIndex) -> None:
        assert list(index.search("partition-a", self.axis(0), limit=5, now=NOW)) == []

    def test_search_stays_in_its_partition(self, index: EntryIndex) -> None:
        index.put(make_entry(1), self.near(0, 0.6))
        for number in range(2, 30):
            index.put(make_entry(number, partition=f"partition-a{number}"), self.axis(0))
        assert self.find(index, self.axis(0), limit=1) == ["question 1"]
        assert self.find(index, self.axis(0), partition="partition") == []
        assert self.find(index, self.axis(0), partition="") == []

    def test_partitions_are_told_apart_by_case_and_blanks(self, index: EntryIndex) -> None:
        for number, name in enumerate(["p", "P", "p ", " p", ""]):
            index.put(make_entry(number, partition=name), self.axis(0))
        assert self.find(index, self.axis(0), partition="P") == ["question 1"]
        assert self.find(index, self.axis(0), partition="p ") == ["question 2"]
        assert self.find(index, self.axis(0), partition="") == ["question 4"]

    def test_best_first_with_the_cosine_as_similarity(self, index: EntryIndex) -> None:
        closeness = [0.2, 0.9, 0.5, 0.7]
        for number, value in enumerate(closeness):
            index.put(make_entry(number), self.near(0, value))
        found = index.search("partition-a", self.axis(0), limit=4, now=NOW)
        assert [c.entry.question for c in found] == [f"question {n}" for n in (1, 3, 2, 0)]
        assert [c.similarity for c in found] == pytest.approx([0.9, 0.7, 0.5, 0.2], abs=1e-5)

    def test_similarity_is_between_zero_and_one(self, index: EntryIndex) -> None:
        vector = unit(np.random.default_rng(1).standard_normal(self.dimension))
        index.put(make_entry(1), vector)
        index.put(make_entry(2), -vector)
        found = index.search("partition-a", vector, limit=2, now=NOW)
        assert [0.0 <= c.similarity <= 1.0 for c in found] == [True, True]
        assert found[0].similarity == pytest.approx(1.0, abs=1e-5)
        assert found[1].similarity == 0.0

    @pytest.mark.parametrize("limit", [0, 1, 3, 50])
    def test_limit_bounds_the_answer(self, index: EntryIndex, limit: int) -> None:
        for number in range(5):
            index.put(make_entry(number), self.near(0, 0.9 - number / 10))
        assert len(self.find(index, self.axis(0), limit=limit)) == min(limit, 5)

    def test_search_brings_back_whole_entries(self, index: EntryIndex) -> None:
        entry = make_entry(1, tags=("x",), sources=(("s", "d"),), payload=b"\x00\xff")
        index.put(entry, self.axis(0))
        (candidate,) = index.search("partition-a", self.axis(0), limit=1, now=NOW)
        assert isinstance(candidate, Candidate)
        assert candidate.entry == entry

    # -- expiry -------------------------------------------------------------------------------

    def test_an_entry_ends_at_the_very_second_it_expires(self, index: EntryIndex) -> None:
        index.put(make_entry(1, expires_at=NOW + 1), self.axis(0))
        ident = make_entry(1).id
        assert index.fetch(ident, now=NOW + 0.5) is not None
        assert self.find(index, self.axis(0), now=NOW + 0.5) == ["question 1"]
        for now in (NOW + 1, NOW + 1.5):
            assert index.fetch(ident, now=now) is None
            assert self.find(index, self.axis(0), now=now) == []

    def test_an_entry_may_never_expire(self, index: EntryIndex) -> None:
        entry = make_entry(1, expires_at=None)
        index.put(entry, self.axis(0))
        assert index.fetch(entry.id, now=NOW * 4) == entry
        assert self.find(index, self.axis(0), now=NOW * 4) == ["question 1"]
        assert index.remove(Selection(expired_at=NOW * 4)) == 0

    def test_an_expired_best_match_does_not_hide_a_live_one(self, index: EntryIndex) -> None:
        for number in range(40):
            index.put(make_entry(number, expires_at=NOW), self.axis(0))
        index.put(make_entry(40), self.near(0, 0.9))
        index.put(make_entry(41), self.near(0, 0.8))
        assert self.find(index, self.axis(0), limit=1) == ["question 40"]
        assert self.find(index, self.axis(0), limit=2) == ["question 40", "question 41"]
        assert self.find(index, self.axis(0), limit=3) == ["question 40", "question 41"]

    def test_storing_again_renews_an_expired_entry(self, index: EntryIndex) -> None:
        index.put(make_entry(1, expires_at=NOW - 1), self.axis(0))
        index.put(make_entry(1, expires_at=NOW + 1), self.axis(0))
        assert index.fetch(make_entry(1).id, now=NOW) is not None
        assert self.find(index, self.axis(0)) == ["question 1"]

    def test_reading_does_not_prolong_life(self, index: EntryIndex) -> None:
        index.put(make_entry(1, expires_at=NOW + 1), self.axis(0))
        for _ in range(3):
            index.fetch(make_entry(1).id, now=NOW)
            self.find(index, self.axis(0))
        assert self.find(index, self.axis(0), now=NOW + 1) == []

    def test_a_clock_that_goes_back_finds_the_entry_again(self, index: EntryIndex) -> None:
        index.put(make_entry(1, expires_at=NOW + 1), self.axis(0))
        assert self.find(index, self.axis(0), now=NOW + 2) == []
        assert self.find(index, self.axis(0), now=NOW) == ["question 1"]

    def test_scan_includes_expired_entries(self, index: EntryIndex) -> None:
        index.put(make_entry(1, expires_at=1.0), self.axis(0))
        assert self.left(index) == {"question 1"}

    # -- threads ------------------------------------------------------------------------------

    def test_threads_may_mix_writes_and_reads(self, index: EntryIndex) -> None:
        problems: list[Exception] = []
        start = threading.Barrier(8)

        def work(worker: int) -> None:
            try:
                start.wait()
                for step in range(25):
                    number = worker * 100 + step
                    index.put(make_entry(number), self.near(worker, 0.9))
                    assert index.fetch(make_entry(number).id, now=NOW) == make_entry(number)
                    assert index.search("partition-a", self.axis(worker), limit=3, now=NOW)
                    index.put(make_entry(7_777, question=f"by {worker}"), self.axis(0))
                    if step % 5 == 4:
                        index.remove(Selection(ids=(make_entry(number).id,)))
            except Exception as error:  # noqa: BLE001 - reported by the test's own thread
                problems.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        assert len(list(index.scan(Selection()))) == 8 * 20 + 1

    def test_clearing_while_others_write_leaves_a_working_index(self, index: EntryIndex) -> None:
        problems: list[Exception] = []

        def write(worker: int) -> None:
            try:
                for step in range(25):
                    index.put(make_entry(worker * 100 + step), self.axis(worker))
            except Exception as error:  # noqa: BLE001 - reported by the test's own thread
                problems.append(error)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            index.remove(Selection())
        for thread in threads:
            thread.join()
        index.remove(Selection())
        assert problems == []
        assert self.left(index) == set()
        index.put(make_entry(1), self.axis(0))
        assert self.find(index, self.axis(0)) == ["question 1"]
