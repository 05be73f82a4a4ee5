"""What follow-ups ask about their subject, and whether two ask for the same of it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.context import (
    Agreement,
    Context,
    Difference,
    OtherAttribute,
    asks_for_a_fact,
    relate,
    summarise,
)

PALACE = [("user", "Tell me of Wawel Castle."), ("assistant", "Wawel Castle is in Kraków.")]
MANSION = [("user", "恭王府怎么样？"), ("assistant", "恭王府是清代规模最大的一座王府。")]

SAME = {
    "price": ["how much is it?", "what does it cost?", "is it expensive?"],
    "hours": ["when does it open?", "what are its opening hours?"],
    "age": ["how old is it?", "when was it born?"],
    "address": ["where is it?", "what is its address?"],
}
SAME_CHINESE = {
    "price": ["门票多少钱？", "收费吗？", "票价是多少呢？", "它贵吗？"],
    "hours": ["几点开门？", "开放时间呢？", "什么时候营业？"],
    "duration": ["能玩多久？", "要多长时间？", "游玩时间是多久呀？"],
    "phone": ["电话是多少？", "联系方式有吗？"],
}


def asked(asks: str, before: list[tuple[str, str]]) -> Context:
    return summarise(before, asks)


def related(one: str, other: str, before: list[tuple[str, str]]):
    return relate(one, asked(one, before), other, asked(other, before))


@pytest.mark.parametrize(("ways", "before"), [(SAME, PALACE), (SAME_CHINESE, MANSION)])
def test_ways_to_ask_for_one_thing_agree(ways, before):
    for known in ways.values():
        for one, other in itertools.combinations(known, 2):
            assert related(one, other, before) is Agreement.ATTRIBUTE, (one, other)


@pytest.mark.parametrize(("ways", "before"), [(SAME, PALACE), (SAME_CHINESE, MANSION)])
def test_ways_to_ask_for_two_things_differ(ways, before):
    for (name, known), (other_name, others) in itertools.combinations(ways.items(), 2):
        for one, other in itertools.product(known, others):
            found = related(one, other, before)
            assert isinstance(found, OtherAttribute), (one, other)
            assert name in found.detail
            assert other_name in found.detail


@pytest.mark.parametrize(
    ("one", "other", "before"),
    [
        ("how much is it?", "how much is it for students?", PALACE),
        ("when does it open on Sundays?", "when does it open?", PALACE),
        ("why does it raise KeyError?", "why does it raise ValueError?", PALACE),
        ("门票多少钱？", "学生门票多少钱？", MANSION),
        ("几点开门？", "周末几点开门？", MANSION),
        ("淡季门票多少钱？", "旺季门票多少钱？", MANSION),
        ("坐地铁怎么去？", "开车怎么去？", MANSION),
        ("how much is it per person?", "how much is it per group?", PALACE),
    ],
)
def test_what_else_is_said_keeps_them_apart(one, other, before):
    assert related(one, other, before) is Agreement.SUBJECT


def test_one_may_name_what_the_other_points_at():
    assert related("恭王府门票多少钱？", "它的门票多少钱？", MANSION) is Agreement.ATTRIBUTE


@pytest.mark.parametrize(
    ("one", "other", "before"),
    [
        ("what awards has it won?", "why has it won awards?", PALACE),
        ("how long does a visit take?", "how long does it take to get there?", PALACE),
        ("how long is it open?", "how long has it been open?", PALACE),
        ("能玩多久？", "走过去要多久？", MANSION),
    ],
)
def test_another_kind_of_question_is_another_question(one, other, before):
    assert isinstance(related(one, other, before), OtherAttribute)


def test_of_two_things_in_one_chat_each_question_may_name_another():
    both = [("user", "故宫和天坛哪个好？"), ("assistant", "都好。")]
    found = related("故宫门票多少钱？", "天坛门票多少钱？", both)
    assert isinstance(found, Difference)
    assert found.detail == "names 故宫, the stored one 天坛"


def test_of_what_has_no_name_nothing_is_said():
    assert related("is it haunted?", "are there ghosts in it?", PALACE) is Agreement.SUBJECT


def test_questions_that_need_no_chat_are_not_compared_by_it():
    one = "When was the Eiffel Tower built?"
    other = "How much is a ticket for the Eiffel Tower?"
    assert related(one, other, PALACE) is Agreement.NEEDLESS


ASKS = st.sampled_from(
    [way for ways in (SAME, SAME_CHINESE) for known in ways.values() for way in known]
)
TEXTS = ASKS | st.text(max_size=40)


@given(TEXTS, TEXTS, st.sampled_from([PALACE, MANSION]))
def test_it_is_symmetric_and_everything_is_like_itself(one, other, before):
    here, there = related(one, other, before), related(other, one, before)
    assert type(here) is type(there)
    assert isinstance(here, OtherAttribute) or here is there or not isinstance(here, Agreement)
    assert isinstance(related(one, one, before), Agreement)


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("When was the Eiffel Tower built?", True),
        ("What year did the Berlin Wall fall?", True),
        ("What is the capital of Peru?", True),
        ("恭王府的地址在哪里？", True),
        ("How much is a ticket for the Eiffel Tower?", False),
        ("When was my parcel released by customs?", False),
        ("What phone should we buy?", False),
        ("How do I read a file?", False),
        ("When did the delivery leave the warehouse?", False),
        ("What is the address of the office?", False),
        ("Who discovered penicillin?", False),
        ("包裹是哪年寄出的？", False),
        ("恭王府门票多少钱？", False),
        ("我的地址在哪里改？", False),
    ],
)
def test_a_fact_is_the_same_for_everybody(question, fact):
    assert asks_for_a_fact(question) is fact


def test_a_question_for_a_fact_needs_no_chat_whatever_was_named_there():
    question = "What is the capital of Peru?"
    assert related(question, question, PALACE) is Agreement.NEEDLESS
    here, there = asked(question, PALACE), asked(question, MANSION)
    assert relate(question, here, question, there) is Agreement.NEEDLESS
