"""Which questions need the chat before them."""

from __future__ import annotations

import pytest

from langchain_semcache.context import is_standalone


@pytest.mark.parametrize(
    "question",
    [
        "What is the tallest mountain in Norway?",
        "How do I rename a branch in git?",
        "Who invented the telescope?",
        "Explain recursion to a beginner.",
        "How do spiders build their webs?",
        "Is it safe to eat raw salmon?",
        "How many seconds are there in a day?",
        "Are penguins birds, and can they fly?",
        "What's the difference between a llama and an alpaca?",
        "Which cheese is used for fondue?",
        "Translate the following text into French: the train leaves at nine",
        "Write a poem about a lighthouse that nobody visits",
        "什么是量子纠缠？",
        "红烧茄子怎么做？",
        "《呐喊》的作者是谁？",
        "为什么彩虹有七种颜色？",
        "如何重置路由器？",
        "谁发明了电灯泡？",
        "把下面这句话翻译成英文：我明天去钓鱼",
        "Which museums are near the Louvre?",
    ],
)
def test_a_question_that_names_its_subject_stands_alone(question):
    assert is_standalone(question)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "???",
        "Cancel it.",
        "How old is that person?",
        "Where do they live?",
        "What is its capital?",
        "And in winter?",
        "What about Denmark?",
        "and the second one?",
        "Which one is cheaper?",
        "How much?",
        "why",
        "yes please",
        "Continue.",
        "Is there parking there?",
        "What are the side effects?",
        "Give me two examples.",
        "Convert that to miles.",
        "it's too long, shorten it",
        "它多少钱？",
        "那里大概能玩多久？",
        "她是哪年出生的？",
        "需要门票吗？",
        "多少钱？",
        "还有吗？",
        "第二个呢？",
        "上海呢？",
        "那电话是多少？",
        "这个怎么退？",
        "继续",
        "好的",
        "为什么？",
        "再推荐一个",
        "翻译成法语",
        "有联系电话吗？",
        "附近有什么好吃的餐厅？",
        "请问周边有地铁吗？",
        "Which museums are nearby?",
    ],
)
def test_a_question_that_points_back_or_names_nothing_does_not(question):
    assert not is_standalone(question)
