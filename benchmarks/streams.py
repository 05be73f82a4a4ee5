"""What recording a stream costs, how soon a replay begins, and 100 readers of one stream.

    python benchmarks/streams.py              # a minute; half of it is LiteLLM's import
    python benchmarks/streams.py --no-litellm

Every figure is of this one run on this machine. The model is a stand-in that answers at once, or,
for the readers of one stream, with a pause before every chunk.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import PrivateAttr

from langchain_semcache import SemanticCache
from langchain_semcache.clock import SystemClock
from langchain_semcache.langchain import cached_streams
from langchain_semcache.langchain.chunks import Keeper
from langchain_semcache.responses.admission import COMPLETE, REFUSED
from langchain_semcache.streaming import Recorder

WORDS = [f"word{n % 97} " for n in range(400)]
ANSWER = "".join(WORDS)
PAUSE = 0.01


class Model(BaseChatModel):
    """Answers with the same 400 words; `pause` seconds before each of the first 40."""

    pause: float = 0.0
    _calls: list[float] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "bench"

    def _generate(self, *_: object, **__: object) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(ANSWER))])

    def _stream(self, *_: object, **__: object) -> Iterator[ChatGenerationChunk]:
        self._calls.append(time.perf_counter())
        for chunk in chunks()[: 40 if self.pause else None]:
            if self.pause:
                time.sleep(self.pause)
            yield chunk

    async def _astream(self, *_: object, **__: object) -> AsyncIterator[ChatGenerationChunk]:
        self._calls.append(time.perf_counter())
        for chunk in chunks()[: 40 if self.pause else None]:
            if self.pause:
                await asyncio.sleep(self.pause)
            yield chunk

    @property
    def calls(self) -> int:
        return len(self._calls)


def chunks() -> list[ChatGenerationChunk]:
    """As providers send them: text, the same metadata on each, an end with usage."""
    made = [
        ChatGenerationChunk(
            message=AIMessageChunk(content=word, response_metadata={"model_provider": "bench"})
        )
        for word in WORDS
    ]
    usage = {"input_tokens": 5, "output_tokens": 400, "total_tokens": 405}
    made.append(
        ChatGenerationChunk(
            message=AIMessageChunk(
                content="", response_metadata={"finish_reason": "stop"}, usage_metadata=usage
            )
        )
    )
    return made


def say(name: str, seconds: list[float], unit: float, note: str = "") -> None:
    p50, p99 = np.quantile(seconds, [0.5, 0.99]) / unit
    print(f"{name:<58} {len(seconds):>6} {p50:>9.3f} {p99:>9.3f}  {note}", flush=True)


def recording(rounds: int) -> None:
    """What is done with a chunk on its way to its reader, by itself; CPU time."""
    per_chunk, text, calls = [], chunks(), _call_chunks()
    for name, stream in (("text", text), ("arguments of calls", calls)):
        per_chunk.clear()
        for _ in range(rounds):
            keep = Keeper()
            recorder = Recorder(
                SystemClock().monotonic, most=10**6, complete=COMPLETE, refused=REFUSED
            )
            kept = []
            gc.collect()
            started = time.thread_time()
            for chunk in stream:
                one = keep(chunk)
                recorder.add(one.piece)
                kept.append(one)
            per_chunk.append((time.thread_time() - started) / len(stream))
            recorder.end()
        say(f"keeping and recording a chunk of {name}, µs", per_chunk, 1e-6)


def _call_chunks() -> list[ChatGenerationChunk]:
    return [
        ChatGenerationChunk(
            message=AIMessageChunk(
                content="",
                tool_call_chunks=[
                    {"name": "look" if n == 0 else None, "args": "ab", "id": None, "index": 0}
                ],
            )
        )
        for n in range(200)
    ]


def passing(cache: SemanticCache, rounds: int) -> None:
    """Whole streams of 401 chunks with and without the cache, by turns; CPU time.

    The difference is everything the cache does between two chunks; lookup and store are left out.
    """
    plain, cached = Model(), cached_streams(Model(), cache)
    for colour in ("sync", "async"):
        bare, ours = [], []
        for number in range(rounds):
            question = f"What is the {colour} number {number} of the list?"
            for model, seconds in ((plain, bare), (cached, ours)):
                gc.collect()
                seconds.append(_between(colour, model, question) / (len(WORDS) - 1))
        added = float(np.median(ours) - np.median(bare)) * 1e6
        say(f"a chunk, {colour}, no cache, µs", bare, 1e-6)
        say(f"a chunk, {colour}, recorded, µs", ours, 1e-6, f"+{added:.1f} µs")


def _between(colour: str, model: BaseChatModel, question: str) -> float:
    """Seconds from the first to the last word."""
    messages = _messages(question)

    async def later() -> float:
        stream = model._astream(messages)  # noqa: SLF001 - LangChain's own work is not measured
        await anext(stream)
        started = time.thread_time()
        for _ in WORDS[1:]:
            await anext(stream)
        took = time.thread_time() - started
        async for _ in stream:
            pass
        return took

    if colour == "async":
        return asyncio.run(later())
    stream = model._stream(messages)  # noqa: SLF001 - LangChain's own work is not measured
    next(stream)
    started = time.thread_time()
    for _ in WORDS[1:]:
        next(stream)
    took = time.thread_time() - started
    list(stream)
    return took


def _messages(question: str) -> list[BaseMessage]:
    from langchain_core.messages import HumanMessage

    return [HumanMessage(question)]


class Decided:
    """Notes when a lookup was decided."""

    def __init__(self) -> None:
        self.at = 0.0

    def emit(self, event: object) -> None:
        if type(event).__name__ == "LookupHit":
            self.at = time.perf_counter()


def first_chunk(cache: SemanticCache, decided: Decided, calls: int) -> None:
    """From the decision to the first chunk in the reader's hands."""
    model = cached_streams(Model(), cache)
    question = "How does the answer begin?"
    model.invoke(question)
    after, whole = [], []
    for _ in range(calls):
        started = time.perf_counter()
        stream = model.stream(question)
        next(stream)
        after.append(time.perf_counter() - decided.at)
        whole.append(time.perf_counter() - started)
        stream.close()  # type: ignore[attr-defined]
    say("first chunk after the decision, LangChain stream, ms", after, 1e-3)
    say("… after the call", whole, 1e-3)

    async def later() -> None:
        after.clear()
        whole.clear()
        for _ in range(calls):
            started = time.perf_counter()
            stream = model.astream(question)
            await anext(stream)
            after.append(time.perf_counter() - decided.at)
            whole.append(time.perf_counter() - started)
            await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(later())
    say("first chunk after the decision, LangChain astream, ms", after, 1e-3)
    say("… after the call", whole, 1e-3)


