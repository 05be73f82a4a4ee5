"""B35, B36: how a stored stream comes back, and many callers of one running stream."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from pydantic import PrivateAttr

from langchain_semcache import ConfigurationError, SemanticCache
from langchain_semcache.langchain import cached_streams
from langchain_semcache.langchain.recording import STREAM
from tests.adapters.langchain.conftest import PARAPHRASE, QUESTION
from tests.adapters.langchain.models import USAGE, ScriptedModel, StreamingModel

COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])
END = {"response_metadata": {"finish_reason": "stop"}}


class Chunks(ScriptedModel):
    """Streams exactly these chunks, given as fields of messages; an exception is raised.

    Before the second chunk of a call it waits until `go` is set; `seconds` are real.
    """

    _chunks: list[Any] = PrivateAttr(default_factory=list)
    _go: threading.Event = PrivateAttr(default_factory=threading.Event)
    _closed: list[str] = PrivateAttr(default_factory=list)

    @property
    def go(self) -> threading.Event:
        return self._go

    @property
    def closed(self) -> int:
        return len(self._closed)

    def streams(self, *chunks: Any) -> Chunks:
        self._chunks[:] = chunks
        self._go.set()
        return self

    def _stream(self, messages: Any, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        self._asked.append(list(messages))
        try:
            for place, fields in enumerate(self._chunks):
                assert not place or self._go.wait(20)
                yield _made(fields)
        finally:
            self._closed.append("sync")

    async def _astream(
        self, messages: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self._asked.append(list(messages))
        try:
            for place, fields in enumerate(self._chunks):
                while place and not self._go.is_set():  # noqa: ASYNC110 - threads share it
                    await asyncio.sleep(0.001)
                await asyncio.sleep(0)
                yield _made(fields)
        finally:
            self._closed.append("async")


def _made(fields: Any) -> ChatGenerationChunk:
    if isinstance(fields, Exception):
        raise fields
    fields = {"content": fields} if isinstance(fields, str) else {"content": "", **fields}
    return ChatGenerationChunk(message=AIMessageChunk(**fields))


async def _read(model: BaseChatModel, colour: str, question: str = QUESTION) -> list[Any]:
    if colour == "sync":
        return await asyncio.to_thread(lambda: list(model.stream(question)))
    return [chunk async for chunk in model.astream(question)]


async def _drained(stream: Any) -> None:
    if isinstance(stream, Iterator):
        list(stream)
    else:
        assert [chunk async for chunk in stream]


def _sum(chunks: list[Any]) -> Any:
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    return whole


def _call(index: int, args: str, name: str | None = None) -> dict[str, Any]:
    known = f"c{index}" if name else None
    return {"tool_call_chunks": [{"name": name, "args": args, "id": known, "index": index}]}


STREAMS = {
    "text": ["one ", "two t", "hree", END],
    "one token": ["yes", END],
    "chinese": ["法国", "的首都是", "巴黎。", END],
    "reasoning": [
        {"additional_kwargs": {"reasoning_content": "let me "}},
        {"additional_kwargs": {"reasoning_content": "see"}},
        "so ",
        "it is",
        END,
    ],
    "blocks": [
        {"content": [{"type": "thinking", "thinking": "hm ", "index": 0}]},
        {"content": [{"type": "thinking", "thinking": "yes", "index": 0}]},
        {"content": [{"type": "text", "text": "so ", "index": 1}]},
        {"content": [{"type": "text", "text": "it is", "index": 1}]},
        END,
    ],
    "two calls": [
        "I look. ",
        _call(0, "", "a"),
        _call(0, '{"x"'),
        _call(0, ": 1}"),
        _call(1, "", "b"),
        _call(1, '{"y": '),
        _call(1, '"ü"}'),
        {"response_metadata": {"finish_reason": "tool_calls"}},
    ],
    "usage": ["a ", "b", {**END, "usage_metadata": USAGE}],
    "long": ["lorem ipsum " * 20] * 400 + [END],
}


@COLOURS
@pytest.mark.parametrize("cuts", ["words", "recorded"])
@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_comes_back_with_all_that_it_had(
    make_cache: Any, colour: str, cuts: str, name: str
) -> None:
    """B36: text, reasoning, blocks, calls by index, usage, one finish reason, one last chunk."""
    model = cached_streams(Chunks().streams(*STREAMS[name]), make_cache(streams={"cuts": cuts}))
    first = _sum(await _read(model, colour))
    chunks = await _read(model, colour)
    second = _sum(chunks)
    assert model.calls == 1
    assert second.content == first.content
    assert second.additional_kwargs == first.additional_kwargs
    assert second.tool_calls == first.tool_calls
    assert [json.loads(c["args"]) for c in second.tool_call_chunks] == [
        c["args"] for c in first.tool_calls
    ]
    assert (second.usage_metadata or {}).get("total_tokens") == (first.usage_metadata or {}).get(
        "total_tokens"
    )
    ends = [c for c in chunks if c.response_metadata.get("finish_reason")]
    assert len(ends) == 1
    assert [chunk.chunk_position for chunk in chunks] == [None] * (len(chunks) - 1) + ["last"]
    assert len({chunk.id for chunk in chunks}) == 1
    assert len(chunks) > 1 or name == "one token"


@COLOURS
@pytest.mark.parametrize("name", ["text", "chinese", "reasoning", "blocks", "long"])
async def test_recorded_cuts_are_those_of_the_original(
    make_cache: Any, colour: str, name: str
) -> None:
    def said(chunks: list[Any]) -> list[str]:
        pieces = [
            chunk.additional_kwargs.get("reasoning_content")
            or chunk.text
            or "".join(b.get("thinking", "") for b in chunk.content if isinstance(b, dict))
            for chunk in chunks
        ]
        return [piece for piece in pieces if piece]

    model = cached_streams(
        Chunks().streams(*STREAMS[name]), make_cache(streams={"cuts": "recorded"})
    )
    assert said(await _read(model, colour)) == said(await _read(model, colour))
    assert model.calls == 1


async def test_arguments_of_calls_are_cut_as_they_were(make_cache: Any) -> None:
    """Where their JSON is written as LangChain writes it."""
    model = cached_streams(
        Chunks().streams(*STREAMS["two calls"]), make_cache(streams={"cuts": "recorded"})
    )
    await _read(model, "sync")
    pieces = [c["args"] for chunk in await _read(model, "sync") for c in chunk.tool_call_chunks]
    assert pieces == ['{"x"', ": 1}", '{"y": ', '"ü"}']


@COLOURS
async def test_a_stream_can_be_paced_as_it_came(make_cache: Any, clock: Any, colour: str) -> None:
    """The pauses are recorded on the cache's clock and waited for by the replay's driver."""
    cache = make_cache(streams={"pace": "recorded"})
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(round(seconds, 3))
        clock.advance(seconds)

    async def wait_async(seconds: float) -> None:
        wait(seconds)

    timing = type(cache.streams._timing)(clock.monotonic, wait, wait_async)
    cache.streams._timing = timing
    model = cached_streams(Chunks().streams("one ", "two ", "three", END), cache)
    if colour == "sync":
        for _ in model.stream(QUESTION):
            clock.advance(0.25)
    else:
        async for _ in model.astream(QUESTION):
            clock.advance(0.25)
    assert waited == []
    assert _sum(await _read(model, colour)).content == "one two three"
    assert waited == [0.25, 0.25]


async def test_a_stream_can_be_paced_by_a_rate(make_cache: Any, clock: Any) -> None:
    cache = make_cache(streams={"pace": 20.0})
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(round(seconds, 3))
        clock.advance(seconds)

    cache.streams._timing = type(cache.streams._timing)(clock.monotonic, wait)
    model = cached_streams(StreamingModel().told("one two three"), cache)
    model.invoke(QUESTION)
    assert "".join(chunk.text for chunk in model.stream(QUESTION)) == "one two three"
    assert waited == [0.2, 0.25]


@pytest.mark.parametrize("pace", [0, -1, "slow", True])
def test_a_pace_that_is_none_is_refused(pace: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"streams\.pace"):
        SemanticCache(":memory:", encoder="hash", streams={"pace": pace})


async def test_the_record_is_kept_only_where_it_is_wanted_and_seen_by_nobody(
    make_cache: Any,
) -> None:
    """A caller who does not stream gets the same reply with and without it."""
    replies = []
    for cuts in ("words", "recorded"):
        cache = make_cache(namespace=cuts, streams={"cuts": cuts})
        model = cached_streams(StreamingModel().told("one two three"), cache)
        await _read(model, "sync")
        decision = cache.semcache.lookup(
            cache.request(*model._key([*_messages()], None, {}))  # type: ignore[attr-defined]
        )
        body = decision.response.body
        assert (STREAM in body) == (cuts == "recorded")
        replies.append(model.invoke(QUESTION))
    assert replies[0].content == replies[1].content == "one two three"
    assert STREAM not in json.dumps(replies[1].model_dump(mode="json")["response_metadata"])


def _messages() -> list[Any]:
    from langchain_core.messages import HumanMessage

    return [HumanMessage(QUESTION)]


async def test_a_reply_written_whole_is_streamed_word_by_word(make_cache: Any) -> None:
    model = cached_streams(
        StreamingModel().told("one two three"), make_cache(streams={"cuts": "recorded"})
    )
    model.invoke(QUESTION)
    chunks = await _read(model, "sync")
    assert [chunk.text for chunk in chunks] == ["one ", "two ", "three"]


@COLOURS
@pytest.mark.parametrize(
    ("reason", "kept"), [("stop", 1), ("length", 0), ("content_filter", 0), ("other", 0)]
)
async def test_only_a_whole_stream_is_kept(
    make_cache: Any, colour: str, reason: str, kept: int
) -> None:
    cache = make_cache()
    end = {"response_metadata": {"finish_reason": reason}}
    model = cached_streams(Chunks().streams("one ", "two", end), cache)
    assert _sum(await _read(model, colour)).content == "one two"
    assert cache.stats().entries == kept


@COLOURS
async def test_a_stream_that_is_too_large_passes_and_is_not_kept(
    make_cache: Any, colour: str
) -> None:
    cache = make_cache(streams={"max_characters": 50})
    model = cached_streams(Chunks().streams(*["12345 "] * 40, END), cache)
    assert _sum(await _read(model, colour)).content == "12345 " * 40
    assert cache.stats().entries == 0
    assert cache.stats().stores_by_reason == {"reply_too_large": 1}


@COLOURS
async def test_what_was_not_kept_is_counted(make_cache: Any, colour: str) -> None:
    cache = make_cache()
    model = cached_streams(Chunks().streams("one ", ValueError("lost")), cache)
    with pytest.raises(ValueError, match="lost"):
        await _read(model, colour)
    assert cache.stats().stores_by_reason == {"incomplete_reply": 1}
    assert model.closed == 1


async def test_a_cancelled_task_leaves_nothing(make_cache: Any) -> None:
    """And the model's stream is closed."""
    cache = make_cache()
    model = cached_streams(Chunks().streams("one ", "two", END), cache)
    model.go.clear()
    task = asyncio.create_task(_read(model, "async"))
    while not model.calls:  # noqa: ASYNC110 - the model tells nobody
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cache.stats().entries == 0
    assert model.closed == 1
    model.go.set()
    assert _sum(await _read(model, "async")).content == "one two"
    assert model.calls == 2


