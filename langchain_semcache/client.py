"""The cache itself, framework-free, in two colours over one core."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias, TypeVar

from langchain_semcache.assembly import Core, build
from langchain_semcache.clock import Clock
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.engine import flow
from langchain_semcache.engine.async_driver import AsyncDriver
from langchain_semcache.engine.commands import Flow
from langchain_semcache.engine.single_flight import AsyncSingleFlight, SingleFlight
from langchain_semcache.engine.sync_driver import SyncDriver
from langchain_semcache.events import (
    EntriesRemoved,
    EntryStored,
    EventSink,
    LookupHit,
    LookupMissed,
    StoreSkipped,
)
from langchain_semcache.ports import Encoder, EntryIndex, SupportsDescribe
from langchain_semcache.records import (
    Decision,
    Entry,
    Request,
    Response,
    Selection,
    StoreResult,
)
from langchain_semcache.request import Resolved, tenant_digest
from langchain_semcache.ttl import UNSET, Unset, checked_ttl

Result = TypeVar("Result")

Deferred: TypeAlias = Request | Callable[[], Request]
"""A request, or how to make it: the async client makes it on a worker thread."""

SWEEP_EVERY = 256
"""Stores between two sweeps of expired entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Numbers of one cache: of the whole store, and of this process since it opened."""

    entries: int
    hits: int
    misses: int
    lookups_by_reason: Mapping[str, int]
    stores_by_reason: Mapping[str, int]
    failures: Mapping[str, int]
    index: Mapping[str, str | int | float | bool | None]
    encoder: str

    @property
    def hit_rate(self) -> float:
        """Hits over lookups, 0.0 before the first lookup."""
        return self.hits / total if (total := self.hits + self.misses) else 0.0


@dataclass(slots=True)
class _Planned:
    """What one store has to know, prepared once for both colours."""

    request: Deferred
    response: Response | Callable[[], Response]
    ttl: timedelta | None
    tags: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]


class _Client:
    """What both colours share: resolving, planning flows, turning outcomes into events."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._clock = core.workplace.clock.monotonic
        self._stores = 0

    @property
    def config(self) -> SemcacheConfig:
        return self._core.config

    @property
    def core(self) -> Core:
        """The wiring, to open a second client of the other colour over the same store."""
        return self._core

    def _plan_lookup(
        self, request: Deferred, stages: dict[str, float], *, explain: bool = False
    ) -> Flow[Decision]:
        resolved = self._resolve(request, stages)
        if resolved.cacheable is not None:
            return _decided(Decision(hit=False, reason=resolved.cacheable))
        rule = flow.explain if explain else flow.lookup
        return rule(resolved.scope, resolved.query, self._core.policy)

    def _plan_store(self, plan: _Planned, stages: dict[str, float]) -> Flow[StoreResult]:
        resolved = self._resolve(plan.request, stages)
        if resolved.cacheable is not None:
            return _decided(StoreResult(stored=False, reason=resolved.cacheable))
        self._stores += 1
        return flow.store(
            resolved.scope,
            resolved.query,
            plan.response() if callable(plan.response) else plan.response,
            self._core.policy,
            ttl=plan.ttl,
            tags=plan.tags,
            sources=plan.sources,
            max_entries=self.config.max_entries,
            sweep=self._stores % SWEEP_EVERY == 0,
        )

    def _resolve(self, request: Deferred, stages: dict[str, float]) -> Resolved:
        started = self._clock()
        resolved = self._core.resolve(request() if callable(request) else request)
        stages["resolve"] = self._clock() - started
        return resolved

    def _planned(
        self,
        request: Deferred,
        response: Response | Callable[[], Response],
        ttl: timedelta | float | None | Unset,
        tags: Sequence[str],
        sources: Mapping[str, str] | None,
    ) -> _Planned:
        lifetime = self.config.ttl if isinstance(ttl, Unset) else checked_ttl(ttl)
        return _Planned(request, response, lifetime, tuple(tags), tuple((sources or {}).items()))

    def _looked_up(self, decision: Decision, stages: dict[str, float], started: float) -> Decision:
        seconds = self._clock() - started
        stages["decide"] = max(0.0, seconds - sum(stages.values()))
        decision = replace(decision, stages=stages)
        event = LookupHit if decision.hit else LookupMissed
        self._core.sink.emit(event(decision, seconds))
        return decision

    def _stored(self, result: StoreResult, started: float) -> StoreResult:
        if result.stored:
            self._core.sink.emit(EntryStored(result, self._clock() - started))
        else:
            self._core.sink.emit(StoreSkipped(result))
        return result

    def _removed(self, count: int, *, dry_run: bool) -> int:
        if not dry_run:
            self._core.sink.emit(EntriesRemoved(count))
        return count

    def _selection(
        self,
        *,
        tags: Sequence[str],
        source: str | None,
        model: str | None,
        tenant: str | None,
        namespace: str | None,
        older_than: timedelta | None,
        ids: Sequence[str] | None = None,
    ) -> Selection:
        now = self._core.workplace.clock.now()
        return Selection(
            ids=None if ids is None else tuple(ids),
            namespace=self.config.namespace if namespace is None else namespace,
            tenant=None if tenant is None else tenant_digest(tenant),
            model=model,
            tags=tuple(tags),
            source=source,
            created_before=None if older_than is None else now - older_than.total_seconds(),
        )

    def _stats(self, entries: int) -> Stats:
        lookups, stores, other = self._core.counters.snapshot()
        index = self._core.workplace.index
        hits = other.get("hits", 0)
        return Stats(
            entries=entries,
            hits=hits,
            misses=sum(lookups.values()) - hits,
            lookups_by_reason=lookups,
            stores_by_reason=stores,
            failures={
                name.removesuffix("_failures"): count
                for name, count in other.items()
                if name.endswith("_failures")
            },
            index=index.describe() if isinstance(index, SupportsDescribe) else {},
            encoder=self._core.workplace.encoder.identity,
        )


