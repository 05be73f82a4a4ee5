"""Answers that nobody is sure of: what they are worth when they come in, and asking about them.

The rules are pure (`eviction`). A model is asked about its answers on a thread of its own that ends
with the work: no caller waits for it, and what it says is applied to the entry when it comes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import blake2b

from langchain_semcache.context import is_standalone
from langchain_semcache.engine import asking
from langchain_semcache.engine.commands import Flow
from langchain_semcache.engine.gate import Gate, told
from langchain_semcache.engine.sync_driver import SyncDriver
from langchain_semcache.errors import EvaluatorUnavailable
from langchain_semcache.events import AnswerEvaluated, EntriesRemoved, EventSink
from langchain_semcache.eviction import (
    HIGHEST_SCORE,
    Assessment,
    Score,
    Sureness,
    Unscored,
    falls_in,
    signals,
)
from langchain_semcache.ports import Evaluator
from langchain_semcache.records import (
    Entry,
    Fate,
    Query,
    Reason,
    Removal,
    Response,
    Selection,
)

REMEMBERED = 10_000
"""Scores that are remembered: the same answer is neither asked about twice nor let in again."""

QUEUED = 256
"""Answers that may wait to be asked about; further ones are left as they are, and counted."""

LONGEST = 20_000
"""Characters of a chat and its answer that a model is shown at most."""

_TRIES = 3
_A_MOMENT = 1e-3
"""Seconds; the float that an index filters by may be off by its last bit."""

_SHOWN = frozenset({None, Reason.BEYOND_WINDOW, Reason.EXACT_WANTED})
"""Requests whose text is all that there is to show. Others have media, tools or no question, or
are about one person, of whom a model knows nothing."""

_evaluating: ContextVar[bool] = ContextVar("semcache_evaluating", default=False)


def is_evaluating() -> bool:
    """Whether this code runs on behalf of an evaluation: no cache answers or keeps what it asks."""
    return _evaluating.get()


@dataclass(frozen=True, slots=True)
class _Job:
    entry_id: str
    created_at: float
    conversation: tuple[tuple[str, str], ...]
    answer: str
    key: bytes


class Evaluations:
    """Says how sure an answer is, and has models asked about theirs. Safe between threads.

    Args:
        evaluator: Who is asked; None asks nobody, and goes by log probabilities alone.
        gate: What leaves a failing evaluator alone for a while.
        driver: What applies a score to the entry in the index.
        amends: Whether the index can give a stored entry another end.
    """

    def __init__(
        self,
        rules: Sureness,
        evaluator: Evaluator | None,
        *,
        gate: Gate,
        driver: SyncDriver,
        sink: EventSink,
        amends: bool,
    ) -> None:
        self._rules = rules
        self._evaluator = evaluator
        self._gate = gate
        self._driver = driver
        self._sink = sink
        self._amends = amends
        self._changed = threading.Condition()
        self._applying = threading.Lock()
        self._scores: OrderedDict[bytes, int] = OrderedDict()
        self._waiting: deque[_Job] = deque()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.dropped = 0
        """Answers that were due to be asked about and found the queue full, or the model paused."""

    @property
    def evaluator(self) -> str:
        """The identity of who is asked; the empty text for nobody."""
        return "" if self._evaluator is None else self._evaluator.identity

    def assess(self, query: Query, response: Response) -> Assessment:
        """What is known of an answer that is to be stored; at once, without asking anybody."""
        found = signals(response.logprobs, self._rules.vocabulary)
        return self._rules.assess(found, self._known(_key(query, response.text)))

    def lifetime(self, ttl: timedelta | None, assessment: Assessment) -> timedelta | None:
        """How long the answer lives that would live for `ttl`; None is for ever."""
        return self._rules.lifetime(ttl, assessment)

    def stored(self, entry: Entry, query: Query, answer: str) -> None:
        """An answer is in the index now: have its model asked about it, where it is due."""
        if self._evaluator is None or not _can_be_shown(entry, query, answer):
            return
        key = _key(query, answer)
        share = self._rules.asked_about(Assessment.from_json(entry.assessment))
        if not falls_in(key, share) or self._known(key) is not Unscored.NOT_ASKED:
            return
        said = (*query.turns, ("user", query.text))
        job = _Job(entry.id, entry.created_at, said, answer, key)
        with self._changed:
            if self._closed or len(self._waiting) >= QUEUED:
                self.dropped += 1
                return
            self._waiting.append(job)
            self._start()

    def settle(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds until nobody is to be asked; whether that came about."""
        with self._changed:
            return self._changed.wait_for(lambda: self._thread is None, timeout)

    def close(self) -> None:
        """Drop what waits, and apply no more scores. Waits for no model."""
        with self._changed:
            self._closed = True
            self.dropped += len(self._waiting)
            self._waiting.clear()
        with self._applying:
            pass  # what is being applied still has its index

    def _known(self, key: bytes) -> Score:
        with self._changed:
            return self._scores.get(key, Unscored.NOT_ASKED)

    def _start(self) -> None:
        """Have somebody work; call with the lock held."""
        # After a fork the thread of the parent is not alive in the child.
        if self._thread is None or not self._thread.is_alive():
            thread = threading.Thread(target=self._run, name="semcache-evaluations", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no threads left, or the interpreter is about to end
                self.dropped += len(self._waiting)
                self._waiting.clear()
                return
            self._thread = thread

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._thread = None
                    self._changed.notify_all()
                    return
                job = self._waiting.popleft()
            try:
                self._evaluate(job)
            except Exception as error:  # noqa: BLE001 - the answer stays as it is
                self._gate.warn(f"what a model said of its answer was lost ({told(error)})")
            # A frame that waits for the lock must not keep the last texts alive.
            del job

    def _evaluate(self, job: _Job) -> None:
        if self._evaluator is None or self._gate.refusal() is not None:
            with self._changed:
                self.dropped += 1
            return
        try:
            with _on_behalf_of_an_evaluation():
                score = _checked(self._evaluator.score(job.conversation, job.answer))
        except Exception as error:  # noqa: BLE001 - any library may be behind it
            self._gate.failed(error)
            return
        self._gate.succeeded()
        with self._applying:
            if self._closed:
                return
            said: Score = Unscored.UNREADABLE if score is None else score
            steps = apply(job.entry_id, job.created_at, said, self._rules, amends=self._amends)
            fate = self._driver.run(steps, {})
        if score is not None:
            self._remember(job.key, score)
        self._sink.emit(AnswerEvaluated(job.entry_id, score, fate))
        if fate is Fate.REMOVED:
            self._sink.emit(EntriesRemoved(1, Removal.UNSURE))

    def _remember(self, key: bytes, score: int) -> None:
        with self._changed:
            self._scores[key] = score
            if len(self._scores) > REMEMBERED:
                self._scores.popitem(last=False)


def apply(
    entry_id: str, created_at: float, score: Score, rules: Sureness, *, amends: bool
) -> Flow[Fate]:
    """Let an entry feel what its model said of it, unless it is another answer by now."""
    for _ in range(_TRIES):
        entry = yield from asking.fetch(entry_id)
        if not isinstance(entry, Entry) or entry.created_at != created_at:
            return Fate.GONE
        before = Assessment.from_json(entry.assessment)
        after = rules.assess(before.signals, score)
        if not after.kept:
            # Of this age at least: an answer that was stored since is not meant.
            meant = Selection(ids=(entry_id,), created_before=created_at + _A_MOMENT)
            removed = yield from asking.remove(meant, dry_run=False)
            return Fate.REMOVED if removed == 1 else Fate.GONE
        if not amends:
            return Fate.KEPT
        end = entry.expires_at
        if not entry.life:  # others have the factor in the calculation
            end = rules.end(created_at, end, before.factor, after.factor)
        done = yield from asking.amend(replace(entry, expires_at=end, assessment=after.to_json()))
        if done == 1:
            return Fate.SHORTENED if after.factor < before.factor else Fate.KEPT
    return Fate.GONE


@contextmanager
def _on_behalf_of_an_evaluation() -> Iterator[None]:
    token = _evaluating.set(True)
    try:
        yield
    finally:
        _evaluating.reset(token)


def _can_be_shown(entry: Entry, query: Query, answer: str) -> bool:
    """Whether the model can be shown what it needs to judge.

    It cannot be shown documents, nor a chat that is no part of the query.
    """
    if not answer.strip() or entry.sources or query.exact_only not in _SHOWN:
        return False
    shown = len(query.text) + len(answer) + sum(len(text) for _, text in query.turns)
    return shown <= LONGEST and (bool(query.turns) or is_standalone(query.text))


def _key(query: Query, answer: str) -> bytes:
    """Of the answer to this very request, whoever asks: the same words, the same key."""
    digest = blake2b(digest_size=16)
    for text in (query.fingerprint, answer):
        # Each text has its own digest, so that no letter can move from one to the other.
        digest.update(blake2b(text.encode("utf-8", "surrogatepass")).digest())
    return digest.digest()


def _checked(score: object) -> int | None:
    """The score; None for one that is out of range.

    Raises:
        EvaluatorUnavailable: It is no number at all.
    """
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, int):
        raise EvaluatorUnavailable(f"the evaluator returned a {type(score).__name__}")
    return score if 0 <= score <= HIGHEST_SCORE else None
