"""The backends at work: what a command means, who carries it out, and how long that may take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from langchain_semcache.clock import Clock
from langchain_semcache.engine.accounts import Accounts
from langchain_semcache.engine.capacity import Capacity
from langchain_semcache.engine.commands import (
    STAGES,
    Admit,
    Amend,
    Announce,
    Answer,
    Book,
    Bookkeeping,
    Command,
    Due,
    Embed,
    EmbedAll,
    Failure,
    Fetch,
    Hold,
    Put,
    Remove,
    Rewrite,
    Search,
    Verify,
    Withdraw,
)
from langchain_semcache.engine.gate import Gate
from langchain_semcache.engine.pool import WorkerPool
from langchain_semcache.errors import ConfigurationError, VerifierUnavailable
from langchain_semcache.ports import (
    EntryIndex,
    QueuedEncoder,
    SupportsAmend,
    SupportsRewrite,
    Vector,
    Vectors,
    Verifier,
)
from langchain_semcache.recent import Recent
from langchain_semcache.records import Entry, Reason, Selection

ADMINISTRATION_SECONDS = 3600.0
"""What removing entries may take: there may be many, and no model call waits for it."""

RECENT_VECTORS = 512
"""Texts whose vectors are remembered: a miss embeds once, the store after it not again."""


def missing(texts: Sequence[str], known: dict[str, Vector]) -> list[str]:
    """The distinct texts that have no vector yet."""
    return [text for text in dict.fromkeys(texts) if text not in known]


def wanted(command: Embed | EmbedAll) -> tuple[str, ...]:
    """The texts whose vectors a command asks for."""
    return (command.text,) if isinstance(command, Embed) else command.texts


def shaped(command: Embed | EmbedAll, vectors: Vectors) -> Vector | Vectors:
    """The vectors as the command is answered: of a single text, its own."""
    only: Vector = vectors[0]
    return only if isinstance(command, Embed) else vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """Everything a driver works with.

    Attributes:
        index_may_block: Index calls need a thread and a deadline: a network is behind them.
        verifier_may_block: So do the verifier's: it may be anybody's.
        accounts: The error budgets; None where the confidence alone decides.
        capacity: Who has to go when the cache is full; None where nothing is bounded.
        deadline_seconds: What one operation may take in all its backends together.
        strict: Raise what fails instead of answering with a `Failure`; for tests.
    """

    index: EntryIndex
    encoder: QueuedEncoder
    index_gate: Gate
    encoder_gate: Gate
    verifier: Verifier | None
    verifier_gate: Gate
    verifier_may_block: bool
    accounts: Accounts | None
    capacity: Capacity | None
    clock: Clock
    pool: WorkerPool
    recent: Recent[Vector]
    index_may_block: bool
    deadline_seconds: float
    strict: bool

    def gate(self, command: Command) -> Gate:
        match command:
            case Embed() | EmbedAll():
                return self.encoder_gate
            case Verify():
                return self.verifier_gate
        return self.index_gate

    def may_block(self, command: Command) -> bool:
        """Whether the command needs a thread and a deadline."""
        return self.verifier_may_block if isinstance(command, Verify) else self.index_may_block

    def remembered(self, command: Command) -> Vector | Vectors | None:
        """The vectors that the command asks for, if all of them were made lately."""
        match command:
            case Embed(text):
                return self.recent.get(text)
            case EmbedAll(texts):
                known = self.recent.among(texts)
                found = texts and all(text in known for text in texts)
                return np.stack([known[text] for text in texts]) if found else None
        return None

    def together(self, texts: Sequence[str], known: dict[str, Vector], made: Vectors) -> Vectors:
        """One row a text: of those that are `known`, and of those `made` now, which are kept.

        `made` has a row for each of `missing(texts, known)`.
        """
        new = dict(zip(missing(texts, known), made, strict=True))
        for text, vector in new.items():
            self.recent.put(text, vector)
        return np.stack([new[text] if text in new else known[text] for text in texts])

    def embed_if_idle(self, command: Embed | EmbedAll) -> Vector | Vectors | None:
        """The vectors, made on this thread; None when that might mean to wait for somebody."""
        texts = wanted(command)
        known = self.recent.among(texts)
        made = self.encoder.encode_if_idle(missing(texts, known))
        return None if made is None else shaped(command, self.together(texts, known, made))

    def bookkeep(self, command: Bookkeeping) -> Answer:
        """Carry out what needs no backend; without a budget or limits there is nothing to do."""
        if isinstance(command, Announce | Withdraw):
            return self.capacity.answer(command) if self.capacity is not None else None
        return self.accounts.answer(command) if self.accounts is not None else None

    def call(self, command: Command) -> Answer:
        """Carry out a command of the index or the verifier on this thread."""
        match command:
            case Fetch(entry_id):
                return self.index.fetch(entry_id, now=self.seen_from(command))
            case Search(partition, vector, limit):
                return self.index.search(partition, vector, limit=limit, now=self.clock.now())
            case Verify(question, stored):
                return self._verify(question, stored)
            case Put(entry, vector):
                self.index.put(entry, vector)
                return None
            case Rewrite():
                return self._rewrite(command)
            case Amend(entry):
                return self._amend(entry)
            case Remove(selection, dry_run):
                return self._remove(selection, dry_run=dry_run)
            case Hold(entry):
                return self.capacity.hold(entry) if self.capacity is not None else 0
            case Embed() | EmbedAll() | Admit() | Due() | Book() | Announce() | Withdraw():
                raise TypeError(f"{type(command).__name__} is no command of a backend on a thread")

    def too_late(self, give_up_at: float) -> Failure | None:
        """The failure to answer with when an earlier stage has used the time up: nobody else's."""
        if self.clock.monotonic() < give_up_at:
            return None
        return Failure(Reason.DEADLINE, TimeoutError("an earlier stage used the time up"))

    def check_in_time(self, command: Command, give_up_at: float) -> None:
        """Count a read on this thread that came back too late as the time-out it is.

        What was written is written, however long it took.

        Raises:
            TimeoutError: It did; the backend is then left alone for a while.
        """
        read = isinstance(command, Fetch | Embed | EmbedAll | Search | Verify)
        if read and self.clock.monotonic() >= give_up_at:
            raise TimeoutError(f"{STAGES[type(command)]} came back after the deadline")

    def failed(self, command: Command, error: Exception) -> Failure:
        """The answer for an error; raised instead in strict mode."""
        refused = isinstance(error, ValueError) and not isinstance(error, ConfigurationError)
        if isinstance(command, Put) and refused:
            # The entry is at fault, not the index: no outage, no pause for everybody else.
            return Failure(Reason.UNSUPPORTED_REPLY, error)
        failure = self.gate(command).failed(error)
        if self.strict:
            raise error
        return failure

    def _verify(self, question: str, stored: tuple[str, ...]) -> Answer:
        if self.verifier is None:
            raise VerifierUnavailable("no verifier is configured")
        opinions = [float(opinion) for opinion in self.verifier.judge(question, stored)]
        if len(opinions) != len(stored) or not all(0 <= opinion <= 1 for opinion in opinions):
            raise VerifierUnavailable("the verifier did not return one probability a question")
        return opinions

    def seen_from(self, command: Fetch) -> float:
        """The moment at which an entry must be live for this command to find it."""
        return -math.inf if command.expired else self.clock.now()

    def _rewrite(self, command: Rewrite) -> int:
        if not isinstance(self.index, SupportsRewrite):
            return 0
        rewritten = partial(
            self.index.rewrite,
            command.entry_id,
            expected=command.expected,
            payload=command.payload,
        )
        if self.capacity is None:
            return int(rewritten())
        more = len(command.payload) - len(command.expected)
        return int(self.capacity.resize(command.entry_id, more, rewritten))

    def _amend(self, entry: Entry) -> int:
        if not isinstance(self.index, SupportsAmend):
            return 0
        amended = partial(self.index.amend, entry)
        if self.capacity is None:
            return int(amended())
        return int(self.capacity.amend(entry, amended))

    def _remove(self, selection: Selection, *, dry_run: bool) -> int:
        count = self.index.remove(selection, dry_run=dry_run)
        if self.capacity is not None and not dry_run:
            self.capacity.forget(selection)
        return count