def test_a_hundred_threads_make_one_call(make_cache: Any) -> None:
    cache = make_cache()
    model = cached_streams(Chunks().streams("one ", "two ", "three", END), cache)
    model.go.clear()
    begin = threading.Barrier(101)

    def read(_: int) -> list[str]:
        begin.wait(20)
        return [chunk.text for chunk in model.stream(QUESTION)]

    with ThreadPoolExecutor(100) as pool:
        reading = pool.map(read, range(100))
        begin.wait(20)
        threading.Timer(0.5, model.go.set).start()
        got = list(reading)
    assert {"".join(words) for words in got} == {"one two three"}
    assert model.calls == 1
    assert cache.stats().stores_by_reason == {"stored": 1}


async def test_a_hundred_tasks_make_one_call(make_cache: Any) -> None:
    cache = make_cache()
    model = cached_streams(Chunks().streams("one ", "two ", "three", END), cache)
    model.go.clear()
    tasks = [asyncio.create_task(_read(model, "async")) for _ in range(100)]
    await asyncio.sleep(0.5)
    model.go.set()
    got = [_sum(chunks) for chunks in await asyncio.gather(*tasks)]
    assert {whole.content for whole in got} == {"one two three"}
    assert len({whole.id for whole in got}) == 100, "each has an id of its own"
    assert model.calls == 1
    assert cache.stats().stores_by_reason == {"stored": 1}


