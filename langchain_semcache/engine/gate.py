"""The gate in front of a backend: breaker, error mapping, one warning per interval."""

from __future__ import annotations

import logging
import threading

from langchain_semcache.clock import Clock
from langchain_semcache.engine.breaker import CircuitBreaker
from langchain_semcache.engine.commands import Failure
from langchain_semcache.errors import CorruptEntry
from langchain_semcache.events import BackendFailed, BreakerClosed, BreakerOpened, EventSink
from langchain_semcache.records import Reason

logger = logging.getLogger("langchain_semcache")

WARNING_INTERVAL_SECONDS = 60.0


class Gate:
    """Counts what goes right and wrong at one port. Safe to share between threads.

    Attributes:
        failures: Calls that failed since construction, refused ones included.
    """

    def __init__(
        self, port: str, unavailable: Reason, breaker: CircuitBreaker, clock: Clock, sink: EventSink
    ) -> None:
        self._port = port
        self._unavailable = unavailable
        self._breaker = breaker
        self._clock = clock
        self._sink = sink
        self._lock = threading.Lock()
        self._warned_at: float | None = None
        self.failures = 0

    def refusal(self) -> Failure | None:
        """The failure to answer with instead of calling, while the breaker is open."""
        if self._breaker.allows():
            return None
        with self._lock:
            self.failures += 1
        return Failure(self._unavailable, ConnectionError(f"{self._port} is paused after failures"))

    def succeeded(self) -> None:
        if self._breaker.succeeded():
            self._sink.emit(BreakerClosed(self._port))

    def failed(self, error: Exception) -> Failure:
        """Record an error of the backend and make the answer of it."""
        if isinstance(error, CorruptEntry):
            # The backend works; one record is bad.
            self.warn(str(error))
            return Failure(Reason.CORRUPT_ENTRY, error)
        with self._lock:
            self.failures += 1
        # The class only: a backend's own message may quote the prompt it choked on.
        self._sink.emit(BackendFailed(self._port, type(error).__name__, self._unavailable))
        timed_out = isinstance(error, TimeoutError)
        if self._breaker.failed(at_once=timed_out):
            self._sink.emit(BreakerOpened(self._port, self._clock.monotonic()))
        self.warn(f"{self._port} unavailable ({_summary(error)}); requests go to the model")
        return Failure(self._unavailable, error)

    def warn(self, message: str) -> None:
        """Log a warning, at most one per interval. The message must not quote a prompt."""
        now = self._clock.monotonic()
        with self._lock:
            if self._warned_at is not None and now - self._warned_at < WARNING_INTERVAL_SECONDS:
                return
            self._warned_at = now
        interval = WARNING_INTERVAL_SECONDS
        logger.warning("%s (further warnings held back for %.0f s)", message, interval)


def _summary(error: Exception) -> str:
    """The whole chain by class, with the message of our own errors, which never quote a prompt."""
    own = type(error).__module__.startswith("langchain_semcache.")
    return f"{type(error).__name__}: {error}" if own else type(error).__name__
