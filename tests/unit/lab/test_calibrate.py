"""`calibrate`: fitted on one half, tried on the other, and honest about weak data."""

from __future__ import annotations

import numpy as np
import pytest

from langchain_semcache import ConfigurationError
from langchain_semcache.encoders.onnx import IDENTITY
from langchain_semcache.lab.calibrate import (
    LEAST,
    MORE_LIKELY_THAN_NOT,
    Bin,
    calibrate,
    calibration_error,
    passing,
    reliability,
)
from langchain_semcache.lab.pairs import Measured
from langchain_semcache.threshold.confidence import Calibration, shipped

MODELS = {"encoder": "e", "verifier": None, "max_false_pass": 0.05}


@pytest.fixture
def mixed(pair) -> list[Measured]:
    """2000 pairs whose label follows their similarity by chance, as a logistic curve says."""
    draws = np.random.default_rng(7)
    similarities = draws.uniform(0.3, 1.0, 2000)
    chances = 1 / (1 + np.exp(-(similarities - 0.7) * 20))
    labels = draws.uniform(size=2000) < chances
    return [pair(bool(s), float(x)) for s, x in zip(labels, similarities, strict=True)]


def test_the_bar_keeps_the_wish_on_the_half_it_was_chosen_on(mixed) -> None:
    made = calibrate(mixed, **MODELS)
    assert made.fitting.false_pass <= 0.05
    assert made.fitting.false_pass > 0.04  # and is not higher than it must be
    assert made.held_out.false_pass < 0.08
    assert made.held_out.coverage > 0.6
    assert made.left_out == 0
    assert made.warnings == ()


def test_confidence_comes_true_on_pairs_it_never_saw(mixed) -> None:
    made = calibrate(mixed, **MODELS)
    assert made.calibration_error < 0.05
    assert sum(one.count for one in made.bins) > 600  # the rest lies below the floor
    for one in made.bins:
        assert one.low <= one.predicted <= one.high


def test_a_stricter_wish_gives_a_higher_bar_and_less_coverage(mixed) -> None:
    loose = calibrate(mixed, **MODELS | {"max_false_pass": 0.2})
    strict = calibrate(mixed, **MODELS | {"max_false_pass": 0.01})
    assert strict.calibration.bar > loose.calibration.bar
    assert strict.held_out.coverage < loose.held_out.coverage
    assert strict.calibration.least == min(strict.calibration.bar, LEAST)


def test_the_floor_lies_below_nearly_all_same_pairs(mixed) -> None:
    made = calibrate(mixed, **MODELS)
    same = [one.observed.similarity for one in mixed if one.pair.same]
    below = sum(value < made.calibration.floor for value in same) / len(same)
    assert below < 0.02
    assert made.calibration.floor > 0.4


def test_what_is_reported_is_what_the_written_file_does(mixed) -> None:
    """Weights are rounded in the file; the bar was chosen for the rounded ones."""
    made = calibrate(mixed, **MODELS)
    read = Calibration.from_json(made.calibration.to_json(), name="file")
    assert read == made.calibration
    assert passing(mixed, read) == passing(mixed, made.calibration)


def test_guards_count_as_not_passing_and_are_not_fitted_on(mixed, pair) -> None:
    refused = [pair(False, 0.99, refused=True) for _ in range(500)]
    made = calibrate([*mixed, *refused], **MODELS)
    assert made.held_out.different > 500
    assert made.calibration_error < 0.06
    assert made.held_out.coverage > 0.7  # the refused ones make room below the wish


def test_no_bar_lies_where_wrong_is_likelier_than_right(pair) -> None:
    """Everything different is refused by a guard: the wish alone would serve anything."""
    different = [pair(False, 0.6, refused=True) for _ in range(200)]
    doubtful = [pair(n % 2 == 0, 0.6 + n / 1000) for n in range(20)]
    same = [pair(True, 0.9) for _ in range(200)]
    made = calibrate([*different, *doubtful, *same], **MODELS | {"max_false_pass": 0.5})
    assert made.calibration.bar == MORE_LIKELY_THAN_NOT


def test_feedback_is_reported_on_its_own(mixed, pair) -> None:
    served = [pair(n % 10 != 0, 0.95) for n in range(100)]
    made = calibrate([*mixed, *served], **MODELS, feedback=100)
    assert made.feedback is not None
    assert 30 < made.feedback.same + made.feedback.different < 70
    assert calibrate(mixed, **MODELS).feedback is None


def test_few_pairs_are_said(mixed) -> None:
    (warning,) = calibrate(mixed[:150], **MODELS).warnings
    assert "only 150 pairs" in warning


def test_one_sided_pairs_are_said(mixed, pair) -> None:
    same = [pair(True, 0.9) for _ in range(20_000)]
    warnings = calibrate([*mixed, *same], **MODELS).warnings
    assert any("one-sided" in warning and "different" in warning for warning in warnings)


def test_a_wish_that_nothing_meets_is_said(pair) -> None:
    """Same and different look alike."""
    pairs = [pair(n % 2 == 0, 0.8) for n in range(400)]
    made = calibrate(pairs, **MODELS)
    assert made.held_out.coverage == 0.0
    assert any("exact matches only" in warning for warning in made.warnings)


def test_pairs_that_the_guards_leave_with_one_label_are_refused(pair) -> None:
    pairs = [pair(True, 0.9) for _ in range(10)]
    pairs += [pair(False, 0.9, refused=True) for _ in range(10)]
    with pytest.raises(ConfigurationError, match="5 same and 0 different"):
        calibrate(pairs, **MODELS)


