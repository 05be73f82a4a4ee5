import pytest

from langchain_semcache.index.qdrant_server import QdrantServerIndex
from langchain_semcache.testing.index_conformance import EntryIndexSuite
from tests.services.qdrant_http import QdrantService


@pytest.fixture(scope="module")
def service():
    with QdrantService() as service:
        yield service


class TestQdrantServerIndex(EntryIndexSuite):
    """Over real HTTP; on the far side a stand-in, not a Qdrant server."""

    @pytest.fixture
    def index(self, service):
        index = QdrantServerIndex(service.url, dimension=self.dimension)
        yield index
        index.close()
        service.client.delete_collection("semcache")
        service.schemas.clear()
