"""The same random data in every backend gives the same answers."""

import numpy as np
import pytest

from langchain_semcache.clock import ManualClock
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
from langchain_semcache.index.qdrant_server import QdrantServerIndex
from langchain_semcache.records import Selection
from langchain_semcache.testing.index_values import NOW, make_entry, unit
from tests.services.qdrant_http import QdrantService

DIMENSION = 24
COUNT = 300


def data():
    rng = np.random.default_rng(42)
    for number in range(COUNT):
        entry = make_entry(
            number,
            partition=f"partition-{rng.integers(3)}",
            namespace=f"space-{rng.integers(2)}",
            tenant=f"tenant-{rng.integers(4)}",
            model=f"model-{rng.integers(2)}",
            scope=f"scope-{rng.integers(5)}",
            tags=tuple(t for t in ("red", "blue", "green") if rng.random() < 0.4),
            sources=tuple(
                (s, f"d{rng.integers(3)}") for s in ("faq", "terms", "faq") if rng.random() < 0.4
            ),
            created_at=NOW + float(rng.uniform(0, 1000)),
            expires_at=None if rng.random() < 0.2 else NOW + float(rng.uniform(-500, 1000)),
        )
        yield entry, None if rng.random() < 0.1 else unit(rng.standard_normal(DIMENSION))


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("congruence")
    with QdrantService() as service:
        made = {
            "memory": MemoryIndex(DIMENSION),
            "edge": QdrantEdgeIndex(folder / "plain", dimension=DIMENSION),
            "edge with a graph": QdrantEdgeIndex(
                folder / "graph", dimension=DIMENSION, clock=ManualClock(NOW - 1_000)
            ),
            "server": QdrantServerIndex(service.url, dimension=DIMENSION),
        }
        for name, index in made.items():
            for place, (entry, vector) in enumerate(data()):
                index.put(entry, vector)
                if name == "edge with a graph" and place == COUNT // 2:
                    index.build_graph()
        yield made
        for index in made.values():
            index.close()


def agree(indexes, ask):
    answers = {name: ask(index) for name, index in indexes.items()}
    expected = answers.pop("memory")
    for name, answer in answers.items():
        assert answer == expected, name
    return expected


def test_every_search_gives_the_same_entries_in_the_same_order(indexes):
    rng = np.random.default_rng(1)
    lengths = set()
    for step in range(60):
        query, now = unit(rng.standard_normal(DIMENSION)), NOW + float(rng.uniform(0, 800))
        limit, partition = int(rng.integers(1, 12)), f"partition-{step % 4}"

        def ask(index, query=query, now=now, limit=limit, partition=partition):
            found = index.search(partition, query, limit=limit, now=now)
            similarities = np.array([candidate.similarity for candidate in found])
            reference = indexes["memory"].search(partition, query, limit=limit, now=now)
            assert np.allclose(similarities, [c.similarity for c in reference], atol=1e-5)
            return [candidate.entry for candidate in found]

        lengths.add(len(agree(indexes, ask)))
    assert len(lengths) > 5


SELECTIONS = [
    Selection(),
    Selection(namespace="space-1"),
    Selection(tenant="tenant-2", model="model-1"),
    Selection(scope="scope-3", tags=("red",)),
    Selection(tags=("red", "green")),
    Selection(source="faq", created_before=NOW + 500),
    Selection(expired_at=NOW + 100),
    Selection(expired_at=NOW + 100, created_before=NOW + 300, source="terms"),
    Selection(source="faq", current=("d1",)),
    Selection(source="faq", current=("d1", "d2"), tenant="tenant-2"),
    Selection(source="terms", current=("d0", "none"), tags=("red",)),
    Selection(ids=tuple(make_entry(n).id for n in range(0, COUNT * 2, 7))),
]


@pytest.mark.parametrize("selection", SELECTIONS)
def test_every_selection_means_the_same(indexes, selection):
    found = agree(indexes, lambda index: sorted(index.scan(selection), key=lambda e: e.id))
    assert len(found) > 2
    assert agree(indexes, lambda index: index.remove(selection, dry_run=True)) == len(found)


def test_fetch_agrees(indexes):
    for number in range(COUNT + 5):
        agree(indexes, lambda index, n=number: index.fetch(make_entry(n).id, now=NOW + 200))
