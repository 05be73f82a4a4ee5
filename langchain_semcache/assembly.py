"""Composition root: from a configuration to a wired cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from langchain_semcache.backends import make_encoder, make_index, make_verifier
from langchain_semcache.breaker import CircuitBreaker, ThrottledWarning
from langchain_semcache.clock import Clock, SystemClock
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.encoders.batching import BatchingEncoder
from langchain_semcache.engine.accounts import Accounts
from langchain_semcache.engine.changes import SourceChanges
from langchain_semcache.engine.dictionaries import Dictionaries
from langchain_semcache.engine.evaluating import Evaluations
from langchain_semcache.engine.freshness import Freshness
from langchain_semcache.engine.gate import Gate
from langchain_semcache.engine.policy import Policy
from langchain_semcache.engine.pool import WorkerPool
from langchain_semcache.engine.refining import refine
from langchain_semcache.engine.shelf import Shelf
from langchain_semcache.engine.sync_driver import SyncDriver
from langchain_semcache.engine.workplace import RECENT_VECTORS, Workplace
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.events import EventSink
from langchain_semcache.guards import check
from langchain_semcache.heat import Expected, expecting
from langchain_semcache.lifetimes import make_capacity, make_lives
from langchain_semcache.ports import (
    BlockingPort,
    Encoder,
    EntryIndex,
    Evaluator,
    SupportsAmend,
    SupportsClose,
    SupportsRewrite,
    SupportsThreshold,
    Verifier,
)
from langchain_semcache.recent import Recent
from langchain_semcache.records import RESERVED, Reason, Request
from langchain_semcache.request import (
    RequestSettings,
    Resolved,
    resolve,
)
from langchain_semcache.responses import DeltaCodec
from langchain_semcache.telemetry import Counters, FanOut
from langchain_semcache.threshold import Budget
from langchain_semcache.threshold.confidence import Calibration, as_it_is, load, shipped
from langchain_semcache.windows import split

FALLBACK_THRESHOLD = 0.9
"""For an encoder nobody measured: strict enough that unrelated questions do not meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """A wired cache without a colour: the sync and the async client are two views of it."""

    config: SemcacheConfig
    workplace: Workplace
    policy: Policy
    settings: RequestSettings
    counters: Counters
    sink: FanOut
    warn: ThrottledWarning
    changes: SourceChanges
    expected: Expected | None
    opened: ExitStack

    def resolve(self, request: Request) -> Resolved:
        """Who and what a request is about.

        Raises:
            ConfigurationError: It is no request: a field has a type that none can have.
        """
        _check(request)
        encoder = self.workplace.encoder
        return resolve(
            request,
            settings=self.settings,
            encoder_identity=encoder.identity,
            count_tokens=encoder.count_tokens,
            max_tokens=encoder.max_tokens,
        )

    def close(self) -> None:
        """Release what this cache opened; closing twice is harmless."""
        self.opened.close()