@COLOURS
async def test_what_one_reader_does_to_its_chunks_no_other_one_sees(
    make_cache: Any, colour: str
) -> None:
    model = cached_streams(Chunks().streams("one ", _call(0, "{}", "a"), END), make_cache())
    if colour == "sync":
        one, other = model.stream(QUESTION), model.stream(QUESTION)
        mine, theirs = next(one), next(other)
    else:
        aone, aother = model.astream(QUESTION), model.astream(QUESTION)
        mine, theirs = await anext(aone), await anext(aother)
    mine.content = "spoilt"
    mine.additional_kwargs["x"] = mine.response_metadata["y"] = 1
    assert theirs.content == "one "
    assert theirs.additional_kwargs == {}
    assert "y" not in theirs.response_metadata
    if colour == "async":
        assert len([c async for c in aone]) == len([c async for c in aother])
    else:
        assert len(list(one)) == len(list(other))
    assert model.invoke(QUESTION).content == "one "
    assert model.calls == 1


@COLOURS
async def test_the_others_read_on_when_the_first_one_stops(make_cache: Any, colour: str) -> None:
    """And the answer is stored: somebody read it to its end."""
    cache = make_cache()
    model = cached_streams(Chunks().streams("one ", "two ", "three", END), cache)
    if colour == "sync":
        one, other = model.stream(QUESTION), model.stream(QUESTION)
        assert next(one).text == next(other).text == "one "
        one.close()  # type: ignore[attr-defined]
        rest = "".join(chunk.text for chunk in other)
    else:
        aone, aother = model.astream(QUESTION), model.astream(QUESTION)
        assert (await anext(aone)).text == (await anext(aother)).text == "one "
        await aone.aclose()  # type: ignore[attr-defined]
        rest = "".join([chunk.text async for chunk in aother])
    assert rest == "two three"
    assert (model.calls, cache.stats().entries) == (1, 1)


