"""One running stream for many: threads, tasks, event loops, failures and readers that stop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from langchain_semcache.engine.shared_buffer import FellBehind, Interrupted
from langchain_semcache.engine.shared_streams import SharedStreams
from langchain_semcache.engine.shared_streams_async import AHEAD, AsyncSharedStreams
from langchain_semcache.engine.stream_reader import Kind
from langchain_semcache.streaming import Piece

SECONDS = 20.0
WORDS = ["one ", "two ", "three ", "four ", "five"]


class Lost(Exception):
    """What a model raises."""


def kind(most: int = 10_000) -> Kind[str]:
    return Kind(
        reduced=lambda text: Piece(text=text),
        copied=lambda text, _: text,
        last=lambda text, count: text[-count:],
        most=most,
    )


async def until(so: Callable[[], object]) -> None:
    """Lets other tasks and threads go on until it is so."""
    while not so():  # noqa: ASYNC110 - threads change it too, without any event
        await asyncio.sleep(0.001)


class Model:
    """Says what it is told, call by call: words, and exceptions to raise. Counts calls and ends.

    Args:
        gate: Passed before each word but the first of the first call.
    """

    def __init__(self, *calls: list[object], gate: threading.Semaphore | None = None) -> None:
        self.script = list(calls)
        self.calls = self.closed = 0
        self.given = 0
        self._gate = gate
        self.seated: threading.Event | None = None
        self._lock = threading.Lock()

    def _next(self) -> tuple[int, list[object]]:
        with self._lock:
            self.calls += 1
            return self.calls, self.script[min(self.calls, len(self.script)) - 1]

    def __call__(self) -> Iterator[str]:
        number, words = self._next()
        if number == 1 and self.seated is not None:
            self.seated.wait(SECONDS)
        try:
            for place, word in enumerate(words):
                if self._gate and number == 1 and place and not self._gate.acquire(timeout=SECONDS):
                    raise TimeoutError
                if isinstance(word, BaseException):
                    raise word
                self.given += 1
                yield word
        finally:
            self.closed += 1

    async def later(self):
        number, words = self._next()
        try:
            for place, word in enumerate(words):
                if self._gate and number == 1 and place:
                    await until(lambda: self._gate.acquire(blocking=False))
                await asyncio.sleep(0)
                if isinstance(word, BaseException):
                    raise word
                self.given += 1
                yield word
        finally:
            self.closed += 1


def read_by_threads(streams: SharedStreams[str], model: Model, count: int) -> list[object]:
    """What each of so many threads read, or what was raised to it."""
    begin = threading.Barrier(count)

    def read(_: int) -> object:
        begin.wait(SECONDS)
        try:
            return "".join(streams.read("key", model))
        except Exception as error:  # noqa: BLE001 - it is looked at
            return error

    def all_seated() -> None:
        while not done.is_set():
            running = streams._streams._running.get("key")
            if running is not None and len(running.buffer.seats) == count:
                break
            time.sleep(0.001)
        model.seated.set()

    done = threading.Event()
    watching = threading.Thread(target=all_seated)
    watching.start()
    with ThreadPoolExecutor(count) as pool:
        got = list(pool.map(read, range(count)))
    done.set()
    watching.join()
    return got


async def read_by_tasks(streams: AsyncSharedStreams[str], model: Model, count: int) -> list[object]:
    async def read() -> str:
        return "".join([chunk async for chunk in streams.read("key", model.later)])

    return await asyncio.gather(*(read() for _ in range(count)), return_exceptions=True)


async def read_by(colour: str, model: Model, count: int) -> list[object]:
    if colour == "threads":
        model.seated = threading.Event()
        return await asyncio.to_thread(read_by_threads, SharedStreams(kind()), model, count)
    return await read_by_tasks(AsyncSharedStreams(kind()), model, count)


COLOURS = pytest.mark.parametrize("colour", ["threads", "tasks"])


@COLOURS
async def test_a_hundred_readers_make_one_call(colour):
    model = Model(WORDS)
    assert await read_by(colour, model, 100) == ["".join(WORDS)] * 100
    assert (model.calls, model.closed) == (1, 1)


@COLOURS
async def test_readers_one_after_another_share_nothing(colour):
    model = Model(WORDS)
    for _ in range(2):
        assert await read_by(colour, model, 1) == ["".join(WORDS)]
    assert model.calls == 2


@COLOURS
async def test_a_stream_that_fails_before_its_first_chunk_is_taken_over_by_one(colour):
    """Who asked is told; the others read the second call's answer."""
    model = Model([Lost("no")], WORDS)
    got = await read_by(colour, model, 20)
    assert sum(isinstance(one, Lost) for one in got) == 1
    assert got.count("".join(WORDS)) == 19
    assert model.calls == 2