def build(
    config: SemcacheConfig,
    *,
    encoder: Encoder | str | None = None,
    verifier: Verifier | str | None = None,
    index: EntryIndex | None = None,
    evaluator: Evaluator | None = None,
    clock: Clock | None = None,
    sinks: Sequence[EventSink] = (),
) -> Core:
    """Open everything the configuration names.

    An encoder, verifier, evaluator or index that is passed in is used as it is and never closed by
    the cache.

    Raises:
        ConfigurationError: Something is missing, locked, unwritable, unreachable or does not fit;
            one line that names the thing and the fix.
    """
    clock = clock or SystemClock()
    settings = _settings(config)
    with ExitStack() as opened:
        pool = WorkerPool()
        opened.callback(pool.close)
        if encoder is None or isinstance(encoder, str):
            encoder = make_encoder(encoder or config.encoder)
        if verifier is None or isinstance(verifier, str):
            verifier = make_verifier(verifier or config.verifier, encoder)
        calibration = make_calibration(config, encoder, verifier)
        queued = BatchingEncoder(encoder)
        opened.callback(queued.close)
        if index is None:
            index = make_index(config, dimension=encoder.dimension, clock=clock)
            if isinstance(index, SupportsClose):
                opened.callback(index.close)
        cut = partial(split, count_tokens=encoder.count_tokens, max_tokens=encoder.max_tokens)
        counters = Counters()
        expected = expecting(config.hotness, clock=clock, pool=pool, opened=opened)
        sink = FanOut((counters, *([] if expected is None else [expected]), *sinks))
        accounts = _accounts(config, calibration, index=index, clock=clock, sink=sink, pool=pool)
        if accounts is not None:
            opened.callback(accounts.close)
        lives, freshness = make_lives(
            config,
            index=index,
            clock=clock,
            pool=pool,
            rate=None if expected is None else expected.rate,
        )
        if freshness is not None:
            opened.callback(freshness.close)
        shelf = Shelf()
        dictionaries = _dictionaries(config, index=index, shelf=shelf, clock=clock)
        if dictionaries is not None:
            opened.callback(dictionaries.close)
        workplace = Workplace(
            index=index,
            encoder=queued,
            index_gate=_gate("index", Reason.INDEX_UNAVAILABLE, config, clock, sink),
            encoder_gate=_gate("encoder", Reason.ENCODER_UNAVAILABLE, config, clock, sink),
            verifier=verifier,
            verifier_gate=_gate("verifier", Reason.VERIFIER_UNAVAILABLE, config, clock, sink),
            verifier_may_block=_may_block(verifier, unsaid=True),
            accounts=accounts,
            capacity=make_capacity(
                config,
                index=index,
                dimension=encoder.dimension,
                clock=clock,
                sink=sink,
                uses=None if expected is None else expected.uses,
                over=lives.over if isinstance(lives, Freshness) else None,
            ),
            clock=clock,
            pool=pool,
            recent=Recent(RECENT_VECTORS),
            index_may_block=_may_block(index, unsaid=False),
            deadline_seconds=config.deadline_seconds,
            strict=config.strict,
        )
        evaluations = _evaluations(config, evaluator, at=workplace, sink=sink)
        if evaluations is not None:
            opened.callback(evaluations.close)
        return Core(
            config=config,
            workplace=workplace,
            policy=Policy(
                similarity_threshold=_threshold(config, encoder, calibration),
                neighbours=config.neighbours,
                guard=check,
                codec=DeltaCodec(),
                now=clock.now,
                split=cut,
                refine=partial(refine, split=cut if config.key.compare_long else None),
                calibration=calibration,
                verifies=verifier is not None,
                budgeted=accounts is not None,
                packs=config.responses.delta,
                rewrites=isinstance(index, SupportsRewrite),
                shelf=shelf,
                dictionaries=dictionaries,
                lives=lives,
                freshness=freshness,
                evaluations=evaluations,
            ),
            settings=settings,
            counters=counters,
            sink=sink,
            warn=ThrottledWarning(clock),
            changes=SourceChanges(clock),
            expected=expected,
            opened=opened.pop_all(),
        )


_SHAPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "model": ((str,), "text"),
    "tenant": ((str,), "text"),
    "namespace": ((str,), "text"),
    "messages": ((str, Sequence), "text or a list of messages"),
    "parameters": ((Mapping,), "a mapping"),
}


def _check(request: Request) -> None:
    """What is no request is said at once; otherwise it would be a cache that never hits."""
    for name, (types, wanted) in _SHAPES.items():
        if not isinstance(value := getattr(request, name), types):
            kind = type(value).__name__
            raise ConfigurationError(f"{name} of a request must be {wanted}, not {kind}")
    if request.namespace in RESERVED:
        raise ConfigurationError(f"{request.namespace} is the cache's own: take another namespace")


def make_calibration(
    config: SemcacheConfig, encoder: Encoder, verifier: Verifier | None
) -> Calibration | None:
    """What turns the numbers of these two models into a probability.

    Raises:
        ConfigurationError: The file cannot be read, or belongs to other models; or a confidence is
            asked for, and nothing says what it is.
    """
    identity = verifier.identity if verifier else None
    if config.calibration == "none":
        found = None
    elif config.calibration == "auto":
        found = shipped(encoder.identity, identity)
    else:
        found = load(config.calibration)
        if (found.encoder, found.verifier) != (encoder.identity, identity):
            raise ConfigurationError(
                f"the calibration {config.calibration} was made for {found.encoder!r} with the "
                f"verifier {found.verifier!r}, and not for {encoder.identity!r} with {identity!r}: "
                "make one with semcache calibrate"
            )
    if found is None and verifier is not None:
        # Somebody's own verifier says probabilities itself.
        found = as_it_is(encoder.identity, verifier.identity, floor=_measured(encoder))
    if found is None and config.min_confidence is not None:
        raise ConfigurationError(
            "min_confidence needs a calibration, and none ships for this encoder: make one with "
            "semcache calibrate, or set similarity_threshold instead"
        )
    if found is None:
        return None
    if config.min_confidence is not None:
        return replace(found, bar=config.min_confidence)
    # With a budget it is the budget that sets the bar, above the least it may ever be.
    return replace(found, bar=found.least) if config.max_error_rate is not None else found


