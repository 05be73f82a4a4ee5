"""What both colours share: resolving, planning flows, turning outcomes into events."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import TypeAlias, TypeVar

from langchain_semcache.assembly import Core
from langchain_semcache.client.lifetimes import Lifetimes
from langchain_semcache.client.stats import Stats, ending
from langchain_semcache.client.sweeping import Sweeper
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.engine import asking, feedback, flow, packing, past, storing
from langchain_semcache.engine.commands import Failure, Flow
from langchain_semcache.engine.compaction import Sizes
from langchain_semcache.engine.gate import told
from langchain_semcache.engine.learning import learning
from langchain_semcache.engine.past import Past
from langchain_semcache.errors import ConfigurationError, IndexUnavailable, SemcacheError
from langchain_semcache.events import (
    BackendFailed,
    EntriesRemoved,
    EntryStored,
    LookupHit,
    LookupMissed,
    StoreSkipped,
)
from langchain_semcache.index.memory import selects
from langchain_semcache.lineage import Sources, hashes, prompt_tags, source_pairs
from langchain_semcache.ports import SupportsDescribe
from langchain_semcache.records import (
    RESERVED,
    Conditions,
    Decision,
    Entry,
    Feedback,
    Reason,
    Removal,
    Request,
    Response,
    Selection,
    StoreResult,
)
from langchain_semcache.request import Resolved, tenant_digest
from langchain_semcache.request.canonical import nfc
from langchain_semcache.ttl import Ttl, checked_ttl

Result = TypeVar("Result")

Asked: TypeAlias = Request | Resolved | Callable[[], Request | Resolved]
"""A request, what became of it, or how to make either (the async client does so on a worker).