@COLOURS
async def test_a_model_that_is_down_is_asked_twice_and_not_once_for_each(colour):
    model = Model([Lost("no")])
    got = await read_by(colour, model, 50)
    assert all(isinstance(one, Lost) for one in got)
    assert model.calls == 2


class Two:
    """Two readers of one stream, the first of them leading, read step by step; in either colour."""

    def __init__(self, colour: str, model: Model, most: int = 10_000) -> None:
        if colour == "threads":
            shared = SharedStreams(kind(most))
            self._readers = [shared.read("key", model) for _ in range(2)]
        else:
            later = AsyncSharedStreams(kind(most))
            self._readers = [later.read("key", model.later) for _ in range(2)]
        self.leader, self.follower = 0, 1
        self._colour = colour

    async def read(self, who: int) -> str:
        reader = self._readers[who]
        return next(reader) if self._colour == "threads" else await anext(reader)

    async def rest(self, who: int) -> str:
        reader = self._readers[who]
        if self._colour == "threads":
            return "".join(reader)
        return "".join([chunk async for chunk in reader])

    async def stop(self, who: int) -> None:
        reader = self._readers[who]
        if self._colour == "threads":
            reader.close()
        else:
            await reader.aclose()


@COLOURS
async def test_one_joins_from_the_beginning(colour):
    model = Model(WORDS)
    two = Two(colour, model)
    assert [await two.read(two.leader) for _ in range(3)] == WORDS[:3]
    assert await two.rest(two.follower) == "".join(WORDS)
    assert await two.rest(two.leader) == "".join(WORDS[3:])
    assert (model.calls, model.closed) == (1, 1)


@COLOURS
async def test_a_reader_that_waits_holds_nobody_up(colour):
    """The one whose call it is reads one chunk and then nothing for a while."""
    model = Model(WORDS)
    two = Two(colour, model)
    await two.read(two.leader)
    assert await two.rest(two.follower) == "".join(WORDS)
    assert await two.rest(two.leader) == "".join(WORDS[1:])


@COLOURS
@pytest.mark.parametrize("joined", [True, False], ids=["has read", "has read nothing"])
async def test_when_the_leader_stops_the_follower_reads_on(colour, joined):
    """The same call goes on; nobody asks again."""
    model = Model(WORDS)
    two = Two(colour, model)
    await two.read(two.leader)
    begun = await two.read(two.follower) if joined else ""
    await two.stop(two.leader)
    if not joined:
        assert (model.calls, model.closed) == (1, 1), "nobody was left"
    assert begun + await two.rest(two.follower) == "".join(WORDS)
    assert model.calls == (1 if joined else 2)


@COLOURS
async def test_when_all_stop_the_stream_is_closed(colour):
    model = Model(WORDS)
    two = Two(colour, model)
    await two.read(two.leader)
    await two.read(two.follower)
    await two.stop(two.follower)
    assert model.closed == 0
    await two.stop(two.leader)
    assert model.closed == 1
    assert model.given < len(WORDS) or colour == "tasks"


@COLOURS
async def test_a_lonely_reader_is_not_read_ahead_of(colour):
    model = Model(WORDS)
    two = Two(colour, model)
    await two.read(two.leader)
    assert model.given == 1
    await two.stop(two.leader)
    assert (model.given, model.closed) == (1, 1)


async def test_tasks_that_share_are_read_ahead_of_by_a_little_only():
    model = Model([f"{number} " for number in range(1_000)])
    two = Two("tasks", model)
    assert [await two.read(two.leader) for _ in range(3)] == ["0 ", "1 ", "2 "]
    assert [await two.read(two.follower) for _ in range(4)] == ["0 ", "1 ", "2 ", "3 "]
    for _ in range(1_000):
        await asyncio.sleep(0)
    assert 4 < model.given <= 4 + 2 * AHEAD
    assert (await two.rest(two.follower)).endswith("999 ")
    await two.stop(two.leader)


