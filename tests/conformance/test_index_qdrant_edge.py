import pytest

from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
from langchain_semcache.records import Selection
from langchain_semcache.testing.index_conformance import EntryIndexSuite
from langchain_semcache.testing.index_values import make_entry, unit


class TestQdrantEdgeIndex(EntryIndexSuite):
    @pytest.fixture
    def index(self, tmp_path):
        index = QdrantEdgeIndex(tmp_path, dimension=self.dimension)
        yield index
        index.close()


@pytest.fixture(scope="module")
def generation_with_graph(tmp_path_factory):
    """A directory whose current generation came from a build."""
    directory = tmp_path_factory.mktemp("template") / "store"
    index = QdrantEdgeIndex(directory, dimension=EntryIndexSuite.dimension)
    for number in range(30):
        index.put(make_entry(number), unit([1.0, number, 0, 0, 0, 0, 0, 1]))
    index.build_graph()
    index.close()
    return directory


class TestQdrantEdgeIndexAfterABuild(EntryIndexSuite):
    @pytest.fixture
    def index(self, generation_with_graph):
        index = QdrantEdgeIndex(generation_with_graph, dimension=self.dimension)
        index.remove(Selection())
        yield index
        index.close()
