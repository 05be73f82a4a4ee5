"""Carries a flow out on the calling thread."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TypeVar

from langchain_semcache.engine.commands import (
    STAGES,
    Answer,
    Bookkeeping,
    Command,
    Embed,
    EmbedAll,
    Flow,
)
from langchain_semcache.engine.workplace import Workplace, missing, shaped, wanted
from langchain_semcache.ports import Vector, Vectors

Result = TypeVar("Result")
Stages = dict[str, float]


class SyncDriver:
    """Runs flows to their end; each call is independent and safe from any thread.

    What works in this process is called directly. A backend that may hang is called on a worker
    thread and given up at the deadline.
    """

    def __init__(self, workplace: Workplace) -> None:
        self._at = workplace

    def run(self, flow: Flow[Result], stages: Stages, seconds: float | None = None) -> Result:
        """The flow's result, within `seconds` or else the usual deadline; times go to `stages`."""
        clock = self._at.clock.monotonic
        give_up_at = clock() + (seconds or self._at.deadline_seconds)
        answer: Answer = None
        try:
            command = next(flow)
            while True:
                started = clock()
                answer = self._perform(command, give_up_at)
                name = STAGES[type(command)]
                stages[name] = stages.get(name, 0.0) + clock() - started
                command = flow.send(answer)
        except StopIteration as done:
            result: Result = done.value
            return result

    def _perform(self, command: Command, give_up_at: float) -> Answer:
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
            answer = self._call(command, give_up_at)
        except Exception as error:  # noqa: BLE001 - whatever a backend raises becomes a miss
            return self._at.failed(command, error)
        gate.succeeded()
        return answer

    def _call(self, command: Command, give_up_at: float) -> Answer:
        answer: Answer
        if isinstance(command, Embed | EmbedAll):
            answer = self._at.embed_if_idle(command)
            if answer is None:
                return self._queued(command, give_up_at)
        elif self._at.may_block(command):
            return self._within(self._at.pool.submit(lambda: self._at.call(command)), give_up_at)
        else:
            answer = self._at.call(command)
        self._at.check_in_time(command, give_up_at)
        return answer

    def _queued(self, command: Embed | EmbedAll, give_up_at: float) -> Vector | Vectors:
        texts = wanted(command)
        known = self._at.recent.among(texts)
        made = self._within(self._at.encoder.submit(missing(texts, known)), give_up_at)
        return shaped(command, self._at.together(texts, known, made))

    def _within(self, future: Future[Result], give_up_at: float) -> Result:
        try:
            return future.result(max(0.0, give_up_at - self._at.clock.monotonic()))
        except TimeoutError:
            future.cancel()
            raise
