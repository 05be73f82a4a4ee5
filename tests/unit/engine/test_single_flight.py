from __future__ import annotations

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from langchain_semcache.engine.single_flight import AsyncSingleFlight, SingleFlight


class Work:
    """Counts its runs and ends when it is told to."""

    def __init__(self, outcome: object = "answer") -> None:
        self.runs = 0
        self.started = threading.Event()
        self.end = threading.Event()
        self.outcome = outcome

    def __call__(self) -> object:
        self.runs += 1
        self.started.set()
        assert self.end.wait(10)
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


def test_threads_that_ask_for_one_key_share_one_run():
    flights: SingleFlight[object] = SingleFlight()
    work = Work()
    joined = threading.Semaphore(0)

    def follow() -> object:
        joined.release()
        return flights.run("k", work)

    with ThreadPoolExecutor(9) as pool:
        leader = pool.submit(flights.run, "k", work)
        assert work.started.wait(10)
        followers = [pool.submit(follow) for _ in range(8)]
        for _ in followers:
            joined.acquire()
        work.end.set()
        assert {leader.result(10), *(each.result(10) for each in followers)} == {"answer"}
    # A follower that was late for the flight leads one of its own; nobody runs twice at a time.
    assert work.runs < 9


def test_another_key_and_a_later_call_run_again():
    flights: SingleFlight[object] = SingleFlight()
    work = Work()
    work.end.set()
    flights.run("a", work), flights.run("b", work), flights.run("a", work)
    assert work.runs == 3


def test_an_error_of_the_leader_reaches_the_followers_and_leaves_nothing_behind():
    flights: SingleFlight[object] = SingleFlight()
    failing = Work(ValueError("429"))
    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(flights.run, "k", failing)
        assert failing.started.wait(10)
        follower = pool.submit(flights.run, "k", failing)
        failing.end.set()
        for each in (leader, follower):
            with pytest.raises(ValueError, match="429"):
                each.result(10)
    working = Work()
    working.end.set()
    assert flights.run("k", working) == "answer"


def test_an_interrupted_leader_is_replaced_by_a_follower():
    flights: SingleFlight[object] = SingleFlight()
    interrupted, second = Work(KeyboardInterrupt()), Work()
    second.end.set()

    def lead() -> None:
        with pytest.raises(KeyboardInterrupt):
            flights.run("k", interrupted)

    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(lead)
        assert interrupted.started.wait(10)
        follower = pool.submit(flights.run, "k", second)
        interrupted.end.set()
        leader.result(10)
        assert follower.result(10) == "answer"


def test_work_that_asks_for_its_own_key_does_not_wait_for_itself():
    flights: SingleFlight[str] = SingleFlight()
    assert flights.run("k", lambda: flights.run("k", lambda: "inner")) == "inner"


async def test_tasks_that_ask_for_one_key_share_one_run():
    flights: AsyncSingleFlight[str] = AsyncSingleFlight()
    gate = asyncio.Event()
    runs = 0

    async def work() -> str:
        nonlocal runs
        runs += 1
        await gate.wait()
        return "answer"

    tasks = [asyncio.create_task(flights.run("k", work)) for _ in range(20)]
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*tasks) == ["answer"] * 20
    assert runs == 1


async def test_a_cancelled_leader_hands_over_and_a_cancelled_follower_disturbs_nobody():
    flights: AsyncSingleFlight[str] = AsyncSingleFlight()
    gate = asyncio.Event()
    runs = 0

    async def work() -> str:
        nonlocal runs
        runs += 1
        await gate.wait()
        return "answer"

    leader, quitter, stayer = (asyncio.create_task(flights.run("k", work)) for _ in range(3))
    await asyncio.sleep(0)
    quitter.cancel()
    leader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leader
    gate.set()
    assert await asyncio.wait_for(stayer, 10) == "answer"
    assert runs == 2


async def test_an_error_of_the_leading_task_reaches_the_followers():
    flights: AsyncSingleFlight[str] = AsyncSingleFlight()

    async def work() -> str:
        await asyncio.sleep(0)
        raise ValueError("429")

    results = await asyncio.gather(
        *(flights.run("k", work) for _ in range(3)), return_exceptions=True
    )
    assert [str(result) for result in results] == ["429"] * 3


async def test_an_error_that_nobody_waits_for_is_not_logged(caplog):
    """asyncio logs the traceback of what was never looked at, the model's words in it."""
    flights: AsyncSingleFlight[str] = AsyncSingleFlight()
    gate = asyncio.Event()

    async def work() -> str:
        await gate.wait()
        raise ValueError("the model's words")

    leader, quitter = (asyncio.create_task(flights.run("k", work)) for _ in range(2))
    await asyncio.sleep(0)
    quitter.cancel()
    await asyncio.sleep(0)
    gate.set()
    with pytest.raises(ValueError, match="words"):
        await leader
    del quitter
    gc.collect()
    await asyncio.sleep(0)
    assert caplog.records == []