@COLOURS
async def test_a_failing_stream_is_taken_over_once_and_never_mixed(
    make_cache: Any, colour: str
) -> None:
    """The second call begins with what was given; whoever started the first one is told."""
    error = ConnectionError("lost")
    model = cached_streams(Chunks().streams("one ", "two ", error), make_cache())
    if colour == "sync":
        one, other = model.stream(QUESTION), model.stream(QUESTION)
        begun = next(one).text, next(other).text, next(other).text
    else:
        aone, aother = model.astream(QUESTION), model.astream(QUESTION)
        begun = (await anext(aone)).text, (await anext(aother)).text, (await anext(aother)).text
    assert begun == ("one ", "one ", "two ")
    with pytest.raises(ConnectionError) as raised:
        await _drained(one if colour == "sync" else aone)
    assert raised.value is error
    model.streams("one tw", "o three", END)
    if colour == "sync":
        rest = "".join(chunk.text for chunk in other)
    else:
        rest = "".join([chunk.text async for chunk in aother])
    assert rest == "three"
    assert model.calls == 2
    assert model.invoke(QUESTION).content == "one two three"


@pytest.mark.parametrize("share", [True, False])
def test_sharing_can_be_turned_off(make_cache: Any, share: bool) -> None:
    model = cached_streams(
        Chunks().streams("one ", "two", END), make_cache(streams={"share": share})
    )
    one, other = model.stream(QUESTION), model.stream(QUESTION)
    assert next(one).text == next(other).text == "one "
    assert len(list(one)) == len(list(other))
    assert model.calls == (1 if share else 2)


