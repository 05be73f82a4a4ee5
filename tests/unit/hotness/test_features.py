"""Counts by the minute: what a window holds, and what is forgotten."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.hotness import STEPS, CountRing
from langchain_semcache.hotness.features import checked_heats, checked_windows, distinct


def test_a_window_ends_before_the_step_that_runs() -> None:
    ring = CountRing[str](10)
    ring.add("a")
    ring.add("a")
    assert not ring.windows(["a"]).any()
    assert ring.windowed() == []
    ring.move(1)
    ring.add("a")
    window = ring.windows(["a"])[0]
    assert window[-1] == 2
    assert window.sum() == 2
    assert ring.windowed() == ["a"]


def test_a_window_slides_and_an_idle_key_is_forgotten_with_its_last_use() -> None:
    ring = CountRing[str](10)
    ring.add("a")
    for step in range(1, STEPS + 1):
        ring.move(step)
        assert ring.windows(["a"])[0].tolist().index(1) == STEPS - step
    ring.move(STEPS + 1)
    assert len(ring) == 0
    assert not ring.windows(["a"]).any()


@pytest.mark.parametrize("far", [STEPS, STEPS + 1, 10 * STEPS, 10**9])
def test_after_a_long_pause_nothing_old_shows(far: int) -> None:
    ring = CountRing[str](10)
    for step in range(70):
        ring.move(step)
        ring.add("a")
    ring.move(69 + far)
    assert ring.windows(["a"]).sum() == (1 if far == STEPS else 0)


def test_time_does_not_run_back() -> None:
    ring = CountRing[str](10)
    ring.move(5)
    ring.move(3)
    assert ring.step == 5
    ring.add("a")
    ring.move(6)
    assert ring.windows(["a"])[0, -1] == 1


def test_the_key_used_longest_ago_goes_for_a_new_one() -> None:
    ring = CountRing[str](2)
    for key in ("a", "b", "a", "c"):
        ring.add(key)
    ring.move(1)
    assert ring.windows(["a", "b", "c"])[:, -1].tolist() == [2, 0, 1]
    assert len(ring) == 2


def test_the_room_of_a_forgotten_key_is_empty_for_the_next() -> None:
    ring = CountRing[str](1)
    ring.add("a")
    ring.move(1)
    ring.forget("a")
    ring.forget("a")
    ring.forget("never seen")
    ring.add("b")
    ring.move(2)
    assert ring.windows(["b"])[0, -2:].tolist() == [0, 1]


def test_counts_stop_and_do_not_turn_over() -> None:
    ring = CountRing[str](1)
    for _ in range(65_540):
        ring.add("a")
    ring.move(1)
    assert ring.windows(["a"])[0, -1] == 65_535


@given(
    uses=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 12)), max_size=200),
    now=st.integers(0, 400),
)
def test_windows_are_what_a_list_of_all_uses_says(uses: list[tuple[int, int]], now: int) -> None:
    ring = CountRing[int](100)
    uses = sorted(use for use in uses if use[0] <= now)
    for step, key in uses:
        ring.move(step)
        ring.add(key)
    ring.move(now)
    expected = np.zeros((13, STEPS))
    for step, key in uses:
        if now - STEPS <= step < now:
            expected[key, step - now + STEPS] += 1
    assert ring.windows(range(13)).tolist() == expected.tolist()
    assert sorted(ring.windowed()) == np.flatnonzero(expected.any(axis=1)).tolist()


@given(
    keys=st.lists(st.integers(0, 50), max_size=300),
    most=st.integers(1, 20),
    every=st.integers(1, 9),
)
def test_never_more_keys_than_allowed_and_never_the_newest_dropped(keys, most, every) -> None:
    ring = CountRing[int](most)
    for number, key in enumerate(keys):
        ring.move(number // every)
        ring.add(key)
        assert len(ring) <= most
        assert len(ring._counts) <= most
    if keys:
        ring.move(ring.step + 1)
        assert ring.windows(keys[-1:])[0, -1] >= 1


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, 7.0]), min_size=STEPS, max_size=STEPS), max_size=9)
)
def test_distinct_windows_are_put_back_where_they_were(rows) -> None:
    windows = np.array(rows, dtype=np.float32).reshape(-1, STEPS)
    found, places = distinct(windows)
    assert found[places].tolist() == windows.tolist()
    assert len(found) == len({tuple(row) for row in rows})


@pytest.mark.parametrize(
    "windows",
    [
        np.zeros(STEPS, dtype=np.float32),
        np.zeros((2, STEPS - 1), dtype=np.float32),
        np.full((1, STEPS), -1.0),
        np.full((1, STEPS), np.nan),
        np.full((1, STEPS), np.inf),
    ],
)
def test_what_is_no_window_is_refused(windows) -> None:
    with pytest.raises(ValueError, match="windows"):
        checked_windows(windows)


@pytest.mark.parametrize("heats", [[1.0], [1.0, np.nan], [1.0, -0.1], [[1.0, 2.0], [3.0, 4.0]]])
def test_what_is_no_prediction_is_refused(heats) -> None:
    with pytest.raises(ValueError, match="prediction"):
        checked_heats(np.array(heats), 2)


def test_a_column_of_predictions_is_a_row_of_them() -> None:
    assert checked_heats(np.array([[1.0], [2.0]]), 2).tolist() == [1.0, 2.0]
