"""`curve`: what a threshold lets pass, and the two thresholds with a name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_semcache import ConfigurationError
from langchain_semcache.guards import Refusal
from langchain_semcache.lab.curve import (
    STEPS,
    Point,
    by_confidence,
    by_similarity,
    kinds,
    sweep,
)
from langchain_semcache.lab.pairs import Measured, Pair
from langchain_semcache.records import Reason
from langchain_semcache.threshold.confidence import Calibration
from langchain_semcache.threshold.features import Observed


def test_rates_are_shares_of_the_pairs_of_one_label() -> None:
    point = Point(threshold=0.8, same=10, different=20, passed_same=6, passed_different=2)
    assert (point.coverage, point.false_pass, point.precision) == (0.6, 0.1, 0.75)
    assert point.f1 == pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))
    low, high = point.false_pass_interval
    assert low < 0.1 < high


def test_where_nothing_passes_there_is_no_precision() -> None:
    point = Point(threshold=1.0, same=1, different=1, passed_same=0, passed_different=0)
    assert point.precision is None
    assert point.f1 == 0.0


def test_a_threshold_is_inclusive_and_forgives_the_rounding_of_32_bits(pair) -> None:
    curve = sweep([pair(True, 0.8499999), pair(False, 0.2)], by_similarity)
    assert curve.at(0.85).passed_same == 1
    assert curve.at(0.851).passed_same == 0


def test_the_balance_is_where_both_errors_are_equal(pair) -> None:
    """Of 4 same pairs one lies low, of 4 different ones one lies high."""
    same = [pair(True, value) for value in (0.95, 0.9, 0.85, 0.3)]
    different = [pair(False, value) for value in (0.8, 0.4, 0.2, 0.1)]
    curve = sweep([*same, *different], by_similarity)
    assert curve.balances
    assert curve.equal_error_rate == 0.25
    assert curve.balance.threshold == 0.8
    assert curve.best.threshold == 0.85
    assert curve.best.f1 == pytest.approx(6 / 7)


def test_where_the_errors_never_meet_it_says_so(pair) -> None:
    """The guards refuse half of the same pairs, and let no different one pass."""
    measured = [
        pair(True, 0.9),
        pair(True, 0.9, refused=True),
        pair(False, 0.9, refused=True),
    ]
    guarded = sweep(measured, by_similarity)
    assert not guarded.balances
    assert guarded.points[0].false_pass == 0.0
    free = sweep(measured, by_similarity, guards=False)
    assert free.balances
    assert free.points[0].coverage == 1.0


@pytest.mark.parametrize("label", [True, False])
def test_pairs_of_one_label_are_refused_with_what_they_lack(pair, label: bool) -> None:
    with pytest.raises(ConfigurationError, match="so add some"):
        sweep([pair(label, 0.9), pair(label, 0.8)], by_similarity)


def test_confidence_counts_the_floor(pair) -> None:
    calibration = Calibration(
        encoder="e", verifier=None, floor=0.5, bar=0.5, least=0.5,
        weights={"similarity": 1.0, "bias": 0.0},
    )  # fmt: skip
    score = by_confidence(calibration)
    assert score(pair(True, 0.4)) == -1.0
    assert score(pair(True, 0.9)) == pytest.approx(0.7109495)


def test_kinds_are_told_apart_and_the_largest_comes_first(pair) -> None:
    measured = [
        pair(True, 0.9, kind="typo"),
        pair(False, 0.9, kind="number"),
        pair(False, 0.1, kind="number"),
        pair(False, 0.9),
    ]
    number, typo = kinds(measured, by_similarity, 0.5)
    assert (number.name, number.point.false_pass, number.point.same) == ("number", 0.5, 0)
    assert (typo.name, typo.point.coverage) == ("typo", 1.0)


SCORES = st.lists(
    st.tuples(st.booleans(), st.floats(0, 1), st.booleans()), min_size=2, max_size=60
).filter(lambda rows: len({label for label, _, _ in rows}) == 2)

few = settings(max_examples=30, deadline=None)  # each is a thousand points


def _measured(rows) -> list[Measured]:
    refusal = Refusal(Reason.NUMBERS_DIFFER, "")
    return [
        Measured(Pair("a", "b", label), Observed("a", "b", score), refusal if refused else None)
        for label, score, refused in rows
    ]


@few
@given(SCORES)
def test_a_higher_threshold_never_lets_more_pass(rows) -> None:
    curve = sweep(_measured(rows), by_similarity)
    assert len(curve.points) == STEPS + 1
    for lower, higher in zip(curve.points, curve.points[1:], strict=False):
        assert higher.passed_same <= lower.passed_same
        assert higher.passed_different <= lower.passed_different


@few
@given(SCORES)
def test_the_named_points_are_the_best_of_all_and_are_in_the_rows(rows) -> None:
    curve = sweep(_measured(rows), by_similarity)
    gap = abs(curve.balance.false_pass - 1 + curve.balance.coverage)
    assert gap == pytest.approx(min(abs(p.false_pass - 1 + p.coverage) for p in curve.points))
    assert curve.best.f1 == max(p.f1 for p in curve.points)
    shown = curve.rows()
    assert curve.balance in shown
    assert curve.best in shown
    assert 2 <= len(shown) <= 18
    assert [p.threshold for p in shown] == sorted({p.threshold for p in shown})


@few
@given(SCORES, st.integers(0, STEPS))
def test_counts_agree_with_counting(rows, step: int) -> None:
    measured = _measured(rows)
    threshold = step / STEPS
    point = sweep(measured, by_similarity).at(threshold)
    passed = [
        one.pair.same
        for one in measured
        if one.refusal is None and one.observed.similarity >= threshold - 1e-6
    ]
    assert (point.passed_same, point.passed_different) == (
        sum(passed),
        len(passed) - sum(passed),
    )