@COLOURS
async def test_after_a_failure_in_the_middle_the_same_answer_is_gone_on_with(colour):
    """Also when it is cut otherwise: what was handed out is not handed out again."""
    model = Model(["one ", "two ", Lost("no")], ["one tw", "o three ", "four"])
    two = Two(colour, model)
    assert await two.read(two.leader) == "one "
    assert await two.read(two.follower) == "one "
    assert await two.rest(two.follower) == "two three four"
    assert model.calls == 2
    with pytest.raises(Lost):
        await two.rest(two.leader)


@COLOURS
@pytest.mark.parametrize("second", [["one ", "more"], ["one"], []], ids=["other", "less", "none"])
async def test_after_a_failure_in_the_middle_two_answers_are_never_mixed(colour, second):
    """The follower is told what the first call raised."""
    error = Lost("no")
    model = Model(["one ", "two ", error], second)
    two = Two(colour, model)
    await two.read(two.leader)
    assert [await two.read(two.follower) for _ in range(2)] == ["one ", "two "]
    with pytest.raises(Lost) as raised:
        await two.rest(two.follower)
    assert raised.value is error
    assert model.calls == 2


@COLOURS
async def test_what_is_kept_is_bounded(colour):
    """Beyond it nobody joins, and who falls that far behind is told so."""
    model = Model(["12345"] * 40)
    two = Two(colour, model, most=30)
    await two.read(two.leader)
    await two.read(two.follower)
    assert await two.rest(two.leader) == "12345" * 39
    with pytest.raises(FellBehind, match="max_characters"):
        await two.rest(two.follower)
    assert model.calls == 1


@COLOURS
async def test_whose_own_call_it_is_gets_all_of_it_however_slow(colour):
    model = Model(["12345"] * 40)
    two = Two(colour, model, most=30)
    await two.read(two.leader)
    await two.read(two.follower)
    assert await two.rest(two.follower) == "12345" * 39
    assert await two.rest(two.leader) == "12345" * 39
    assert model.calls == 1


@COLOURS
async def test_a_stream_that_is_too_long_to_be_kept_is_not_joined(colour):
    model = Model(["12345"] * 40, ["a"])
    two = Two(colour, model, most=30)
    for _ in range(10):
        await two.read(two.leader)
    assert await two.rest(two.follower) == "a"
    assert await two.rest(two.leader) == "12345" * 30
    assert model.calls == 2


@COLOURS
async def test_a_call_that_asks_the_same_inside_itself_does_not_wait_for_itself(colour):
    if colour == "threads":
        shared = SharedStreams(kind())

        def outer() -> Iterator[str]:
            yield "<" + "".join(shared.read("key", lambda: iter(["inner"]))) + ">"

        assert list(shared.read("key", outer)) == ["<inner>"]
        return
    later = AsyncSharedStreams(kind())

    async def inner():
        yield "inner"

    async def outer_later():
        yield "<" + "".join([chunk async for chunk in later.read("key", inner)]) + ">"

    assert [chunk async for chunk in later.read("key", outer_later)] == ["<inner>"]


@pytest.mark.parametrize("waits_for", ["first", "later"])
async def test_a_cancelled_leader_takes_nothing_from_the_others(waits_for):
    """A client that goes away is cancelled while its task waits for the model."""
    gate = threading.Semaphore(0)
    model = Model(WORDS, WORDS, gate=gate)
    streams = AsyncSharedStreams(kind())

    async def read(got: list[str]) -> None:
        async for chunk in streams.read("key", model.later):
            got.append(chunk)

    first: list[str] = []
    leader = asyncio.create_task(read(first))
    await until(lambda: first)
    others: list[list[str]] = [[] for _ in range(5)]
    tasks = [asyncio.create_task(read(got)) for got in others]
    await asyncio.sleep(0.01)
    if waits_for == "later":
        gate.release()
        await until(lambda: all(len(got) == 2 for got in others))
    leader.cancel()
    await asyncio.sleep(0.01)
    gate.release(9)
    await asyncio.gather(*tasks)
    assert others == [WORDS] * 5
    # Before the second chunk the leader's own task was bringing it, and the stream went with it.
    assert model.calls == (1 if waits_for == "later" else 2)
    assert leader.cancelled()


async def test_a_cancelled_follower_takes_nothing_from_the_others():
    gate = threading.Semaphore(0)
    model = Model(WORDS, gate=gate)
    streams = AsyncSharedStreams(kind())

    async def read() -> str:
        return "".join([chunk async for chunk in streams.read("key", model.later)])

    tasks = [asyncio.create_task(read()) for _ in range(5)]
    await asyncio.sleep(0.01)
    for task in tasks[2:]:
        task.cancel()
    await asyncio.sleep(0.01)
    gate.release(9)
    assert await asyncio.gather(*tasks[:2]) == ["".join(WORDS)] * 2
    assert model.calls == model.closed == 1


