"""The tracker: what is counted when, what is asked how often, and what becomes of failures."""

from __future__ import annotations

import logging
import threading

import numpy as np
import pytest

from langchain_semcache.clock import ManualClock
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness import HORIZON, STEPS, EWMAHotness, PopularityHotness, WindowedHeat


class Watched:
    """A model that remembers what it was asked, and fails when told to."""

    identity = "watched"

    def __init__(self) -> None:
        self.asked: list[np.ndarray] = []
        self.error: Exception | None = None

    def predict(self, windows):
        self.asked.append(windows)
        if self.error is not None:
            raise self.error
        return windows.sum(axis=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def model() -> Watched:
    return Watched()


@pytest.fixture
def heat(model, clock) -> WindowedHeat:
    return WindowedHeat(model, clock=clock)


def test_heat_is_what_is_expected_of_the_next_five_minutes(clock) -> None:
    heat = WindowedHeat(PopularityHotness(), clock=clock)
    for _ in range(STEPS):
        heat.used("a")
        heat.used("a")
        clock.advance(60)
    assert heat.heat(["a"]) == pytest.approx([2 * HORIZON])
    assert heat.identity == "popularity-64"


def test_what_is_not_known_yet_is_not_a_number(heat, clock, model) -> None:
    heat.used("a")
    assert np.isnan(heat.heat(["a", "b"])).all()
    assert model.asked == []
    clock.advance(60)
    assert heat.heat(["b", "a", "a"])[1:].tolist() == [1, 1]
    assert np.isnan(heat.heat(["b"])).all()
    assert heat.heat([]).shape == (0,)


def test_within_a_step_the_model_is_asked_once(heat, clock, model) -> None:
    heat.used("a")
    clock.advance(60)
    for _ in range(3):
        heat.used("a")
        assert heat.heat(["a"]).tolist() == [1]
    assert len(model.asked) == 1
    clock.advance(60)
    assert heat.heat(["a"]).tolist() == [4]


def test_windows_that_are_alike_are_asked_about_once(heat, clock, model) -> None:
    for one in "abcde":
        heat.used(one)
    heat.used("e")
    clock.advance(60)
    assert heat.heat(list("edcba")).tolist() == [2, 1, 1, 1, 1]
    assert [len(windows) for windows in model.asked] == [2]


def test_a_refresh_asks_about_all_so_that_nobody_waits(heat, clock, model) -> None:
    for one in "abc":
        heat.used(one)
    clock.advance(60)
    heat.used("new")
    assert heat.refresh() == 3
    assert heat.heat(list("abc")).tolist() == [1, 1, 1]
    assert len(model.asked) == 1


def test_what_is_gone_is_forgotten(heat, clock) -> None:
    heat.used("a")
    clock.advance(60)
    heat.heat(["a"])
    heat.forgotten("a")
    heat.forgotten("a")
    assert np.isnan(heat.heat(["a"])).all()
    assert len(heat) == 0


def test_a_clock_that_is_set_back_changes_nothing(heat, clock) -> None:
    heat.used("a")
    clock.advance(60)
    clock.advance(-3600)
    assert heat.heat(["a"]).tolist() == [1]


def test_a_model_that_fails_is_not_known_and_said_once(heat, clock, model, caplog) -> None:
    caplog.set_level(logging.WARNING, logger="langchain_semcache")
    heat.used("a")
    clock.advance(60)
    model.error = RuntimeError("a secret")
    assert np.isnan(heat.heat(["a"])).all()
    assert np.isnan(heat.heat(["a"])).all()
    (said,) = caplog.messages
    assert "no heat from watched (RuntimeError)" in said
    assert "secret" not in said
    assert len(model.asked) == 1
    model.error = None
    clock.advance(60)
    assert heat.heat(["a"]).tolist() == [1]


def test_as_many_entries_as_allowed_are_counted(clock) -> None:
    heat = WindowedHeat(EWMAHotness(), clock=clock, max_entries=3)
    for number in range(100):
        heat.used(str(number))
    assert len(heat) == 3


def test_uses_from_several_threads_are_all_counted(heat, clock) -> None:
    def use() -> None:
        for number in range(2_000):
            heat.used(str(number % 10))
            if number % 100 == 0:
                heat.heat(["1", "2"])

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clock.advance(60)
    assert heat.heat([str(number) for number in range(10)]).tolist() == [800] * 10


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_entries", 0),
        ("max_entries", True),
        ("step_seconds", 0),
        ("step_seconds", float("nan")),
    ],
)
def test_numbers_that_cannot_be_are_refused(clock, name: str, value: float) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is"):
        WindowedHeat(EWMAHotness(), clock=clock, **{name: value})
