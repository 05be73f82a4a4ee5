"""Which Edge stores this process has open.

The engine allows one open shard per directory. Index objects on the same directory therefore
share one store, found by its real path; the last one that is closed closes it.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from langchain_semcache.errors import SchemaMismatch, StoreLocked
from langchain_semcache.index._edge_graph import GraphBuild
from langchain_semcache.index._edge_store import EdgeStore


@dataclass(slots=True)
class OpenStore:
    """A store, the builder of its graphs, and the number of index objects that use both."""

    store: EdgeStore
    graph: GraphBuild
    owners: int = 0


class _Registry:
    """The process's open stores by real path. A finalizer may run in a thread that holds `lock`."""

    def __init__(self) -> None:
        self.stores: dict[str, OpenStore] = {}
        self.lock = threading.RLock()

    def after_fork(self) -> None:
        """A new lock: another thread may have held the old one when the child was made."""
        self.lock = threading.RLock()


_registry = _Registry()


def acquire(directory: Path, dimension: int) -> OpenStore:
    """The process's store of this directory, opened if need be.

    Raises:
        StoreLocked: Another process has it open; after a fork that may be this one's parent.
        SchemaMismatch: It holds vectors of another dimension.
        ConfigurationError: The directory cannot be used.
    """
    key = os.path.realpath(directory)
    with _registry.lock:
        held = _registry.stores.get(key)
        if held is None:
            store = EdgeStore(Path(key), dimension)
            store.open()
            held = _registry.stores[key] = OpenStore(store, GraphBuild(store))
        if held.store.pid != os.getpid():
            raise StoreLocked(str(directory))
        if held.store.dimension != dimension:
            found = held.store.dimension
            raise SchemaMismatch(str(directory), "vectors of dimension", found, dimension)
        held.owners += 1
        return held


def release(held: OpenStore) -> None:
    """One owner less; the last one closes the store. Does nothing in a forked child."""
    if held.store.pid != os.getpid():
        return
    if held.graph.runs_here:  # the collector freed the last owner in the thread to be waited for
        threading.Thread(target=release, args=(held,), name="semcache-close").start()
        return
    with _registry.lock:
        held.owners -= 1
        if held.owners == 0:
            _registry.stores.pop(str(held.store.path), None)
            held.graph.stop()
            held.store.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_registry.after_fork)
