import pytest

from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.testing.index_conformance import EntryIndexSuite


class TestMemoryIndex(EntryIndexSuite):
    @pytest.fixture
    def index(self):
        return MemoryIndex(self.dimension)
