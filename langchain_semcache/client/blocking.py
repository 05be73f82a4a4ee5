"""`Semcache`: the cache for synchronous code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
from langchain_semcache.engine.compaction import Compaction
from langchain_semcache.engine.evaluating import is_evaluating
from langchain_semcache.engine.past import Past
from langchain_semcache.engine.shelf import GRACE
from langchain_semcache.engine.single_flight import SingleFlight
from langchain_semcache.engine.sync_driver import SyncDriver
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


class Semcache(Client):
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
        encoder: Encoder | str | None = None,
        verifier: Verifier | str | None = None,
        index: EntryIndex | None = None,
        evaluator: Evaluator | None = None,
        clock: Clock | None = None,
        sinks: Sequence[EventSink] = (),
        **overrides: object,
    ) -> Self:
        """Open a cache.

        Args:
            location: A directory, ":memory:", a Qdrant URL, or a whole configuration; nothing
                means the directory `./.semcache`.
            encoder: An encoder, used and not closed, or the name of one as in the settings.
            verifier: A verifier, used and not closed, or the name of one as in the settings.
            index: Used instead of the configured one, and not closed.
            evaluator: Who is asked about answers, off the path of any request; needs the setting
                `confidence_eviction.enabled`.
            clock: Where time comes from; the system's by default.
            sinks: Receive every event.
            **overrides: Settings of `SemcacheConfig`.

        Raises:
            ConfigurationError: One line that names what is wrong and the fix.
        """
        config = SemcacheConfig.of(location, **overrides)
        return cls(
            build(
                config,
                encoder=encoder,
                verifier=verifier,
                index=index,
                evaluator=evaluator,
                clock=clock,
                sinks=sinks,
            )
        )

    def lookup(self, request: Asked, *, conditions: Conditions | None = None) -> Decision:
        """The stored answer to this request, or the reason why there is none.

        `conditions` are what this one caller asks of a hit beyond the settings.
        """
        stages: dict[str, float] = {}
        started = self._clock()
        steps = self._plan_lookup(request, stages, conditions, bypassed=is_evaluating())
        decision = self._driver.run(steps, stages)
        return self._looked_up(decision, stages, started)

    def explain(self, request: Request, *, conditions: Conditions | None = None) -> Decision:
        """What `lookup` would decide, with every candidate judged; serves and changes nothing."""
        stages: dict[str, float] = {}
        decision = self._driver.run(
            self._plan_lookup(request, stages, conditions, explain=True), stages
        )
        decision.stages.update(stages)
        return decision

    def store(
        self,
        request: Asked,
        response: Response,
        *,
        ttl: Ttl = UNSET,
        tags: Sequence[str] = (),
        sources: Sources | None = None,
    ) -> StoreResult:
        """Keep a reply, if it may be kept.

        Args:
            ttl: Lifetime; numbers are seconds, None never expires, 0 stores nothing. The name of a
                class leaves it to the rules (`freshness`).
            tags: Labels to invalidate by.
            sources: What the answer was made from, by name, each with a version or hash.

        Raises:
            ConfigurationError: `ttl` is negative, no duration and no class, or `sources` is
                something else.
        """
        terms = self._terms(ttl, tags, sources)
        stages: dict[str, float] = {}
        started = self._clock()
        steps = self._plan_store(request, response, terms, stages, bypassed=is_evaluating())
        return self._stored(self._driver.run(steps, stages), started)

    def get_or_call(
        self,
        request: Request | Resolved,
        call: Callable[[], Response],
        *,
        ttl: Ttl = UNSET,
        tags: Sequence[str] = (),
        sources: Sources | None = None,
    ) -> Decision:
        """The stored answer, else the model's, asked once for all identical requests at a time.

        What `call` raises reaches every caller that waited for it. On a miss `response` is the
        model's answer and `hit` is False.
        """

        def answer() -> Decision:
            decision = self.lookup(resolved)
            if decision.hit:
                return decision
            response = call()
            self.store(resolved, response, ttl=ttl, tags=tags, sources=sources)
            return replace(decision, response=response)

        resolved = request if isinstance(request, Resolved) else self._core.resolve(request)
        if resolved.cacheable is not None:
            return answer()
        return self._flights.run(flow.entry_id(resolved.scope, resolved.query), answer)

    def get(self, entry_id: str) -> Entry | None:
        """The live entry with this id."""
        return self._driver.run(flow.get(entry_id), {})

    def entries(self) -> Iterator[Entry]:
        """Every entry of this namespace, expired ones included."""
        return self._core.workplace.index.scan(Selection(namespace=self.config.namespace))

    def read(self, entry: Entry) -> Response:
        """The answer in an entry.

        Raises:
            CorruptEntry: It cannot be read; a lookup counts it as absent.
            IndexUnavailable: The index did not bring what the answer leans on.
        """
        return self._driver.run(self._plan_read(entry), {})

    def history(self, entry_id: str) -> Past | None:
        """How the answer of a live entry has changed; None when there is no such entry.

        Raises:
            CorruptEntry: It cannot be read.
            IndexUnavailable: The index did not bring what the answer leans on.
        """
        return self._driver.run(self._plan_history(entry_id), {})

    def remove(self, entry_id: str) -> bool:
        """Remove one entry; True when there was one."""
        return bool(self._remove(Selection(ids=(entry_id,))))

    def report(self, entry_id: str, *, wrong: bool) -> bool:
        """Feedback on a served entry; a wrong one is removed. True when something was removed.

        The pair of questions is kept for `feedback`, where this client served it lately. An error
        budget counts the report, and does not serve the entry again when it should come back.
        """
        self._driver.run(self._told(entry_id, wrong=wrong), {})
        return wrong and self.remove(entry_id)

    def feedback(self) -> Iterator[Feedback]:
        """The pairs that were reported on, for `semcache calibrate` to learn from."""
        return feedback.recall(self._core.workplace.index, self.config.namespace)

    def invalidate(
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
        """Remove the entries that match everything given; how many that were.

        Without any argument nothing is meant and nothing happens; `clear` removes all. With
        `dry_run` entries are only counted. Other namespaces than the cache's own are reached by
        name.

        Raises:
            ConfigurationError: `older_than` is no duration, or `tags` is a single text.
            IndexUnavailable: The index did not do it.
        """
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
        count = self._remove(selection, dry_run=dry_run)
        if not dry_run:
            self._sweeper.let_go(selection, count)
        return self._removed(count, dry_run=dry_run)

    def source_changed(
        self,
        source: str,
        new_hash: str | Iterable[str] | None,
        *,
        tenant: str | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> int:
        """A source has other content now: remove what was made of the old; how many that were.

        Exactly those entries go that used the source with another hash than its new one. A source
        that answers use in pieces is given all the hashes of its new pieces. None says that the
        source is gone. For ten minutes an answer that was under way with the old content is
        refused when it is to be stored.

        Raises:
            ConfigurationError: `source` is no name, or `new_hash` no hash and no list of them.
            IndexUnavailable: The index did not do it.
        """
        selection, news = self._changed(
            source, new_hash, tenant=tenant, namespace=namespace, dry_run=dry_run
        )
        count = self._remove(selection, dry_run=dry_run)
        return self._outdated_removed(selection, count, news=news, dry_run=dry_run)

    def clear(self) -> int:
        """Remove every entry of this namespace, and nothing else; how many that were.

        What the answers shared goes with them; where it was written within the last hour, with a
        later sweep. `compact` with a grace of 0 removes it at once.
        """
        selection = Selection(namespace=self.config.namespace)
        count = self._remove(selection)
        self._sweeper.let_go(selection, count)
        return self._removed(count, dry_run=False, why=Removal.CLEARED)

    def compact(self, *, grace: timedelta | float = GRACE, dry_run: bool = False) -> Compaction:
        """Remove what no answer of any namespace leans on any more; with `dry_run` only count.

        It happens by itself from time to time, and is safe while anybody reads or writes.

        Args:
            grace: What was written later than so long ago stays. Less than an hour is safe only
                while nobody else writes to the store, in this process or another.
            dry_run: Count, and remove nothing.

        Raises:
            ConfigurationError: `grace` is negative or no duration.
            IndexUnavailable: The index did not do it.
        """
        return self._sweeper.compact(grace, dry_run=dry_run)

    def stats(self, *, sizes: bool = True) -> Stats:
        """Numbers of this cache.

        Args:
            sizes: Also what the answers are and take, for which every entry is read: about 0.4 s
                for 10,000 of them.
        """
        entries = self._remove(Selection(namespace=self.config.namespace), dry_run=True)
        return self._stats(entries, self._sweeper.sizes() if sizes else None)

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
        steps = flow.remove(selection, dry_run=dry_run)
        count = self._driver.run(steps, {}, ADMINISTRATION_SECONDS)
        return self._taken_away(selection, count, dry_run=dry_run)
