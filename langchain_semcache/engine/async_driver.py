"""Carries a flow out for the event loop: the loop waits, worker threads compute."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from langchain_semcache.engine.commands import (
    STAGES,
    Admit,
    Answer,
    Book,
    Command,
    Due,
    Embed,
    EmbedAll,
    Fetch,
    Flow,
    Put,
    Search,
)
from langchain_semcache.engine.sync_driver import Stages
from langchain_semcache.engine.workplace import Workplace, missing
from langchain_semcache.ports import AsyncEntryIndex, Vector, Vectors

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Done(Generic[Result]):
    value: Result


class AsyncDriver:
    """Runs flows without ever computing on the event loop.

    The flow advances on a worker thread, which also carries out in-process index commands on the
    way; what can be awaited (the encoder's queue, an async client) comes back to the loop. An
    exact hit costs one hop, a semantic lookup two.
    """

    def __init__(self, workplace: Workplace) -> None:
        self._at = workplace
        self._async_index = (
            workplace.index if isinstance(workplace.index, AsyncEntryIndex) else None
        )

    async def run(
        self, start: Callable[[], Flow[Result]], stages: Stages, seconds: float | None = None
    ) -> Result:
        """The flow's result. `start` runs on a worker thread, for it may have work to do itself."""
        loop = asyncio.get_running_loop()
        clock = self._at.clock.monotonic
        give_up_at = clock() + (seconds or self._at.deadline_seconds)
        pool = self._at.pool.executor()
        flow, step = await loop.run_in_executor(pool, self._begin, start, give_up_at, stages)
        while not isinstance(step, Done):
            started = clock()
            answer = await self._perform(step, give_up_at)
            _add(stages, step, clock() - started)
            step = await loop.run_in_executor(pool, self._advance, flow, answer, give_up_at, stages)
        return step.value

    def _begin(
        self, start: Callable[[], Flow[Result]], give_up_at: float, stages: Stages
    ) -> tuple[Flow[Result], Command | Done[Result]]:
        flow = start()
        return flow, self._advance(flow, None, give_up_at, stages)

    def _advance(
        self, flow: Flow[Result], answer: Answer, give_up_at: float, stages: Stages
    ) -> Command | Done[Result]:
        """Run the flow until it needs something that is awaited, or ends."""
        clock = self._at.clock.monotonic
        try:
            command = flow.send(answer)
            while not self._awaited(command):
                started = clock()
                answer = self._perform_here(command, give_up_at)
                _add(stages, command, clock() - started)
                command = flow.send(answer)
        except StopIteration as done:
            return Done(done.value)
        return command

    def _awaited(self, command: Command) -> bool:
        if isinstance(command, Embed | EmbedAll):
            return self._at.remembered(command) is None
        if isinstance(command, Admit | Due | Book):
            return False
        return self._at.may_block(command) or self._natively(command)

    def _natively(self, command: Command) -> bool:
        return self._async_index is not None and isinstance(command, Fetch | Search | Put)

    def _perform_here(self, command: Command, give_up_at: float) -> Answer:
        if isinstance(command, Admit | Due | Book):
            return self._at.bookkeep(command)
        remembered = self._at.remembered(command)
        if remembered is not None:
            return remembered
        gate = self._at.gate(command)
        refusal = self._at.too_late(give_up_at) or gate.refusal()
        if refusal is not None:
            return refusal
        try:
            answer = self._at.call(command)
            self._at.check_in_time(command, give_up_at)
        except Exception as error:  # noqa: BLE001 - whatever a backend raises becomes a miss
            return self._at.failed(command, error)
        gate.succeeded()
        return answer

    async def _perform(self, command: Command, give_up_at: float) -> Answer:
        gate = self._at.gate(command)
        refusal = self._at.too_late(give_up_at) or gate.refusal()
        if refusal is not None:
            return refusal
        try:
            async with asyncio.timeout(max(0.0, give_up_at - self._at.clock.monotonic())):
                answer = await self._await(command)
        except Exception as error:  # noqa: BLE001 - cancellation is no Exception and goes through
            return self._at.failed(command, error)
        gate.succeeded()
        return answer

    def _await(self, command: Command) -> Awaitable[Answer]:
        now = self._at.clock.now()
        match command, self._async_index:
            case Embed(text), _:
                return self._embed_one(text)
            case EmbedAll(texts), _:
                return self._embed(texts)
            case Fetch(entry_id), AsyncEntryIndex() as index:
                return index.afetch(entry_id, now=self._at.seen_from(command))
            case Search(partition, vector, limit), AsyncEntryIndex() as index:
                return index.asearch(partition, vector, limit=limit, now=now)
            case Put(entry, vector), AsyncEntryIndex() as index:
                return index.aput(entry, vector)
        pool = self._at.pool.executor()
        return asyncio.get_running_loop().run_in_executor(pool, self._at.call, command)

    async def _embed_one(self, text: str) -> Vector:
        vector: Vector = (await self._embed([text]))[0]
        return vector

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        known = self._at.recent.among(texts)
        new = missing(texts, known)
        vectors = await asyncio.wrap_future(self._at.encoder.submit(new))
        return self._at.together(texts, known, vectors)


def _add(stages: Stages, command: Command, seconds: float) -> None:
    name = STAGES[type(command)]
    stages[name] = stages.get(name, 0.0) + seconds