def _threshold(config: SemcacheConfig, encoder: Encoder, calibration: Calibration | None) -> float:
    if config.similarity_threshold is not None:
        return config.similarity_threshold
    return _measured(encoder) if calibration is None else calibration.floor


def _measured(encoder: Encoder) -> float:
    return (
        encoder.similarity_threshold
        if isinstance(encoder, SupportsThreshold)
        else FALLBACK_THRESHOLD
    )


def _accounts(
    config: SemcacheConfig,
    calibration: Calibration | None,
    *,
    index: EntryIndex,
    clock: Clock,
    sink: FanOut,
    pool: WorkerPool,
) -> Accounts | None:
    """The error budgets, when one is set.

    Raises:
        ConfigurationError: There is no calibration, so that nothing says what a hit risks.
    """
    if config.max_error_rate is None:
        return None
    if calibration is None:
        raise ConfigurationError(
            "max_error_rate needs a calibration, and none ships for this encoder: make one with "
            "semcache calibrate, or set similarity_threshold instead"
        )
    budget = Budget(
        max_error_rate=config.max_error_rate,
        least_confidence=calibration.least,
        shadow_share=config.shadow_share,
    )
    accounts = Accounts(budget, index=index, clock=clock, sink=sink, pool=pool)
    accounts.load(config.namespace)
    return accounts


def _dictionaries(
    config: SemcacheConfig, *, index: EntryIndex, shelf: Shelf, clock: Clock
) -> Dictionaries | None:
    responses = config.responses
    if not responses.delta or not responses.dictionary_bytes:
        return None
    return Dictionaries(
        index=index, shelf=shelf, clock=clock, most_bytes=responses.dictionary_bytes
    )


def _evaluations(
    config: SemcacheConfig, evaluator: Evaluator | None, *, at: Workplace, sink: FanOut
) -> Evaluations | None:
    """Who says how sure an answer is, when that is asked for.

    Raises:
        ConfigurationError: There is an evaluator, and nobody is to be asked.
    """
    if not config.confidence_eviction.enabled:
        if evaluator is not None:
            raise ConfigurationError(
                "an evaluator is given, and confidence_eviction.enabled is false: set it to true"
            )
        return None
    gate = _gate("evaluator", Reason.EVALUATOR_UNAVAILABLE, config, at.clock, sink)
    return Evaluations(
        config.confidence_eviction.rules,
        evaluator,
        gate=gate,
        driver=SyncDriver(at),
        sink=sink,
        amends=isinstance(at.index, SupportsAmend),
    )


def _settings(config: SemcacheConfig) -> RequestSettings:
    key = config.key
    return RequestSettings(
        temperature_digits=key.temperature_digits,
        top_p_digits=key.top_p_digits,
        namespace=config.namespace,
        tenant=config.tenant,
        volatile_parameters=key.volatile_parameters,
        secret_parameters=key.secret_parameters,
        query_from=key.query_from,
        detect_templates=key.detect_templates,
        compare_history=key.compare_history,
        max_question_bytes=key.max_question_bytes,
    )


def _may_block(port: object, *, unsaid: bool) -> bool:
    return port.may_block if isinstance(port, BlockingPort) else unsaid


def _gate(port: str, reason: Reason, config: SemcacheConfig, clock: Clock, sink: EventSink) -> Gate:
    breaker = CircuitBreaker(
        clock,
        failures=config.breaker_failures,
        cooldown_seconds=config.breaker_cooldown_seconds,
    )
    meanwhile = "answers stay as they are" if port == "evaluator" else "requests go to the model"
    return Gate(port, reason, breaker, clock, sink, meanwhile=meanwhile)
