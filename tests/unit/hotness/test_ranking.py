"""How rankings are measured: known values, and what must hold of any."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.hotness import EWMAHotness, PopularityHotness
from langchain_semcache.hotness.accesses import accesses, moments
from langchain_semcache.hotness.ranking import evaluate, mean, ndcg, quality, settled, spearman

numbers = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=6)


def columns(pairs) -> tuple[np.ndarray, np.ndarray]:
    scores, uses = np.array(pairs, dtype=np.float64).T
    return scores, uses


def test_a_ranking_by_the_uses_themselves_is_perfect() -> None:
    uses = np.array([3.0, 0.0, 1.0, 7.0])
    found = quality(uses, uses, 2)
    assert (found.ndcg, found.precision, found.spearman, found.bias) == (1, 1, 1, 1)
    assert found.coverage == 10 / 11


def test_a_ranking_the_wrong_way_round_is_as_bad_as_it_gets() -> None:
    uses = np.array([0.0, 1.0, 3.0])
    found = quality(-uses, uses, 1)
    assert (found.ndcg, found.precision, found.coverage) == (0, 0, 0)
    assert found.spearman == pytest.approx(-1)


def test_a_known_gain() -> None:
    uses = np.array([3.0, 0.0, 1.0])
    scores = np.array([1.0, 3.0, 2.0])
    got = 1 / np.log2(3) + 2 / np.log2(4)
    best = 2 / np.log2(2) + 1 / np.log2(3)
    assert ndcg(scores, uses, 3) == pytest.approx(got / best)
    assert ndcg(scores, np.zeros(3), 3) == 0


@given(numbers, st.integers(1, 7))
def test_ties_count_as_the_mean_over_all_their_orders(pairs, k: int) -> None:
    scores, uses = columns(pairs)
    orders = [
        order
        for order in itertools.permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))
    ]
    expected = np.mean([uses[list(order)] for order in orders], axis=0)
    assert settled(scores, uses) == pytest.approx(expected)
    strict = [ndcg(-np.argsort(order).astype(np.float64), uses, k) for order in orders]
    assert ndcg(scores, uses, k) == pytest.approx(np.mean(strict))


@given(numbers)
def test_rank_correlation_is_that_of_the_mean_ranks(pairs) -> None:
    scores, uses = columns(pairs)

    def ranks(values):
        return np.array([np.mean(np.flatnonzero(np.sort(values) == one)) for one in values])

    spread = ranks(scores).std() * ranks(uses).std()
    centred = (ranks(scores) - ranks(scores).mean()) @ (ranks(uses) - ranks(uses).mean())
    expected = centred / len(scores) / spread if spread else 0.0
    assert spearman(scores, uses) == pytest.approx(expected)


@given(numbers, st.integers(1, 7))
def test_figures_are_shares_and_do_not_depend_on_the_order_of_entries(pairs, k: int) -> None:
    scores, uses = columns(pairs)
    if not uses.any():
        return
    found = quality(scores, uses, k)
    assert 0 <= found.ndcg <= 1 + 1e-9
    assert 0 <= found.precision <= 1
    assert 0 <= found.coverage <= 1 + 1e-9
    assert -1 - 1e-9 <= found.spearman <= 1 + 1e-9
    again = quality(scores[::-1], uses[::-1], k)
    assert again.ndcg == pytest.approx(found.ndcg)
    assert again.coverage == pytest.approx(found.coverage)


def test_models_are_compared_at_the_same_moments() -> None:
    """What was used lately is used next here, so a short memory is the better one."""
    uses = accesses("uses", [(60.0 * step, step // 15) for step in range(150)])
    models = {"long": PopularityHotness(), "short": EWMAHotness(2)}
    found = evaluate(models, moments(uses, start=20, end=150), k=1)
    assert len(found["long"]) == len(found["short"]) > 10
    assert mean(found["short"]).ndcg > mean(found["long"]).ndcg


def test_there_is_no_mean_of_nothing() -> None:
    with pytest.raises(ValueError, match="no moment"):
        mean([])
