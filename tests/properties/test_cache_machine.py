"""Any sequence of operations, on memory and on Edge, agrees with a model of dictionaries."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from langchain_semcache import Semcache
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.testing.cache_machine import THRESHOLD, CacheMachine, TableEncoder


class OnMemory(CacheMachine):
    def open_cache(self) -> Semcache:
        # What is handed in is not closed: the entries outlive the client, as a server's would.
        if not hasattr(self, "index"):
            self.index = MemoryIndex(TableEncoder.dimension)
        return Semcache.open(
            ":memory:",
            encoder=TableEncoder(),
            index=self.index,
            clock=self.clock,
            similarity_threshold=THRESHOLD,
            max_entries=self.max_entries,
            max_bytes=self.max_bytes,
            strict=True,
        )


class OnMemoryWithABound(OnMemory):
    max_entries = 3


class OnMemoryWithFewBytes(OnMemory):
    max_bytes = 6_000


class OnEdge(CacheMachine):
    def open_cache(self) -> Semcache:
        if not hasattr(self, "folder"):
            self.folder = tempfile.TemporaryDirectory()
        return Semcache.open(
            self.folder.name,
            encoder=TableEncoder(),
            clock=self.clock,
            similarity_threshold=THRESHOLD,
            max_entries=self.max_entries,
            max_bytes=self.max_bytes,
            strict=True,
        )

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            self.folder.cleanup()


class OnEdgeWithABound(OnEdge):
    max_entries = 3


class OnEdgeWithFewBytes(OnEdge):
    max_bytes = 6_000


@pytest.mark.parametrize(
    "machine",
    [OnMemoryWithABound, OnMemoryWithFewBytes, OnEdgeWithABound, OnEdgeWithFewBytes],
)
def test_any_sequence_with_a_bound_agrees_with_the_model(machine):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=40 if issubclass(machine, OnMemory) else 8,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


def test_any_sequence_on_memory_agrees_with_the_model():
    run_state_machine_as_test(
        OnMemory, settings=settings(max_examples=60, stateful_step_count=40, deadline=None)
    )


def test_any_sequence_on_edge_agrees_with_the_model():
    run_state_machine_as_test(
        OnEdge,
        settings=settings(
            max_examples=10,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
