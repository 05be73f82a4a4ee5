"""Building the next generation while the current one answers."""

import threading

import numpy as np
import pytest

from langchain_semcache.clock import ManualClock
from langchain_semcache.errors import IndexUnavailable
from langchain_semcache.index import _edge_directory, _edge_graph, _edge_shard
from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
from langchain_semcache.records import Selection
from langchain_semcache.testing.index_values import NOW, make_entry

RNG = np.random.default_rng(7)


def random_unit():
    vector = RNG.standard_normal(16)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.fixture
def index(tmp_path):
    index = QdrantEdgeIndex(
        tmp_path / "store", dimension=16, graph_from=None, clock=ManualClock(NOW)
    )
    yield index
    index.close()


@pytest.fixture
def held(monkeypatch):
    """A build stops after the copy until `go` is set; `copied` says that it got there."""

    class Held:
        copied, go = threading.Event(), threading.Event()

    original = _edge_graph.GraphBuild._wait

    def wait(self, worker):
        Held.copied.set()
        assert Held.go.wait(60)
        original(self, worker)

    monkeypatch.setattr(_edge_graph.GraphBuild, "_wait", wait)
    return Held


def in_background(index):
    thread = threading.Thread(target=index.build_graph)
    thread.start()
    return thread


def generations(tmp_path):
    return sorted(child.name for child in (tmp_path / "store").glob("g-*"))


def test_a_build_keeps_every_entry_and_replaces_the_generation(index, tmp_path):
    vectors = [random_unit() for _ in range(200)]
    for number, vector in enumerate(vectors):
        index.put(make_entry(number), None if number % 10 == 0 else vector)
    before = generations(tmp_path)
    index.build_graph()
    assert generations(tmp_path) != before
    assert len(generations(tmp_path)) == 1
    for number, vector in enumerate(vectors):
        assert index.fetch(make_entry(number).id, now=NOW) == make_entry(number)
        found = index.search("partition-a", vector, limit=1, now=NOW)
        assert (found[0].entry == make_entry(number)) == (number % 10 != 0)
    assert index.describe()["indexed"] == 180


def test_expired_entries_are_left_behind(index):
    index.put(make_entry(1), random_unit())
    index.put(make_entry(2, expires_at=NOW), random_unit())
    index.build_graph()
    assert [entry.question for entry in index.scan(Selection())] == ["question 1"]


def test_what_changes_during_a_build_is_in_the_result(index, held):
    vectors = [random_unit() for _ in range(300)]
    for number in range(200):
        index.put(make_entry(number), vectors[number])
    thread = in_background(index)
    assert held.copied.wait(60)
    assert index.describe()["building"] is True
    for number in range(100, 300):  # replaced, and new
        index.put(make_entry(number, question=f"second {number}"), vectors[number])
    index.remove(Selection(ids=(make_entry(0).id, make_entry(250).id)))
    index.put(make_entry(1), None)
    assert index.search("partition-a", vectors[299], limit=1, now=NOW)[0].similarity > 0.999
    held.go.set()
    thread.join()
    assert index.describe()["building"] is False
    questions = {entry.question for entry in index.scan(Selection())}
    expected = {f"question {n}" for n in range(1, 100)}
    expected |= {f"second {n}" for n in range(100, 300) if n != 250}
    assert questions == expected
    assert index.search("partition-a", vectors[299], limit=1, now=NOW)[0].similarity > 0.999
    assert index.search("partition-a", vectors[1], limit=1, now=NOW)[0].similarity < 0.999


def test_a_failed_build_changes_nothing_and_can_be_repeated(index, tmp_path, monkeypatch):
    index.put(make_entry(1), random_unit())
    before = generations(tmp_path)
    monkeypatch.setattr(_edge_graph, "_BOOT", "raise SystemExit('out of cheese')")
    with pytest.raises(IndexUnavailable, match="out of cheese"):
        index.build_graph()
    assert "out of cheese" in index.describe()["graph_error"]
    assert generations(tmp_path) == before
    assert index.fetch(make_entry(1).id, now=NOW) == make_entry(1)
    monkeypatch.undo()
    index.build_graph()
    assert index.describe()["graph_error"] is None
    assert index.fetch(make_entry(1).id, now=NOW) == make_entry(1)