def hundred(cache: SemanticCache) -> None:
    """100 readers of one stream of 40 chunks, 10 ms apart."""
    for colour, read in (("threads", _threads), ("tasks", _tasks)):
        alone_model = cached_streams(Model(pause=PAUSE), cache)
        alone = read(alone_model, f"Alone, {colour}?", 1)
        model = cached_streams(Model(pause=PAUSE), cache)
        ends = read(model, f"Together, {colour}?", 100)
        note = f"{model.calls} call; one reader alone {alone[0] * 1e3:.0f} ms"
        say(f"100 {colour} read one stream to its end, ms", ends, 1e-3, note)


def _threads(model: BaseChatModel, question: str, count: int) -> list[float]:
    begin = threading.Barrier(count)

    def read(_: int) -> float:
        begin.wait()
        started = time.perf_counter()
        assert len(list(model.stream(question))) >= 40
        return time.perf_counter() - started

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(read, range(count)))


def _tasks(model: BaseChatModel, question: str, count: int) -> list[float]:
    async def read() -> float:
        started = time.perf_counter()
        assert len([chunk async for chunk in model.astream(question)]) >= 40
        return time.perf_counter() - started

    async def together() -> list[float]:
        return list(await asyncio.gather(*(read() for _ in range(count))))

    return asyncio.run(together())


def through_litellm(calls: int) -> None:
    """From the decision to the first chunk through LiteLLM's SDK."""
    import litellm

    import litellm_hooks

    decided = Decided()
    backend = litellm_hooks.install(":memory:", sinks=[decided])
    options: dict[str, Any] = {
        "model": "gpt-4o-mini",
        "messages": [{"role": "user", "content": "How does the answer begin?"}],
        "mock_response": ANSWER,
    }
    litellm.completion(**options)
    after: list[float] = []
    # LiteLLM starts a thread of its pool with each of its first hundred chunks.
    for number in range(150 + calls):
        stream = litellm.completion(**options, stream=True)
        next(iter(stream))
        if number >= 150:
            after.append(time.perf_counter() - decided.at)
        stream.close()
    say("first chunk after the decision, LiteLLM completion, ms", after, 1e-3)

    async def later() -> None:
        after.clear()
        for _ in range(calls):
            stream = await litellm.acompletion(**options, stream=True)
            await anext(stream)
            after.append(time.perf_counter() - decided.at)
            await stream.aclose()

    asyncio.run(later())
    say("first chunk after the decision, LiteLLM acompletion, ms", after, 1e-3)
    assert backend.semcache.stats().hits >= 2 * calls
    litellm_hooks.uninstall()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--no-litellm", action="store_true")
    arguments = parser.parse_args()
    print(f"{'':<58} {'times':>6} {'p50':>9} {'p99':>9}")
    recording(arguments.calls)
    decided = Decided()
    cache = SemanticCache(":memory:", encoder="hash", verifier="none", sinks=[decided])
    passing(cache, 50)
    first_chunk(cache, decided, arguments.calls)
    hundred(cache)
    cache.close()
    if not arguments.no_litellm:
        through_litellm(arguments.calls)


if __name__ == "__main__":
    main()
