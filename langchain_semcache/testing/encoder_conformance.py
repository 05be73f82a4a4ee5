"""The promises of the `Encoder` port as a test suite.

An encoder is done when a test class inherits `EncoderSuite`, provides the fixture `encoder`, and
passes:

    class TestMyEncoder(EncoderSuite):
        @pytest.fixture
        def encoder(self) -> Encoder:
            return MyEncoder()
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from langchain_semcache.encoders.validation import check_vectors
from langchain_semcache.ports import Encoder, Vector

TEXTS = (
    "How do I reset my password?",
    "怎么重置密码？",
    "naïve café",
    "emoji 👩‍👩‍👧‍👦 and flags 🇨🇳",
    "two\nlines\tand a tab",
    'quotes " and \\ backslashes in print("x\\n")',
    "",
    "   ",
    "a",
    "東京の天気はどうですか",
    "ما هي عاصمة مصر؟",
    "The quick brown fox jumps over the lazy dog. " * 4,
)
THREADS, CALLS = 16, 50


def cosine(first: Vector, second: Vector) -> float:
    """Of two vectors of length 1."""
    return float(first @ second)


class EncoderSuite:
    """Inherit, and provide the fixture `encoder`.

    Attributes:
        tolerance: How far the cosine of one text with itself, encoded alone and in a batch, may
            fall short of 1. Kernels round differently for different shapes.
    """

    tolerance = 1e-4

    def test_shape_type_and_length(self, encoder: Encoder) -> None:
        """float32 [texts, dimension], finite, rows of length 1, for every sort of text."""
        vectors = encoder.encode(TEXTS)
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(TEXTS), encoder.dimension)
        check_vectors(vectors, count=len(TEXTS), dimension=encoder.dimension)

    def test_no_text_gives_no_row(self, encoder: Encoder) -> None:
        assert encoder.encode([]).shape == (0, encoder.dimension)

    def test_the_same_text_has_the_same_vector(self, encoder: Encoder) -> None:
        first, again = encoder.encode([TEXTS[0]]), encoder.encode([TEXTS[0]])
        np.testing.assert_array_equal(first, again)

    def test_rows_are_in_order(self, encoder: Encoder) -> None:
        forwards = encoder.encode(TEXTS)
        backwards = encoder.encode(TEXTS[::-1])[::-1]
        self._same(forwards, backwards)

    def test_a_vector_does_not_depend_on_its_batch(self, encoder: Encoder) -> None:
        """Long and short texts together: no padding, cut or mask leaks into a neighbour."""
        together = encoder.encode(TEXTS)
        alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
        self._same(together, alone)

    def test_different_texts_have_different_vectors(self, encoder: Encoder) -> None:
        first, second = encoder.encode(["Is the shop open on Sunday?", "股票市场今天怎么样"])
        assert cosine(first, second) < 0.9

    def test_a_result_belongs_to_its_caller(self, encoder: Encoder) -> None:
        """Writing into a result changes nothing that is returned later."""
        kept = encoder.encode([TEXTS[0]]).copy()
        taken = encoder.encode([TEXTS[0]])
        if taken.flags.writeable:
            taken[:] = 0
        np.testing.assert_array_equal(encoder.encode([TEXTS[0]]), kept)

    def test_any_sequence_of_texts_is_accepted(self, encoder: Encoder) -> None:
        self._same(encoder.encode(list(TEXTS[:3])), encoder.encode(TEXTS[:3]))

    def test_threads_get_their_own_rows(self, encoder: Encoder) -> None:
        """Sixteen threads, fifty calls each, tokenizer and model shared."""
        expected = encoder.encode(TEXTS)
        counts = [encoder.count_tokens(text) for text in TEXTS]

        def call(number: int) -> None:
            position = number % len(TEXTS)
            self._same(encoder.encode([TEXTS[position]])[0], expected[position])
            assert encoder.count_tokens(TEXTS[position]) == counts[position]

        with ThreadPoolExecutor(THREADS) as pool:
            for _ in pool.map(call, range(THREADS * CALLS)):
                pass

    def test_identity_names_the_encoder_and_stays(self, encoder: Encoder) -> None:
        before = encoder.identity
        encoder.encode(TEXTS[:2])
        assert before
        assert encoder.identity == before
        assert "\n" not in before

    def test_tokens_are_counted_uncut(self, encoder: Encoder) -> None:
        """More text never has fewer tokens, and the count goes on beyond the window."""
        counts = [encoder.count_tokens("word " * length) for length in (0, 1, 10, 100, 2000)]
        assert counts == sorted(counts)
        assert counts[-1] >= 2000
        assert encoder.max_tokens > counts[1]

    def test_long_text_is_cut_and_not_refused(self, encoder: Encoder) -> None:
        vectors = encoder.encode(["word " * 5000, "一二三四五六七八九十" * 1000])
        check_vectors(vectors, count=2, dimension=encoder.dimension)

    def test_half_a_character_is_not_refused(self, encoder: Encoder) -> None:
        """A lone surrogate, which broken decoders leave behind, cannot be written as UTF-8."""
        text = "price \ud83d list"
        check_vectors(encoder.encode([text]), count=1, dimension=encoder.dimension)
        assert encoder.count_tokens(text) > 0

    def _same(self, first: Vector, second: Vector) -> None:
        closeness = (np.atleast_2d(first) * np.atleast_2d(second)).sum(axis=1)
        worst = float(closeness.min())
        if worst < 1 - self.tolerance:
            pytest.fail(f"vectors of one text have cosine {worst:.6f}")
