"""Where the backends are at work: threads, sweeps, and what a time-out leaves."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from langchain_semcache import Reason, Request, Response, Semcache
from langchain_semcache.client import shared
from langchain_semcache.clock import ManualClock
from langchain_semcache.engine.pool import WorkerPool
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.records import Selection
from langchain_semcache.testing.cache_machine import TEXTS, TableEncoder
from langchain_semcache.testing.fakes import Fault, FlakyEncoder, ScriptedEncoder

ANSWER = Response.from_text("so")


def test_expired_entries_are_swept_after_so_many_stores(monkeypatch):
    monkeypatch.setattr(shared, "SWEEP_EVERY", 4)
    clock, index = ManualClock(), MemoryIndex(TableEncoder.dimension)
    cache = Semcache.open(":memory:", encoder=TableEncoder(), index=index, clock=clock)
    texts = iter(TEXTS)
    held = []

    def store(ttl):
        assert cache.store(Request(messages=next(texts), model="m"), ANSWER, ttl=ttl).stored
        # Counted below the cache, which shows nothing that has expired.
        held.append(len(list(index.scan(Selection()))))

    with cache:
        for ttl in (1, 1, None):
            store(ttl)
        clock.advance(2)
        for ttl in (None, 1, None, None):
            store(ttl)
        clock.advance(2)
        store(None)
    # Two go with the fourth store, one with the eighth.
    assert held == [1, 2, 3, 2, 3, 4, 5, 5]


def test_there_are_so_many_stores_between_two_sweeps():
    assert shared.SWEEP_EVERY == 256


def test_what_was_given_up_before_its_turn_is_not_computed_later():
    scripted = ScriptedEncoder()
    encoder = FlakyEncoder(scripted, Fault.HANG)
    cache = Semcache.open(":memory:", encoder=encoder, deadline_seconds=0.3)
    with cache, ThreadPoolExecutor(1) as pool:
        first = pool.submit(cache.lookup, Request(messages="first"))
        assert encoder.entered.wait(10)
        assert cache.lookup(Request(messages="second")).reason is Reason.ENCODER_UNAVAILABLE
        assert first.result(10).reason is Reason.ENCODER_UNAVAILABLE
        encoder.fault = None
        encoder.released.set()
        cache.core.workplace.encoder.submit(["third"]).result(10)
    assert scripted.texts == ["first", "third"]


def test_a_pool_is_made_anew_after_it_was_closed():
    pool = WorkerPool()
    names = {pool.submit(lambda: threading.current_thread().name).result(10)}
    pool.close()
    names.add(pool.submit(lambda: threading.current_thread().name).result(10))
    pool.close()
    pool.close()
    assert all(name.startswith("semcache") for name in names)
