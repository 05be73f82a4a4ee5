"""Joins the questions of concurrent callers into one forward pass.

Nobody waits for a batch to fill: whatever has queued up while the encoder was busy is the next
batch. A lone caller pays for one hand-over between threads, or not even that: where the encoder is
known not to hang, whoever finds it idle runs it on the spot.
"""

from __future__ import annotations

import itertools
import queue
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeAlias

from langchain_semcache.encoders.validation import check_vectors
from langchain_semcache.errors import ConfigurationError, EncoderUnavailable, SemcacheError
from langchain_semcache.ports import BlockingPort, Encoder, Vectors
from langchain_semcache.processes import PerProcess

CLOSE_SECONDS = 5.0
"""How long `close()` waits for the batch in progress; the thread is a daemon, so it may hang."""


@dataclass(frozen=True, slots=True)
class _Job:
    texts: tuple[str, ...]
    future: Future[Vectors] = field(default_factory=Future)


_Queue: TypeAlias = "queue.SimpleQueue[_Job | None]"


class BatchingEncoder:
    """An encoder around another one, with one worker thread. Safe to share, also after a fork.

    The thread starts with the first text and ends with `close()` or with the last reference.
    Everything that the inner encoder returns is checked for shape, NaN and length 1.

    Args:
        inner: The encoder that does the work; it is called by one thread at a time.
        max_batch: Texts of several callers are joined up to this number.
    """

    def __init__(self, inner: Encoder, *, max_batch: int = 32) -> None:
        if isinstance(max_batch, bool) or max_batch < 1:
            raise ConfigurationError(
                f"max_batch is {max_batch!r}, expected a whole number from 1 up"
            )
        self._inner = inner
        self._worker = PerProcess(lambda _: _Worker(inner, max_batch))
        self._never_hangs = isinstance(inner, BlockingPort) and not inner.may_block
        self._closed = False

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def identity(self) -> str:
        return self._inner.identity

    @property
    def max_tokens(self) -> int:
        return self._inner.max_tokens

    def count_tokens(self, text: str) -> int:
        return self._inner.count_tokens(text)

    def submit(self, texts: Sequence[str]) -> Future[Vectors]:
        """Queue `texts`; the future holds float32 [len(texts), dimension], rows of length 1.

        Cancel it to drop texts that have not been started. Its exception is `EncoderUnavailable`,
        or the `SemcacheError` that the inner encoder raised.

        Raises:
            EncoderUnavailable: The encoder is closed.
        """
        if self._closed:
            raise EncoderUnavailable("the encoder is closed")
        return self._worker.get().submit(_Job(tuple(texts)))

    def encode_if_idle(self, texts: Sequence[str]) -> Vectors | None:
        """The vectors, made on this thread; None when that might mean to wait for somebody.

        Saves the hand-over between threads: 0.1 ms where the default encoder takes 1.5.

        Raises:
            EncoderUnavailable: The encoder failed or is closed.
        """
        if not self._never_hangs:
            return None
        if self._closed:
            raise EncoderUnavailable("the encoder is closed")
        busy = self._worker.get().busy
        if not busy.acquire(blocking=False):
            return None
        try:
            return _encode((_Job(tuple(texts)),), self._inner)[0]
        finally:
            busy.release()

    def encode(self, texts: Sequence[str], timeout: float | None = None) -> Vectors:
        """`submit`, and wait at most `timeout` seconds; None waits for ever.

        Raises:
            EncoderUnavailable: The encoder failed, is closed, or took longer.
        """
        future = self.submit(texts)
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise EncoderUnavailable(f"no vectors within {timeout:g} s") from None

    def close(self) -> None:
        """Finish what is queued and end the thread; the inner encoder stays as it is."""
        if not self._closed:
            self._closed = True
            self._worker.get().close()


class _Worker:
    """The thread of one process and the queue in front of it."""

    def __init__(self, inner: Encoder, max_batch: int) -> None:
        self._jobs: _Queue = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._open = True
        self.busy = threading.Lock()
        self._thread = threading.Thread(
            target=_work,
            args=(self._jobs, inner, max_batch, self.busy),
            name="semcache-encoder",
            daemon=True,
        )
        self._thread.start()
        # The thread holds the queue and not this object, which can therefore be forgotten.
        self._end = weakref.finalize(self, self._jobs.put, None)

    def submit(self, job: _Job) -> Future[Vectors]:
        # Without the lock a job could land behind the end mark, and wait for ever.
        with self._lock:
            if not self._open:
                raise EncoderUnavailable("the encoder is closed")
            self._jobs.put(job)
        return job.future

    def close(self) -> None:
        with self._lock:
            self._open = False
            self._end()
        if threading.current_thread() is not self._thread:
            self._thread.join(CLOSE_SECONDS)


def _work(jobs: _Queue, inner: Encoder, max_batch: int, busy: threading.Lock) -> None:
    """Take what is there, run it, repeat, until the end mark."""
    held: _Job | None = None
    while True:
        first = held or jobs.get()
        if first is None:
            return
        with busy:
            batch, held, ended = _gather(jobs, first, max_batch)
            _run([job for job in batch if job.future.set_running_or_notify_cancel()], inner)
        # A frame that waits for the next job must not keep the last callers' texts alive.
        del batch, first
        if ended:
            return


def _gather(jobs: _Queue, first: _Job, max_batch: int) -> tuple[list[_Job], _Job | None, bool]:
    """The next batch, a job that no longer fitted, and whether the end mark was met."""
    batch = [first]
    room = max_batch - len(first.texts)
    while room > 0:
        try:
            job = jobs.get_nowait()
        except queue.Empty:
            break
        if job is None:
            return batch, None, True
        if len(job.texts) > room:
            return batch, job, False
        batch.append(job)
        room -= len(job.texts)
    return batch, None, False


def _run(batch: Sequence[_Job], inner: Encoder) -> None:
    """Settle every future.

    When a joint batch fails, each job is tried alone: one bad text must not fail the others.
    """
    if not batch:
        return
    try:
        results = _encode(batch, inner)
    except SemcacheError as error:  # it belongs to the callers, not to the thread
        if len(batch) == 1:
            batch[0].future.set_exception(error)
            return
        for job in batch:
            _run([job], inner)
        return
    for job, vectors in zip(batch, results, strict=True):
        job.future.set_result(vectors)


def _encode(batch: Sequence[_Job], inner: Encoder) -> list[Vectors]:
    """The vectors of each job.

    Raises:
        SemcacheError: As the encoder raised it, or `EncoderUnavailable` for whatever else it did.
    """
    texts = [text for job in batch for text in job.texts]
    try:
        vectors = inner.encode(texts)
        checked = check_vectors(vectors, count=len(texts), dimension=inner.dimension)
        ends = itertools.accumulate(len(job.texts) for job in batch)
        # Copies: a view would keep the whole batch alive and let callers write into each other.
        return [
            checked[end - len(job.texts) : end].copy() for job, end in zip(batch, ends, strict=True)
        ]
    except SemcacheError:
        raise
    except BaseException as error:  # tokenizers panic with one; without its thread all would wait
        raise EncoderUnavailable(f"the encoder failed: {type(error).__name__}") from error
