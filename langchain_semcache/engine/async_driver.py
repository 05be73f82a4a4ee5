"""Carries a flow out for the event loop: the loop waits, worker threads compute."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from langchain_semcache.engine.commands import (
    STAGES,
    Answer,
    Bookkeeping,
    Command,
    Embed,
    EmbedAll,
    Fetch,
    Flow,
    Put,
    Search,
)
from langchain_semcache.engine.sync_driver import Stages
from langchain_semcache.engine.workplace import Workplace, missing, shaped, wanted
from langchain_semcache.ports import AsyncEntryIndex, Vector, Vectors

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Done(Generic[Result]):
    value: Result


@dataclass(frozen=True, slots=True)
class _Busy:
    """Somebody else has the encoder: wait in its queue."""


class AsyncDriver:
    """Runs flows without ever computing on the event loop.

    The flow advances on a worker thread, which also carries out on the way what works in this
    process: index, verifier, and the encoder where nobody else has it. What can be awaited (the
    encoder's queue, an async client) comes back to the loop.
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
                here = self._perform_here(command, give_up_at)
                if isinstance(here, _Busy):
                    return command
                _add(stages, command, clock() - started)
                command = flow.send(here)
        except StopIteration as done:
            return Done(done.value)
        return command

    def _awaited(self, command: Command) -> bool:
        if isinstance(command, Embed | EmbedAll | Bookkeeping):
            return False
        return self._at.may_block(command) or self._natively(command)

    def _natively(self, command: Command) -> bool:
        return self._async_index is not None and isinstance(command, Fetch | Search | Put)

    def _perform_here(self, command: Command, give_up_at: float) -> Answer | _Busy:
        if isinstance(command, Bookkeeping):
            return self._at.bookkeep(command)
        remembered = self._at.remembered(command)
        if remembered is not None:
            return remembered
        gate = self._at.gate(command)
        refusal = self._at.too_late(give_up_at) or gate.refusal()
        if refusal is not None:
            return refusal
        try:
            answer: Answer
            if isinstance(command, Embed | EmbedAll):
                answer = self._at.embed_if_idle(command)
                if answer is None:
                    return _Busy()
            else:
                answer = self._at.call(command)
            self._at.check_in_time(command, give_up_at)
        except Exception as error:  # noqa: BLE001 - whatever a backend raises becomes a miss
            return self._at.failed(command, error)
        gate.succeeded()
        return answer

    async def _perform(self, command: Command, give_up_at: float) -> Answer:
        gate = self._at.gate(command)
        # The encoder's gate was asked on the way here; to ask it twice would use up the one call
        # that it lets through after an outage.
        asked = isinstance(command, Embed | EmbedAll)
        refusal = self._at.too_late(give_up_at) or (None if asked else gate.refusal())
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
            case Embed() | EmbedAll(), _:
                return self._queued(command)
            case Fetch(entry_id), AsyncEntryIndex() as index:
                return index.afetch(entry_id, now=self._at.seen_from(command))
            case Search(partition, vector, limit), AsyncEntryIndex() as index:
                return index.asearch(partition, vector, limit=limit, now=now)
            case Put(entry, vector), AsyncEntryIndex() as index:
                return index.aput(entry, vector)
        pool = self._at.pool.executor()
        return asyncio.get_running_loop().run_in_executor(pool, self._at.call, command)

    async def _queued(self, command: Embed | EmbedAll) -> Vector | Vectors:
        texts = wanted(command)
        known = self._at.recent.among(texts)
        made = await asyncio.wrap_future(self._at.encoder.submit(missing(texts, known)))
        return shaped(command, self._at.together(texts, known, made))


def _add(stages: Stages, command: Command, seconds: float) -> None:
    name = STAGES[type(command)]
    stages[name] = stages.get(name, 0.0) + seconds
