"""Answers that lean on each other, through a whole cache: sizes, tenants, deletion, refreshes."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from langchain_semcache import AsyncSemcache, Reason, Request, Response, Semcache
from langchain_semcache.clock import ManualClock
from langchain_semcache.engine.dictionaries import FIRST_ANSWERS
from langchain_semcache.engine.shelf import GRACE, Shelf
from langchain_semcache.errors import ConfigurationError, CorruptEntry
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.records import PARTS, Selection
from langchain_semcache.responses import references
from langchain_semcache.responses.codec import to_raw
from langchain_semcache.responses.parts import Owner, from_entry
from langchain_semcache.testing.fakes import FlakyIndex, ScriptedEncoder

NEAR = {"how is tea made": 1.0, "how do I make tea": 0.8, "how would you make tea": 0.75}
ONE, TWO, THREE = NEAR
HOUR = GRACE.total_seconds()


def noise(seed: str, words: int = 120) -> str:
    return " ".join(
        hashlib.blake2b(f"{seed}{n}".encode(), digest_size=5).hexdigest() for n in range(words)
    )


ANSWER = noise("tea")


class Place:
    """One index and clock; caches come and go."""

    def __init__(self) -> None:
        self.index = MemoryIndex(64)
        self.clock = ManualClock()
        self.encoder = ScriptedEncoder(NEAR)

    def open(self, **settings: object) -> Semcache:
        return Semcache.open(
            ":memory:", encoder=self.encoder, index=settings.pop("index", self.index),
            clock=self.clock, similarity_threshold=0.99, ttl=None, **settings,
        )  # fmt: skip

    def parts(self):
        return list(self.index.scan(Selection(namespace=PARTS)))


@pytest.fixture
def place() -> Place:
    return Place()


def ask(text: str, tenant: str = "") -> Request:
    return Request(messages=text, model="m", tenant=tenant)


def keep(cache: Semcache, text: str, answer: str, tenant: str = "") -> str:
    result = cache.store(ask(text, tenant), Response.from_text(answer))
    assert result.stored
    return result.entry_id


def answered(cache: Semcache, text: str, tenant: str = "") -> str:
    decision = cache.lookup(ask(text, tenant))
    assert decision.reason is Reason.EXACT, decision
    return decision.response.text


def test_like_answers_to_like_questions_share_one_base(place):
    with place.open() as cache:
        first = keep(cache, ONE, ANSWER)
        alone = len(cache.get(first).payload)
        second = keep(cache, TWO, ANSWER + " Enjoy.")
        third = keep(cache, THREE, "Well: " + ANSWER)
        payloads = [cache.get(one).payload for one in (first, second, third)]
        assert len({references(payload) for payload in payloads}) == 1
        assert max(map(len, payloads)) < 80 < alone / 5
        assert len(place.parts()) == 1
        stats = cache.stats()
        assert stats.stored_response_bytes < 0.4 * stats.raw_response_bytes
    with place.open() as fresh:
        assert answered(fresh, ONE) == ANSWER
        assert answered(fresh, TWO) == ANSWER + " Enjoy."
        assert answered(fresh, THREE) == "Well: " + ANSWER


def test_answers_with_nothing_in_common_stay_on_their_own(place):
    with place.open() as cache:
        keep(cache, ONE, ANSWER)
        entry = cache.get(keep(cache, TWO, noise("coffee")))
        assert references(entry.payload) == ()
        assert place.parts() == []


def test_no_answer_leans_on_another_tenants(place):
    with place.open() as cache:
        keep(cache, ONE, ANSWER, "a")
        entry = cache.get(keep(cache, TWO, ANSWER, "b"))
        assert references(entry.payload) == ()


def test_the_donor_may_go(place):
    with place.open() as cache:
        first = keep(cache, ONE, ANSWER)
        keep(cache, TWO, ANSWER + " Enjoy.")
        assert cache.remove(first)
        place.clock.advance(2 * HOUR)
        assert cache.compact().parts == 0
        assert answered(cache, TWO) == ANSWER + " Enjoy."


def test_a_base_that_nobody_leans_on_goes_after_its_grace(place):
    with place.open() as cache:
        for text in (ONE, TWO):
            keep(cache, text, ANSWER)
        for entry in list(cache.entries()):
            cache.remove(entry.id)
        place.clock.advance(HOUR - 1)
        assert cache.compact().parts == 0
        place.clock.advance(2)
        assert cache.compact(dry_run=True).parts == 1
        assert len(place.parts()) == 1
        done = cache.compact()
        assert (done.parts, done.kept, done.entries) == (1, 0, 0)
        assert done.bytes > 0
        assert place.parts() == []


def test_a_writer_renews_what_it_leans_on_before_a_sweep_could_take_it(place):
    with place.open() as cache:
        keep(cache, ONE, ANSWER)
        keep(cache, TWO, ANSWER)
        place.clock.advance(HOUR * 0.4)
        keep(cache, TWO, ANSWER + "!")
        (part,) = place.parts()
        assert part.created_at == place.clock.now() - HOUR * 0.4
        place.clock.advance(HOUR * 0.2)
        keep(cache, TWO, ANSWER + "?")
        (part,) = place.parts()
        assert part.created_at == place.clock.now()


def test_a_sweep_that_has_already_decided_spares_what_was_renewed_since(place):
    """The sweep counts references; then a writer leans on the part; then the sweep removes."""
    with place.open() as cache, place.open() as writer:
        keep(cache, ONE, ANSWER)
        keep(cache, TWO, ANSWER)
        place.clock.advance(2 * HOUR)
        stored = {entry.id: entry for entry in cache.entries()}

        class Between(FlakyIndex):
            def remove(self, selection: Selection, *, dry_run: bool = False) -> int:
                if selection.namespace == PARTS:
                    keep(writer, TWO, ANSWER + "!")
                return super().remove(selection, dry_run=dry_run)

        vector = place.encoder.encode([TWO])[0]
        with place.open(index=Between(place.index)) as sweeper:
            # All but the neighbour are gone when the sweep looks, and it is gone when it removes.
            second = next(e for e in stored.values() if e.question == TWO)
            place.index.remove(Selection(namespace="default"))
            scan = place.index.scan

            def seen(selection: Selection):
                found = list(scan(selection))
                if selection.namespace == "default":
                    place.index.put(second, vector)
                return iter(found)

            place.index.scan = seen
            done = sweeper.compact()
        assert done.parts == 0
        assert answered(cache, TWO) == ANSWER + "!"


def test_a_part_that_is_gone_is_a_miss_and_the_next_answer_mends_it(place):
    with place.open() as cache:
        keep(cache, ONE, ANSWER)
        keep(cache, TWO, ANSWER)
    place.index.remove(Selection(namespace=PARTS))
    with place.open() as cache:
        decision = cache.lookup(ask(ONE))
        assert (decision.hit, decision.reason) == (False, Reason.CORRUPT_ENTRY)
        with pytest.raises(CorruptEntry, match="gone"):
            cache.read(next(iter(cache.entries())))
        keep(cache, ONE, ANSWER)
        assert answered(cache, ONE) == ANSWER


def test_a_part_that_was_tampered_with_is_a_miss(place):
    with place.open() as cache:
        keep(cache, ONE, ANSWER)
        keep(cache, TWO, ANSWER)
    (part,) = place.parts()
    place.index.put(replace(part, payload=part.payload[:-1] + b"\x00"), None)
    with place.open() as cache:
        assert cache.lookup(ask(ONE)).reason is Reason.CORRUPT_ENTRY


def test_an_index_that_rewrites_nothing_keeps_answers_on_their_own(place):
    with place.open(index=FlakyIndex(place.index)) as cache:
        keep(cache, ONE, ANSWER)
        keep(cache, TWO, ANSWER)
        assert place.parts() == []
        assert answered(cache, TWO) == ANSWER


def test_a_part_that_cannot_be_written_leaves_the_answer_on_its_own(place):
    class NoParts(MemoryIndex):
        def put(self, entry, vector) -> None:
            if entry.namespace == PARTS:
                raise ValueError("no room for parts")
            super().put(entry, vector)

    with place.open(index=NoParts(64)) as cache:
        keep(cache, ONE, ANSWER)
        entry = cache.get(keep(cache, TWO, ANSWER))
        assert references(entry.payload) == ()
        assert answered(cache, TWO) == ANSWER


def test_without_delta_nothing_is_shared_and_what_was_shared_is_read(place):
    with place.open() as cache:
        keep(cache, ONE, ANSWER)
        keep(cache, TWO, ANSWER)
    with place.open(responses={"delta": False}) as cache:
        assert answered(cache, ONE) == ANSWER
        assert references(cache.get(keep(cache, TWO, ANSWER)).payload) == ()


def test_a_refreshed_answer_remembers_what_it_was(place):
    with place.open() as cache:
        entry_id = keep(cache, ONE, ANSWER + " It costs 12 euros.")
        stored_at = place.clock.now()
        assert cache.history(entry_id).changes == ()
        place.clock.advance(60)
        keep(cache, ONE, ANSWER + " It costs 14 euros.")
        past = cache.history(entry_id)
        assert past.current.text.endswith("14 euros.")
        assert past.previous.text == ANSWER + " It costs 12 euros."
        assert past.previous_at == stored_at
        assert past.changes[0].at == place.clock.now()
        assert past.changes[0].share < 0.1
        assert cache.history("not there") is None


def test_an_answer_that_had_expired_counts_as_the_one_before(place):
    with place.open() as cache:
        cache.store(ask(ONE), Response.from_text(ANSWER), ttl=timedelta(seconds=5))
        place.clock.advance(60)
        assert not cache.lookup(ask(ONE)).hit
        entry_id = keep(cache, ONE, ANSWER + " Enjoy.")
        assert cache.history(entry_id).previous.text == ANSWER


def test_the_history_of_a_donor_survives_its_becoming_a_base(place):
    with place.open() as cache:
        entry_id = keep(cache, ONE, ANSWER + " Once.")
        keep(cache, ONE, ANSWER + " Twice.")
        keep(cache, TWO, ANSWER)
        assert references(cache.get(entry_id).payload)
        assert cache.history(entry_id).previous.text == ANSWER + " Once."


def learn(place: Place, cache: Semcache, tenant: str = "", answers: int = FIRST_ANSWERS) -> None:
    for number in range(answers):
        request = Request(messages=[{"role": "user", "content": f"{number}"}], model="m",
                          tenant=tenant, parameters={"tools": [{"type": "x"}]})  # fmt: skip
        words = " ".join(f"Step {n}: open {'settings' if n % 3 else 'files'} {number * n}."
                         for n in range(25))  # fmt: skip
        cache.store(request, Response.from_text(words))
    cache.core.policy.dictionaries.settle()


@pytest.fixture
def wide(place) -> Place:
    place.encoder = ScriptedEncoder(NEAR, dimension=2_000)
    place.index = MemoryIndex(2_000)
    return place


def test_a_dictionary_is_learned_found_again_and_renewed(wide):
    with wide.open() as cache:
        learn(wide, cache)
        (part,) = wide.parts()
        learned = from_entry(part, Owner.of(next(iter(cache.entries()))))
        assert learned.answers == FIRST_ANSWERS
        text = "Step 1: open settings 77. Step 2: open settings 154. Step 3: open files 231."
        entry = cache.get(keep(cache, "a question of its own", text))
        assert references(entry.payload) == (learned.address,)
    with wide.open() as other:
        keep(other, "the first question of another process", text)
        other.core.policy.dictionaries.settle()
        entry = other.get(keep(other, "its second question", text))
        assert references(entry.payload) == (learned.address,)
        learn(wide, other, answers=3 * FIRST_ANSWERS)
        keep(other, "a question after that", text)
        assert len(wide.parts()) == 2
        wide.clock.advance(2 * HOUR)
        assert other.compact().parts == 0, "the first is still leaned on"
        assert answered(other, "its second question") == text


def test_a_dictionary_stays_while_a_base_needs_it(wide):
    with wide.open() as cache:
        learn(wide, cache)
        for text in (ONE, TWO):
            keep(cache, text, ANSWER)
        for entry in list(cache.entries()):
            if entry.question not in NEAR:
                cache.remove(entry.id)
        assert len(wide.parts()) == 2
        wide.clock.advance(2 * HOUR)
        assert cache.compact().parts == 0
    with wide.open() as fresh:
        assert answered(fresh, TWO) == ANSWER


def test_what_was_learned_from_a_tenant_goes_with_its_answers(wide):
    with wide.open() as cache:
        learn(wide, cache, "a")
        assert len(wide.parts()) == 1
        wide.clock.advance(2 * HOUR)
        cache.invalidate(tenant="a")
        assert wide.parts() == []
        entry = cache.get(keep(cache, ONE, "Step 1: open settings 77.", "a"))
        assert references(entry.payload) == ()


def test_what_was_written_lately_goes_at_once_when_told(wide):
    with wide.open() as cache:
        learn(wide, cache)
        cache.clear()
        assert len(wide.parts()) == 1
        assert cache.compact(grace=0).parts == 1
        keep(cache, ONE, ANSWER)
        assert answered(cache, ONE) == ANSWER


def test_neither_clear_nor_stats_nor_trim_sees_a_part(place):
    with place.open(max_entries=2) as cache:
        keep(cache, ONE, ANSWER)
        keep(cache, TWO, ANSWER)
        assert cache.stats().entries == 2
        assert {entry.namespace for entry in cache.entries()} == {"default"}
        keep(cache, THREE, ANSWER)
        assert cache.stats().entries == 2
        assert cache.clear() == 2
        assert len(place.parts()) == 1
        with pytest.raises(ConfigurationError, match="semcache:parts"):
            cache.invalidate(namespace=PARTS)
        with pytest.raises(ConfigurationError, match="semcache:parts"):
            cache.lookup(Request(messages=ONE, namespace=PARTS))
    with pytest.raises(ConfigurationError, match="semcache:parts"):
        place.open(namespace=PARTS)


def test_both_colours_do_the_same(place):
    async def run() -> tuple[str, int]:
        async with await AsyncSemcache.open(
            ":memory:", encoder=place.encoder, index=place.index, clock=place.clock, ttl=None
        ) as cache:
            for text in (ONE, TWO):
                await cache.store(ask(text), Response.from_text(ANSWER + text))
            (entry, *_) = await cache.entries()
            assert references(entry.payload)
            assert (await cache.history(entry.id)).current == await cache.read(entry)
            assert (await cache.stats()).stored_response_bytes
            await cache.clear()
            done = await cache.compact(grace=0)
            return (await cache.stats()).stored_response_bytes, done.parts

    assert asyncio.run(run()) == (0, 1)


def test_writers_and_sweepers_at_once_leave_nothing_unreadable(place):
    """Time passes between the rounds of the writers, so that parts are renewed and swept."""
    done = threading.Event()
    rounds = threading.Barrier(2, action=lambda: place.clock.advance(HOUR * 0.3))

    def write(cache: Semcache, name: str) -> None:
        for round_ in range(25):
            rounds.wait()
            for text in NEAR:
                keep(cache, text, f"{ANSWER} {name} {round_}")
            if round_ % 5 == 4:
                for entry in list(cache.entries()):
                    cache.remove(entry.id)
                place.clock.advance(1)

    def sweep(cache: Semcache) -> int:
        swept = 0
        while not done.is_set():
            swept += cache.compact().parts
        return swept

    with place.open() as one, place.open() as two, ThreadPoolExecutor(3) as threads:
        sweeping = threads.submit(sweep, one)
        writing = [threads.submit(write, one, "one"), threads.submit(write, two, "two")]
        try:
            for written in writing:
                written.result()
        finally:
            done.set()
        assert sweeping.result() >= 0
        with place.open() as fresh:
            entries = list(fresh.entries())
            assert all(to_raw(fresh.read(entry)) for entry in entries)


def test_a_shelf_holds_so_many_bytes_and_no_more(place):
    with place.open() as cache:
        codec, owner = cache.core.policy.codec, Owner("default", "t")
        shelf = Shelf(capacity_bytes=3_000)
        bases = [codec.base(owner, noise(str(n)).encode(), None) for n in range(6)]
        for base in bases:
            shelf.keep(base, owner, created_at=0.0)
        held = [base for base in bases if shelf.get(base.address)]
        assert 0 < sum(len(base.content) for base in held) <= 3_000
        assert held[-1] is bases[-1]
        shelf.forget_of("default", "t")
        assert not any(shelf.get(base.address) for base in bases)


def test_what_lives_shortly_founds_no_base(place):
    """It would be swept hours after what leaned on it is gone."""
    with place.open() as cache:
        for text in (ONE, TWO):
            cache.store(ask(text), Response.from_text(ANSWER + text), ttl=HOUR)
        assert place.parts() == []
        for text in (ONE, TWO):
            cache.store(ask(text), Response.from_text(ANSWER + text), ttl=4 * HOUR)
        assert len(place.parts()) == 1


def test_a_namespace_that_is_bounded_founds_few_bases(place):
    """Answers go early there, and their bases cannot be swept for an hour."""

    def churn(cache: Semcache, first: int) -> None:
        for number in range(first, first + 40):
            for text in (ONE, TWO):
                keep(cache, text, noise(str(number)) + text, tenant=str(number))

    with place.open(max_entries=20) as cache:
        churn(cache, 0)
        assert len(place.parts()) == 5
        place.clock.advance(HOUR)
        churn(cache, 40)
        assert len(place.parts()) <= 10
    with place.open(index=MemoryIndex(64)) as cache:
        churn(cache, 0)
        assert len(list(cache.core.workplace.index.scan(Selection(namespace=PARTS)))) == 40


@pytest.mark.parametrize("then", ["lookup", "store"])
def test_what_nothing_leans_on_goes_within_an_hour_and_the_next_call(place, then):
    with place.open() as cache:
        for text in (ONE, TWO):
            keep(cache, text, ANSWER + text, "gone")
        assert cache.invalidate(tenant="gone") == 2
        assert len(place.parts()) == 1
        place.clock.advance(HOUR - 1)
        cache.lookup(ask(THREE))
        cache.core.workplace.pool.executor().submit(lambda: None).result(10)
        assert len(place.parts()) == 1
        place.clock.advance(HOUR)
        if then == "lookup":
            cache.lookup(ask(THREE))
        else:
            keep(cache, THREE, "short")
        until = time.monotonic() + 10
        while place.parts() and time.monotonic() < until:
            time.sleep(0.01)
        assert place.parts() == []


def test_a_sweep_that_takes_long_comes_less_often():
    shelf = Shelf()
    assert not shelf.sweep_is_due(now=0)
    assert shelf.sweep_is_due(now=HOUR)
    assert not shelf.sweep_is_due(now=HOUR)
    shelf.swept(now=HOUR, seconds=HOUR / 10)
    assert not shelf.sweep_is_due(now=10 * HOUR)
    assert shelf.sweep_is_due(now=11 * HOUR)


def test_a_grace_of_none_is_no_grace_of_nothing(place):
    with place.open() as cache, pytest.raises(ConfigurationError, match="grace"):
        cache.compact(grace=None)


def test_nothing_is_learned_from_an_answer_that_was_removed(place):
    secret = "Meet me at Secret Road number seven. " * 4
    with place.open(responses={"dictionary_bytes": 16_384}) as cache:
        for number in range(FIRST_ANSWERS - 1):
            cache.store(ask(f"s {number}"), Response.from_text(secret + str(number)), tags=["s"])
        assert cache.invalidate(tags=["s"]) == FIRST_ANSWERS - 1
        for number in range(FIRST_ANSWERS):
            keep(cache, f"plain {number}", f"Open settings {number}, and confirm it. " * 4)
        cache.core.policy.dictionaries.settle()
        learned = [part for part in place.parts() if b"Secret Road" in part.payload]
        (dictionary,) = place.parts()
        trained = from_entry(dictionary, Owner("default", dictionary.tenant)).trained
    assert learned == []
    assert b"Secret" not in trained
    assert b"settings" in trained
