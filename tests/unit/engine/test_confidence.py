"""Confidence end to end: which calibration is taken, what it needs, and what a verifier may say."""

from __future__ import annotations

import pytest

from langchain_semcache import (
    ConfigurationError,
    Reason,
    Request,
    Response,
    Semcache,
    VerifierUnavailable,
)
from langchain_semcache.testing.fakes import ScriptedEncoder
from langchain_semcache.threshold.confidence import Calibration

STORED, ASKED = "wash a wool coat", "repair a wool coat"


class Says:
    """Gives what it was told to give."""

    may_block = False

    def __init__(self, answer, identity="says"):
        self.answer = answer
        self.identity = identity

    def judge(self, question, stored):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer if isinstance(self.answer, list) else [self.answer] * len(stored)


@pytest.fixture
def open_(tmp_path):
    made = []

    def opened(verifier=None, *, written_for=None, **settings):
        if written_for is not None:
            encoder, of = written_for
            calibration = Calibration(
                encoder=encoder, verifier=of, floor=0.5, bar=0.6, least=0.4,
                weights={"opinion": 1.0, "bias": 0.0},
            )  # fmt: skip
            file = tmp_path / "calibration.json"
            file.write_text(calibration.to_json(), "utf-8")
            settings["calibration"] = str(file)
        encoder = ScriptedEncoder({STORED: 1.0, ASKED: 0.95})
        made.append(Semcache.open(":memory:", encoder=encoder, verifier=verifier, **settings))
        return made[-1]

    yield opened
    for cache in made:
        cache.close()


def asked(cache):
    cache.store(Request(messages=STORED), Response.from_text("By hand."))
    return cache.lookup(Request(messages=ASKED))


@pytest.mark.parametrize(
    ("says", "settings", "hit"),
    [
        (0.89, {}, False),
        (0.91, {}, True),
        (0.91, {"min_confidence": 0.95}, False),
        (0.7, {"min_confidence": 0.65}, True),
        (0.59, {"written_for": ("scripted", "says")}, False),
        (0.61, {"written_for": ("scripted", "says")}, True),
        (0.61, {"written_for": ("scripted", "says"), "min_confidence": 0.8}, False),
    ],
)
def test_a_hit_is_as_sure_as_it_has_to_be(open_, says, settings, hit):
    decision = asked(open_(Says(says), **settings))
    assert decision.hit is hit
    assert decision.reason is (Reason.SEMANTIC if hit else Reason.LOW_CONFIDENCE)
    assert decision.confidence == pytest.approx(says)
    assert decision.similarity == pytest.approx(0.95)


@pytest.mark.parametrize(
    "answer",
    [
        VerifierUnavailable("gone"),
        RuntimeError("boom"),
        [],
        [0.9, 0.9],
        [float("nan")],
        [1.7],
        [-0.1],
        ["yes"],
        [None],
    ],
)
def test_what_is_no_opinion_serves_nothing(open_, answer):
    decision = asked(open_(Says(answer)))
    assert (decision.hit, decision.reason) == (False, Reason.VERIFIER_UNAVAILABLE)
    assert decision.response is None


def test_an_identical_request_needs_no_opinion(open_):
    cache = open_(Says(RuntimeError("boom")))
    asked(cache)
    assert cache.lookup(Request(messages=STORED)).reason is Reason.EXACT


@pytest.mark.parametrize(
    ("written_for", "verifier"),
    [(("other", None), None), (("scripted", "says"), None), (("scripted", None), Says(0.9))],
)
def test_a_calibration_of_other_models_is_refused(open_, written_for, verifier):
    with pytest.raises(ConfigurationError, match="semcache calibrate") as raised:
        open_(verifier, written_for=written_for)
    assert repr(written_for[0]) in str(raised.value)


@pytest.mark.parametrize("setting", [{"min_confidence": 0.9}, {"max_error_rate": 0.01}])
@pytest.mark.parametrize("calibration", ["auto", "none"])
def test_a_confidence_that_nothing_computes_is_refused(open_, setting, calibration):
    """A setting that would do nothing is no setting."""
    with pytest.raises(ConfigurationError, match=f"{next(iter(setting))} needs a calibration"):
        open_(calibration=calibration, verifier="none", **setting)


def test_without_a_calibration_the_similarity_stands_for_it(open_):
    decision = asked(open_(similarity_threshold=0.9))
    assert decision.hit
    assert decision.confidence == decision.similarity


class TestWhatOnlyOneQuestionNames:
    """In other words confidence may outweigh it; elsewhere a guard has the last word."""

    STORED = "Are children let in without a grown-up?"
    REWORDED = "unaccompanied minors, entry permitted"
    CLOSE = "Are children let in with a grown-up?"

    def asked(self, tmp_path, question, says, outweighs=True):
        calibration = Calibration(
            encoder="scripted", verifier="says", floor=0.5, bar=0.6, least=0.4,
            weights={"opinion": 1.0, "bias": 0.0}, outweighs=outweighs,
        )  # fmt: skip
        file = tmp_path / "calibration.json"
        file.write_text(calibration.to_json(), "utf-8")
        encoder = ScriptedEncoder({self.STORED: 1.0, question: 0.95})
        with Semcache.open(
            ":memory:", encoder=encoder, verifier=Says(says), calibration=str(file)
        ) as cache:
            cache.store(Request(messages=self.STORED), Response.from_text("No."))
            return cache.lookup(Request(messages=question))

    def test_it_is_outweighed_by_confidence(self, tmp_path):
        decision = self.asked(tmp_path, self.REWORDED, 0.95)
        assert (decision.hit, decision.reason) == (True, Reason.SEMANTIC)
        assert decision.confidence == pytest.approx(0.95)
        (verdict,) = decision.verdicts
        assert (verdict.doubt, verdict.detail) == (Reason.POLARITY_DIFFERS, "negated on one side")

    def test_too_little_confidence_leaves_the_guards_reason(self, tmp_path):
        decision = self.asked(tmp_path, self.REWORDED, 0.55)
        assert (decision.hit, decision.reason) == (False, Reason.POLARITY_DIFFERS)
        assert decision.detail.startswith("negated on one side; confidence 0.550 < 0.6")

    @pytest.mark.parametrize(("question", "outweighs"), [(CLOSE, True), (REWORDED, False)])
    def test_it_is_final_between_like_words_or_where_nothing_was_learned(
        self, tmp_path, question, outweighs
    ):
        decision = self.asked(tmp_path, question, 0.999, outweighs)
        assert (decision.hit, decision.reason) == (False, Reason.POLARITY_DIFFERS)

    def test_two_named_things_are_final_in_any_words(self, tmp_path):
        question = "minors unaccompanied: entry permitted for 3"
        self.STORED = "Are 5 children let in on their own?"
        decision = self.asked(tmp_path, question, 0.999)
        assert (decision.hit, decision.reason) == (False, Reason.NUMBERS_DIFFER)
