"""The event loop never waits for the cache, and no loop or thread is a special one."""

from __future__ import annotations

import asyncio
import functools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.globals import set_llm_cache
from langchain_core.outputs import Generation

from langchain_semcache import Request, Response, SemanticCache
from langchain_semcache.clock import SystemClock
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.ports import Vectors
from langchain_semcache.testing.fakes import Fault, FlakyEncoder, ScriptedEncoder
from tests.adapters.langchain.conftest import QUESTION
from tests.adapters.langchain.models import ScriptedModel

GAP = 0.05
LATE = 0.3


class SlowEncoder(ScriptedEncoder):
    """Takes its time on every batch, as a model would, holding its thread."""

    def encode(self, texts: Any) -> Vectors:
        time.sleep(LATE)
        return super().encode(texts)


async def _longest_gap(work: Awaitable[Any]) -> float:
    """The longest time between two ticks of the loop while `work` goes on."""
    longest = 0.0
    task = asyncio.ensure_future(work)
    before = time.perf_counter()
    while not task.done():
        await asyncio.sleep(0.005)
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    await task
    return longest


@pytest.fixture
def slow(make_cache: Any) -> SemanticCache:
    encoder = SlowEncoder()
    cache: SemanticCache = make_cache(
        encoder=encoder, index=MemoryIndex(encoder.dimension), clock=SystemClock()
    )
    return cache


async def test_the_loop_ticks_while_the_cache_works(slow: SemanticCache) -> None:
    """B37: lookup and update leave it alone."""
    reply = [Generation(text="x")]
    await slow.alookup("warm up", "m")
    gaps = [
        await _longest_gap(slow.alookup("one", "m")),
        await _longest_gap(slow.aupdate("two", "m", reply)),
    ]
    # A machine that is busy with other things stalls now and then; a blocked loop stalls always.
    if max(gaps) >= GAP:
        gaps = [
            await _longest_gap(slow.alookup("three", "m")),
            await _longest_gap(slow.aupdate("four", "m", reply)),
        ]
    assert max(gaps) < min(GAP * 2, LATE / 2)


async def test_the_loop_ticks_while_a_directory_works(make_cache: Any, tmp_path: Path) -> None:
    """B37: the store on disk is written and read beside the loop as well."""
    cache = make_cache(tmp_path / "store", encoder=SlowEncoder(), clock=SystemClock(), strict=True)
    reply = [Generation(text="x")]
    await cache.aupdate("warm up", "m", reply)
    longest: list[float] = []
    for attempt in range(4):
        # The best of a few: a busy machine stalls now and then, a blocked loop stalls always.
        gaps = [
            await _longest_gap(cache.aupdate(f"update {attempt}", "m", reply)),
            await _longest_gap(cache.alookup(f"update {attempt}", "m")),
            await _longest_gap(cache.alookup(f"lookup {attempt}", "m")),
        ]
        longest.append(max(gaps))
        if longest[-1] < GAP:
            break
    assert min(longest) < GAP, longest
    assert cache.stats().entries == 1 + len(longest)


async def test_lookups_share_the_encoder(slow: SemanticCache) -> None:
    """B37: twenty at once take nowhere near twenty times as long."""
    started = time.perf_counter()
    await asyncio.gather(*(slow.alookup(f"question {number}", "m") for number in range(20)))
    assert time.perf_counter() - started < 5 * LATE


def test_one_cache_serves_several_loops(cache: SemanticCache, model: ScriptedModel) -> None:
    """B37: one `asyncio.run` after the other, and loops in threads of their own."""

    async def ask(text: str) -> str:
        return str((await model.ainvoke(text)).content)

    first = asyncio.run(ask(QUESTION))
    assert asyncio.run(ask(QUESTION)) == first
    with ThreadPoolExecutor(4) as pool:
        texts = [QUESTION, "a", "b", "c"]
        replies = list(pool.map(lambda text: asyncio.run(ask(text)), texts))
    assert replies[0] == first
    assert asyncio.run(ask("a")) == replies[1]


