"""Both drivers carry out the same flow: failures, deadlines, memory of vectors, the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence

import pytest

from langchain_semcache import AsyncSemcache, Decision, Reason, Request, Response, Semcache
from langchain_semcache.clock import ManualClock
from langchain_semcache.errors import IndexUnavailable
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.ports import Vectors
from langchain_semcache.testing.cache_machine import TEXTS, TableEncoder

FIRST, SECOND = (Request(messages=text, model="m") for text in TEXTS[:2])
ANSWER = Response.from_text("so")


class CountingEncoder(TableEncoder):
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.threads: set[str] = set()

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        self.threads.add(threading.current_thread().name)
        return super().encode(texts)


class RemoteIndex(MemoryIndex):
    """An index behind a network that can be cut or stall."""

    may_block = True

    def __init__(self) -> None:
        super().__init__(TableEncoder.dimension)
        self.broken = False
        self.stalls = threading.Event()
        self.stalls.set()
        self.calls = 0
        self.threads: set[str] = set()

    def fetch(self, entry_id, *, now):
        self.calls += 1
        self.threads.add(threading.current_thread().name)
        if self.broken:
            raise IndexUnavailable("cut off")
        assert self.stalls.wait(10)
        return super().fetch(entry_id, now=now)


class Colour:
    """One cache, asked in one colour or the other."""

    def __init__(self, name: str, **settings: object) -> None:
        self.encoder = CountingEncoder()
        self.sync = Semcache.open(
            ":memory:", encoder=self.encoder, similarity_threshold=0.9, **settings
        )
        self.asynchronous = AsyncSemcache(self.sync.core)
        self.is_async = name == "async"

    def lookup(self, request: Request) -> Decision:
        if self.is_async:
            return asyncio.run(self.asynchronous.lookup(request))
        return self.sync.lookup(request)

    def store(self, request: Request) -> bool:
        if self.is_async:
            return asyncio.run(self.asynchronous.store(request, ANSWER)).stored
        return self.sync.store(request, ANSWER).stored


@pytest.fixture(params=["sync", "async"])
def opened(request):
    made: list[Colour] = []

    def make(**settings: object) -> Colour:
        made.append(Colour(request.param, **settings))
        return made[-1]

    yield make
    for colour in made:
        colour.sync.close()


def test_a_miss_embeds_once_and_the_store_after_it_not_again(opened):
    cache = opened()
    assert cache.lookup(FIRST).reason is Reason.NO_CANDIDATE
    assert cache.store(FIRST)
    assert cache.encoder.texts == [TEXTS[0]]
    hit = cache.lookup(SECOND)
    assert (hit.reason, hit.response) == (Reason.SEMANTIC, ANSWER)
    assert cache.encoder.texts == [TEXTS[0], TEXTS[1]]


def test_the_stages_of_a_lookup_are_named_and_timed(opened):
    cache = opened()
    stages = cache.lookup(FIRST).stages
    assert set(stages) == {"resolve", "fetch", "embed", "search", "decide"}
    assert all(seconds >= 0 for seconds in stages.values())


def test_a_backend_that_fails_is_left_alone_after_a_few_times(opened):
    index = RemoteIndex()
    cache = opened(index=index, breaker_failures=3, breaker_cooldown_seconds=600)
    index.broken = True
    reasons = {cache.lookup(FIRST).reason for _ in range(20)}
    assert reasons == {Reason.INDEX_UNAVAILABLE}
    assert index.calls == 3


def test_a_backend_that_stalls_costs_its_deadline_once(opened):
    index = RemoteIndex()
    cache = opened(index=index, deadline_seconds=0.2, breaker_cooldown_seconds=600)
    index.stalls.clear()
    started = time.monotonic()
    try:
        for _ in range(20):
            assert cache.lookup(FIRST).reason is Reason.INDEX_UNAVAILABLE
        assert time.monotonic() - started < 2
        assert index.calls == 1
    finally:
        index.stalls.set()


def test_hits_come_back_when_the_backend_does(opened):
    index = RemoteIndex()
    cache = opened(index=index, breaker_failures=1, breaker_cooldown_seconds=0.01)
    assert cache.store(FIRST)
    index.broken = True
    assert not cache.lookup(FIRST).hit
    index.broken = False
    time.sleep(0.02)
    assert cache.lookup(FIRST).hit


def test_strict_mode_raises_what_would_have_been_a_miss(opened):
    index = RemoteIndex()
    cache = opened(index=index, strict=True)
    index.broken = True
    with pytest.raises(IndexUnavailable, match="cut off"):
        cache.lookup(FIRST)


def test_an_index_in_this_process_is_asked_without_a_thread():
    cache = Colour("sync")
    index = RemoteIndex()
    index.may_block = False
    with Semcache.open(":memory:", encoder=cache.encoder, index=index) as direct:
        direct.lookup(FIRST)
    assert index.threads == {threading.current_thread().name}
    cache.sync.close()


async def test_nothing_is_computed_on_the_event_loop():
    encoder, index = CountingEncoder(), RemoteIndex()
    index.may_block = False
    async with await AsyncSemcache.open(":memory:", encoder=encoder, index=index) as cache:
        await cache.lookup(FIRST)
        await cache.store(FIRST, ANSWER)
        await cache.lookup(FIRST)
    here = threading.current_thread().name
    assert here not in encoder.threads | index.threads


async def test_a_cancelled_lookup_leaves_nothing_locked():
    index = RemoteIndex()
    async with await AsyncSemcache.open(
        ":memory:", encoder=CountingEncoder(), index=index
    ) as cache:
        await cache.store(FIRST, ANSWER)
        index.stalls.clear()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(cache.lookup(FIRST), 0.05)
        index.stalls.set()
        assert (await cache.lookup(FIRST)).hit


def test_one_cache_works_in_one_event_loop_after_another(opened):
    cache = opened()
    cache.is_async = True
    assert cache.store(FIRST)
    assert cache.lookup(FIRST).hit
    assert cache.lookup(SECOND).hit


class SlowIndex(MemoryIndex):
    """In this process, and slow: every call moves the clock."""

    def __init__(self, clock, seconds):
        super().__init__(TableEncoder.dimension)
        self.clock, self.seconds, self.calls = clock, seconds, 0

    def fetch(self, entry_id, *, now):
        self.calls += 1
        self.clock.advance(self.seconds)
        return super().fetch(entry_id, now=now)


def test_a_slow_index_is_left_alone_and_nobody_else_is_blamed(opened):
    clock = ManualClock()
    index = SlowIndex(clock, 5)
    cache = opened(index=index, clock=clock, deadline_seconds=2, breaker_cooldown_seconds=600)
    reasons = [cache.lookup(FIRST).reason for _ in range(5)]
    assert reasons == [Reason.INDEX_UNAVAILABLE] * 5
    assert index.calls == 1
    assert cache.encoder.texts == []
    assert cache.sync.core.counters.snapshot()[2]["index_failures"] == 1


class Picky(MemoryIndex):
    def put(self, entry, vector):
        raise ValueError("an entry that can never be stored")


def test_an_entry_that_can_never_be_stored_is_no_outage(opened):
    cache = opened(index=Picky(TableEncoder.dimension), breaker_failures=1)
    for _ in range(5):
        assert not cache.store(FIRST)
    stats = cache.sync.stats()
    assert stats.stores_by_reason == {Reason.UNSUPPORTED_REPLY: 5}
    assert stats.failures == {}
    assert cache.lookup(FIRST).reason is Reason.NO_CANDIDATE


@pytest.mark.parametrize("may_block", [False, True])
def test_removing_may_take_longer_than_a_lookup(opened, may_block):
    """Clearing a large store is no outage, and what was removed is counted."""

    class LargeIndex(MemoryIndex):
        def remove(self, selection, *, dry_run=False):
            clock.advance(60)
            return super().remove(selection, dry_run=dry_run)

        def put(self, entry, vector):
            clock.advance(60)
            super().put(entry, vector)

    clock = ManualClock()
    index = LargeIndex(TableEncoder.dimension)
    index.may_block = may_block
    cache = opened(index=index, clock=clock, deadline_seconds=2, breaker_failures=1)
    assert cache.store(FIRST)
    assert cache.lookup(FIRST).hit
    if cache.is_async:
        assert asyncio.run(cache.asynchronous.clear()) == 1
    else:
        assert cache.sync.clear() == 1
    assert cache.sync.stats().failures == {}
    assert cache.lookup(FIRST).reason is Reason.NO_CANDIDATE


class LocalEncoder(CountingEncoder):
    """An encoder in this process, which can be held up and can fail."""

    may_block = False

    def __init__(self) -> None:
        super().__init__()
        self.broken = False
        self.free = threading.Event()
        self.free.set()
        self.begun = threading.Event()

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.begun.set()
        assert self.free.wait(10)
        if self.broken:
            raise RuntimeError("out of order")
        return super().encode(texts)


async def test_an_idle_encoder_in_this_process_is_asked_where_the_flow_is():
    encoder = LocalEncoder()
    cache = await AsyncSemcache.open(":memory:", encoder=encoder, similarity_threshold=0.9)
    async with cache:
        await cache.lookup(FIRST)
    assert threading.current_thread().name not in encoder.threads
    assert "semcache-encoder" not in encoder.threads


async def test_whoever_finds_the_encoder_busy_waits_in_its_queue_and_off_the_loop():
    encoder = LocalEncoder()
    cache = await AsyncSemcache.open(":memory:", encoder=encoder, similarity_threshold=0.9)
    async with cache:
        encoder.free.clear()
        first = asyncio.create_task(cache.lookup(FIRST))
        await asyncio.to_thread(encoder.begun.wait, 10)
        second = asyncio.create_task(cache.lookup(SECOND))
        await asyncio.sleep(0.05)
        assert not first.done()
        assert not second.done()
        encoder.free.set()
        assert (await first).reason is Reason.NO_CANDIDATE
        assert (await second).reason is Reason.NO_CANDIDATE
    assert "semcache-encoder" in encoder.threads


async def test_the_one_call_after_an_outage_is_made_although_the_encoder_is_busy():
    encoder, clock = LocalEncoder(), ManualClock()
    cache = await AsyncSemcache.open(
        ":memory:", encoder=encoder, similarity_threshold=0.9, clock=clock
    )
    async with cache:
        encoder.broken = True
        for _ in range(3):
            assert (await cache.lookup(FIRST)).reason is Reason.ENCODER_UNAVAILABLE
        encoder.broken = False
        clock.advance(6)
        encoder.free.clear()
        encoder.begun.clear()
        elsewhere = asyncio.to_thread(cache.core.workplace.encoder.encode_if_idle, [TEXTS[2]])
        holder = asyncio.create_task(elsewhere)
        await asyncio.to_thread(encoder.begun.wait, 10)
        trial = asyncio.create_task(cache.lookup(FIRST))
        await asyncio.sleep(0.05)
        encoder.free.set()
        await holder
        assert (await trial).reason is Reason.NO_CANDIDATE
        assert (await cache.lookup(SECOND)).reason is Reason.NO_CANDIDATE
