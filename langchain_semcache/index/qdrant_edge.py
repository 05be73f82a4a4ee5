"""Entries in a directory, searched by Qdrant Edge inside this process: the default backend."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import qdrant_edge as edge

from langchain_semcache.clock import Clock, SystemClock
from langchain_semcache.errors import CorruptEntry, IndexUnavailable
from langchain_semcache.index import _edge_registry, _edge_shard, schema
from langchain_semcache.index._edge_registry import OpenStore
from langchain_semcache.ports import Vector
from langchain_semcache.records import Candidate, Entry, Selection

_SPARE: Final = 4  # asked for beyond the limit, in case a record cannot be read
_PAGE: Final = 256


class QdrantEdgeIndex:
    """An `EntryIndex` in a directory that one process owns.

    Every `put` that has returned survives the death of the process. Search is exact up to
    `graph_from` entries; then a graph is built in the background, and built anew whenever the
    entries outside it have grown to half of those inside.

    Index objects on one directory share one store within a process. A process that was forked
    after `open` cannot use it: every call raises `IndexUnavailable`.

    Args:
        directory: Created when absent. It must be empty, or hold such a store already.
        dimension: Length of the vectors.
        graph_from: Number of entries from which a graph is worth its memory; None: never.
        clock: Says which entries a new graph may leave out because they are expired.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        dimension: int,
        graph_from: int | None = 20_000,
        clock: Clock | None = None,
    ) -> None:
        self._directory = Path(directory)
        self._dimension = dimension
        self._graph_from = graph_from
        self._clock: Clock = SystemClock() if clock is None else clock
        self._opening = threading.Lock()
        self._closed = False
        self._held: OpenStore | None = None
        self._release: weakref.finalize[[OpenStore], QdrantEdgeIndex] | None = None

    def open(self) -> None:
        """Open or create the store now instead of at the first use.

        Raises:
            StoreLocked: Another process has the directory open.
            SchemaMismatch: It holds vectors of another dimension; nothing is changed.
            ConfigurationError: It cannot be created or written, or holds something else.
            IndexUnavailable: This index was closed.
        """
        self._opened()

    def fetch(self, entry_id: str, *, now: float) -> Entry | None:
        """The live entry with this id.

        Raises:
            IndexUnavailable: The store is closed or failed.
            CorruptEntry: The record cannot be read.
        """
        point = schema.point_id(entry_id)
        with self._opened().store.reading() as shard:
            records = shard.retrieve([point], True, False)
            payload = records[0].payload if records else None
        if not records:
            return None
        entry = schema.from_payload(payload, entry_id=entry_id)
        return entry if schema.is_live(entry, now) and entry.id == entry_id else None

    def search(
        self, partition: str, vector: Vector, *, limit: int, now: float
    ) -> Sequence[Candidate]:
        """The live entries of this partition nearest to `vector`, best first.

        A second filter condition doubles the time of a search, and so the first one filters by
        partition only. When it brings an expired or unreadable entry, the search is done again
        with expiry in the filter and a few more asked for.

        Raises:
            IndexUnavailable: The store is closed or failed.
        """
        if limit < 1:
            return []
        query = edge.Query.Nearest(vector.tolist(), using=schema.VECTOR)
        mine, unexpired = schema.live(partition, now)
        with self._opened().store.reading() as shard:
            points = _nearest(shard, query, (mine,), limit)
            found = _candidates(points, partition, now)
            if len(found) < len(points):
                points = _nearest(shard, query, (mine, unexpired), limit + _SPARE)
                found = _candidates(points, partition, now)[:limit]
        return found

    def put(self, entry: Entry, vector: Vector | None) -> None:
        """Insert or replace. On return the entry survives the death of the process.

        Raises:
            ValueError: The entry can never be stored; see `EntryIndex.put`.
            IndexUnavailable: The store is closed or failed, or the vector has another length.
        """
        schema.require_storable(entry)
        held = self._opened()
        if vector is not None and vector.shape != (self._dimension,):
            raise IndexUnavailable(
                f"a vector of shape {vector.shape} does not fit an index of {self._dimension}"
            )
        held.store.upsert([_edge_shard.point(entry, vector)])
        if held.store.writes >= held.graph.next_check:
            held.graph.consider(self._graph_from, self._clock.now())

    def rewrite(self, entry_id: str, *, expected: bytes, payload: bytes) -> bool:
        """Put `payload` in the place of `expected`, if the entry still holds that.

        Raises:
            IndexUnavailable: The store is closed or failed.
        """
        return self._opened().store.set_fields(
            schema.point_id(entry_id),
            {schema.FIELD_RESPONSE: schema.response_text(payload)},
            if_it=lambda held: schema.holds(held, expected),
        )

    def amend(self, entry: Entry) -> bool:
        """Give a stored entry this one's end and assessment, if it still holds its payload.

        Raises:
            IndexUnavailable: The store is closed or failed.
        """
        schema.require_storable(entry)
        return self._opened().store.set_fields(
            schema.point_id(entry.id),
            schema.amendment(entry),
            if_it=lambda held: schema.holds(held, entry.payload, entry.created_at),
        )

    def remove(self, selection: Selection, *, dry_run: bool = False) -> int:
        """Remove what matches, or only count it.

        Raises:
            IndexUnavailable: The store is closed or failed.
        """
        store = self._opened().store
        wanted = _edge_shard.all_of(schema.conditions(selection))
        if dry_run:
            with store.reading() as shard:
                return shard.count(edge.CountRequest(exact=True, filter=wanted))
        page = edge.ScrollRequest(limit=_PAGE, filter=wanted, with_payload=False)
        return _until_none(lambda: store.delete_found(lambda shard: shard.scroll(page)[0]))

    def scan(self, selection: Selection) -> Iterator[Entry]:
        """Every entry that matches; unreadable records are left out.

        Raises:
            IndexUnavailable: The store is closed or failed.
        """
        wanted = _edge_shard.all_of(schema.conditions(selection))
        store = self._opened().store
        offset: edge.PointId | None = None
        while True:
            request = edge.ScrollRequest(
                offset=offset, limit=_PAGE, filter=wanted, with_payload=True
            )
            with store.reading() as shard:
                records, offset = shard.scroll(request)
                payloads = [record.payload for record in records]
            for payload in payloads:
                try:
                    yield schema.from_payload(payload)
                except CorruptEntry:
                    continue
            if offset is None:
                return

    def trim(self, max_entries: int, *, namespace: str, now: float) -> int:
        """Remove expired entries of a namespace, then its oldest ones, down to `max_entries`.

        Raises:
            IndexUnavailable: The store is closed or failed.
        """
        removed = self.remove(Selection(namespace=namespace, expired_at=now))
        store = self._opened().store
        mine = _edge_shard.all_of(schema.conditions(Selection(namespace=namespace)))
        return removed + _until_none(
            lambda: store.delete_found(lambda shard: _oldest(shard, mine, max(0, max_entries)))
        )

    def build_graph(self) -> None:
        """Build the search graph now and wait for it; reads and writes go on meanwhile.

        Raises:
            IndexUnavailable: It could not be built; the index is as it was.
        """
        self._opened().graph.run(self._clock.now())

    def describe(self) -> dict[str, str | int | float | bool | None]:
        """Backend, directory, number of entries, how many are in a graph, and any build."""
        held = self._opened()
        with held.store.reading() as shard:
            info = shard.info()
            points, indexed = info.points_count, info.indexed_vectors_count
        return {
            "backend": "qdrant-edge",
            "directory": str(self._directory),
            "dimension": self._dimension,
            "points": points,
            "indexed": indexed,
            "building": held.graph.running,
            "graph_error": held.graph.last_error,
        }

    def close(self) -> None:
        """Close the store unless another index object uses it. Closing twice is harmless."""
        with self._opening:
            self._closed = True
            self._held = None
            if self._release is not None:
                self._release()

    def _opened(self) -> OpenStore:
        held = self._held
        if held is not None:
            return held
        with self._opening:
            if self._held is None:
                if self._closed:
                    raise IndexUnavailable(f"the index on {self._directory} is closed")
                self._held = _edge_registry.acquire(self._directory, self._dimension)
                self._release = weakref.finalize(self, _edge_registry.release, self._held)
                self._held.graph.consider(self._graph_from, self._clock.now())
            return self._held


