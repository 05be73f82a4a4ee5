"""Builds the next generation of a store, with graphs, while the current one answers.

Copy every live entry to a worker process, let it build, load the result, write again whatever
changed meanwhile, and swap. A failure or a kill at any point leaves the current generation as it
is.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, cast

import qdrant_edge as edge

from langchain_semcache.errors import IndexUnavailable
from langchain_semcache.index import _edge_shard, schema
from langchain_semcache.index._edge_directory import remove_generation
from langchain_semcache.index._edge_panic import one_line, panics_caught
from langchain_semcache.index._edge_store import EdgeStore
from langchain_semcache.index._graph_worker import Row, send, send_end

_BATCH: Final = 64  # points read at once: keeps other threads waiting for about 5 ms
_PAUSE_SECONDS: Final = 0.002
_LAST_ROUND: Final = 64  # changes few enough to be written again while writers wait
_ROUNDS: Final = 20
_CHECK_EVERY: Final = 256  # writes
_POLL_SECONDS: Final = 0.05
_BOOT: Final = (
    "import sys, json; path, dimension, parent, sys.path[:] = json.loads(sys.argv[1]); "
    "from langchain_semcache.index._graph_worker import main; main(path, dimension, parent)"
)

logger = logging.getLogger(__name__)


class GraphBuild:
    """One build at a time for one store; `stop` is honoured within a tenth of a second."""

    def __init__(self, store: EdgeStore) -> None:
        self._store = store
        self._running = threading.Lock()
        self._stop = threading.Event()
        self._builder: int | None = None
        self._next_points = 0.0
        self.last_error: str | None = None
        self.next_check = 0

    @property
    def running(self) -> bool:
        """Whether a build is in progress."""
        return self._running.locked()

    @property
    def runs_here(self) -> bool:
        """Whether the calling thread is the one that builds."""
        return self._builder == threading.get_ident()

    def consider(self, graph_from: int | None, now: float) -> None:
        """Build in the background if the store has grown enough for it.

        The first graph is due at `graph_from` points, the next when what was written since is
        half of what the last one was built from. After a failure, half as many points again.
        """
        self.next_check = self._store.writes + _CHECK_EVERY
        if graph_from is None or self.running or self._stop.is_set():
            return
        with self._store.reading() as shard:
            points = shard.info().points_count
            outside = max(points - self._store.built, self._store.writes)
            enough = outside * 2 >= self._store.built if self._store.built else points >= graph_from
            if not enough or points < self._next_points or not _pays(shard):
                return
        self._next_points = points * 1.5
        threading.Thread(
            target=self._quietly, args=(now,), name="semcache-graph", daemon=True
        ).start()

    def stop(self) -> None:
        """Give up what is running, wait for its end, and start no more."""
        self._stop.set()
        with self._running:
            pass

    def run(self, now: float) -> None:
        """Build now, after any build that is running.

        Raises:
            IndexUnavailable: The build failed or was stopped; the store is as it was.
        """
        with self._running:
            self._pause(0)
            self._builder = threading.get_ident()
            self.last_error = None
            path = self._store.new_generation()
            try:
                self._store.start_journal()
                with panics_caught():
                    self._build(path, now)
            except Exception as error:
                self.last_error = one_line(error)
                remove_generation(path)
                if isinstance(error, IndexUnavailable):
                    raise
                raise IndexUnavailable(
                    f"{self._store.path}: no graph ({one_line(error)})"
                ) from error
            finally:
                self._builder = None
                self._store.stop_journal()

    def _quietly(self, now: float) -> None:
        try:
            self.run(now)
        except IndexUnavailable as error:
            if not self._stop.is_set():
                logger.warning("the search graph was not built, search stays exact: %s", error)

    def _build(self, path: Path, now: float) -> None:
        command = json.dumps([str(path), self._store.dimension, os.getpid(), sys.path])
        with subprocess.Popen(  # noqa: S603 - our own interpreter and our own module
            [sys.executable, "-c", _BOOT, command], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        ) as worker:
            try:
                self._copy(worker, now)
                self._wait(worker)
            finally:
                worker.kill()
        fresh = _edge_shard.load(path, self._store.dimension)
        try:
            self._catch_up(path, fresh)
        except BaseException:  # a panic too
            fresh.close()
            raise

    def _copy(self, worker: subprocess.Popen[bytes], now: float) -> None:
        if worker.stdin is None:
            raise ValueError("the worker was started without a pipe")
        stream = worker.stdin
        try:
            for rows in self._live_rows(now):
                send(stream, rows)
                self._pause(_PAUSE_SECONDS)
            send_end(stream)
        except BrokenPipeError:
            return  # the worker is gone; its exit says why

    def _wait(self, worker: subprocess.Popen[bytes]) -> None:
        while worker.poll() is None:
            self._pause(_POLL_SECONDS)
        if worker.returncode != 0:
            said = worker.stderr.read().decode("utf-8", "replace").strip() if worker.stderr else ""
            raise IndexUnavailable(
                f"the graph worker of {self._store.path} ended with {worker.returncode}: "
                f"{said.splitlines()[-1] if said else 'no message'}"
            )

    def _pause(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise IndexUnavailable(f"{self._store.path} is being closed")

    def _live_rows(self, now: float) -> Iterator[list[Row]]:
        offset: edge.PointId | None = None
        while True:
            request = edge.ScrollRequest(
                offset=offset,
                limit=_BATCH,
                filter=_edge_shard.all_of([schema.Above(schema.FIELD_EXPIRES_AT, now)]),
                with_payload=True,
                with_vector=True,
            )
            with self._store.reading() as shard:
                records, offset = shard.scroll(request)
                rows = [_row(record) for record in records]
            if rows:
                yield rows
            if offset is None:
                return

    def _catch_up(self, path: Path, fresh: edge.EdgeShard) -> None:
        for _ in range(_ROUNDS):
            changed = self._store.take_journal()
            self._rewrite(fresh, sorted(changed), pause=True)
            if len(changed) <= _LAST_ROUND:
                break
        with self._store.swapping() as changed:
            self._rewrite(fresh, sorted(changed), pause=False)
            fresh.flush()
            built = fresh.info().points_count
            self._store.swap(path, fresh, built)  # from here on nothing may fail
        self._next_points = 0.0
        self.next_check = 0

    def _rewrite(self, fresh: edge.EdgeShard, ids: Sequence[str], *, pause: bool) -> None:
        """Bring these points of the new shard to the state of the current one."""
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            with self._store.reading() as shard:
                records = shard.retrieve(list(batch), True, True)
            points = [edge.Point(r.id, r.vector or {}, r.payload) for r in records]
            gone = set(batch) - {str(record.id) for record in records}
            if points:
                fresh.update(edge.UpdateOperation.upsert_points(points))
            if gone:
                fresh.update(edge.UpdateOperation.delete_points(sorted(gone)))
            if pause:
                self._pause(_PAUSE_SECONDS)


def _pays(shard: edge.EdgeShard) -> bool:
    """Whether any partition is large enough to get a graph at all."""
    largest = shard.facet(edge.FacetRequest(schema.FIELD_PARTITION, limit=1)).hits
    return bool(largest) and largest[0].count >= _edge_shard.FULL_SCAN_BELOW


def _row(record: edge.Record) -> Row:
    vector = record.vector.get(schema.VECTOR) if isinstance(record.vector, dict) else None
    return str(record.id), cast("list[float] | None", vector), record.payload or {}