@pytest.mark.services
def test_one_cache_on_a_server_serves_several_loops(make_cache: Any) -> None:
    """B37: no connection is bound to a loop that is gone."""
    from tests.services.qdrant_http import QdrantService

    with QdrantService() as service:
        model = ScriptedModel(cache=make_cache(service.url, strict=True))

        async def ask() -> str:
            return str((await model.ainvoke(QUESTION)).content)

        first = asyncio.run(ask())
        assert [asyncio.run(ask()) for _ in range(3)] == [first] * 3
        assert model.invoke(QUESTION).content == first
        assert model.calls == 1


async def test_blocking_calls_work_inside_a_loop(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B37: slow for the loop, but no deadlock."""
    model.invoke(QUESTION)
    assert (await model.ainvoke(QUESTION)).content == model.invoke(QUESTION).content
    assert model.calls == 1


async def test_a_cancelled_lookup_leaves_nothing_locked(make_cache: Any) -> None:
    """B37: the cancellation arrives, and the cache works on."""
    encoder = FlakyEncoder(ScriptedEncoder(), Fault.HANG)
    cache: SemanticCache = make_cache(
        encoder=encoder, index=MemoryIndex(64), clock=SystemClock(), deadline_seconds=20
    )
    task = asyncio.create_task(cache.alookup("q", "m"))
    await asyncio.to_thread(encoder.entered.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    encoder.fault = None
    encoder.released.set()
    await cache.aupdate("q", "m", [Generation(text="x")])
    assert await cache.alookup("q", "m") is not None
    assert cache.lookup("q", "m") is not None


async def test_a_cancelled_call_of_the_model_hands_over(cache: SemanticCache) -> None:
    """B37, X01: who waited for it asks again, and nothing half done is stored."""
    started, released = asyncio.Event(), asyncio.Event()
    calls = 0

    async def call() -> Response:
        nonlocal calls
        calls += 1
        started.set()
        await released.wait()
        return Response.from_text("answer")

    request = Request(messages=QUESTION)
    leader = asyncio.create_task(cache.asemcache.get_or_call(request, call))
    await started.wait()
    followers = [asyncio.create_task(cache.asemcache.get_or_call(request, call)) for _ in range(3)]
    await asyncio.sleep(0)
    leader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leader
    released.set()
    answers = await asyncio.gather(*followers)
    assert {answer.response for answer in answers} == {Response.from_text("answer")}
    assert calls == 2
    assert cache.stats().entries == 1


async def test_a_herd_leaves_one_entry(cache: SemanticCache, model: ScriptedModel) -> None:
    """X01: LangChain asks the model for each of twenty; the store keeps one, and it hits."""
    replies = await asyncio.gather(*(model.ainvoke(QUESTION) for _ in range(20)))
    assert all(reply.content for reply in replies)
    assert cache.stats().entries == 1
    calls = model.calls
    await model.ainvoke(QUESTION)
    assert model.calls == calls <= 20


NEAR = {f"{QUESTION} {word}": 1 - number / 1000 for number, word in enumerate(
    "please now then thanks kindly exactly today again really friend "
    "simply quickly briefly sir madam mate there here though actually".split()
)}  # fmt: skip


@pytest.mark.parametrize("where", ["memory", "edge"])
async def test_a_herd_of_near_questions_is_no_trouble(
    make_cache: Any, tmp_path: Path, where: str
) -> None:
    """X01: twenty wordings at once: each is answered, and afterwards each of them hits."""
    encoder = ScriptedEncoder(NEAR)
    place = {"location": tmp_path / "store"} if where == "edge" else {"index": MemoryIndex(64)}
    cache = make_cache(encoder=encoder, strict=True, clock=SystemClock(), **place)
    model = ScriptedModel(cache=cache).before(functools.partial(threading.Event().wait, 0.2))
    assert len(NEAR) == 20
    replies = await asyncio.gather(*(model.ainvoke(text) for text in NEAR))
    assert all(reply.content for reply in replies)
    calls = model.calls
    assert 1 <= cache.stats().entries <= calls <= 20
    again = [await model.ainvoke(text) for text in NEAR]
    assert model.calls == calls
    assert {reply.content for reply in again} <= {reply.content for reply in replies}


async def test_the_core_asks_once_for_a_herd(cache: SemanticCache) -> None:
    """X01: `get_or_call` is single flight, for tasks …"""
    calls = 0

    async def call() -> Response:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0.05)
        return Response.from_text("answer")

    request = Request(messages=QUESTION)
    herd = [cache.asemcache.get_or_call(request, call) for _ in range(20)]
    assert {found.response for found in await asyncio.gather(*herd)} == {
        Response.from_text("answer")
    }
    assert calls == 1


def test_the_core_asks_once_for_a_herd_of_threads(cache: SemanticCache) -> None:
    """X01: … and for threads."""
    calls: list[int] = []
    everybody = threading.Barrier(20)

    def call() -> Response:
        calls.append(1)
        time.sleep(0.05)
        return Response.from_text("answer")

    def ask() -> Any:
        everybody.wait(10)
        return cache.semcache.get_or_call(Request(messages=QUESTION), call).response

    with ThreadPoolExecutor(20) as pool:
        herd = [pool.submit(ask) for _ in range(20)]
        assert {each.result(20) for each in herd} == {Response.from_text("answer")}
    assert len(calls) == 1


async def test_a_call_inside_a_call_does_not_wait_for_itself(cache: SemanticCache) -> None:
    """X01: a model that asks the cache its own question again gets an answer, in both colours."""
    request = Request(messages=QUESTION)

    async def inner() -> Response:
        return Response.from_text("answer")

    async def outer() -> Response:
        found = await cache.asemcache.get_or_call(request, inner)
        assert found.response is not None
        return found.response

    found = await asyncio.wait_for(cache.asemcache.get_or_call(request, outer), 10)
    assert found.response == Response.from_text("answer")


@pytest.mark.parametrize("where", ["memory", "edge"])
def test_threads_read_and_write_at_once(make_cache: Any, tmp_path: Path, where: str) -> None:
    """B38: eight threads, no error, the right count, everything readable."""
    encoder = ScriptedEncoder(dimension=512)
    if where == "memory":
        cache = make_cache(encoder=encoder, index=MemoryIndex(512), strict=True)
    else:
        cache = make_cache(tmp_path / "store", encoder=encoder, strict=True)
    rounds, questions = 200, 50

    def work(thread: int) -> None:
        for number in range(rounds):
            # Each question is written four times, and others read it meanwhile.
            prompt, answer = f"thread {thread} question {number % questions}", f"round {number}"
            cache.update(prompt, "m", [Generation(text=answer)])
            found = cache.lookup(prompt, "m")
            assert found is not None
            assert found[0].text == answer
            cache.lookup(f"thread {(thread + 1) % 8} question {number % questions}", "m")

    with ThreadPoolExecutor(8) as pool:
        for each in [pool.submit(work, number) for number in range(8)]:
            each.result(120)
    assert len(list(cache.semcache.entries())) == cache.stats().entries == 8 * questions
    for thread in range(8):
        found = cache.lookup(f"thread {thread} question 0", "m")
        assert found is not None
        assert found[0].text == f"round {rounds - questions}"


def test_two_caches_on_one_directory_share_it(make_cache: Any, tmp_path: Path) -> None:
    """B38: within a process."""
    one, two = make_cache(tmp_path / "store"), make_cache(tmp_path / "store")
    ScriptedModel(cache=one).invoke(QUESTION)
    model = ScriptedModel(cache=two)
    model.invoke(QUESTION)
    assert model.calls == 0
    one.close()
    model.invoke(QUESTION)
    assert model.calls == 0


def test_a_cache_works_from_wherever_langchain_calls_it(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B37: batch, abatch and executors."""
    set_llm_cache(cache)
    model.invoke(QUESTION)
    assert {reply.content for reply in model.batch([QUESTION] * 5)} == {"answer 1"}
    assert {r.content for r in asyncio.run(model.abatch([QUESTION] * 5))} == {"answer 1"}
    assert model.calls == 1


ENDS = """
import asyncio, sys
from langchain_core.globals import set_llm_cache
from langchain_semcache import SemanticCache
from langchain_semcache.testing.fakes import ScriptedEncoder
from tests.adapters.langchain.models import ScriptedModel
set_llm_cache(SemanticCache(sys.argv[1], encoder=ScriptedEncoder()))
model = ScriptedModel()
model.invoke("q")
asyncio.run(model.ainvoke("q"))
print(model.calls)
"""


def test_a_process_may_end_without_closing(tmp_path: Path) -> None:
    """B38: no traceback, no hanging thread, and the next process reads what was stored."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    for calls in ("1", "0"):
        done = subprocess.run(
            [sys.executable, "-c", ENDS, str(tmp_path / "store")], env=environment,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout.strip(), done.stderr) == (0, calls, "")


def _process(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_second_process_on_a_directory_is_told_at_construction(
    make_cache: Any, tmp_path: Path
) -> None:
    """B38: one line that names the directory and the way out; the owner works on."""
    cache = make_cache(tmp_path / "store", clock=SystemClock())
    model = ScriptedModel(cache=cache)
    model.invoke("q")
    refused = _process(ENDS, str(tmp_path / "store"))
    assert (refused.returncode, refused.stdout) == (1, "")
    told = refused.stderr.strip().splitlines()[-1]
    assert told.startswith("langchain_semcache.errors.StoreLocked: ")
    assert str(tmp_path / "store") in told
    assert "another process" in told
    assert "Qdrant server" in told
    model.invoke("q")
    assert model.calls == 1
    cache.close()
    allowed = _process(ENDS, str(tmp_path / "store"))
    assert (allowed.returncode, allowed.stdout.strip(), allowed.stderr) == (0, "0", "")


@pytest.mark.services
def test_processes_share_hits_through_a_server(make_cache: Any) -> None:
    """B38: the way out that the error names: whoever asks first pays, in either direction."""
    from tests.services.qdrant_http import QdrantService

    with QdrantService() as service:
        other = _process(ENDS, service.url)
        assert (other.returncode, other.stdout.strip(), other.stderr) == (0, "1", "")
        cache = make_cache(service.url, encoder=ScriptedEncoder(), clock=SystemClock(), strict=True)
        model = ScriptedModel(cache=cache)
        model.invoke("q")
        assert model.calls == 0
        cache.clear()
        model.invoke("q")
        assert model.calls == 1
        other = _process(ENDS, service.url)
        assert (other.returncode, other.stdout.strip(), other.stderr) == (0, "0", "")


TAKEN_AWAY = """
import atexit, sys, time
atexit.register(time.sleep, 0.3)  # runs last, so that the thread can still speak
from langchain_semcache import Request, Response, Semcache
from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
from langchain_semcache.testing.fakes import ScriptedEncoder

scan = QdrantEdgeIndex.scan
started = []

def until_closed(self, *args, **kwargs):
    started.append(True)
    while True:
        list(scan(self, *args, **kwargs))
        time.sleep(0.001)

QdrantEdgeIndex.scan = until_closed
cache = Semcache.open(sys.argv[1], encoder=ScriptedEncoder(), verifier="none")
cache.store(Request(messages="q"), Response.from_text("a"))
while not started:
    time.sleep(0.001)
"""


def test_what_is_under_way_when_a_process_ends_has_nothing_to_say(tmp_path: Path) -> None:
    """B38: dictionaries are looked for on a thread, and the store may close under it."""
    done = subprocess.run(
        [sys.executable, "-c", TAKEN_AWAY, str(tmp_path / "store")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
