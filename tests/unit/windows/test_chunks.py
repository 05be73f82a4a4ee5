"""A long text in windows: nothing lost, nothing too long, nothing cut through."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.windows import MAX_WINDOWS, lengths, pooled, split

TOKEN = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]{1,6}|[^\w\s]")
WINDOW = 24


def count(text: str) -> int:
    return len(TOKEN.findall(text)) + 2


def cut(text: str, window: int = WINDOW) -> tuple[str, ...]:
    return split(text, count_tokens=count, max_tokens=window)


SENTENCES = [
    f"In {year} the {thing} near {place} was measured again, and found {state}."
    for year, thing, place, state in zip(
        range(1950, 1990),
        ["bridge", "lake", "tower", "orchard", "glacier"] * 8,
        ["Basel", "Lima", "Oslo", "Quito", "Turin", "Perth", "Osaka"] * 6,
        ["wanting", "larger", "sound"] * 14,
        strict=False,
    )
]
ENGLISH = " ".join(SENTENCES)
CHINESE = "".join(
    f"第{number}条，承租人应当在每月{number % 28 + 1}日之前支付租金，逾期按日加收违约金。"
    for number in range(1, 20)
)


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, ENGLISH[:900] + "\n\n" + CHINESE], ids=len)
def test_the_windows_are_the_text_and_none_is_too_long(text: str) -> None:
    windows = cut(text)
    assert "".join(windows) == text
    assert len(windows) > 3
    assert max(map(count, windows)) <= WINDOW


@given(st.text(st.sampled_from("ab, .\n。，字é\u0301👩\u200d🇩🇪\r1"), max_size=300))
def test_any_text_is_kept_or_left_alone(text: str) -> None:
    windows = cut(text, 12)
    assert windows == () or "".join(windows) == text
    assert all(count(window) <= 12 for window in windows)
    assert all(windows)


@given(st.text(max_size=200), st.integers(-1, 12))
def test_odd_text_and_odd_windows_raise_nothing(text: str, window: int) -> None:
    windows = cut(text, window)
    assert windows == () or "".join(windows) == text


def test_a_text_that_fits_is_one_window() -> None:
    assert cut("What is the capital of France?") == ("What is the capital of France?",)


def test_an_empty_text_has_no_window() -> None:
    assert cut("") == ()


def test_the_last_sentence_and_an_endless_one_are_kept() -> None:
    """The sketch that this replaces dropped both."""
    endless = " ".join(f"word{number}" for number in range(200))
    windows = cut(f"Start here. {endless}. And this is the end")
    assert windows[-1].endswith("And this is the end")
    assert "".join(windows) == f"Start here. {endless}. And this is the end"


def test_cuts_are_made_between_sentences_where_there_are_any() -> None:
    assert all(window.rstrip().endswith(".") for window in cut(ENGLISH))
    assert all(window.endswith("。") for window in cut(CHINESE, 60))


def test_a_long_sentence_is_cut_at_commas_and_words() -> None:
    listed = ", ".join(f"item number {number}" for number in range(30))
    assert all(window.rstrip().endswith(",") for window in cut(listed)[:-1])
    words = " ".join(f"w{number}" for number in range(90))
    assert all(window.endswith(" ") for window in cut(words)[:-1])


@pytest.mark.parametrize(
    "character",
    ["👩\u200d👩\u200d👧", "e\u0301", "🇩🇪", "👍🏽", "\r\n", "각", "क्षि", "1\ufe0f\u20e3"],
    ids=ascii,
)
def test_no_cut_goes_through_a_character(character: str) -> None:
    windows = split(character * 40, count_tokens=lambda text: len(text.encode()), max_tokens=70)
    assert len(windows) > 1
    for window in windows:
        assert window == character * (len(window) // len(character))


def test_a_character_that_fits_no_window_leaves_the_text_to_the_exact_path() -> None:
    assert split("e" + "\u0301" * 50, count_tokens=len, max_tokens=20) == ()


def test_a_text_of_too_many_windows_is_left_to_the_exact_path() -> None:
    assert cut(ENGLISH * 4) == ()
    assert cut("x" * 1_000_000) == ()
    assert 0 < len(cut(ENGLISH)) <= MAX_WINDOWS


@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_an_insertion_moves_only_the_cuts_near_it(text: str) -> None:
    before = cut(text)
    after = cut("Please read this with care. 请仔细阅读。" + text)
    assert after[3 - len(before) :] == before[3:]


def test_short_sentences_share_a_window_and_paragraphs_need_not() -> None:
    short = cut("It is late. " * 40)
    assert len(short) <= 2 * count("It is late. " * 40) / WINDOW + 1
    parts = cut(SENTENCES[0] + "\n\n" + SENTENCES[1])
    assert parts == (SENTENCES[0] + "\n\n", SENTENCES[1])


def test_the_text_is_counted_about_three_times() -> None:
    counted: list[str] = []

    def counting(text: str) -> int:
        counted.append(text)
        return count(text)

    split(ENGLISH, count_tokens=counting, max_tokens=WINDOW)
    assert sum(map(len, counted)) <= 3 * len(ENGLISH)


def test_a_tokenizer_that_does_not_add_up_is_not_believed() -> None:
    """Two sentences together may have more tokens than one by one."""

    def odd(text: str) -> int:
        return count(text) + 8 * max(0, text.count(".") - 1)

    windows = split(ENGLISH, count_tokens=odd, max_tokens=WINDOW)
    assert "".join(windows) == ENGLISH
    assert max(map(odd, windows)) <= WINDOW


def test_the_pooled_vector_leans_to_the_longer_window() -> None:
    vectors = np.eye(2, 3, dtype=np.float32)
    found = pooled(vectors, [3, 1])
    assert found.dtype == np.float32
    assert found == pytest.approx(np.array([3, 1, 0]) / np.sqrt(10))
    assert pooled(vectors[:1], lengths(["a window"])) == pytest.approx(vectors[0])


def test_opposite_vectors_leave_the_heaviest() -> None:
    vectors = np.array([[1, 0], [-1, 0]], dtype=np.float32)
    assert pooled(vectors, [1, 1]).tolist() == [1, 0]


@pytest.mark.parametrize("weights", [[], [1], [1, -1], [0, 0], [1, float("nan")]], ids=str)
def test_weights_that_are_none_are_an_error(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        pooled(np.eye(2, dtype=np.float32), weights)


def test_no_vectors_are_an_error() -> None:
    with pytest.raises(ValueError, match="weights"):
        pooled(np.empty((0, 3), dtype=np.float32), [])
