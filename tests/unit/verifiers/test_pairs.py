"""The verifier that ships, with its real model over the real encoder."""

from __future__ import annotations

import pytest

from langchain_semcache.encoders.hashing import TokenizerHashEncoder
from langchain_semcache.encoders.onnx import OnnxEncoder
from langchain_semcache.errors import ConfigurationError, VerifierUnavailable
from langchain_semcache.testing.verifier_conformance import VerifierSuite
from langchain_semcache.verifiers.pairs import PairVerifier

SAME = [
    ("How do I reset my password?", "I forgot my password, how can I get a new one?"),
    ("When does my package arrive?", "any ETA on the delivery"),
    ("怎么重置密码？", "密码忘了怎么办"),
    ("北京到上海高铁要多久", "从北京坐高铁去上海需要几个小时？"),
]
OTHER = [
    ("How do I reset my password?", "How do I reset my router?"),
    ("What causes high blood pressure?", "Where do I park near the stadium?"),
    ("怎么重置密码？", "怎么删除账号？"),
    ("北京到上海高铁要多久", "北京到上海高铁票多少钱"),
]


@pytest.fixture(scope="module")
def verifier():
    return PairVerifier(OnnxEncoder().open())


class TestPairVerifier(VerifierSuite):
    @pytest.fixture
    def verifier(self):
        return PairVerifier(OnnxEncoder().open())


def test_other_wordings_are_likelier_than_other_questions(verifier):
    same = [verifier.judge(one, [other])[0] for one, other in SAME]
    different = [verifier.judge(one, [other])[0] for one, other in OTHER]
    assert min(same) > max(different)


@pytest.mark.parametrize(("one", "other"), SAME + OTHER)
def test_it_does_not_matter_which_was_stored(verifier, one, other):
    assert verifier.judge(one, [other])[0] == pytest.approx(
        verifier.judge(other, [one])[0], abs=1e-4
    )


def test_a_candidate_is_judged_as_it_is_judged_alone(verifier):
    question, stored = SAME[0][0], [SAME[0][1], OTHER[0][1], "Hi"]
    alone = [verifier.judge(question, [text])[0] for text in stored]
    assert verifier.judge(question, stored) == pytest.approx(alone, abs=1e-4)


def test_another_encoder_is_refused_with_the_way_out():
    with pytest.raises(ConfigurationError, match="cross-encoder"):
        PairVerifier(TokenizerHashEncoder())


def test_a_runtime_that_fails_is_named_without_its_text(verifier, monkeypatch):
    class Broken:
        def run(self, outputs, inputs):
            raise RuntimeError("secret question")

    monkeypatch.setattr(verifier, "_session", Broken())
    with pytest.raises(VerifierUnavailable, match="RuntimeError") as failure:
        verifier.judge("a", ["b"])
    assert "secret" not in str(failure.value)