def test_readers_in_other_event_loops_read_along():
    gate = threading.Semaphore(0)
    model = Model(WORDS, gate=gate)
    streams = AsyncSharedStreams(kind())
    begin = threading.Barrier(4)

    async def read() -> str:
        begin.wait(SECONDS)
        return "".join([chunk async for chunk in streams.read("key", model.later)])

    threading.Timer(0.3, gate.release, (9,)).start()
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda _: asyncio.run(read()), range(4)))
    assert got == ["".join(WORDS)] * 4
    assert model.calls == 1


@pytest.mark.parametrize("ends", ["closed", "stopped"])
def test_a_loop_that_ends_takes_nothing_from_readers_in_another_one(ends):
    """Its stream ends with it; one of the others asks again, and goes on where it was."""
    gate = threading.Semaphore(0)
    model = Model(WORDS, WORDS, gate=gate)
    streams = AsyncSharedStreams(kind())
    reading = threading.Event()
    loop = asyncio.new_event_loop()

    async def lead():
        stream = streams.read("key", model.later)
        await anext(stream)
        await until(reading.is_set)
        await asyncio.sleep(0.05)
        return stream

    async def follow() -> str:
        got = []
        async for chunk in streams.read("key", model.later):
            got.append(chunk)
            reading.set()
        return "".join(got)

    with ThreadPoolExecutor(2) as pool:
        leading = pool.submit(loop.run_until_complete, lead())
        while not model.given:
            pass
        following = pool.submit(asyncio.run, follow())
        stream = leading.result(SECONDS)
        if ends == "closed":
            loop.run_until_complete(_cancel_all())
            loop.close()
        assert following.result(SECONDS) == "".join(WORDS)
    assert model.calls == 2
    if ends == "stopped":
        loop.run_until_complete(stream.aclose())
        loop.run_until_complete(_cancel_all())
        loop.close()


@pytest.mark.parametrize("time_over", range(8))
def test_a_leader_that_leaves_with_its_loop_leaves_nothing_open(time_over, caplog):
    """Its stream is closed, and the readers of other loops make one call of their own."""
    model = Model(WORDS * 20)
    streams = AsyncSharedStreams(kind())
    led, joined = threading.Event(), threading.Barrier(3)

    async def lead():
        stream = streams.read("key", model.later)
        for _ in range(5):
            await anext(stream)
        led.set()
        await until(lambda: joined.n_waiting == 2)
        joined.wait(SECONDS)
        await asyncio.sleep(time_over / 1000)

    async def follow() -> str:
        led.wait(SECONDS)
        reader = streams.read("key", model.later)
        first = await anext(reader)
        joined.wait(SECONDS)
        return first + "".join([chunk async for chunk in reader])

    with ThreadPoolExecutor(3) as pool:
        leading = pool.submit(asyncio.run, lead())
        following = [pool.submit(asyncio.run, follow()) for _ in range(2)]
        leading.result(SECONDS)
        assert [one.result(SECONDS) for one in following] == ["".join(WORDS * 20)] * 2
    assert model.calls <= 2
    assert model.closed == model.calls
    assert caplog.records == []


async def _cancel_all() -> None:
    """As `asyncio.run` does at its end."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_an_interrupt_is_only_for_whom_it_hits():
    """Of a thread; the other one asks again."""
    model = Model(["one ", KeyboardInterrupt()], ["one ", "two"])
    two = SharedStreams(kind())
    leader, follower = two.read("key", model), two.read("key", model)
    assert next(leader) == next(follower) == "one "
    with pytest.raises(KeyboardInterrupt):
        next(leader)
    assert "".join(follower) == "two"
    assert model.calls == 2


def test_whoever_reads_on_after_an_interrupt_is_told_if_the_answer_is_another():
    model = Model(["one ", KeyboardInterrupt()], ["three"])
    two = SharedStreams(kind())
    leader, follower = two.read("key", model), two.read("key", model)
    assert next(leader) == next(follower) == "one "
    with pytest.raises(KeyboardInterrupt):
        next(leader)
    with pytest.raises(Interrupted, match="ask again"):
        next(follower)
