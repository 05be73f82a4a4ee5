"""Asks a slow verifier behind the caller's back, and knows the verdict the next time.

The first time a pair of questions is seen it is refused; its verdict is fetched by a thread and
remembered. So a judge that takes seconds costs no answer any time, and popular paraphrases gain.
"""

from __future__ import annotations

import hashlib
import queue
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_semcache.errors import ConfigurationError, VerifierUnavailable
from langchain_semcache.ports import Verifier
from langchain_semcache.processes import PerProcess


@dataclass(frozen=True, slots=True)
class _Job:
    question: str
    stored: tuple[str, ...]
    keys: tuple[bytes, ...]


class Deferred:
    """A verifier around another one: answers at once with what is known, and 0.0 for the rest.

    One daemon thread asks the inner verifier, one job at a time; it starts with the first unknown
    pair and ends with `close()` or with the last reference. Safe to share between threads, and
    after a fork: a child has its own thread and what was known so far. Texts are kept while they
    wait, and only their digests afterwards. `judge` never waits and never raises.

    Args:
        verifier: The one that is asked. What it raises or returns amiss is counted in `failed`, and
            the pair is asked about again when it comes again.
        remembered: Verdicts kept, the least recently used go first; about 200 bytes each.
        queued: Pairs that may wait. Further ones are refused without being asked about, and counted
            in `dropped`.

    Raises:
        ConfigurationError: A number is not positive.
    """

    may_block = False

    def __init__(self, verifier: Verifier, *, remembered: int = 10_000, queued: int = 256) -> None:
        for name, value in (("remembered", remembered), ("queued", queued)):
            if isinstance(value, bool) or value < 1:
                raise ConfigurationError(f"{name} is {value!r}, expected a whole number from 1 up")
        self._verifier = verifier
        # The thread holds the desk and not this object, which can therefore be forgotten.
        self._desks = PerProcess(lambda inherited: _Desk(verifier, remembered, queued, inherited))
        weakref.finalize(self, _close, self._desks)

    @property
    def identity(self) -> str:
        return f"deferred({self._verifier.identity})"

    @property
    def pending(self) -> int:
        """Pairs that wait for their verdict, the ones being judged included."""
        return len(self._here().pending)

    @property
    def known(self) -> int:
        """Pairs whose verdict is remembered."""
        return len(self._here().known)

    @property
    def dropped(self) -> int:
        """Pairs that found the queue full, or closed."""
        return self._here().dropped

    @property
    def failed(self) -> int:
        """Pairs the inner verifier gave no verdict on."""
        return self._here().failed

    def judge(self, question: str, stored: Sequence[str]) -> list[float]:
        """What is known of each pair; 0.0 for one that is not known yet, which is then asked."""
        return self._here().judge(question, stored)

    def settle(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds until nothing is pending; whether that came about."""
        return self._here().settle(timeout)

    def close(self) -> None:
        """Drop what waits and end the thread; what is known stays. Waits for nobody."""
        self._here().close()

    def _here(self) -> _Desk:
        return self._desks.get()


class _Desk:
    """Memory, queue and thread of one process; a forked child knows what its parent knew."""

    def __init__(
        self, verifier: Verifier, remembered: int, queued: int, inherited: _Desk | None
    ) -> None:
        self.known: OrderedDict[bytes, float] = OrderedDict(inherited.known if inherited else ())
        self.closed: bool = inherited is not None and inherited.closed
        self.pending: set[bytes] = set()
        self.dropped = self.failed = 0
        self.jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._verifier, self._remembered, self._queued = verifier, remembered, queued
        self._changed = threading.Condition()  # re-entrant: the collector may call `close` in it
        self._started = False

    def judge(self, question: str, stored: Sequence[str]) -> list[float]:
        keys = [_key(question, text) for text in stored]
        with self._changed:
            verdicts = [self._recall(key) for key in keys]
            new = self._admit(dict(zip(keys, stored, strict=True)))
            if new:
                self._hand_over(_Job(question, tuple(new.values()), tuple(new)))
        return verdicts

    def settle(self, timeout: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self.pending, timeout)

    def close(self) -> None:
        with self._changed:
            self.closed = True
            self.dropped += len(self.pending)
            self.pending.clear()
            self._changed.notify_all()
        self.jobs.put(None)

    def _recall(self, key: bytes) -> float:
        if key not in self.known:
            return 0.0
        self.known.move_to_end(key)
        return self.known[key]

    def _admit(self, texts: dict[bytes, str]) -> dict[bytes, str]:
        """What has to be asked about, and still has room."""
        new = {
            key: text
            for key, text in texts.items()
            if key not in self.known and key not in self.pending
        }
        room = 0 if self.closed else self._queued - len(self.pending)
        self.dropped += max(0, len(new) - room)
        return dict(list(new.items())[:room])

    def _hand_over(self, job: _Job) -> None:
        if not self._started:
            thread = threading.Thread(
                target=_work, args=(self,), name="semcache-verifier", daemon=True
            )
            try:
                thread.start()
            except RuntimeError:  # no threads left, or the interpreter is about to end
                self.dropped += len(job.keys)
                return
            self._started = True
        self.pending.update(job.keys)
        self.jobs.put(job)

    def ask(self, job: _Job) -> None:
        """Fetch and remember the verdicts of a job, unless it was dropped meanwhile."""
        try:
            verdicts = _checked(self._verifier.judge(job.question, job.stored), len(job.keys))
        except BaseException:  # noqa: BLE001 – without its thread nothing would ever be known
            verdicts = None
        with self._changed:
            if self.closed:
                return
            if verdicts is None:
                self.failed += len(job.keys)
            else:
                self.known.update(zip(job.keys, verdicts, strict=True))
            while len(self.known) > self._remembered:
                self.known.popitem(last=False)
            self.pending.difference_update(job.keys)
            self._changed.notify_all()


def _close(desks: PerProcess[_Desk]) -> None:
    # A forked child has a desk of its own: its parent's lock may be held by a thread it lacks.
    desks.get().close()


def _work(desk: _Desk) -> None:
    while True:
        job = desk.jobs.get()
        if job is None:
            return
        if not desk.closed:
            desk.ask(job)
        # A frame that waits for the next job must not keep the last texts alive.
        del job


def _checked(values: Sequence[float], count: int) -> list[float]:
    verdicts = [float(value) for value in values]
    # Written so that NaN fails as well.
    if len(verdicts) != count or not all(0 <= verdict <= 1 for verdict in verdicts):
        raise VerifierUnavailable(f"the verifier returned no {count} probabilities")
    return verdicts


def _key(question: str, stored: str) -> bytes:
    """Of the ordered pair: an answer may fit one way and not the other."""
    digest = hashlib.blake2b(digest_size=16)
    for text in (question, stored):
        # Each text has its own digest, so that no letter can move from one to the other.
        digest.update(hashlib.blake2b(text.encode("utf-8", "surrogatepass")).digest())
    return digest.digest()
