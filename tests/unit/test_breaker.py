from __future__ import annotations

from langchain_semcache.breaker import CircuitBreaker
from langchain_semcache.clock import ManualClock


def a_breaker():
    clock = ManualClock()
    return CircuitBreaker(clock, failures=3, cooldown_seconds=5.0), clock


def test_it_opens_after_failures_in_a_row_and_says_so_once():
    breaker, _ = a_breaker()
    assert [breaker.failed() for _ in range(4)] == [False, False, True, False]
    assert not breaker.allows()


def test_a_success_in_between_starts_the_count_again():
    breaker, _ = a_breaker()
    breaker.failed(), breaker.failed(), breaker.succeeded()
    breaker.failed(), breaker.failed()
    assert breaker.allows()


def test_a_time_out_opens_it_at_once():
    breaker, _ = a_breaker()
    assert breaker.failed(at_once=True)
    assert not breaker.allows()


def test_after_the_pause_one_caller_probes_and_the_others_wait():
    breaker, clock = a_breaker()
    breaker.failed(at_once=True)
    clock.advance(4.999)
    assert not breaker.allows()
    clock.advance(0.001)
    assert [breaker.allows(), breaker.allows()] == [True, False]


def test_a_good_probe_closes_it_and_a_bad_one_opens_it_again():
    breaker, clock = a_breaker()
    breaker.failed(at_once=True)
    clock.advance(5)
    assert breaker.allows()
    breaker.failed()
    assert not breaker.allows()
    clock.advance(5)
    assert breaker.allows()
    assert breaker.succeeded()
    assert breaker.allows()
    assert not breaker.succeeded()
