"""What the engine does with damaged files, and what becomes of its panics."""

import asyncio
import shutil
from contextlib import suppress

import pytest

from langchain_semcache.clock import ManualClock
from langchain_semcache.errors import ConfigurationError, CorruptEntry, IndexUnavailable
from langchain_semcache.index import _edge_shard
from langchain_semcache.index._edge_panic import panics_caught
from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
from langchain_semcache.records import Selection
from langchain_semcache.testing.index_values import NOW, make_entry, unit

AXIS = unit([1, 0, 0, 0])

REFUSED = [
    "edge_config.json",
    "segments/*/segment.json",
    "segments/*/version.info",
    "segments/*/payload_storage/config.json",
    "segments/*/payload_storage/bitmask.dat",
    "segments/*/payload_index/*scope-null/is_null/status.dat",
    "segments/*/vector_storage-q/deleted/status.dat",
    "segments/*/vector_storage-q/vectors/status.dat",
    "wal/first-index",
]
FOUND_LATER = [
    "segments/*/payload_storage/page_0.dat",
    "segments/*/payload_storage/tracker.dat",
    "segments/*/payload_index/*scope-map/page_0.dat",
]

Panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole") / "store"
    index = QdrantEdgeIndex(directory, dimension=4, graph_from=None, clock=ManualClock(NOW))
    for number in range(20):
        index.put(make_entry(number), unit([1, number, 0, 0]))
    index.build_graph()
    index.close()
    return directory


def truncated(store, directory, pattern, size):
    """A copy of the store in which one file is shorter, and how to mend it."""
    shutil.copytree(store, directory)
    (path,) = directory.glob(f"g-*/{pattern}")
    whole = path.read_bytes()
    path.write_bytes(whole[: size(len(whole))])
    return lambda: path.write_bytes(whole)


@pytest.mark.parametrize("pattern", REFUSED)
def test_a_truncated_file_is_one_clear_line(store, tmp_path, pattern):
    mend = truncated(store, tmp_path / "store", pattern, lambda size: size // 2)
    index = QdrantEdgeIndex(tmp_path / "store", dimension=4, graph_from=None)
    with pytest.raises(ConfigurationError, match="cannot be opened") as caught:
        index.open()
    assert str(tmp_path / "store") in str(caught.value)
    assert "\n" not in str(caught.value)
    mend()
    assert len(list(index.scan(Selection()))) == 20
    index.close()


@pytest.mark.parametrize("pattern", FOUND_LATER)
def test_damage_that_shows_later_is_an_error_of_ours(store, tmp_path, pattern):
    truncated(store, tmp_path / "store", pattern, lambda size: min(size, 33))
    index = QdrantEdgeIndex(tmp_path / "store", dimension=4, graph_from=None)
    with suppress(ConfigurationError):
        index.open()
    for call in (
        lambda: index.fetch(make_entry(1).id, now=NOW),
        lambda: index.search("partition-a", AXIS, limit=3, now=NOW),
        lambda: index.put(make_entry(99), AXIS),
        lambda: index.remove(Selection(scope="scope-a")),
        index.close,
    ):
        with suppress(ConfigurationError, IndexUnavailable, CorruptEntry):
            call()
    index.close()


class Panicking:
    """A shard of which every call panics."""

    def __getattr__(self, name):
        def panic(*_):
            raise Panic("index out of bounds:\n the len is 0")

        return panic


def test_a_panic_in_any_call_is_an_index_that_did_not_answer(tmp_path, monkeypatch):
    index = QdrantEdgeIndex(
        tmp_path / "store", dimension=4, graph_from=None, clock=ManualClock(NOW)
    )
    index.put(make_entry(1), AXIS)
    generation = index._opened().store._current
    whole, generation.shard = generation.shard, Panicking()
    calls = [
        lambda: index.fetch("x", now=NOW),
        lambda: index.search("p", AXIS, limit=1, now=NOW),
        lambda: index.put(make_entry(2), AXIS),
        lambda: index.remove(Selection()),
        lambda: list(index.scan(Selection())),
        lambda: index.trim(0, namespace="", now=NOW),
        index.describe,
        index.build_graph,
    ]
    for call in calls:
        with pytest.raises(IndexUnavailable, match="out of bounds: the len is 0") as caught:
            call()
        assert "\n" not in str(caught.value)
    generation.shard = whole
    assert index.fetch(make_entry(1).id, now=NOW) == make_entry(1)
    index.build_graph()
    index._opened().store._current.shard = Panicking()
    with pytest.raises(IndexUnavailable, match="out of bounds"):
        index.close()
    index.close()


def test_a_panic_while_a_store_is_made_is_a_configuration_error(tmp_path, monkeypatch):
    monkeypatch.setattr(_edge_shard, "_config", lambda dimension: Panicking().config())
    index = QdrantEdgeIndex(tmp_path / "store", dimension=4)
    with pytest.raises(ConfigurationError, match="no cache can be made in"):
        index.open()
    monkeypatch.undo()
    index.put(make_entry(1), AXIS)
    index.close()


def test_the_panic_is_kept_as_the_cause():
    with pytest.raises(IndexUnavailable, match="panicked: no") as caught, panics_caught():
        raise Panic("no")
    assert isinstance(caught.value.__cause__, Panic)


@pytest.mark.parametrize(
    "other", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError, ValueError]
)
def test_whatever_else_is_raised_passes(other):
    with pytest.raises(other), panics_caught():
        raise other
