"""What happened, once, for metrics, traces, logs and reports alike.

Events carry no prompt and no answer text beyond what `Decision` already holds; a sink that writes
anything down uses ids, reasons and numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from langchain_semcache.records import Decision, Fate, Reason, Removal, StoreResult


@dataclass(frozen=True, slots=True)
class LookupHit:
    decision: Decision
    seconds: float


@dataclass(frozen=True, slots=True)
class LookupMissed:
    decision: Decision
    seconds: float


@dataclass(frozen=True, slots=True)
class EntryStored:
    result: StoreResult
    seconds: float


@dataclass(frozen=True, slots=True)
class StoreSkipped:
    result: StoreResult


@dataclass(frozen=True, slots=True)
class EntriesRemoved:
    count: int
    why: Removal = Removal.INVALIDATED


@dataclass(frozen=True, slots=True)
class EntriesEvicted:
    """Live entries went because their namespace, or a tenant in it, was full."""

    namespace: str
    count: int
    policy: str


@dataclass(frozen=True, slots=True)
class AnswerEvaluated:
    """A model was asked about its own answer.

    `score` is from 0 to 5, None where the reply was no such number. The answer is `gone` where it
    was replaced or removed before the reply came, or the index did not answer.
    """

    entry_id: str
    score: int | None
    fate: Fate


@dataclass(frozen=True, slots=True)
class BackendFailed:
    """`port` is "encoder", "index", "verifier", "evaluator" or an adapter's name.

    `error` is the name of a class.
    """

    port: str
    error: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class BreakerOpened:
    port: str


@dataclass(frozen=True, slots=True)
class BreakerClosed:
    port: str


@dataclass(frozen=True, slots=True)
class BudgetTurned:
    """A namespace fell back to exact matches, or came back from that.

    `error_rate` is the estimate that turned it: wrong answers over all requests.
    """

    namespace: str
    exact_only: bool
    error_rate: float | None


Event: TypeAlias = (
    LookupHit
    | LookupMissed
    | EntryStored
    | StoreSkipped
    | EntriesRemoved
    | EntriesEvicted
    | AnswerEvaluated
    | BackendFailed
    | BreakerOpened
    | BreakerClosed
    | BudgetTurned
)


class EventSink(Protocol):
    """Receives every event, on the thread where it happened. Must be quick and thread-safe."""

    def emit(self, event: Event) -> None: ...
