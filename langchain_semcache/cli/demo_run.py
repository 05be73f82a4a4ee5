"""Runs the demo's stream of questions through a LangChain chain and keeps what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from langchain_semcache import SemanticCache
from langchain_semcache.cli.demo_corpus import ANSWERS, STREAM, SYSTEM, Ask, Kind
from langchain_semcache.cli.demo_model import DemoChatModel, chain, global_cache, tokens
from langchain_semcache.cli.places import shown
from langchain_semcache.clock import Clock, SystemClock
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.events import Event, LookupHit, LookupMissed
from langchain_semcache.records import Decision, Reason

NAMESPACE = "demo"
_UNDECIDED = Decision(hit=False, reason=Reason.BYPASSED, detail="the cache was not asked")


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of the stream: what was decided, what was answered, how long it took."""

    ask: Ask
    decision: Decision
    right: bool
    seconds: float
    tokens: int

    @property
    def wrong(self) -> bool:
        """Served from the cache, and not the answer to this question."""
        return self.decision.hit and not self.right

    @property
    def overlooked(self) -> bool:
        """Asked before, in these words or in others, and yet not found."""
        return not self.decision.hit and self.ask.kind in {Kind.REPEAT, Kind.REWORDED}

    @property
    def refused(self) -> bool:
        """A neighbour was there and was kept apart: by a guard, or a trap by its distance."""
        return (
            not self.decision.hit
            and self.decision.similarity is not None
            and (self.ask.kind.is_trap or self.decision.reason is not Reason.BELOW_THRESHOLD)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A whole stream.

    Attributes:
        found: Entries of the demo's namespace when it began.
        calls: How often the model was asked.
        delay: Seconds that the model takes for an answer.
        encoder, threshold: What questions were compared with, and from which similarity on.
        failures: Backend failures by port; they are misses that nobody decided.
    """

    location: str
    found: int
    calls: int
    delay: float
    encoder: str
    threshold: float
    failures: dict[str, int]
    turns: Sequence[Turn]


class Recorder:
    """An event sink that remembers the last decision."""

    def __init__(self) -> None:
        self.last = _UNDECIDED

    def emit(self, event: Event) -> None:
        if isinstance(event, LookupHit | LookupMissed):
            self.last = event.decision

    def take(self) -> Decision:
        """The decision since the last call."""
        last, self.last = self.last, _UNDECIDED
        return last


def play(
    config: SemcacheConfig,
    *,
    delay: float,
    fresh: bool,
    watch: Callable[[Iterator[Turn]], Sequence[Turn]],
    clock: Clock | None = None,
) -> Run:
    """Ask everything once, in order. `watch` drains the turns, so that it can show them pass by.

    Raises:
        ConfigurationError: The cache cannot be opened.
    """
    recorder = Recorder()
    cache = SemanticCache(config, namespace=NAMESPACE, sinks=(recorder,))
    try:
        core = cache.semcache.core
        if fresh:
            cache.clear()
        found = cache.stats().entries
        core.workplace.encoder.encode([SYSTEM])  # loads the model: no question pays for that
        model = DemoChatModel(
            answers={ask.text: ANSWERS[ask.intent] for ask in STREAM}, delay_seconds=delay
        )
        with global_cache(cache):
            turns = watch(_turns(model, recorder, clock or SystemClock()))
        return Run(
            location=shown(config.location),
            found=found,
            calls=model.calls,
            delay=delay,
            encoder=core.workplace.encoder.identity,
            threshold=core.policy.similarity_threshold,
            failures=dict(cache.stats().failures),
            turns=turns,
        )
    finally:
        cache.close()


def _turns(model: DemoChatModel, recorder: Recorder, clock: Clock) -> Iterator[Turn]:
    ask_model = chain(model, SYSTEM)
    for ask in STREAM:
        started = clock.monotonic()
        answer = ask_model.invoke({"question": ask.text})
        seconds = clock.monotonic() - started
        yield Turn(
            ask=ask,
            decision=recorder.take(),
            right=answer == ANSWERS[ask.intent],
            seconds=seconds,
            tokens=tokens(SYSTEM) + tokens(ask.text) + tokens(answer),
        )
