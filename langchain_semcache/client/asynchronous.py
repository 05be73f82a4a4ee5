"""`AsyncSemcache`: the cache for asyncio."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from langchain_semcache.assembly import Core, build
from langchain_semcache.client.shared import Asked, Client
from langchain_semcache.client.stats import Stats
from langchain_semcache.clock import Clock
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.engine import feedback, flow
from langchain_semcache.engine.async_driver import AsyncDriver
from langchain_semcache.engine.compaction import Compaction
from langchain_semcache.engine.evaluating import is_evaluating
from langchain_semcache.engine.past import Past
from langchain_semcache.engine.shelf import GRACE
from langchain_semcache.engine.single_flight import AsyncSingleFlight
from langchain_semcache.engine.workplace import ADMINISTRATION_SECONDS
from langchain_semcache.events import EventSink
from langchain_semcache.lineage import Sources
from langchain_semcache.ports import Encoder, EntryIndex, Evaluator, Verifier
from langchain_semcache.records import (
    Conditions,
    Decision,
    Entry,
    Feedback,
    Removal,
    Request,
    Response,
    Selection,
    StoreResult,
)
from langchain_semcache.request import Resolved
from langchain_semcache.ttl import UNSET, Ttl


class AsyncSemcache(Client):
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
        encoder: Encoder | str | None = None,
        verifier: Verifier | str | None = None,
        index: EntryIndex | None = None,
        evaluator: Evaluator | None = None,
        clock: Clock | None = None,
        sinks: Sequence[EventSink] = (),
        **overrides: object,
    ) -> Self:
        """Open a cache; see `Semcache.open`."""
        config = SemcacheConfig.of(location, **overrides)
        opening = functools.partial(
            build,
            config,
            encoder=encoder,
            verifier=verifier,
            index=index,
            evaluator=evaluator,
            clock=clock,
            sinks=sinks,
        )
        return cls(await asyncio.to_thread(opening))

    async def lookup(self, request: Asked, *, conditions: Conditions | None = None) -> Decision:
        """See `Semcache.lookup`."""
        stages: dict[str, float] = {}
        started = self._clock()
        bypassed = is_evaluating()  # the context of this task is not that of the worker
        decision = await self._driver.run(
            lambda: self._plan_lookup(request, stages, conditions, bypassed=bypassed), stages
        )
        return self._looked_up(decision, stages, started)

    async def explain(self, request: Request, *, conditions: Conditions | None = None) -> Decision:
        """See `Semcache.explain`."""
        stages: dict[str, float] = {}
        decision = await self._driver.run(
            lambda: self._plan_lookup(request, stages, conditions, explain=True), stages
        )
        decision.stages.update(stages)
        return decision

    async def store(
        self,
        request: Asked,
        response: Response | Callable[[], Response],
        *,
        ttl: Ttl = UNSET,
        tags: Sequence[str] = (),
        sources: Sources | None = None,
    ) -> StoreResult:
        """See `Semcache.store`."""
        terms = self._terms(ttl, tags, sources)
        stages: dict[str, float] = {}
        started = self._clock()
        bypassed = is_evaluating()
        result = await self._driver.run(
            lambda: self._plan_store(request, response, terms, stages, bypassed=bypassed), stages
        )
        return self._stored(result, started)

    async def get_or_call(
        self,
        request: Request | Resolved,
        call: Callable[[], Awaitable[Response]],
        *,
        ttl: Ttl = UNSET,
        tags: Sequence[str] = (),
        sources: Sources | None = None,
    ) -> Decision:
        """See `Semcache.get_or_call`."""

        async def answer() -> Decision:
            decision = await self.lookup(resolved)
            if decision.hit:
                return decision
            response = await call()
            await self.store(resolved, response, ttl=ttl, tags=tags, sources=sources)
            return replace(decision, response=response)

        if isinstance(request, Resolved):
            resolved = request
        else:
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

    async def read(self, entry: Entry) -> Response:
        """See `Semcache.read`."""
        return await self._driver.run(lambda: self._plan_read(entry), {})

    async def history(self, entry_id: str) -> Past | None:
        """See `Semcache.history`."""
        return await self._driver.run(lambda: self._plan_history(entry_id), {})

    async def remove(self, entry_id: str) -> bool:
        """See `Semcache.remove`."""
        return bool(await self._remove(Selection(ids=(entry_id,))))

    async def report(self, entry_id: str, *, wrong: bool) -> bool:
        """See `Semcache.report`."""
        await self._driver.run(lambda: self._told(entry_id, wrong=wrong), {})
        return wrong and await self.remove(entry_id)

    async def feedback(self) -> Sequence[Feedback]:
        """See `Semcache.feedback`."""
        index, namespace = self._core.workplace.index, self.config.namespace
        return await asyncio.to_thread(lambda: list(feedback.recall(index, namespace)))

    async def invalidate(
        self,
        *,
        tags: Sequence[str] = (),
        source: str | None = None,
        prompt: str | None = None,
        model: str | None = None,
        tenant: str | None = None,
        namespace: str | None = None,
        older_than: timedelta | float | None = None,
        dry_run: bool = False,
    ) -> int:
        """See `Semcache.invalidate`."""
        selection = self._meant(
            tags=tags,
            source=source,
            prompt=prompt,
            model=model,
            tenant=tenant,
            namespace=namespace,
            older_than=older_than,
        )
        if selection is None:
            return 0
        count = await self._remove(selection, dry_run=dry_run)
        if not dry_run:
            await asyncio.to_thread(self._sweeper.let_go, selection, count)
        return self._removed(count, dry_run=dry_run)

    async def source_changed(
        self,
        source: str,
        new_hash: str | Iterable[str] | None,
        *,
        tenant: str | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> int:
        """See `Semcache.source_changed`."""
        selection, news = self._changed(
            source, new_hash, tenant=tenant, namespace=namespace, dry_run=dry_run
        )
        count = await self._remove(selection, dry_run=dry_run)
        return self._outdated_removed(selection, count, news=news, dry_run=dry_run)

    async def clear(self) -> int:
        """See `Semcache.clear`."""
        selection = Selection(namespace=self.config.namespace)
        count = await self._remove(selection)
        await asyncio.to_thread(self._sweeper.let_go, selection, count)
        return self._removed(count, dry_run=False, why=Removal.CLEARED)

    async def compact(
        self, *, grace: timedelta | float = GRACE, dry_run: bool = False
    ) -> Compaction:
        """See `Semcache.compact`."""
        return await asyncio.to_thread(lambda: self._sweeper.compact(grace, dry_run=dry_run))

    async def stats(self, *, sizes: bool = True) -> Stats:
        """See `Semcache.stats`."""
        selection = Selection(namespace=self.config.namespace)
        entries = await self._remove(selection, dry_run=True)
        return self._stats(entries, await asyncio.to_thread(self._sweeper.sizes) if sizes else None)

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
        count = await self._driver.run(
            lambda: flow.remove(selection, dry_run=dry_run), {}, ADMINISTRATION_SECONDS
        )
        return self._taken_away(selection, count, dry_run=dry_run)
