"""The sinks every cache has: counters for `stats()`, and a fan-out that no sink can break."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Mapping, Sequence

from langchain_semcache.events import (
    AnswerEvaluated,
    BackendFailed,
    EntriesEvicted,
    EntriesRemoved,
    EntryStored,
    Event,
    EventSink,
    LookupHit,
    LookupMissed,
    StoreSkipped,
)

logger = logging.getLogger("langchain_semcache")


class Counters:
    """Counts decisions by reason since construction."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lookups: Counter[str] = Counter()
        self._stores: Counter[str] = Counter()
        self._other: Counter[str] = Counter()

    def emit(self, event: Event) -> None:
        with self._lock:
            match event:
                case LookupHit(decision, _):
                    self._lookups[decision.reason] += 1
                    self._other["hits"] += 1
                case LookupMissed(decision, _):
                    self._lookups[decision.reason] += 1
                case EntryStored(result, _) | StoreSkipped(result):
                    self._stores[result.reason] += 1
                case EntriesRemoved(count):
                    self._other["removed"] += count
                case EntriesEvicted(_, count):
                    self._other["evicted"] += count
                case AnswerEvaluated(_, _, fate):
                    self._other[f"{fate}_evaluated"] += 1
                case BackendFailed(port):
                    self._other[f"{port}_failures"] += 1
                case _:
                    self._other[type(event).__name__] += 1

    def snapshot(self) -> tuple[Mapping[str, int], Mapping[str, int], Mapping[str, int]]:
        """Lookups by reason, stores by reason, and everything else, as they are now."""
        with self._lock:
            return dict(self._lookups), dict(self._stores), dict(self._other)


class FanOut:
    """Hands each event to every sink; a sink that raises is logged once and does no harm."""

    def __init__(self, sinks: Sequence[EventSink]) -> None:
        self._sinks = tuple(sinks)
        self._broken: set[int] = set()

    def emit(self, event: Event) -> None:
        for position, sink in enumerate(self._sinks):
            try:
                sink.emit(event)
            except Exception as error:  # noqa: BLE001 - a broken sink must not break the call
                if position not in self._broken:
                    self._broken.add(position)
                    logger.warning(
                        "event sink %s failed (%s); its further failures are not logged",
                        type(sink).__name__,
                        type(error).__name__,
                    )