@pytest.mark.parametrize("wish", [0.0, 1.0, -1.0, float("nan")])
def test_a_wish_out_of_range_is_refused(mixed, wish: float) -> None:
    with pytest.raises(ConfigurationError, match="max_false_pass"):
        calibrate(mixed, **MODELS | {"max_false_pass": wish})


def test_an_opinion_is_fitted_on_where_there_is_one(pair) -> None:
    draws = np.random.default_rng(3)
    pairs = []
    for _ in range(600):
        same = bool(draws.uniform() < 0.5)
        opinion = float(draws.beta(8, 2) if same else draws.beta(2, 8))
        pairs.append(pair(same, 0.8, opinion=opinion))
    made = calibrate(pairs, **MODELS | {"verifier": "v"})
    assert made.calibration.verifier == "v"
    assert made.calibration.weights["opinion"] > 0.5
    assert made.held_out.coverage > 0.7


def test_the_calibration_error_weighs_bins_by_their_pairs() -> None:
    bins = [Bin(0.0, 0.1, 30, 0.05, 0.05), Bin(0.9, 1.0, 10, 0.95, 0.75)]
    assert calibration_error(bins) == pytest.approx(0.05)
    assert calibration_error([]) == 0.0


def test_a_certain_pair_falls_into_the_last_bin(pair) -> None:
    sure = Calibration(
        encoder="e", verifier=None, floor=0.0, bar=0.5, least=0.5, weights={"bias": 30.0}
    )
    (last,) = reliability([pair(True, 0.9), pair(False, 0.9, refused=True)], sure)
    assert (last.low, last.count, last.observed) == (0.9, 1, 1.0)


@pytest.mark.parametrize("text", ["问题{}怎么办", "why is it that the thing number {} does that"])
def test_pairs_of_one_language_alone_can_be_fitted(pair, text: str) -> None:
    """Every feature that tells languages apart is constant then."""
    pairs = [
        pair(n % 2 == 0, 0.7 + 0.2 * (n % 2 == 0), question=text.format(n), stored=text.format(-n))
        for n in range(1, 401)
    ]
    made = calibrate(pairs, **MODELS)
    assert made.held_out.coverage > 0.9
    assert made.held_out.false_pass < 0.1


def test_a_wish_that_does_not_hold_on_other_pairs_is_said(pair) -> None:
    """Linked pairs stay in one half, so that the two can be made to differ: the larger group of
    different pairs is fitted on, and says nothing of the smaller."""
    far = [pair(False, 0.4, question="asked far") for _ in range(110)]
    near = [pair(False, 0.92, question="asked near") for _ in range(100)]
    same = [pair(True, 0.9) for _ in range(200)]
    made = calibrate([*far, *near, *same], **MODELS)
    assert made.fitting.false_pass <= 0.05
    assert made.held_out.false_pass > 0.5
    assert any("than wished" in warning for warning in made.warnings)


@pytest.mark.parametrize(("different", "outweighs"), [(60, True), (30, False)])
def test_guards_are_outweighed_where_enough_of_such_pairs_were_fitted_on(
    pair, different, outweighs
) -> None:
    """Half of the pairs are fitted on, and 20 of each label are enough."""
    clear = [pair(n % 2 == 0, 0.9 if n % 2 == 0 else 0.4, opinion=0.5) for n in range(200)]
    judged = {"opinion": 0.9, "refused": True, "final": False}
    doubtful = [pair(n < 60, 0.8, **judged) for n in range(60 + different)]
    made = calibrate([*clear, *doubtful], **MODELS | {"verifier": "v"})
    assert made.calibration.outweighs is outweighs


def test_what_is_never_outweighed_teaches_nothing(pair) -> None:
    clear = [pair(n % 2 == 0, 0.9 if n % 2 == 0 else 0.4, opinion=0.5) for n in range(200)]
    final = [pair(n % 2 == 0, 0.4, opinion=0.9, refused=True) for n in range(200)]
    few = [pair(True, 0.4, opinion=0.9, refused=True, final=False) for _ in range(200)]
    weights = calibrate(clear, **MODELS | {"verifier": "v"}).calibration.weights
    for others in (final, few):
        made = calibrate([*clear, *others], **MODELS | {"verifier": "v"}).calibration
        assert not made.outweighs
        assert set(made.weights) == set(weights)
        assert made.weights["similarity"] > 0


def test_what_follow_ups_have_taught_is_carried_over(mixed) -> None:
    """Pairs have no chats, and a calibration of one's own must not forget what ships."""
    known = shipped(IDENTITY, None)
    assert known is not None
    made = calibrate(mixed, **MODELS | {"encoder": known.encoder}).calibration
    assert made.weights["same_attribute"] == pytest.approx(known.weights["same_attribute"])
    assert calibrate(mixed, **MODELS).calibration.weights["same_attribute"] == 0


def test_what_crowds_have_taught_is_carried_over_and_changes_nothing_for_pairs(mixed) -> None:
    known = shipped(IDENTITY, None)
    assert known is not None
    made = calibrate(mixed, **MODELS | {"encoder": known.encoder}).calibration
    plain = calibrate(mixed, **MODELS).calibration
    for name in ("lead", "alone"):
        assert made.weights[name] == pytest.approx(known.weights[name])
        assert plain.weights[name] == pytest.approx(0)
    for one in mixed:
        chances = [each.probability(one.observed) for each in (made, plain)]
        assert chances[0] == pytest.approx(chances[1], abs=1e-3)
