"""What holds for every chat."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_semcache.context import Agreement, Context, compare, is_standalone, summarise

WORDS = st.sampled_from(
    ["它", "推荐", "《潮声》", "陶瓷馆", "(东店)", "12元", "it", "Oslo", "the", "E4", "yes", "？",
     "lamp", "好的", "和", "\n", '"', "\\", "\ud800", "𠀀", "🙂", "é", "\x00", "https://a.example/b?c=1"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=40),
    st.text(st.characters(exclude_categories=()), max_size=40),
    st.lists(WORDS, max_size=12).map(" ".join),
    st.lists(WORDS, max_size=12).map("".join),
)
TURNS = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "system", "tool", ""]), TEXTS), max_size=10
)
CHATS = st.tuples(TURNS, TEXTS)


@given(CHATS)
def test_a_context_is_like_itself(chat):
    assert isinstance(compare(summarise(*chat), summarise(*chat)), Agreement)


@given(CHATS, CHATS)
def test_the_verdict_is_symmetric(one, other):
    ours, theirs = summarise(*one), summarise(*other)
    assert type(compare(ours, theirs)) is type(compare(theirs, ours))


@given(CHATS)
def test_json_brings_it_back(chat):
    context = summarise(*chat)
    written = context.to_json()
    assert Context.from_json(written) == context
    assert len(written.encode()) < 2048


@settings(max_examples=30)
@given(st.lists(WORDS, min_size=1, max_size=6))
def test_it_stays_small_whatever_the_chat(words):
    text = "".join(words)
    long = text * (60_000 // len(text))
    turns = [("user", long), ("assistant", long)] * 5
    assert len(summarise(turns, long).to_json().encode()) < 2048


@pytest.mark.parametrize(
    "name", ["《" + '"' * 39 + "》", "《" + "𠀀" * 39 + "》", "𐐀" * 90, "漢" * 90, "é" * 90]
)
def test_it_stays_small_where_characters_are_large(name):
    names = " ".join(name[:-2] + f"{n}{name[-1]}" for n in range(40))
    turns = [("user", f"{names} {n}") for n in range(12)]
    assert len(summarise(turns, names).to_json().encode()) < 2048


def test_half_a_character_in_a_name_is_no_error():
    summary = summarise([("user", "推荐"), ("assistant", "小满面馆(\ud800店)很好。")], "它贵吗")
    assert [item.name for item in summary.referents] == ["小满面馆"]
    summary.to_json().encode()


@given(TEXTS)
def test_no_question_is_too_odd(text):
    assert is_standalone(text) in (True, False)


@pytest.mark.parametrize(
    "text",
    ["", "null", "{}", "[]", "[1,2]", "not json", "[0,0,[],'','','']",
     '[1,0,[["a"]],"",[],[],"",""]', '[2,0,[],"",[],[],"",""]', '[1,"x",[],"",[],[],"",""]',
     '[1,0,[],"",["a"],[],"",""]', "[" * 100_000],
)  # fmt: skip
def test_what_is_no_context_is_none(text):
    assert Context.from_json(text) is None
