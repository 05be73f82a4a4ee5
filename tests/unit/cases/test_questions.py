"""Questions that look alike and are not, through a cache with everything at its default."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from langchain_semcache import Decision

After = Callable[..., Decision]


def _pairs(text: str) -> list[tuple[str, ...]]:
    return [
        tuple(part.strip() for part in line.split("|")) for line in text.splitlines() if "|" in line
    ]


OPPOSITES = _pairs("""
    How do I switch on airplane mode? | How do I switch off airplane mode?
    Is TCP port 5432 open on a fresh install? | Is TCP port 5432 closed on a fresh install?
    Which mushrooms are edible? | Which mushrooms are not edible?
    Which mushrooms are edible? | Which mushrooms are poisonous?
    Can I return worn shoes? | Can't I return worn shoes?
    Show accounts with two-factor login | Show accounts without two-factor login
    How do I enable notifications? | How do I disable notifications?
    Is it legal to fly a drone in a park? | Is it illegal to fly a drone in a park?
    How do I increase the font size? | How do I decrease the font size?
    How do I lock my account? | How do I unlock my account?
    What are the advantages of remote work? | What are the disadvantages of remote work?
    How do I import contacts? | How do I export contacts?
    Should I take it before meals? | Should I take it after meals?
    minimum age for a driving licence | maximum age for a driving licence
    怎么打开飞行模式？ | 怎么关闭飞行模式？
    孕妇能吃螃蟹吗？ | 孕妇不能吃螃蟹吗？
    这款手机支持无线充电吗？ | 这款手机不支持无线充电吗？
    上班前要做什么？ | 上班后要做什么？
""")
TURNED = _pairs("""
    merge feature into release | merge release into feature
    rename a.txt to b.txt | rename b.txt to a.txt
    convert 40 CHF to SEK | convert 40 SEK to CHF
    trains from Lyon to Turin | trains from Turin to Lyon
    translate this from Dutch to Danish | translate this from Danish to Dutch
    does stress cause insomnia | does insomnia cause stress
    Can a cat eat a mouse? | Can a mouse eat a cat?
    Did Google buy Fitbit? | Did Fitbit buy Google?
    How do I copy files from S3 to GCS? | How do I copy files from GCS to S3?
    Is tea healthier than coffee? | Is coffee healthier than tea?
    subtract 5 from 12 | subtract 12 from 5
    How many teachers does each student have? | How many students does each teacher have?
    从里昂到都灵的火车 | 从都灵到里昂的火车
    人民币换欧元怎么算 | 欧元换人民币怎么算
    猫能吃狗粮吗 | 狗能吃猫粮吗
""")
OTHER_VALUES = _pairs("""
    where is parcel 4471 | where is parcel 4472
    What is 3+4? | What is 13+4?
    turnover in 2019 | turnover in 2020
    Node 18.2 changelog | Node 18.3 changelog
    25% of 60 | 52% of 60
    invoice RE-0093 | invoice RE-0039
    phone number of Eva Maier | phone number of Eva Meyer
    what does --max-depth do | what does --max-width do
    7 kg in pounds | 7 pounds in kg
    parcel four thousand four hundred seventy one | parcel 4472
    包裹４４７１ | 包裹4472
    Who won the cup in June? | Who won the cup in July?
    weather on 3 May | weather on 4 May
    2023年的营收是多少 | 2024年的营收是多少
    第三章讲什么 | 第四章讲什么
    Who is Anna Berg? | Who is Anna Burg?
    capital of Niger | capital of Nigeria
    What is CVE-2021-44228? | What is CVE-2021-45046?
    iPhone 14 battery | iPhone 15 battery
    Who was the first person on the moon? | Who was the second person on the moon?
""")
OTHER_LANGUAGES = _pairs("""
    法国总统是谁 | 你是谁
    床前明月光 | 法国总统是谁
    介绍一下印度洋 | 介绍一下北冰洋
    中国的首都在哪里 | 美国的首都在哪里
    東京の天気 | 大阪の天気
    서울 인구 | 부산 인구
    อากาศที่กรุงเทพ | อากาศที่เชียงใหม่
    طقس القاهرة | طقس دمشق
    दिल्ली का मौसम | मुंबई का मौसम
    What is the capital of Italy? | 意大利的首都是哪里？
    How tall is Mount Everest? | 珠穆朗玛峰有多高？
""")
ONE_WORD_APART = _pairs("""
    Why did the share price rise? | Why did the share price fall?
    iPhone 14 Pro battery | iPhone 14 battery
""")
SAME = _pairs("""
    How do I enable dark mode? | How do I turn on dark mode?
    How do I reset the router? | How can I reset the router?
    How do I cancel a subscription? | How can I cancel a subscription?
    How do I turn off airplane mode? | How can I turn airplane mode off?
    Which mushrooms are edible? | What mushrooms can be eaten?
    Can a pregnant woman eat crab? | Is a pregnant woman allowed to eat crab?
    Is TCP port 5432 open by default? | Is port 5432 (TCP) open by default?
    What is the capital of Italy? | Tell me the capital of Italy
    order 4471 | order ４４７１
    order #4471 | order no. 4471
    怎么重置密码？ | 如何重置密码？
    怎么打开飞行模式？ | 如何打开飞行模式？
""")


@pytest.mark.parametrize(("one", "other"), [*OPPOSITES, *TURNED, *OTHER_VALUES, *OTHER_LANGUAGES])
def test_another_question_is_not_answered(after: After, one: str, other: str) -> None:
    """B04, B05, B06, B12: whichever of the two came first."""
    for stored, asked in ((one, other), (other, one)):
        decision = after(stored, asked)
        assert not decision.hit, decision


@pytest.mark.parametrize(("one", "other"), ONE_WORD_APART)
def test_one_word_may_be_all_that_differs(after: After, one: str, other: str) -> None:
    """B04, B06: whichever of the two came first."""
    assert not after(one, other).hit
    assert not after(other, one).hit


def test_most_other_wordings_are_answered(after: After) -> None:
    """The controls: caution that costs every hit is no cache."""
    hits = [after(one, other).hit for one, other in SAME]
    assert sum(hits) >= len(hits) / 2, dict(zip(SAME, hits, strict=True))