def test_only_identical_calls_of_one_tenant_share(make_cache: Any) -> None:
    from langchain_semcache.langchain import tenant

    model = cached_streams(Chunks().streams("one ", "two", END), make_cache())
    streams = [model.stream(QUESTION), model.stream(PARAPHRASE), model.stream(QUESTION, stop=["x"])]
    for stream in streams:
        next(stream)
    with tenant("acme"):
        other = model.stream(QUESTION)
        next(other)
    assert model.calls == 4
    for stream in [*streams, other]:
        assert "".join(chunk.text for chunk in stream) == "two"


async def test_a_cache_that_breaks_lets_streams_pass(
    make_cache: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = make_cache()

    def broken(*_: Any) -> Any:
        raise OSError("gone")

    monkeypatch.setattr(type(cache.semcache.core), "resolve", broken)
    model = cached_streams(Chunks().streams("one ", "two", END), cache)
    for colour in ("sync", "async"):
        assert _sum(await _read(model, colour)).content == "one two"
    assert model.calls == 2


@pytest.mark.parametrize("lets_go", ["clear", "report", "invalidate"])
async def test_who_reads_a_replay_slowly_keeps_no_answer_alive(make_cache, lets_go):
    """Each caller looks for itself: what was removed is not read along either."""
    cache = make_cache()
    model = StreamingModel()
    cached = cached_streams(model, cache)
    old = "".join(chunk.content for chunk in cached.stream(QUESTION))
    slow, later = cached.stream(QUESTION), cached.astream(QUESTION)
    next(slow)
    await anext(later)
    (entry,) = cache.semcache.entries()
    if lets_go == "clear":
        cache.clear()
    elif lets_go == "report":
        cache.semcache.report(entry.id, wrong=True)
    else:
        cache.semcache.invalidate(model=entry.model)
    calls = model.calls
    fresh = "".join([chunk.content async for chunk in cached.astream(QUESTION)])
    assert model.calls == calls + 1
    cache.clear()
    assert "".join(chunk.content for chunk in cached.stream(QUESTION)) != old
    assert fresh != old
    slow.close()
    await later.aclose()


def test_a_shared_stream_may_set_a_variable_and_reset_it(make_cache):
    """Several threads bring its chunks; to the model it is as if one did."""
    current: ContextVar[str] = ContextVar("current", default="")

    class Careful(Chunks):
        def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
            token = current.set("inside")
            try:
                for chunk in super()._stream(*args, **kwargs):
                    assert current.get() == "inside"
                    yield chunk
            finally:
                current.reset(token)

    model = Careful().streams(*[{"content": f"{n} "} for n in range(30)], {"content": "", **END})
    cached = cached_streams(model, make_cache())
    leader = cached.stream(QUESTION)
    first = next(leader).content
    with ThreadPoolExecutor(3) as pool:
        others = [
            pool.submit(lambda: "".join(c.content for c in cached.stream(QUESTION)))
            for _ in range(3)
        ]
        texts = [other.result(20) for other in others]
    assert [first + "".join(c.content for c in leader)] * 3 == texts
    assert model.calls == 1
    assert current.get() == ""


@COLOURS
def test_who_reads_along_is_told_the_tokens_at_no_cost(make_cache, colour):
    model = Chunks().streams({"content": "a "}, {"content": "b", "usage_metadata": USAGE, **END})
    model.go.clear()
    cached = cached_streams(model, make_cache())

    async def tasks() -> list[Any]:
        async def read() -> Any:
            whole = None
            async for chunk in cached.astream(QUESTION):
                whole = chunk if whole is None else whole + chunk
            return whole

        running = [asyncio.create_task(read()) for _ in range(4)]
        await asyncio.sleep(0.2)
        model.go.set()
        return list(await asyncio.gather(*running))

    def read_one() -> Any:
        first, *others = cached.stream(QUESTION)
        return first + others

    if colour == "async":
        messages = asyncio.run(tasks())
    else:
        with ThreadPoolExecutor(4) as pool:
            running = [pool.submit(read_one) for _ in range(4)]
            threading.Timer(0.2, model.go.set).start()
            messages = [one.result(20) for one in running]
    assert model.calls == 1
    costs = [message.usage_metadata.get("total_cost") for message in messages]
    assert sorted(costs, key=str) == [0, 0, 0, None]
    assert {message.usage_metadata["total_tokens"] for message in messages} == {
        USAGE["total_tokens"]
    }
