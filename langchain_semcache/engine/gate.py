"""The gate in front of a backend: breaker, error mapping, one warning per interval."""

from __future__ import annotations

from langchain_semcache.breaker import CircuitBreaker, ThrottledWarning
from langchain_semcache.clock import Clock
from langchain_semcache.engine.commands import Failure
from langchain_semcache.errors import CorruptEntry
from langchain_semcache.events import BackendFailed, BreakerClosed, BreakerOpened, EventSink
from langchain_semcache.records import Reason


class Gate:
    """Watches one port: whether it may be asked, and what becomes of its errors. Thread-safe.

    `meanwhile` is what a warning says of the time in which the port does not work.
    """

    def __init__(
        self,
        port: str,
        unavailable: Reason,
        breaker: CircuitBreaker,
        clock: Clock,
        sink: EventSink,
        *,
        meanwhile: str = "requests go to the model",
    ) -> None:
        self._port = port
        self._meanwhile = meanwhile
        self._unavailable = unavailable
        self._breaker = breaker
        self._sink = sink
        self.warn = ThrottledWarning(clock)

    def refusal(self) -> Failure | None:
        """The failure to answer with instead of calling, while the breaker is open."""
        if self._breaker.allows():
            return None
        return Failure(self._unavailable, ConnectionError(f"{self._port} is paused after failures"))

    def succeeded(self) -> None:
        """Record that the backend did what it was asked."""
        if self._breaker.succeeded():
            self._sink.emit(BreakerClosed(self._port))

    def failed(self, error: Exception) -> Failure:
        """Record an error of the backend and make the answer of it."""
        if isinstance(error, CorruptEntry):
            # The backend works; one record is bad.
            self.warn(str(error))
            return Failure(Reason.CORRUPT_ENTRY, error)
        # The class only: a backend's own message may quote the prompt it choked on.
        self._sink.emit(BackendFailed(self._port, type(error).__name__, self._unavailable))
        if self._breaker.failed(at_once=isinstance(error, TimeoutError)):
            self._sink.emit(BreakerOpened(self._port))
        self.warn(f"{self._port} unavailable ({told(error)}); {self._meanwhile}")
        return Failure(self._unavailable, error)


def told(error: Exception) -> str:
    """What may be written down of an error: our own messages quote no prompt, others might."""
    own = type(error).__module__.startswith("langchain_semcache.")
    return f"{type(error).__name__}: {error}" if own else type(error).__name__