def _decided(result: Result) -> Flow[Result]:
    """A flow that is over before it begins."""
    return result
    yield  # pragma: no cover - makes this a generator


class Semcache(_Client):
    """The cache for synchronous code. Safe to share between threads.

    Lookups and stores never raise for what breaks behind them: that is a miss, or a reply that is
    not kept, with a reason.
    """

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._driver = SyncDriver(core.workplace)
        self._flights: SingleFlight[Decision] = SingleFlight()

    @classmethod
    def open(
        cls,
        location: str | Path | SemcacheConfig | None = None,
        *,
        encoder: Encoder | None = None,
        index: EntryIndex | None = None,
        clock: Clock | None = None,
        sinks: Sequence[EventSink] = (),
        **overrides: object,
    ) -> Self:
        """Open a cache.

        Args:
            location: A directory, ":memory:", a Qdrant URL, or a whole configuration; nothing
                means the directory `./.semcache`.
            encoder: Used instead of the configured one, and not closed.
            index: Used instead of the configured one, and not closed.
            clock: Where time comes from; the system's by default.
            sinks: Receive every event.
            **overrides: Settings of `SemcacheConfig`.

        Raises:
            ConfigurationError: One line that names what is wrong and the fix.
        """
        config = SemcacheConfig.of(location, **overrides)
        return cls(build(config, encoder=encoder, index=index, clock=clock, sinks=sinks))

    def lookup(self, request: Request) -> Decision:
        """The stored answer to this request, or the reason why there is none."""
        stages: dict[str, float] = {}
        started = self._clock()
        decision = self._driver.run(self._plan_lookup(request, stages), stages)
        return self._looked_up(decision, stages, started)

    def explain(self, request: Request) -> Decision:
        """What `lookup` would decide, with every candidate judged; serves and changes nothing."""
        stages: dict[str, float] = {}
        decision = self._driver.run(self._plan_lookup(request, stages, explain=True), stages)
        return replace(decision, stages=stages)

    def store(
        self,
        request: Request,
        response: Response,
        *,
        ttl: timedelta | float | None | Unset = UNSET,
        tags: Sequence[str] = (),
        sources: Mapping[str, str] | None = None,
    ) -> StoreResult:
        """Keep a reply, if it may be kept.

        Args:
            ttl: Lifetime; numbers are seconds, None never expires, 0 stores nothing.
            tags: Labels to invalidate by.
            sources: What the answer was made from, by name, each with a version or hash.

        Raises:
            ConfigurationError: `ttl` is negative or no duration.
        """
        plan = self._planned(request, response, ttl, tags, sources)
        stages: dict[str, float] = {}
        started = self._clock()
        return self._stored(self._driver.run(self._plan_store(plan, stages), stages), started)

    def get_or_call(
        self,
        request: Request,
        call: Callable[[], Response],
        *,
        ttl: timedelta | float | None | Unset = UNSET,
        tags: Sequence[str] = (),
        sources: Mapping[str, str] | None = None,
    ) -> Decision:
        """The stored answer, else the model's, asked once for all identical requests at a time.

        What `call` raises reaches every caller that waited for it. On a miss `response` is the
        model's answer and `hit` is False.
        """

        def answer() -> Decision:
            decision = self.lookup(request)
            if decision.hit:
                return decision
            response = call()
            self.store(request, response, ttl=ttl, tags=tags, sources=sources)
            return replace(decision, response=response)

        resolved = self._core.resolve(request)
        if resolved.cacheable is not None:
            return answer()
        return self._flights.run(flow.entry_id(resolved.scope, resolved.query), answer)

    def get(self, entry_id: str) -> Entry | None:
        """The live entry with this id."""
        return self._driver.run(flow.get(entry_id), {})

    def entries(self) -> Iterator[Entry]:
        """Every entry of this namespace, expired ones included."""
        return self._core.workplace.index.scan(Selection(namespace=self.config.namespace))

    def report(self, entry_id: str, *, wrong: bool) -> bool:
        """Feedback on a served entry; a wrong one is removed. True when something was removed."""
        return bool(wrong and self._remove(Selection(ids=(entry_id,))))

    def invalidate(
        self,
        *,
        tags: Sequence[str] = (),
        source: str | None = None,
        model: str | None = None,
        tenant: str | None = None,
        namespace: str | None = None,
        older_than: timedelta | None = None,
        dry_run: bool = False,
    ) -> int:
        """Remove the entries that match everything given; how many that were.

        Without any argument nothing is meant and nothing happens; `clear` removes all. With
        `dry_run` entries are only counted.
        """
        if not (tags or source or model or tenant is not None or older_than is not None):
            return 0
        selection = self._selection(
            tags=tags,
            source=source,
            model=model,
            tenant=tenant,
            namespace=namespace,
            older_than=older_than,
        )
        return self._removed(self._remove(selection, dry_run=dry_run), dry_run=dry_run)

    def clear(self) -> int:
        """Remove every entry of this namespace, and nothing else; how many that were."""
        count = self._remove(Selection(namespace=self.config.namespace))
        return self._removed(count, dry_run=False)

    def stats(self) -> Stats:
        """Numbers of this cache."""
        return self._stats(self._remove(Selection(namespace=self.config.namespace), dry_run=True))

    def close(self) -> None:
        """Release files, threads and sockets; closing twice is harmless."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _remove(self, selection: Selection, *, dry_run: bool = False) -> int:
        return self._driver.run(flow.remove(selection, dry_run=dry_run), {})


class AsyncSemcache(_Client):
    """The cache for asyncio. The event loop only waits; works in any number of loops."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._driver = AsyncDriver(core.workplace)
        self._flights: AsyncSingleFlight[Decision] = AsyncSingleFlight()

    @classmethod
    async def open(
        cls,
        location: str | Path | SemcacheConfig | None = None,
        *,
        encoder: Encoder | None = None,
        index: EntryIndex | None = None,
        clock: Clock | None = None,
        sinks: Sequence[EventSink] = (),
        **overrides: object,
    ) -> Self:
        """Open a cache; see `Semcache.open`."""
        config = SemcacheConfig.of(location, **overrides)
        opening = functools.partial(
            build, config, encoder=encoder, index=index, clock=clock, sinks=sinks
        )
        return cls(await asyncio.to_thread(opening))

    async def lookup(self, request: Deferred) -> Decision:
        """See `Semcache.lookup`."""
        stages: dict[str, float] = {}
        started = self._clock()
        decision = await self._driver.run(lambda: self._plan_lookup(request, stages), stages)
        return self._looked_up(decision, stages, started)

    async def explain(self, request: Request) -> Decision:
        """See `Semcache.explain`."""
        stages: dict[str, float] = {}
        decision = await self._driver.run(
            lambda: self._plan_lookup(request, stages, explain=True), stages
        )
        return replace(decision, stages=stages)

    async def store(
        self,
        request: Deferred,
        response: Response | Callable[[], Response],
        *,
        ttl: timedelta | float | None | Unset = UNSET,
        tags: Sequence[str] = (),
        sources: Mapping[str, str] | None = None,
    ) -> StoreResult:
        """See `Semcache.store`."""
        plan = self._planned(request, response, ttl, tags, sources)
        stages: dict[str, float] = {}
        started = self._clock()
        result = await self._driver.run(lambda: self._plan_store(plan, stages), stages)
        return self._stored(result, started)

    async def get_or_call(
        self,
        request: Request,
        call: Callable[[], Awaitable[Response]],
        *,
        ttl: timedelta | float | None | Unset = UNSET,
        tags: Sequence[str] = (),
        sources: Mapping[str, str] | None = None,
    ) -> Decision:
        """See `Semcache.get_or_call`."""

        async def answer() -> Decision:
            decision = await self.lookup(request)
            if decision.hit:
                return decision
            response = await call()
            await self.store(request, response, ttl=ttl, tags=tags, sources=sources)
            return replace(decision, response=response)

        resolved = await asyncio.to_thread(self._core.resolve, request)
        if resolved.cacheable is not None:
            return await answer()
        return await self._flights.run(flow.entry_id(resolved.scope, resolved.query), answer)

    async def get(self, entry_id: str) -> Entry | None:
        """See `Semcache.get`."""
        return await self._driver.run(lambda: flow.get(entry_id), {})

    async def entries(self) -> Sequence[Entry]:
        """Every entry of this namespace, expired ones included."""
        selection = Selection(namespace=self.config.namespace)
        index = self._core.workplace.index
        return await asyncio.to_thread(lambda: tuple(index.scan(selection)))

    async def report(self, entry_id: str, *, wrong: bool) -> bool:
        """See `Semcache.report`."""
        return bool(wrong and await self._remove(Selection(ids=(entry_id,))))

    async def invalidate(
        self,
        *,
        tags: Sequence[str] = (),
        source: str | None = None,
        model: str | None = None,
        tenant: str | None = None,
        namespace: str | None = None,
        older_than: timedelta | None = None,
        dry_run: bool = False,
    ) -> int:
        """See `Semcache.invalidate`."""
        if not (tags or source or model or tenant is not None or older_than is not None):
            return 0
        selection = self._selection(
            tags=tags,
            source=source,
            model=model,
            tenant=tenant,
            namespace=namespace,
            older_than=older_than,
        )
        return self._removed(await self._remove(selection, dry_run=dry_run), dry_run=dry_run)

    async def clear(self) -> int:
        """See `Semcache.clear`."""
        count = await self._remove(Selection(namespace=self.config.namespace))
        return self._removed(count, dry_run=False)

    async def stats(self) -> Stats:
        """See `Semcache.stats`."""
        selection = Selection(namespace=self.config.namespace)
        return self._stats(await self._remove(selection, dry_run=True))

    async def close(self) -> None:
        """See `Semcache.close`."""
        await asyncio.to_thread(self._core.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _remove(self, selection: Selection, *, dry_run: bool = False) -> int:
        return await self._driver.run(lambda: flow.remove(selection, dry_run=dry_run), {})