def test_a_build_that_cannot_commit_changes_nothing(index, tmp_path, monkeypatch):
    index.put(make_entry(1), random_unit())
    before = generations(tmp_path)

    def fail(self, manifest):
        raise OSError("disk full")

    monkeypatch.setattr(_edge_directory.StoreDirectory, "commit", fail)
    with pytest.raises(IndexUnavailable, match="disk full"):
        index.build_graph()
    assert generations(tmp_path) == before
    index.put(make_entry(2), random_unit())
    assert len(list(index.scan(Selection()))) == 2


def test_an_old_generation_that_does_not_close_costs_no_entry(index, tmp_path):
    class Stubborn:
        def __init__(self, shard):
            self.shard = shard

        def __getattr__(self, name):
            return getattr(self.shard, name)

        def close(self):
            raise RuntimeError("busy")

    index.put(make_entry(1), random_unit())
    generation = index._opened().store._current
    generation.shard = Stubborn(generation.shard)
    index.build_graph()
    assert len(generations(tmp_path)) == 1
    assert index.fetch(make_entry(1).id, now=NOW) == make_entry(1)
    index.close()
    again = QdrantEdgeIndex(tmp_path / "store", dimension=16)
    assert again.fetch(make_entry(1).id, now=NOW) == make_entry(1)
    again.close()


def test_a_reader_keeps_the_generation_it_began_with(index):
    index.put(make_entry(1), random_unit())
    with index._opened().store.reading() as shard:
        index.build_graph()
        assert len(shard.retrieve([make_entry(1).id], True, False)) == 1


def test_closing_during_a_build_ends_it(tmp_path):
    index = QdrantEdgeIndex(tmp_path / "store", dimension=16, graph_from=None)
    for number in range(100):
        index.put(make_entry(number), random_unit())
    errors = []

    def build():
        try:
            index.build_graph()
        except IndexUnavailable as error:
            errors.append(str(error))

    thread = threading.Thread(target=build)
    thread.start()
    while not index.describe()["building"] and thread.is_alive():
        thread.join(0.001)
    index.close()
    thread.join(10)
    assert not thread.is_alive()
    again = QdrantEdgeIndex(tmp_path / "store", dimension=16)
    assert len(list(again.scan(Selection()))) == 100
    again.close()


def test_growth_starts_a_build_in_the_background(tmp_path, monkeypatch):
    monkeypatch.setattr(_edge_graph, "_CHECK_EVERY", 1)
    monkeypatch.setattr(_edge_shard, "FULL_SCAN_BELOW", 10)
    built = []
    original = _edge_graph.GraphBuild.run

    def run(self, now):
        original(self, now)
        built.append(self._store.built)

    monkeypatch.setattr(_edge_graph.GraphBuild, "run", run)
    index = QdrantEdgeIndex(tmp_path / "store", dimension=16, graph_from=20)
    for number in range(19):
        index.put(make_entry(number, expires_at=None), random_unit())
    assert not settled(index)
    assert built == []
    index.put(make_entry(19, expires_at=None), random_unit())
    settled(index)
    assert built == [20]
    for number in range(20, 29):
        index.put(make_entry(number, expires_at=None), random_unit())
    assert not settled(index)
    index.put(make_entry(29, expires_at=None), random_unit())
    settled(index)
    assert built == [20, 30]
    index.close()


def settled(index):
    """Wait for a build that was started; whether there was one."""
    threads = [thread for thread in threading.enumerate() if thread.name == "semcache-graph"]
    for thread in threads:
        thread.join(60)
    return bool(threads)


def test_small_partitions_get_no_graph(tmp_path, monkeypatch):
    monkeypatch.setattr(_edge_graph, "_CHECK_EVERY", 1)
    index = QdrantEdgeIndex(tmp_path / "store", dimension=16, graph_from=5)
    for number in range(20):
        index.put(make_entry(number, partition=f"partition-{number}"), random_unit())
    assert not settled(index)
    index.close()
