"""The gate in front of a backend: what it says, and how often."""

from __future__ import annotations

import logging

import pytest

from langchain_semcache import breaker as outages
from langchain_semcache.breaker import CircuitBreaker
from langchain_semcache.clock import ManualClock
from langchain_semcache.engine.gate import Gate
from langchain_semcache.errors import CorruptEntry, IndexUnavailable
from langchain_semcache.events import BackendFailed, BreakerClosed, BreakerOpened
from langchain_semcache.records import Reason

INTERVAL = 60.0


class Collected:
    def __init__(self) -> None:
        self.events: list[object] = []

    def emit(self, event: object) -> None:
        self.events.append(event)


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def sink():
    return Collected()


@pytest.fixture
def gate(clock, sink):
    breaker = CircuitBreaker(clock, failures=2, cooldown_seconds=5.0)
    return Gate("index", Reason.INDEX_UNAVAILABLE, breaker, clock, sink)


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.WARNING, logger="langchain_semcache")
    return lambda: [record.getMessage() for record in caplog.records]


def test_a_second_warning_comes_after_the_interval_and_no_sooner(gate, clock, said):
    assert outages.WARNING_INTERVAL_SECONDS == INTERVAL
    counts = []
    for seconds in (0, 1, INTERVAL - 1.5, 0.5, 0, INTERVAL - 0.5, 0.5):
        clock.advance(seconds)
        gate.failed(IndexUnavailable("gone"))
        counts.append(len(said()))
    assert counts == [1, 1, 1, 2, 2, 2, 3]


def test_a_wall_clock_that_steps_back_does_not_silence_it(gate, clock, said):
    gate.warn("first")
    clock.advance(-86400)
    clock.advance(INTERVAL)
    gate.warn("second")
    assert [line.split()[0] for line in said()] == ["first", "second"]


def test_a_warning_names_the_interval_and_quotes_nobody_elses_message(gate, said):
    gate.failed(ConnectionError("the prompt"))
    (line,) = said()
    assert line.startswith("index unavailable (ConnectionError); requests go to the model")
    assert "60 s" in line


def test_the_message_of_our_own_errors_is_told(gate, said):
    gate.failed(IndexUnavailable("the disk is full"))
    assert "the disk is full" in said()[0]


def test_every_failure_is_told_also_while_warnings_are_held_back(gate, sink):
    for _ in range(3):
        assert gate.failed(IndexUnavailable("gone")).reason is Reason.INDEX_UNAVAILABLE
    kinds = [type(event) for event in sink.events]
    assert kinds == [BackendFailed, BackendFailed, BreakerOpened, BackendFailed]


def test_while_the_breaker_is_open_calls_are_refused(gate, clock):
    assert gate.refusal() is None
    gate.failed(TimeoutError())
    refused = gate.refusal()
    assert refused is not None
    assert refused.reason is Reason.INDEX_UNAVAILABLE
    clock.advance(5)
    assert gate.refusal() is None


def test_a_bad_record_is_no_failure_of_the_backend(gate, sink, said):
    bad = CorruptEntry("an-id", "not JSON")
    for _ in range(5):
        assert gate.failed(bad).reason is Reason.CORRUPT_ENTRY
    assert gate.refusal() is None
    assert (sink.events, len(said())) == ([], 1)


def test_recovery_is_told_once(gate, clock, sink):
    gate.failed(TimeoutError())
    clock.advance(5)
    assert gate.refusal() is None
    gate.succeeded()
    gate.succeeded()
    assert [type(event) for event in sink.events] == [BackendFailed, BreakerOpened, BreakerClosed]
