"""The verifier that ships, with its real model over the real encoder."""

from __future__ import annotations

import os
from types import SimpleNamespace

import numpy as np
import pytest

from langchain_semcache.encoders import _use_multilingual as use
from langchain_semcache.encoders.hashing import TokenizerHashEncoder
from langchain_semcache.encoders.onnx import OnnxEncoder
from langchain_semcache.errors import ConfigurationError, MissingExtra, VerifierUnavailable
from langchain_semcache.testing.verifier_conformance import VerifierSuite
from langchain_semcache.verifiers import pairs
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


def replace_session(verifier, monkeypatch, run):
    session = SimpleNamespace(run=run)
    monkeypatch.setattr(verifier, "_judge", SimpleNamespace(get=lambda: session))


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
    def run(outputs, inputs):
        raise RuntimeError("secret question")

    replace_session(verifier, monkeypatch, run)
    with pytest.raises(VerifierUnavailable, match="RuntimeError") as failure:
        verifier.judge("a", ["b"])
    assert "secret" not in str(failure.value)


def test_a_reader_that_fails_is_named_without_its_text_and_nothing_of_it_is_kept(monkeypatch):
    def run(outputs, inputs):
        raise RuntimeError("secret question")

    verifier = PairVerifier(OnnxEncoder())
    expected = verifier.judge(*SAME[0][:1], [SAME[0][1]])
    with monkeypatch.context() as patch:
        session = SimpleNamespace(run=run)
        patch.setattr(verifier, "_reader", SimpleNamespace(get=lambda: session))
        with pytest.raises(VerifierUnavailable, match="RuntimeError") as failure:
            verifier.judge("what is read now", ["and this"])
    assert "secret" not in str(failure.value)
    assert verifier.judge("what is read now", ["what is read now"]) == [pairs.EQUAL]
    assert verifier.judge(*SAME[0][:1], [SAME[0][1]]) == expected


def test_each_text_is_read_once_and_not_at_all_where_it_was_just_encoded(monkeypatch):
    read, run = [], use.UseMultilingual.read

    def counted(self, tokens):
        read.append(len(tokens))
        return run(self, tokens)

    monkeypatch.setattr(use.UseMultilingual, "read", counted)
    encoder = OnnxEncoder()
    verifier = PairVerifier(encoder)
    encoder.encode(["How do I bake bread?"])
    assert read == [1]
    first = verifier.judge("How do I bake bread?", ["bread, how?", "What is bread?"])
    assert read == [1, 2]
    again = verifier.judge("How do I bake bread?", ["What is bread?", "bread, how?"])
    assert read == [1, 2]
    assert again == pytest.approx(first[::-1], abs=1e-6)
    verifier.judge("bread, how?", ["What is bread?", "no bread"])
    assert read == [1, 2, 1]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_no_verdict(verifier, monkeypatch, wrong):
    replace_session(verifier, monkeypatch, lambda outputs, inputs: [np.array([0.0, wrong])])
    with pytest.raises(VerifierUnavailable, match="NaN or infinite"):
        verifier.judge("a", ["b", "c"])


def test_a_missing_runtime_is_named_with_the_fix(monkeypatch):
    encoder = OnnxEncoder()
    monkeypatch.setattr(pairs, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"\[local\]"):
        PairVerifier(encoder)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_judges_the_same_with_a_session_of_its_own(verifier):
    question, stored = SAME[0][0], [SAME[0][1], OTHER[0][1]]
    expected = verifier.judge(question, stored)
    parents = verifier._judge.get()
    child = os.fork()
    if child == 0:
        same = np.allclose(verifier.judge(question, stored), expected, atol=1e-5)
        os._exit(0 if same and verifier._judge.get() is not parents else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert verifier._judge.get() is parents


def test_verifiers_share_one_session(verifier):
    assert PairVerifier(OnnxEncoder())._judge.get() is verifier._judge.get()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How do I reset my password?", "how do i reset my password"),
        ("怎么重置密码？", "怎么重置密码"),
        ("send  me 🍎", "Send me 🍎!"),
    ],
)
def test_only_case_spaces_and_closing_marks_make_no_difference(verifier, one, other):
    assert verifier.judge(one, [other, one]) == [pairs.EQUAL, pairs.EQUAL]


@pytest.mark.parametrize(
    ("one", "other"), [("send me 🍎", "send me 🍌"), ("a part", "apart"), ("?", "!"), ("x²", "x2")]
)
def test_what_the_tokenizer_takes_for_the_same_is_not(verifier, one, other):
    assert verifier.judge(one, [other])[0] != pairs.EQUAL
