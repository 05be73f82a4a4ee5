"""A full cache, end to end: bounds that hold, who goes, and books that follow the store."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from time import perf_counter

import pytest

from langchain_semcache import AsyncSemcache, Request, Response, Semcache
from langchain_semcache.clock import ManualClock
from langchain_semcache.engine.commands import Announce
from langchain_semcache.eviction import POLICIES, entry_bytes
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.records import PARTS, Selection
from langchain_semcache.testing.fakes import FlakyIndex, ScriptedEncoder
from tests.services.qdrant_http import QdrantService

DIMENSION = 1_000
REPLY = Response.from_text("Like this.")


def noise(size):
    """Text that does not get much shorter."""
    return "".join(sha256(str(number).encode()).hexdigest() for number in range(size // 64))


class Heard:
    def __init__(self):
        self.events = []

    def emit(self, event):
        self.events.append(event)

    def evicted(self):
        return [event for event in self.events if type(event).__name__ == "EntriesEvicted"]


@pytest.fixture(params=[":memory:", "edge"])
def location(request, tmp_path):
    return request.param if request.param == ":memory:" else str(tmp_path / "store")


def opened(location=":memory:", **settings):
    return Semcache.open(
        location,
        encoder=ScriptedEncoder(dimension=DIMENSION),
        similarity_threshold=0.99,
        strict=True,
        **settings,
    )


def asked(number, tenant="", model="m"):
    return Request(messages=f"question number {number}", model=model, tenant=tenant)


def store(cache, *numbers, **of):
    for number in numbers:
        assert cache.store(asked(number, **of), REPLY).stored


def left(cache):
    return {int(entry.question.rpartition(" ")[2]) for entry in cache.entries()}


def books_agree(cache):
    booked = cache.core.workplace.capacity.booked(cache.config.namespace)
    return booked == {entry.id: entry_bytes(entry, DIMENSION) for entry in cache.entries()}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_bound_on_entries_holds_after_every_store(location, policy):
    heard = Heard()
    with opened(location, max_entries=3, eviction=policy, sinks=[heard]) as cache:
        for number in range(8):
            store(cache, number)
            assert cache.stats().entries == min(number + 1, 3)
            assert cache.lookup(asked(number)).hit
        assert cache.stats().evicted == sum(event.count for event in heard.evicted()) == 5
        assert {event.policy for event in heard.evicted()} == {policy}
        assert books_agree(cache)


def test_a_hit_saves_an_answer_from_going(location):
    with opened(location, max_entries=3) as cache:
        store(cache, 0, 1, 2)
        assert cache.lookup(asked(0)).hit
        store(cache, 3)
        assert left(cache) == {0, 2, 3}


def test_a_bound_on_bytes_holds_and_what_is_larger_is_not_kept(location):
    with opened(location, max_bytes=15_000) as cache:
        for number in range(9):
            store(cache, number)
            assert sum(entry_bytes(entry, DIMENSION) for entry in cache.entries()) <= 15_000
        before = left(cache)
        assert len(before) > 1
        long = cache.store(asked(77), Response.from_text(noise(30_000)))
        assert (long.stored, long.reason) == (False, "too_large")
        assert left(cache) == before


def test_a_tenant_that_is_full_costs_no_other_one_an_answer(location):
    with opened(location, tenant_max_entries=2) as cache:
        store(cache, 0, 1, tenant="small")
        store(cache, *range(10, 20), tenant="large")
        assert left(cache) == {0, 1, 18, 19}


def test_what_has_expired_goes_before_what_is_alive(location):
    clock = ManualClock()
    with opened(location, max_entries=3, clock=clock, ttl=None) as cache:
        store(cache, 0)
        cache.store(asked(1), REPLY, ttl=5)
        store(cache, 2)
        clock.advance(5)
        store(cache, 3)
        assert left(cache) == {0, 2, 3}
        assert cache.stats().evicted == 0


def test_a_namespace_has_its_own_bound(location):
    with opened(location, max_entries=2) as cache:
        store(cache, 0, 1)
        for number in range(3):
            elsewhere = Request(messages=f"question number {number}", namespace="other")
            assert cache.store(elsewhere, REPLY).stored
        assert left(cache) == {0, 1}


def test_the_books_follow_whatever_removes(location):
    clock = ManualClock()
    with opened(location, max_entries=4, clock=clock) as cache:
        store(cache, 0, 1, 2, 3)
        cache.report(cache.lookup(asked(0)).entry_id, wrong=True)
        assert books_agree(cache)
        store(cache, 4, 5)
        assert left(cache) == {2, 3, 4, 5}
        cache.store(asked(6), REPLY, tags=("red",))
        assert cache.invalidate(tags=("red",)) == 1
        assert books_agree(cache)
        store(cache, 7)
        assert left(cache) == {3, 4, 5, 7}
        cache.clear()
        assert books_agree(cache)
        store(cache, 8, 9)
        assert left(cache) == {8, 9}


def test_a_smaller_bound_is_kept_from_the_next_store_on(tmp_path):
    with opened(str(tmp_path / "s")) as cache:
        store(cache, *range(600))
    with opened(str(tmp_path / "s"), max_entries=5) as cache:
        store(cache, 600)
        assert left(cache) == {596, 597, 598, 599, 600}


def test_two_caches_on_one_store_share_its_room():
    index = MemoryIndex(DIMENSION)
    one, other = opened(index=index, max_entries=3), opened(index=index, max_entries=3)
    for number in range(6):
        store((one, other)[number % 2], number)
        assert one.stats().entries <= 3
    other.clear()
    store(one, 7, 8, 9)
    assert left(one) == {7, 8, 9}


@pytest.mark.parametrize("policy", POLICIES)
def test_bounds_hold_when_many_threads_store_at_once(location, policy):
    with opened(location, max_entries=20, eviction=policy) as cache:

        def work(worker):
            for number in range(40):
                assert cache.store(asked(1_000 * worker + number), REPLY).stored
                cache.lookup(asked(1_000 * worker + number // 2))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        assert cache.stats().entries == 20
        assert cache.stats().evicted == 8 * 40 - 20
        assert books_agree(cache)


async def test_the_async_client_holds_the_same_bounds():
    cache = await AsyncSemcache.open(
        ":memory:", encoder=ScriptedEncoder(dimension=DIMENSION), max_entries=2
    )
    for number in range(5):
        await cache.store(asked(number), REPLY)
    assert (await cache.stats()).entries == 2
    await cache.close()


def test_a_dear_answer_outlives_a_cheap_one():
    with opened(max_entries=50, eviction="cost", model_prices={"dear": 100.0}) as cache:
        for number in range(600):
            store(cache, number % 45, model="dear")
            store(cache, 100 + number % 45, model="cheap")
            cache.lookup(asked(number % 45, model="dear"))
        dear = [entry for entry in cache.entries() if entry.model == "dear"]
        assert len(dear) > 40


def test_a_failure_to_let_go_is_made_up_for_later():
    flaky = FlakyIndex(MemoryIndex(DIMENSION))
    flaky.failing = frozenset({"remove"})
    with Semcache.open(
        ":memory:",
        encoder=ScriptedEncoder(dimension=DIMENSION),
        index=flaky,
        max_entries=2,
        breaker_failures=100,
    ) as cache:
        store(cache, 0, 1)
        flaky.fault = OSError("down")
        store(cache, 2)
        flaky.fault = None
        store(cache, 3)
        assert len(left(cache)) == 2
        assert books_agree(cache)


def near(number, length=1_200):
    """An answer of which the first part is that of all others."""
    return Response.from_text(f"{noise(length)} and {number}")


def kin(cache, *numbers, ttl=None):
    """Store answers to questions that are near one another."""
    for number in numbers:
        request = Request(messages=f"kin {number}", model="m")
        assert cache.store(request, near(number), ttl=ttl).stored


def kindred(**settings):
    """A cache whose encoder finds all questions alike, and that serves none for another."""
    encoder = ScriptedEncoder(
        {f"kin {number}": [1.0, number / 100] for number in range(50)}, dimension=2
    )
    return Semcache.open(
        ":memory:", encoder=encoder, similarity_threshold=0.9999999, strict=True, **settings
    )


def held(cache):
    return {entry.id: entry_bytes(entry, 2) for entry in cache.entries()}


def booked(cache):
    return cache.core.workplace.capacity.booked(cache.config.namespace)


def test_an_answer_that_becomes_a_base_is_booked_at_what_it_takes_then():
    with kindred(max_bytes=1_000_000) as cache:
        kin(cache, 0)
        (alone,) = held(cache).values()
        kin(cache, 1)
        assert min(held(cache).values()) < alone - 500
        assert booked(cache) == held(cache)


def test_bytes_are_bounded_as_answers_are_written():
    """What leans on another takes little, so that more of them fit."""
    with kindred(max_bytes=6_000) as cache:
        kin(cache, *range(8))
        assert cache.stats().evicted == 0
        assert sum(held(cache).values()) <= 6_000
        kin(cache, *range(8, 30))
        assert cache.stats().evicted > 0
        assert sum(held(cache).values()) <= 6_000
        assert booked(cache) == held(cache)
    with kindred(max_bytes=6_000, responses={"delta": False}) as cache:
        kin(cache, *range(8))
        assert cache.stats().evicted > 0


def test_a_bound_on_bytes_founds_few_bases_too():
    with kindred(max_bytes=3_000) as cache:
        kin(cache, *range(30))
        assert len(list(cache.core.workplace.index.scan(Selection(namespace=PARTS)))) <= 1


def test_whose_store_was_cancelled_is_found_by_the_next_ones():
    clock = ManualClock()
    with opened(max_entries=2, clock=clock) as cache:
        store(cache, 0, 1)
        place = cache.core.workplace
        (one, _) = list(cache.entries())
        lost = replace(one, id="5f0c1ad4-0000-5000-8000-000000000000")
        place.capacity.answer(Announce(lost))
        place.index.put(lost, None)
        clock.advance(61)
        store(cache, 2)
        assert cache.stats().entries == 2
        assert books_agree(cache)


def test_the_answer_that_was_written_last_is_the_one_that_is_booked():
    with opened(max_bytes=100_000) as cache:
        store(cache, 0)
        (short,) = cache.entries()
        place = cache.core.workplace
        place.index.put(replace(short, payload=b"x" * 900), None)
        place.capacity.hold(short)
        assert books_agree(cache)


def test_room_that_could_not_be_made_is_made_by_the_next_store():
    """The index went away between the writing and the count."""
    flaky = FlakyIndex(MemoryIndex(DIMENSION))
    flaky.failing = frozenset({"fetch"})
    with Semcache.open(
        ":memory:",
        encoder=ScriptedEncoder(dimension=DIMENSION),
        index=flaky,
        max_bytes=100_000,
        breaker_failures=100,
    ) as cache:
        store(cache, 0)
        flaky.fault = OSError("down")
        assert cache.store(asked(0), Response.from_text(noise(9_000))).stored
        flaky.fault = None
        assert books_agree(cache)


def test_what_an_answer_cost_does_not_depend_on_how_it_is_written():
    with kindred(max_entries=40, eviction="cost") as cache:
        kin(cache, *range(8))
        books = cache.core.workplace.capacity._opened(cache.config.namespace)
        values = [kept.value for kept in books.kept.values()]
        assert max(values) < 1.1 * min(values)


def test_three_processes_worth_of_caches_share_a_server_and_its_bound():
    """Nobody tells them of each other: the count of the server does."""
    with QdrantService() as service:
        caches = [opened(service.url, max_entries=10, deadline_seconds=30) for _ in range(3)]

        def work(worker):
            store(caches[worker], *range(100 * worker, 100 * worker + 12))

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(work, range(3)))
        # Two that make room at once may let go two where one was enough, but never too few.
        assert 1 <= caches[1].stats().entries <= 10
        for number in range(900, 920):
            store(caches[0], number)
            assert caches[1].stats().entries <= 10
        assert caches[1].stats().entries == 10
        assert books_agree(caches[0])
        for cache in caches:
            cache.close()


def test_a_hit_costs_the_policy_next_to_nothing():
    with opened(max_entries=10) as cache:
        store(cache, 1)
        capacity, entry_id = cache.core.workplace.capacity, cache.lookup(asked(1)).entry_id
        started = perf_counter()
        for _ in range(10_000):
            capacity.touched(entry_id)
        assert (perf_counter() - started) / 10_000 < 5e-6
