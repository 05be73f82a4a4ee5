"""One open Edge store per directory and process, shared by every index object that names it.

Two locks. `_guard` protects the pointer to the current generation and the number of its readers,
and is held for nanoseconds. `_writing` makes writes happen one after another, and the swap of
generations between two of them; readers never wait for it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import qdrant_edge as edge

from langchain_semcache.errors import (
    ConfigurationError,
    IndexUnavailable,
    SchemaMismatch,
    SemcacheError,
)
from langchain_semcache.index import _edge_shard
from langchain_semcache.index._edge_directory import Manifest, StoreDirectory, remove_generation
from langchain_semcache.index._edge_panic import one_line, panics_caught

logger = logging.getLogger(__name__)

FLUSH_EVERY: Final = 5_000
"""Writes between two flushes.

A flush halts the interpreter for 0.1 s at 100,000 entries. Every write since the last one is
read again from the log, at 0.1 ms each, when the store is opened after a kill.
"""


@dataclass(slots=True)
class Generation:
    """One shard in one directory, and how many calls are using it."""

    path: Path
    shard: edge.EdgeShard
    readers: int = 0
    retired: bool = False

    def discard(self) -> None:
        """Close the shard and remove its directory; what stays goes when the store is opened."""
        try:
            with panics_caught():
                self.shard.close()
        except Exception:  # the engine raises nothing more specific; its successor is in place
            logger.warning("an old generation did not close: %s", self.path, exc_info=True)
        remove_generation(self.path)


class EdgeStore:
    """The shard of one directory, from `open` to `close`.

    `writes` counts the points written by this process since the current generation began, and
    `built` is the number of points that generation was built from, 0 when it has no graphs.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self.path = path
        self.dimension = dimension
        self.pid = os.getpid()
        self._directory = StoreDirectory(path)
        self._guard = threading.Lock()
        self._writing = threading.Lock()
        self._current: Generation | None = None
        self._journal: set[str] | None = None
        self._unflushed = 0
        self.writes = 0
        self.built = 0

    def open(self) -> None:
        """Take the directory and load its shard, or create both.

        Raises:
            ConfigurationError: The directory cannot be used; the message says why.
        """
        with ExitStack() as undo:
            self._directory.acquire()
            undo.callback(self._directory.release)
            manifest = self._directory.manifest()
            self._directory.drop_leftovers(manifest.generation if manifest else None)
            self._current = self._created() if manifest is None else self._loaded(manifest)
            undo.pop_all()

    def close(self) -> None:
        """Flush, close and give the directory back.

        Raises:
            IndexUnavailable: The engine failed; the directory was given back all the same.
        """
        with self._writing:
            with self._guard:
                generation, self._current = self._current, None
            if generation is None:
                return
            try:
                with panics_caught():
                    generation.shard.flush()
                    generation.shard.close()
            except SemcacheError:
                raise
            except Exception as error:  # the engine raises nothing more specific
                raise IndexUnavailable(f"{self.path} did not close: {one_line(error)}") from error
            finally:
                self._directory.release()

    @contextmanager
    def reading(self) -> Iterator[edge.EdgeShard]:
        """The current shard, kept open meanwhile.

        Raises:
            IndexUnavailable: The store is closed, belongs to another process, or failed.
        """
        self._check_process()
        with self._guard:
            generation = self._current
            if generation is None:
                raise IndexUnavailable(f"{self.path} is closed")
            generation.readers += 1
        try:
            with panics_caught():
                yield generation.shard
        except SemcacheError:
            raise
        except Exception as error:  # the engine raises nothing more specific
            raise IndexUnavailable(f"{self.path}: {one_line(error)}") from error
        finally:
            self._leave(generation)

    def upsert(self, points: Sequence[edge.Point]) -> None:
        """Insert or replace points. On return they survive the death of this process."""
        with self._changing() as shard:
            self._note(shard, [str(point.id) for point in points])
            shard.update(edge.UpdateOperation.upsert_points(list(points)))

    def set_fields(
        self,
        point: str,
        values: Mapping[str, object],
        *,
        if_it: Callable[[Mapping[str, object]], bool],
    ) -> bool:
        """Change fields of a point whose payload passes, with no write in between."""
        with self._changing() as shard:
            records = shard.retrieve([point], True, False)
            if not records or not if_it(records[0].payload or {}):
                return False
            self._note(shard, [point])
            shard.update(edge.UpdateOperation.set_payload([point], dict(values)))
        return True

    def delete_found(self, find: Callable[[edge.EdgeShard], Sequence[edge.Record]]) -> int:
        """Find points and delete them, with no write in between; how many went."""
        with self._changing() as shard:
            ids = [str(record.id) for record in find(shard)]
            if ids:
                self._note(shard, ids)
                shard.update(edge.UpdateOperation.delete_points(list(ids)))
        return len(ids)

    def new_generation(self) -> Path:
        """An empty directory for a shard that may replace the current one."""
        return self._directory.new_generation()

    def start_journal(self) -> None:
        """Note the id of every point that is written from here on."""
        with self._writing:
            self._journal = set()

    def take_journal(self) -> set[str]:
        """The ids noted so far; noting goes on with none."""
        with self._writing:
            taken, self._journal = self._journal or set(), set()
            return taken

    def stop_journal(self) -> None:
        """Note no longer."""
        with self._writing:
            self._journal = None

    @contextmanager
    def swapping(self) -> Iterator[set[str]]:
        """No write happens inside; yields the ids that the journal still holds."""
        with self._writing:
            yield self._journal or set()

    def swap(self, path: Path, shard: edge.EdgeShard, built: int) -> None:
        """Make this shard the current one. Call inside `swapping`; the old one goes.

        Raises:
            IndexUnavailable: The store was closed meanwhile.
            OSError: The manifest could not be replaced. In both cases the old one stays.
        """
        fresh = Generation(path, shard)
        with self._guard:
            old = self._current
        if old is None:
            raise IndexUnavailable(f"{self.path} is closed")
        self._directory.commit(Manifest(path.name, self.dimension, built))
        self.built, self.writes, self._unflushed = built, 0, 0
        with self._guard:
            self._current = fresh
            old.retired = True
            idle = old.readers == 0
        if idle:
            old.discard()

    @contextmanager
    def _changing(self) -> Iterator[edge.EdgeShard]:
        self._check_process()  # before the lock: a fork may have copied it while it was held
        with self._writing, self.reading() as shard:
            yield shard

    def _check_process(self) -> None:
        if os.getpid() != self.pid:
            raise IndexUnavailable(
                f"{self.path} was opened before this process was forked: give each worker a "
                f"directory of its own, or share one cache through a Qdrant server"
            )

    def _note(self, shard: edge.EdgeShard, ids: Sequence[str]) -> None:
        """Prepare for a write of these points; call inside `_changing`."""
        if self._journal is not None:
            self._journal.update(ids)
        self.writes += len(ids)
        self._unflushed += len(ids)
        if self._unflushed >= FLUSH_EVERY:
            self._unflushed = 0
            shard.flush()

    def _leave(self, generation: Generation) -> None:
        with self._guard:
            generation.readers -= 1
            last = generation.retired and generation.readers == 0
        if last:
            generation.discard()

    def _created(self) -> Generation:
        try:
            path = self._directory.new_generation()
            shard = _edge_shard.create(path, self.dimension)
            with panics_caught():
                shard.flush()
            self._directory.commit(Manifest(path.name, self.dimension))
        except Exception as error:  # the engine raises nothing more specific
            raise ConfigurationError(
                f"no cache can be made in {self.path} ({one_line(error)}): "
                f"choose a directory with room, that this process may write"
            ) from error
        return Generation(path, shard)

    def _loaded(self, manifest: Manifest) -> Generation:
        if manifest.dimension != self.dimension:
            raise SchemaMismatch(
                str(self.path), "vectors of dimension", manifest.dimension, self.dimension
            )
        path = self.path / manifest.generation
        self.built = manifest.built
        try:
            return Generation(path, _edge_shard.load(path, self.dimension))
        except Exception as error:  # the engine raises nothing more specific
            raise ConfigurationError(
                f"{path} cannot be opened ({one_line(error)}): "
                f"restore it, or choose another directory"
            ) from error
