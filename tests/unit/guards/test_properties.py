"""What holds for any two texts."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.guards import check
from langchain_semcache.guards._reading import read
from langchain_semcache.guards.language import language
from langchain_semcache.guards.numeric import han_value, numbers
from langchain_semcache.guards.order import swap

WORDS = st.sampled_from(
    "how do I turn on off the 12 13 --flag merge main into dev not never Oslo Rome from to "
    "我 不 开 关 三 五 到 北京 。 ? , 第 why when is today latest in Germany for students as a "
    "table briefly detail Did Anna follow was followed by he her less more and used 怎么 "
    "什么时候 把 换成 从 每月 用英文 最新 企业版 安卓上 给 english dutch".split()
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=40)


@given(TEXTS, TEXTS)
def test_the_verdict_does_not_depend_on_who_was_first(one: str, other: str) -> None:
    """Either both directions refuse or neither; and nothing is ever an error."""
    assert (check(one, other) is None) == (check(other, one) is None)


@given(TEXTS)
def test_case_width_and_closing_marks_pass(text: str) -> None:
    """The same text in another dress is the same question."""
    assert check(text, text) is None
    assert check(text, f" {text}?") is None
    assert check(text.lower(), text.lower().title()) is None or text != text.lower()


@pytest.mark.parametrize(
    ("raw", "value"),
    [("三", 3), ("十", 10), ("十五", 15), ("二十", 20), ("三百二十", 320), ("三百零五", 305),
     ("一万二千", 12000), ("二〇二四", 2024), ("三亿", 3 * 10**8), ("两千", 2000)],
)  # fmt: skip
def test_chinese_numerals(raw: str, value: int) -> None:
    """With steps, by position, and with myriads."""
    assert han_value(raw) == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("one hundred twenty three", ["123"]),
        ("two thousand and sixteen", ["2016"]),
        ("1,250.50 dollars", ["1250.5"]),
        ("5k users", ["5000"]),
        ("1.5 million people", ["1500000"]),
        ("version 3.10", ["3.10"]),
        ("at -7 degrees", ["-7"]),
        ("pages 2-7", ["2", "7"]),
        ("on 2024-05-06", ["month 5", "2024", "6"]),
        ("I may go", []),
        ("二〇二四年5月", ["month 5", "2024"]),
        ("一下 一起 万一 十分", []),
        ("第三章", ["3"]),
        ("百分之五", ["5"]),
        ("3.5万", ["35000"]),
    ],
)
def test_numbers_in_canonical_spelling(text: str, values: list[str]) -> None:
    """Digits and words give the same values."""
    assert sorted(number.value for number in numbers(read(text))) == sorted(values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what is the time", "en"),
        ("où est la gare", "fr"),
        ("Python的asyncio怎么用", "Han"),
        ("explain the word 你好 to me in the end", "en"),
        ("天気はどうですか", "kana"),
        ("날씨가 어때요", "Hangul"),
        ("какая погода", "Cyrillic"),
        ("كيف حالك", "Arabic"),
        ("मौसम कैसा है", "Devanagari"),
        ("อากาศเป็นอย่างไร", "Thai"),
        ("CPU 占用", "Han"),
        ("", ""),
        ("12 + 3", ""),
    ],
)
def test_language_is_named_only_when_clear(text: str, expected: str) -> None:
    """Code and names in Latin letters do not change the language of a sentence."""
    assert language(read(text)) == expected


def test_a_swap_needs_something_between() -> None:
    """X m Y against Y m X, not a clause that moved."""
    assert swap(("a", "to", "b"), ("b", "to", "a")) == (("a",), ("to",), ("b",))
    assert swap(("in", "rust", "sort"), ("sort", "in", "rust")) is None
    assert swap(("a",), ("a",)) is None


@pytest.mark.parametrize(
    "odd",
    [
        "a" * 5000 + "-1" * 2000 + "不" * 2000 + "/x" * 1000 + '"' * 500,
        "「" * 10_000 + "《" * 10_000,
        "explain " * 2000,
        "9" * 10_000,
        "三" * 10_000,
        "万" * 10_000,
        "one " + "hundred " * 3000,
    ],
    ids=["mixed", "brackets", "orders", "digits", "han digits", "myriads", "hundreds"],
)
def test_a_long_text_is_read_in_reasonable_time(odd: str) -> None:
    """No pattern runs away on a long or odd text, and no number is too long."""
    start = time.process_time()  # not the clock: others may have the processor meanwhile
    check(f"{odd} 1", odd[::-1])
    assert time.process_time() - start < 2
