"""`avalanche`: where pieces collapse while whole answers stand, by hand."""

from __future__ import annotations

import pytest

from langchain_semcache.lab.avalanche import Avalanche, Point, avalanche, memories, sweep
from langchain_semcache.lab.fragmentation import ANSWERS, TOKENS, Costs, simulate
from langchain_semcache.lab.traffic import demo_traffic

FALLING = [Point(1, 0.0, 0.3), Point(2, 0.1, 0.5), Point(4, 0.4, 0.5), Point(8, 0.5, 0.5)]


def test_it_lies_where_pieces_keep_half_of_the_hits() -> None:
    """Of the hits of whole answers 0, 0.2, 0.8 and 1 are kept: half, half way from 2 to 4."""
    found = avalanche(FALLING, 0.5)
    assert found == Avalanche(pytest.approx(2 * 2**0.5), pytest.approx(0.5))
    assert found == avalanche(FALLING[::-1], 0.5)


def test_the_rate_of_whole_answers_there_is_in_between_too() -> None:
    found = avalanche([Point(10, 0.1, 0.4), Point(1000, 0.6, 0.8)], 0.9)
    # Kept are 0.25 and 0.75: half of the way, over the logarithm.
    assert found == Avalanche(pytest.approx(100), pytest.approx(0.6))


def test_where_the_largest_is_too_small_it_says_so() -> None:
    assert avalanche(FALLING[:2], 0.6) == Avalanche(2, 0.5, at_least=True)


@pytest.mark.parametrize(
    ("points", "ceiling"),
    [
        ([], 0.5),
        ([Point(1, 0.2, 0.3), Point(2, 0.5, 0.5)], 0.5),  # pieces never lose half
        ([Point(1, 0.0, 0.0)], 0.0),  # nothing comes twice
        (FALLING, 1.01),  # whole answers do not stand there either
        ([Point(1, 0.0, 0.2)], 0.5),
    ],
)
def test_without_a_collapse_there_is_none(points, ceiling: float) -> None:
    assert avalanche(points, ceiling) is None


def test_a_dip_further_up_counts_and_not_the_first_recovery() -> None:
    points = [Point(1, 0.0, 0.5), Point(2, 0.5, 0.5), Point(4, 0.2, 0.5), Point(8, 0.3, 0.5)]
    found = avalanche(points, 0.5)
    assert found is not None
    assert 4 < found.memory < 8


def test_sizes_go_from_next_to_nothing_to_enough_for_all() -> None:
    arrivals, costs = demo_traffic().arrivals, Costs()
    sizes = memories(arrivals, costs)
    assert sizes[:4] == [5000, 10_000, 20_000, 50_000]
    assert sizes[0] <= costs.footprint(ANSWERS, arrivals) / 20
    assert sizes[-2] < costs.footprint(TOKENS, arrivals) <= sizes[-1]


def test_a_sweep_plays_all_three_on_each_size() -> None:
    arrivals, told = demo_traffic(requests=300).arrivals, []
    found = sweep(arrivals, [20_000, 2000, 20_000], Costs(), segment=16, progress=told.append)
    assert [row.memory for row in found.rows] == [2000, 20_000]
    for row in found.rows:
        assert row.tokens == simulate(arrivals, TOKENS, row.memory, Costs())
        assert row.answers == simulate(arrivals, ANSWERS, row.memory, Costs())
        assert row.segments.layout.tokens == 16
        assert row.tokens.hit_rate <= row.segments.hit_rate <= row.answers.hit_rate
    assert found.footprints["answers"] < found.footprints["segments"] < found.footprints["tokens"]
    assert told[-1] == 7 * 300 // 256 * 256


def test_the_size_to_look_at_lies_below_the_avalanche() -> None:
    arrivals = demo_traffic(requests=400).arrivals
    found = sweep(arrivals, memories(arrivals, Costs()), Costs())
    assert found.avalanche is not None
    assert found.shown <= found.avalanche.memory
    flat = sweep(arrivals, [1e9, 2e9, 3e9], Costs())
    assert flat.avalanche is None
    assert flat.shown == 2e9
