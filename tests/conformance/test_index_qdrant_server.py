import pytest

from langchain_semcache.index.qdrant_server import QdrantServerIndex
from langchain_semcache.testing.index_conformance import EntryIndexSuite
from tests.services.qdrant_http import QdrantService


@pytest.fixture(scope="module")
def service():
    with QdrantService() as service:
        yield service


class TestQdrantServerIndex(EntryIndexSuite):
    """Over real HTTP, with the real client.

    The far side is qdrant-client's local mode behind HTTP (`tests/services/qdrant_http.py`), not a
    Qdrant server binary. gRPC and clustering are not exercised.
    """

    @pytest.fixture
    def index(self, service):
        index = QdrantServerIndex(service.url, dimension=self.dimension)
        yield index
        index.close()
        service.client.delete_collection("semcache")
        service.schemas.clear()
