"""One probability from all that was measured, and the file that says how."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache import ConfigurationError
from langchain_semcache.threshold.confidence import Calibration, as_it_is, fit, load, shipped
from langchain_semcache.threshold.features import NAMES, Observed, features

CALIBRATION = Calibration(
    encoder="e",
    verifier="v",
    floor=0.5,
    bar=0.9,
    least=0.8,
    weights={"similarity": 8.0, "opinion": 0.7, "bias": -6.0},
    fitted_on="a few pairs, 中文",
)
chances = st.floats(0, 1)


@given(chances, chances)
def test_it_is_a_probability_whatever_was_measured(similarity, opinion):
    chance = CALIBRATION.probability(Observed("a b", "a c", similarity, opinion))
    assert 0 < chance < 1


@given(st.floats(0.001, 0.999))
def test_without_labels_the_verifiers_probability_is_the_confidence(opinion):
    untried = as_it_is("e", "v", floor=0.7)
    assert untried.probability(Observed("a", "b", 0.8, opinion)) == pytest.approx(opinion)
    assert (untried.floor, untried.bar, untried.least) == (0.7, 0.9, 0.9)


def test_more_likeness_and_a_better_opinion_are_never_less_likely():
    near = [CALIBRATION.probability(Observed("a", "b", n / 10, 0.5)) for n in range(11)]
    said = [CALIBRATION.probability(Observed("a", "b", 0.8, n / 10)) for n in range(11)]
    assert near == sorted(near)
    assert said == sorted(said)


@given(chances, chances, st.floats(1, 10), chances)
def test_a_budget_reckons_with_less_for_what_is_nearer_and_surer(alike, sure, margin, share):
    prudent = replace(CALIBRATION, margin=margin, distance=share).prudent
    reckoned = prudent("a", alike, sure)
    assert 0 <= reckoned <= 1
    assert prudent("a", (1 + alike) / 2, sure) >= reckoned
    assert prudent("a", alike, (1 + sure) / 2) >= reckoned


def test_what_a_budget_reckons_with_lies_between_confidence_and_distance():
    mixed = replace(CALIBRATION, margin=2.0, distance=0.5, margin_chinese=4.0, distance_chinese=1.0)
    assert mixed.prudent("a", 0.99, 0.96) == pytest.approx(1 - 2 * 0.02)  # √(0.01 · 0.04)
    assert mixed.prudent("退货", 0.99, 0.96) == pytest.approx(1 - 4 * 0.01)
    assert mixed.prudent("a", 1 + 1e-7, 0.96) == 1
    plain = replace(CALIBRATION, margin=2.0)
    assert plain.prudent("a", 0.6, 0.96) == pytest.approx(1 - 2 * 0.04)
    assert plain.prudent("a", 0.99, 0.2) == 0


def test_distance_is_told_by_that_of_those_around():
    far = replace(CALIBRATION, distance=1.0).prudent
    assert far("a", 0.8, 0.5) == pytest.approx(0.8)
    assert far("a", 0.8, 0.5, (0.6,) * 5) == pytest.approx(1 - 0.2 / 0.4)
    assert far("a", 0.8, 0.5, (0.6,) * 9) == far("a", 0.8, 0.5, (0.6,) * 5)
    assert far("a", 0.8, 0.5, (0.5,)) == pytest.approx(1 - 0.2 / 0.9)
    for around in ((0.8,) * 5, (0.9,) * 5, (1 + 1e-7,) * 5):
        assert far("a", 0.8, 0.5, around) == 0


@given(chances, st.lists(chances, max_size=8), chances)
def test_the_nearer_the_others_are_the_less_a_candidate_stands_out(alike, around, nearer):
    led = replace(CALIBRATION, weights={**CALIBRATION.weights, "lead": 3.0, "alone": 1.0})
    closer = [min(1.0, one + nearer) for one in around]
    alone = led.probability(Observed("a b", "a c", alike, 0.5))
    among = [
        led.probability(Observed("a b", "a c", alike, 0.5, around=a)) for a in (around, closer)
    ]
    assert among[0] >= among[1]
    assert alone == led.probability(Observed("a b", "a c", alike, 0.5, around=()))


def test_being_less_alike_makes_no_pair_surer():
    """Typing errors are far and the same, and must not teach that far is better than near."""
    typos = [Observed("a b", "a b", 0.3 + n / 1000) for n in range(90)]
    others = [Observed("a b", "c d", 0.5 + n / 1000) for n in range(90)]
    near = [Observed("a b", "a b", 0.9 + n / 1000) for n in range(90)]
    weights = fit([*typos, *others, *near], [True] * 90 + [False] * 90 + [True] * 90)
    assert weights["far"] <= weights["similarity"] + 1e-9


def test_a_file_from_before_distance_counted_is_read_without_it(tmp_path):
    record = json.loads(CALIBRATION.to_json())
    del record["distance"], record["distance_chinese"]
    file = tmp_path / "older.json"
    file.write_text(json.dumps(record), "utf-8")
    assert load(file) == CALIBRATION


def test_there_is_one_number_for_each_name():
    for pair in (("", ""), ("a b c d", "a b c e"), ("怎么退货", "如何退货"), ("a", "退货")):
        assert len(features(Observed(*pair, 0.9, 0.5))) == len(NAMES)


def test_a_file_comes_back_as_it_was_written(tmp_path):
    file = tmp_path / "calibration.json"
    file.write_text(CALIBRATION.to_json(), "utf-8")
    assert load(file) == CALIBRATION
    alone = replace(CALIBRATION, verifier=None)
    file.write_text(alone.to_json(), "utf-8")
    assert load(file) == alone


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": 2}, "format 2"),
        ({"weights": {"similarity": 1.0}}, "bias"),
        ({"weights": {"bias": 0.0, "mood": 1.0}}, "mood"),
        ({"weights": {"bias": float("nan")}}, "finite"),
        ({"weights": [1.0]}, "bias"),
        ({"weights": {"bias": "much"}}, "much"),
        ({"floor": 1.5}, "floor"),
        ({"bar": True}, "bar"),
        ({"least": None}, "least"),
        ({"margin": 0.5}, "margin"),
        ({"distance": 1.5}, "distance"),
        ({"distance_chinese": "much"}, "distance_chinese"),
        ({"encoder": ...}, "encoder"),
    ],
)
def test_what_is_no_calibration_is_refused_by_name(tmp_path, change, problem):
    record = json.loads(CALIBRATION.to_json()) | change
    file = tmp_path / "odd.json"
    file.write_text(json.dumps({k: v for k, v in record.items() if v is not ...}), "utf-8")
    with pytest.raises(ConfigurationError, match=problem) as raised:
        load(file)
    assert str(file) in str(raised.value)
    assert "semcache calibrate" in str(raised.value)


@pytest.mark.parametrize("text", ["", "[]", "null", "7", "{", "{}"])
def test_any_other_text_is_none(text):
    with pytest.raises(ConfigurationError, match="somewhere"):
        Calibration.from_json(text, name="somewhere")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="absent"):
        load(tmp_path / "absent.json")


def test_fitting_finds_what_tells_right_from_wrong():
    pairs = [Observed("a b", "a b", n / 100) for n in range(100)]
    right = [pair.similarity > 0.6 for pair in pairs]
    made = replace(CALIBRATION, weights=fit(pairs, right))
    assert made.probability(pairs[95]) > 0.9
    assert made.probability(pairs[5]) < 0.1
    heavier = replace(CALIBRATION, weights=fit(pairs, right, [1 + 9 * good for good in right]))
    assert heavier.probability(pairs[60]) > made.probability(pairs[60])


@pytest.mark.parametrize("right", [[], [True, True], [False]])
def test_labels_of_one_kind_say_nothing(right):
    with pytest.raises(ConfigurationError, match="both labels"):
        fit([Observed("a", "b", 0.5)] * len(right), right)


def test_nothing_ships_for_models_that_nobody_knows():
    assert shipped("nobody's encoder", None) is None
    assert shipped("nobody's encoder", "nobody's verifier") is None


@pytest.mark.parametrize(
    ("question", "outweighs", "decides"),
    [
        ("Can I go without a visa?", True, True),
        ("没有发票还能退货吗", True, True),
        ("Can I go without a visa?", False, False),
        ("Wann ist geöffnet?", True, False),
        ("いつ開きますか", True, False),
    ],
)
def test_confidence_has_the_last_word_where_it_was_learned(question, outweighs, decides):
    calibration = replace(CALIBRATION, outweighs=outweighs)
    assert calibration.has_last_word(question, "visa-free entry") is decides
    assert calibration.has_last_word("visa-free entry", question) is decides


def test_a_file_says_whether_guards_may_be_outweighed(tmp_path):
    file = tmp_path / "calibration.json"
    file.write_text(replace(CALIBRATION, outweighs=True).to_json(), "utf-8")
    assert load(file).outweighs
    record = json.loads(file.read_text("utf-8"))
    del record["outweighs"]
    file.write_text(json.dumps(record), "utf-8")
    assert not load(file).outweighs


@pytest.mark.parametrize(
    "change", [{"outweighs": "yes"}, {"outweighs": 1}, {"outweighs": True, "verifier": None}]
)
def test_what_makes_no_sense_of_outweighing_is_refused(change):
    record = {**json.loads(CALIBRATION.to_json()), **change}
    with pytest.raises(ConfigurationError, match="outweighs"):
        Calibration.from_json(json.dumps(record), name="mine.json")


def test_an_uncalibrated_verifier_outweighs_no_guard():
    assert not as_it_is("e", "v", floor=0.7).has_last_word("a visa", "visas")
