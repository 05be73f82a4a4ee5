"""What to do about a backend that fails: leave it alone for a while, and say so once."""

from __future__ import annotations

import logging
import threading

from langchain_semcache.clock import Clock

logger = logging.getLogger("langchain_semcache")

WARNING_INTERVAL_SECONDS = 60.0


class CircuitBreaker:
    """Closed → open after `failures` in a row → one probe after `cooldown_seconds` → closed.

    Safe to share between threads. While it is open every call is refused at once, so that a dead
    backend costs its deadline once and not once per request.
    """

    def __init__(self, clock: Clock, *, failures: int = 3, cooldown_seconds: float = 5.0) -> None:
        self._clock = clock
        self._limit = failures
        self._cooldown = cooldown_seconds
        self._in_a_row = 0
        self._opened_at: float | None = None
        self._lock = threading.Lock()

    def allows(self) -> bool:
        """Whether a call may be made now; when the pause is over, one caller gets through."""
        with self._lock:
            if self._opened_at is None:
                return True
            now = self._clock.monotonic()
            if now - self._opened_at < self._cooldown:
                return False
            self._opened_at = now
            return True

    def succeeded(self) -> bool:
        """Record a success; True when that closed the breaker."""
        if not self._in_a_row:
            return False
        with self._lock:
            closed = self._opened_at is not None
            self._in_a_row, self._opened_at = 0, None
            return closed

    def failed(self, *, at_once: bool = False) -> bool:
        """Record a failure (`at_once` for a time-out); True when that opened the breaker."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row < self._limit and not at_once:
                return False
            opened = self._opened_at is None
            self._opened_at = self._clock.monotonic()
            return opened


class ThrottledWarning:
    """Logs at most one warning per interval: an outage is one line, and not one a request."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._warned_at: float | None = None

    def __call__(self, message: str) -> None:
        """Log it, or not. The message must not quote a prompt."""
        now = self._clock.monotonic()
        with self._lock:
            if self._warned_at is not None and now - self._warned_at < WARNING_INTERVAL_SECONDS:
                return
            self._warned_at = now
        interval = WARNING_INTERVAL_SECONDS
        logger.warning("%s (further warnings held back for %.0f s)", message, interval)