A call that is looked up and stored is resolved once: whoever asks the model may change the request
on the way, and the reply would land under another key.
"""

REMEMBERED = 1_024
"""Entries whose last question is remembered, for feedback to be about a pair."""

SWEEP_EVERY = 256
"""Stores between two sweeps of expired entries."""


class Client:
    """Everything about a cache that has no colour."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._clock = core.workplace.clock.monotonic
        self._accounts = core.workplace.accounts
        self._freshness = core.policy.freshness
        self._sweeper = Sweeper(core)
        self._lifetimes = Lifetimes(core.config, core.policy.freshness)
        self._capacity = core.workplace.capacity
        self._served: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._stores = 0

    @property
    def config(self) -> SemcacheConfig:
        return self._core.config

    @property
    def core(self) -> Core:
        """The wiring, to open a second client of the other colour over the same store."""
        return self._core

    def _plan_lookup(
        self,
        request: Asked,
        stages: dict[str, float],
        conditions: Conditions | None = None,
        *,
        explain: bool = False,
        bypassed: bool = False,
    ) -> Flow[Decision]:
        if bypassed:
            return _decided(Decision(hit=False, reason=Reason.BYPASSED))
        resolved = self._resolve(request, stages)
        policy = self._core.policy if conditions is None else self._core.policy.under(conditions)
        if self._accounts is not None and not explain:
            self._accounts.observe(resolved.scope.namespace)
        if resolved.cacheable is not None:
            return _decided(Decision(hit=False, reason=resolved.cacheable))
        if explain:
            return flow.explain(resolved.scope, resolved.query, policy)
        steps = flow.lookup(resolved.scope, resolved.query, policy)
        if self._freshness is None:
            return steps
        return learning(steps, resolved.scope, resolved.query, self._freshness)

    def _plan_store(
        self,
        request: Asked,
        response: Response | Callable[[], Response],
        terms: storing.Terms,
        stages: dict[str, float],
        *,
        bypassed: bool,
    ) -> Flow[StoreResult]:
        if bypassed:
            return _decided(StoreResult(stored=False, reason=Reason.BYPASSED))
        resolved = self._resolve(request, stages)
        if resolved.cacheable is not None:
            return _decided(StoreResult(stored=False, reason=resolved.cacheable))
        reply = response() if callable(response) else response
        terms = self._lifetimes.bounded(terms, resolved)
        steps = storing.store(resolved.scope, resolved.query, reply, self._core.policy, terms)
        return self._if_current(steps, resolved, terms) if terms.sources else steps

    def _if_current(
        self, steps: Flow[StoreResult], resolved: Resolved, terms: storing.Terms
    ) -> Flow[StoreResult]:
        """The store, unless a source was reported as changed while the model was answering.

        Asked again afterwards: the report may come between the first look and the store.
        """
        if (refusal := self._outdated(resolved, terms)) is not None:
            return refusal
        result = yield from steps
        refusal = self._outdated(resolved, terms)
        if refusal is None or result.entry_id is None:
            return result
        yield from asking.remove(Selection(ids=(result.entry_id,)), dry_run=False)
        return refusal

    def _outdated(self, resolved: Resolved, terms: storing.Terms) -> StoreResult | None:
        scope = resolved.scope
        name = self._core.changes.outdated(
            terms.sources, namespace=scope.namespace, tenant=scope.tenant
        )
        if name is None:
            return None
        detail = "a source was reported as changed after it was read"
        return StoreResult(stored=False, reason=Reason.SOURCE_CHANGED, detail=detail)

    def _resolve(self, request: Asked, stages: dict[str, float]) -> Resolved:
        if isinstance(request, Resolved):
            return request
        started = self._clock()
        made = request() if callable(request) else request
        resolved = made if isinstance(made, Resolved) else self._core.resolve(made)
        stages["resolve"] = self._clock() - started
        return resolved

    def _terms(
        self,
        ttl: Ttl,
        tags: Sequence[str],
        sources: Sources | None,
    ) -> storing.Terms:
        self._stores += 1
        life, lifetime = self._lifetimes.asked(ttl)
        return storing.Terms(
            ttl=lifetime,
            life=life,
            tags=_labels(tags),
            sources=source_pairs(sources),
            room=None if self._capacity is None else self._capacity.room,
            sweep=self._stores % SWEEP_EVERY == 0,
        )

    def _looked_up(self, decision: Decision, stages: dict[str, float], started: float) -> Decision:
        seconds = self._clock() - started
        stages["decide"] = max(0.0, seconds - sum(stages.values()))
        decision.stages.update(stages)
        if decision.reason is Reason.CORRUPT_ENTRY:
            self._core.workplace.index_gate.warn(decision.detail)
        if decision.entry_id and decision.question and decision.asked:
            self._served[decision.entry_id] = (decision.asked, decision.question)
            if len(self._served) > REMEMBERED:
                self._served.popitem(last=False)
        if self._capacity is not None and decision.hit and decision.entry_id:
            self._capacity.touched(decision.entry_id)
        self._sweeper.sweep_if_due()
        event = LookupHit if decision.hit else LookupMissed
        self._core.sink.emit(event(decision, seconds))
        return decision

    def _stored(self, result: StoreResult, started: float) -> StoreResult:
        self._sweeper.sweep_if_due()
        if result.stored:
            self._core.sink.emit(EntryStored(result, self._clock() - started))
        else:
            self._core.sink.emit(StoreSkipped(result))
        return result

    def _taken_away(self, selection: Selection, count: int, *, dry_run: bool) -> int:
        """Policies in shadow hear of it: none of them could go on serving what is gone."""
        if self._freshness is not None and not dry_run:
            for shadow in self._freshness.shadows:
                shadow.removed(functools.partial(selects, selection))
        return count

    def _removed(self, count: int, *, dry_run: bool, why: Removal = Removal.INVALIDATED) -> int:
        if not dry_run:
            self._core.sink.emit(EntriesRemoved(count, why))
        return count

    def _meant(
        self,
        *,
        tags: Sequence[str],
        source: str | None,
        prompt: str | None,
        model: str | None,
        tenant: str | None,
        namespace: str | None,
        older_than: timedelta | float | None,
    ) -> Selection | None:
        """What an invalidation means; None when it names nothing."""
        named = (source, prompt, model, tenant, namespace, older_than)
        if not tags and all(value is None for value in named):
            return None
        if namespace in RESERVED:
            raise ConfigurationError(f"{namespace} is the cache's own: name a namespace of yours")
        age = checked_ttl(older_than, name="older_than")
        now = self._core.workplace.clock.now()
        return Selection(
            namespace=self.config.namespace if namespace is None else nfc(namespace),
            tenant=None if tenant is None else tenant_digest(tenant),
            model=None if model is None else nfc(model),
            tags=_labels(tags) + (() if prompt is None else prompt_tags(prompt)),
            source=source,
            created_before=None if age is None else now - age.total_seconds(),
        )

    def _plan_read(self, entry: Entry) -> Flow[Response]:
        return _certain((yield from packing.opened(entry, self._core.policy)))

    def _plan_history(self, entry_id: str) -> Flow[Past | None]:
        entry = yield from flow.get(entry_id)
        if entry is None:
            return None
        return _certain((yield from past.past(entry, self._core.policy)))

    def _changed(
        self,
        source: str,
        new_hash: str | Iterable[str] | None,
        *,
        tenant: str | None,
        namespace: str | None,
        dry_run: bool,
    ) -> tuple[Selection, bool]:
        """What rests on other content of this source, and whether a report before said otherwise.

        Unless it is a dry run, the report is noted.
        """
        source_pairs([(source, "")])
        selection = Selection(
            namespace=self.config.namespace if namespace is None else nfc(namespace),
            tenant=None if tenant is None else tenant_digest(tenant),
            source=source,
            current=hashes(new_hash),
        )
        news = not dry_run and self._core.changes.note(
            source,
            selection.current or (),
            namespace=selection.namespace or "",
            tenant=selection.tenant,
        )
        return selection, news

    def _outdated_removed(
        self, selection: Selection, count: int, *, news: bool, dry_run: bool
    ) -> int:
        """After what rested on old content went: the rules hear of it, unless it was known."""
        if self._freshness is not None and not dry_run and (news or count):
            self._freshness.updated(
                selection.source or "",
                namespace=selection.namespace or "",
                tenant=selection.tenant,
            )
        return self._removed(count, dry_run=dry_run, why=Removal.SOURCE_CHANGED)

    def _told(self, entry_id: str, *, wrong: bool) -> Flow[None]:
        """Tell the error budget what a user says of an entry, and keep the pair it is about."""
        entry = yield from flow.get(entry_id)
        namespace = self.config.namespace if entry is None else entry.namespace
        if self._accounts is not None:
            tell = self._accounts.reported_wrong if wrong else self._accounts.cleared
            tell(namespace, entry_id)
        pair = self._served.get(entry_id)
        if pair is not None:
            said = Feedback(*pair, right=not wrong)
            now = self._core.workplace.clock.now()
            yield from feedback.remember(said, namespace=namespace, now=now)

    def troubled(self, adapter: str, error: Exception) -> None:
        """Count what broke in an adapter, and warn of it once per interval.

        Raises:
            Exception: The error itself, in strict mode.
        """
        self._core.sink.emit(BackendFailed(adapter, type(error).__name__, Reason.BYPASSED))
        if self.config.strict:
            raise error
        self._core.warn(f"{adapter}: the cache was passed by ({told(error)})")

    def not_kept(self, detail: str, reason: Reason = Reason.UNSUPPORTED_REPLY) -> None:
        """Count a reply that an adapter cannot hand over."""
        result = StoreResult(stored=False, reason=reason, detail=detail)
        self._core.sink.emit(StoreSkipped(result))

    def _stats(self, entries: int, sizes: Sizes | None) -> Stats:
        lookups, stores, other = self._core.counters.snapshot()
        index = self._core.workplace.index
        verifier, evaluations = self._core.workplace.verifier, self._core.policy.evaluations
        hits = other.get("hits", 0)
        return Stats(
            entries=entries,
            hits=hits,
            misses=sum(lookups.values()) - hits,
            lookups_by_reason=lookups,
            stores_by_reason=stores,
            failures=ending(other, "_failures"),
            index=index.describe() if isinstance(index, SupportsDescribe) else {},
            evicted=other.get("evicted", 0),
            evaluator=evaluations.evaluator if evaluations is not None else "",
            evaluated=ending(other, "_evaluated"),
            encoder=self._core.workplace.encoder.identity,
            verifier=verifier.identity if verifier is not None else "",
            shadows=self._freshness.reports() if self._freshness is not None else (),
            budget=self._accounts.summary(self.config.namespace) if self._accounts else None,
            raw_response_bytes=sizes.raw if sizes else None,
            stored_response_bytes=sizes.stored if sizes else None,
        )


def _labels(tags: Sequence[str]) -> tuple[str, ...]:
    if isinstance(tags, str):
        raise ConfigurationError(f"tags must be a list of labels, not the text {tags!r}")
    return tuple(tags)


def _certain(result: Result | Failure) -> Result:
    """The result; a failure is raised."""
    if not isinstance(result, Failure):
        return result
    if isinstance(result.error, SemcacheError):
        raise result.error
    raise IndexUnavailable(str(result.error)) from result.error


def _decided(result: Result) -> Flow[Result]:
    """A flow that is over before it begins."""
    yield from ()
    return result
