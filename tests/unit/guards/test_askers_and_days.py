"""Questions whose answer depends on the day, or on who asks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.guards import personal, volatile

VOLATILE = """
What is the weather in Oslo like?
latest phone prices
who is the current president of France
what time is it
exchange rate of the dollar
what is the price of gold
are they open now?
what's on TV tonight
what happened this week
is it raining
今天有什么新闻
现在几点
北京天气怎么样
最新的手机是哪款
目前的汇率是多少
离春节还有多少天
"""

LASTING = """
How do I cook rice?
what is weather
what is electric current
why is the sky blue
what does `latest` mean in a tag
what does image:latest mean
how do I open a current account
what is the time complexity of quicksort
怎么煮饭
红楼梦的作者是谁
今生今世是什么意思
《今天》是谁写的
"""

PERSONAL = """
what is my balance
What's my name?
where is my order
where am i
has my package shipped?
when is my next appointment
show me my recent transactions
how much do I owe
how many vacation days do I have left
what did I order last
is my order on the way
when will my refund arrive
我的订单到哪了
我是谁
我的余额是多少
帮我查一下我的订单
我欠多少钱
我的快递什么时候到
"""

FOR_ALL = """
how do I reset my password
how do I cancel my order
can I change my order
why is my phone slow
where can I sell my car
where do I find my account settings
where is my order history page
how many calories do I have to eat
what is the balance sheet
what is my IP address used for
what is my purpose in life
我的手机为什么很慢
怎么取消我的订单
我的订单怎么取消
我的世界怎么玩
"""


@pytest.mark.parametrize("question", VOLATILE.strip().splitlines())
def test_an_answer_that_changes_by_the_day(question: str) -> None:
    """Today, now, the latest, the weather, prices."""
    assert volatile(question)
    assert volatile(question.upper())


@pytest.mark.parametrize("question", LASTING.strip().splitlines() + FOR_ALL.strip().splitlines())
def test_an_answer_that_lasts(question: str) -> None:
    """Neither the word in another sense nor the word in quotation marks."""
    assert not volatile(question)


@pytest.mark.parametrize("question", PERSONAL.strip().splitlines())
def test_an_answer_for_one(question: str) -> None:
    """The account, the orders and the person of the one who asks."""
    assert personal(question)
    assert personal(f"  {question.rstrip('?')}?! ")


@pytest.mark.parametrize("question", FOR_ALL.strip().splitlines() + LASTING.strip().splitlines())
def test_an_answer_for_all(question: str) -> None:
    """A procedure or a reason is the same for everyone."""
    assert not personal(question)


@given(st.text(max_size=60))
def test_any_text_has_a_verdict(text: str) -> None:
    """And whitespace around it changes nothing."""
    assert volatile(text) == volatile(f" {text} ")
    assert personal(text) == personal(f" {text} ")


@pytest.mark.parametrize("filler", ["x", "《", "a-", "港口", " "])
def test_a_very_long_text_is_read_at_its_ends(filler: str) -> None:
    """In next to no time: every answer that is stored is asked for its day."""
    long = filler * 300_000
    started = time.perf_counter()
    assert not volatile(long)
    assert volatile(f"今天天气怎么样？ {long}")
    assert volatile(f"{long} 今天天气怎么样")
    assert time.perf_counter() - started < 5
