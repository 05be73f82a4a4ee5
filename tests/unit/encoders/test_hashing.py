"""SimHash: near texts get near hashes, in every process the same."""

import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.encoders import TokenizerHashEncoder
from langchain_semcache.encoders.hashing import hamming, tokenize
from langchain_semcache.testing.encoder_conformance import EncoderSuite

ENCODER = TokenizerHashEncoder()

GOLDEN = {
    "": 0xCBF29CE484222325,
    "How do I reset my password?": 0x47782D819D8EC371,
    "怎么重置密码？": 0xA34C10888992C15D,
    "naïve café ＡＢＣ": 0xF3238F98058B87ED,
}

words = st.lists(
    st.text(st.characters(categories=["Ll"], max_codepoint=0x24F), min_size=2, max_size=9),
    min_size=16,
    max_size=40,
    unique=True,
)


class TestTokenizerHashEncoder(EncoderSuite):
    @pytest.fixture
    def encoder(self):
        return ENCODER


@pytest.mark.parametrize(("text", "signature"), GOLDEN.items())
def test_signatures_are_pinned(text, signature):
    """A change here changes every stored key: it needs a new identity."""
    assert ENCODER.signature(text) == signature


def test_another_process_agrees():
    code = (
        "from langchain_semcache.encoders import TokenizerHashEncoder as T;"
        "print(T().signature('How do I reset my password?'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(run.stdout) == GOLDEN["How do I reset my password?"]


@given(words, st.integers(min_value=0))
def test_one_changed_token_moves_few_bits(tokens, where):
    """Far fewer than the 32 bits in which unrelated texts differ."""
    changed = list(tokens)
    changed[where % len(tokens)] = "zzyzx"
    distance = hamming(ENCODER.signature(" ".join(tokens)), ENCODER.signature(" ".join(changed)))
    assert distance <= 24


def test_distance_grows_with_the_share_of_changed_tokens():
    """On average: one token of twenty, five of twenty, all of them."""
    rng = random.Random(7)
    vocabulary = [f"word{number}" for number in range(5000)]
    means = []
    for changes in (1, 5, 20):
        total = 0
        for _ in range(200):
            before = rng.sample(vocabulary, 20)
            after = list(before)
            for position in rng.sample(range(20), changes):
                after[position] = rng.choice(vocabulary)
            signatures = [ENCODER.signature(" ".join(text)) for text in (before, after)]
            total += hamming(*signatures)
        means.append(total / 200)
    assert means[0] < 10 < means[1] < 25
    assert means[2] == pytest.approx(32, abs=2)


def test_every_bit_is_a_fair_coin():
    """Also for texts of one short token, where plain FNV-1a has bits that hardly move."""
    vectors = ENCODER.encode([f"w{number}" for number in range(2000)])
    assert np.abs((vectors > 0).mean(axis=0) - 0.5).max() < 0.06


@given(st.text(max_size=60), st.text(max_size=60))
def test_dot_product_is_hamming_distance(first, second):
    one, two = ENCODER.encode([first, second])
    distance = hamming(ENCODER.signature(first), ENCODER.signature(second))
    assert float(one @ two) == 1 - 2 * distance / 64


def test_case_and_compatibility_forms_do_not_count():
    assert ENCODER.signature("ＨＥＬＬＯ Straße") == ENCODER.signature("hello STRASSE")
    assert ENCODER.signature("e\u0301t\u00e9") == ENCODER.signature("\u00e9te\u0301")


def test_unspaced_scripts_go_by_character():
    assert tokenize("我要退款 now") == ["我", "要", "退", "款", "now"]
    assert tokenize("C++ vs C#") == ["c", "+", "+", "vs", "c", "#"]
    one, two, other = (
        ENCODER.signature(text)
        for text in (
            "请问我怎么样才能申请退款呢",
            "请问我怎样才能申请退款呢",
            "今天北京的天气会不会下雨啊",
        )
    )
    assert hamming(one, two) < 20 < hamming(one, other)


def test_salts_share_nothing():
    salted = TokenizerHashEncoder(salt="tenant-a")
    assert salted.identity != ENCODER.identity
    assert "tenant-a" not in salted.identity
    distance = hamming(salted.signature("some text here"), ENCODER.signature("some text here"))
    assert 16 < distance < 48