def _nearest(
    shard: edge.EdgeShard,
    query: edge.Query,
    conditions: Sequence[schema.Condition],
    limit: int,
) -> list[edge.ScoredPoint]:
    return shard.search(
        edge.SearchRequest(
            query,
            limit,
            filter=_edge_shard.all_of(conditions),
            with_payload=True,
            params=edge.SearchParams(hnsw_ef=_edge_shard.SEARCH_BREADTH),
        )
    )


def _candidates(points: Sequence[edge.ScoredPoint], partition: str, now: float) -> list[Candidate]:
    """The live entries of the partition among the points."""
    found: list[Candidate] = []
    for point in points:
        try:
            entry = schema.from_payload(point.payload)
        except CorruptEntry:
            continue
        if schema.is_live(entry, now) and entry.partition == partition:
            found.append(Candidate(entry, schema.similarity(point.score)))
    return found


def _oldest(shard: edge.EdgeShard, mine: edge.Filter, keep: int) -> list[edge.Record]:
    """Some of the oldest points that the filter takes, beyond the number to keep."""
    surplus = shard.count(edge.CountRequest(exact=True, filter=mine)) - keep
    if surplus < 1:
        return []
    order = edge.OrderBy(schema.FIELD_CREATED_AT)
    page = edge.ScrollRequest(
        limit=min(surplus, _PAGE), filter=mine, order_by=order, with_payload=False
    )
    return shard.scroll(page)[0]


def _until_none(step: Callable[[], int]) -> int:
    """Sum of what the steps return, up to the first that returns 0."""
    total = 0
    while (count := step()) > 0:
        total += count
    return total
