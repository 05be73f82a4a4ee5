"""Random operation sequences on the memory and the Edge index, against a dictionary."""

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis.stateful import precondition, rule

from langchain_semcache.clock import ManualClock
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
from langchain_semcache.testing.index_machine import IndexMachine


class MemoryMachine(IndexMachine):
    def make_index(self):
        return MemoryIndex(self.dimension)


class EdgeMachine(IndexMachine):
    keeps_entries = True

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.clock = ManualClock()
        self.builds = 0
        super().__init__()

    def make_index(self):
        directory = Path(self.folder.name) / "store"
        return QdrantEdgeIndex(directory, dimension=self.dimension, clock=self.clock)

    @precondition(lambda self: self.builds == 0 and len(self.model) > 2)
    @rule()
    def build_graph(self):
        """A build keeps what is live and leaves the rest behind."""
        self.builds += 1
        self.clock.advance(self.now - self.clock.now())
        self.index.build_graph()
        self.model = {key: held for key, held in self.model.items() if self._lives(held[0])}

    def teardown(self):
        super().teardown()
        self.folder.cleanup()


TestMemoryMachine = MemoryMachine.TestCase
TestMemoryMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)

TestEdgeMachine = EdgeMachine.TestCase
TestEdgeMachine.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)
