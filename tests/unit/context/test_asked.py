"""What of a follow-up asks something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.context import asked_part


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("啊，挺便宜呀，那游玩时间要多久？", "游玩时间要多久？"),
        ("价格还真不算贵，那它的游玩时间需要多久呢？", "游玩时间需要多久呢？"),
        ("好的，谢谢。那你知道电话是多少吗？", "电话是多少吗？"),
        ("哇，太厉害了！他今年多大了？", "今年多大了？"),
        ("上映时间你还记得吗？", "上映时间？"),
        ("这部电影的导演是谁来着？", "导演是谁？"),
        ("Oh great, thanks! And how long does it take?", "how long does it take?"),
        ("Okay, so what does it cost then?", "what does it cost?"),
    ],
)
def test_reactions_ways_of_asking_and_words_that_point_back_are_left_out(said, asks):
    assert asked_part(said) == asks


@pytest.mark.parametrize(
    "said",
    [
        "如果是学生，门票多少钱？",
        "我带两个孩子，能玩多久？",
        "预算500元，推荐哪家？",
        "我不吃辣，有什么推荐？",
        "对花生过敏，能吃什么？",
        "学生免费的话，老人要多少钱？",
        "周末去，几点开门？",
        "If I am a student, what does it cost?",
        "I have two children. How long does it take?",
    ],
)
def test_what_a_question_may_depend_on_stays(said):
    assert asked_part(said) == said


@pytest.mark.parametrize("said", ["它呢？", "那他？", "谢谢", "And you?", "OK", "", "  "])
def test_of_too_little_to_ask_anything_nothing_is_left_out(said):
    assert asked_part(said) == said.strip()


@pytest.mark.parametrize("said", ["好贵啊，真的", "That is cheap, wow", "不错，谢谢你"])
def test_what_asks_nothing_stays_as_it_is(said):
    assert asked_part(said) == said


@pytest.mark.parametrize("said", ["不能退款吗？", "Now, is it not safe?", "那不用预约吗？"])
def test_a_negation_in_the_question_stays(said):
    assert any(word in asked_part(said) for word in ("不", "not"))


SAID = st.text("那它的你知道吗啊，。好贵多少钱？ 恭王府门票", max_size=30) | st.text(
    "so and it is OK, how? thanks then", max_size=40
)


@given(SAID | st.text(max_size=60))
def test_what_asks_is_a_piece_of_what_was_said_and_asks_all_of_itself(said):
    part = asked_part(said)
    assert asked_part(part) == part
    assert len(part) <= len(said)
    assert bool(part) == bool(said.strip())
    letters = iter(said)
    assert all(letter in letters for letter in part), "nothing is added or moved"
