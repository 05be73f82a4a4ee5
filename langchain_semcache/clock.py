"""Time as a dependency: production reads the system clock, tests move their own."""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """Two readings: when it is (for expiry) and how long something took (for stages)."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean something."""
        ...


class SystemClock:
    """The machine's clock."""

    now = staticmethod(time.time)
    monotonic = staticmethod(time.perf_counter)


class ManualClock:
    """A clock that moves only when it is told to. Safe to share between threads."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start
        self._elapsed = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Move both readings; a negative value moves only the wall clock, as an NTP step would."""
        with self._lock:
            self._now += seconds
            self._elapsed += max(0.0, seconds)
