"""Kinds of differences beyond values and names: what is asked, when, for whom, and in what form."""

from __future__ import annotations

import pytest

from langchain_semcache.guards import check
from langchain_semcache.records import Reason
from tests.unit.guards.conftest import assert_passes, assert_refused, pairs, refused

QUESTION_TYPE = """
how do I renew a passport | when do I renew a passport
why is the sea salty | how salty is the sea
where was the treaty signed | when was the treaty signed
who invented the zip | when was the zip invented
how much does a visa cost | how long does a visa take
how many moons does Mars have | why does Mars have moons
why do cats purr | do cats purr
怎么申请护照 | 什么时候申请护照
为什么海水是咸的 | 海水有多咸
谁发明了拉链 | 什么时候发明了拉链
办签证多少钱 | 办签证要多久
长城在哪里 | 长城是谁建的
"""

TIME = """
which films are out today | which films are out
what are the opening hours this week | what are the opening hours next week
is Anna the manager | did Anna use to be the manager
what is the price now | what was the price
what is the latest release | what is the release
where do they live | where did they live in the past
最新的版本是什么 | 版本是什么
他现在是经理吗 | 他曾经是经理吗
这周的课表 | 下周的课表
今天的新闻有哪些 | 新闻有哪些
"""

SCOPE = """
how do I export data for the Team plan | how do I export data
how do I block a number on Android | how do I block a number
what is the tax rate in Germany | what is the tax rate
what does it cost per month | what does it cost
is there a discount for students | is there a discount for teachers
is there a discount for students | is there a discount
how much sleep is good for dogs | how much sleep is good for cats
how do I paint a wall | how do I paint a wall with a roller
在德国怎么报税 | 怎么报税
企业版怎么导出数据 | 怎么导出数据
安卓手机上怎么拉黑号码 | 怎么拉黑号码
每月多少钱 | 多少钱
"""

INSTRUCTION = """
explain photosynthesis in one sentence | explain photosynthesis in detail
explain photosynthesis in one sentence | explain photosynthesis
compare tea and coffee as a table | compare tea and coffee as a list
compare tea and coffee as a table | compare tea and coffee
explain recursion in French | explain recursion
describe Rome briefly | describe Rome in detail
explain gravity to a child | explain gravity to an expert
explain gravity step by step | explain gravity
用英文解释什么是引力 | 解释什么是引力
用表格比较茶和咖啡 | 比较茶和咖啡
一句话解释引力 | 解释引力
简要介绍罗马 | 详细介绍罗马
"""

ROLES = """
Did Anna follow Bo? | Did Bo follow Anna?
Did Anna follow Bo? | Was Anna followed by Bo?
Did the firm buy the shop? | Was the firm bought by the shop?
did he thank her | did she thank him
If Tom and Eva met, would his boss know? | If Tom and Eva met, would Eva's boss know?
小明喜欢小红吗 | 小红喜欢小明吗
A给B转账 | B给A转账
把A文件换成B文件 | 把B文件换成A文件
长发怎么变短发 | 如何让短发变长发
"""

NAMES = """
what does carla berg do | what does rosa berg do
is daniel a doctor | is daniela a doctor
Is Lena Holm an engineer? | Is Lena Holm Danish?
what does --verbose do | what does --quiet do
“内卷”是什么意思 | “躺平”是什么意思
"""

PASS = """
这里的门票怎么收费 | 这里的门票多少钱
你知道它的详细地址吗 | 你知道它的地址吗
具体是哪年发行的我记不住了 | 具体是哪年发行的
开放时间我不太清楚 你知道吗 | 开放时间你知道吗
how do I renew a passport | what is the way to renew a passport
how can I renew a passport | what's the best way to renew a passport
where can I buy a ticket | how can I buy a ticket
what is the reason for the delay | why is there a delay
can I park here | is it possible to park here
how long does it take to get a visa | how much time does it take to get a visa
how many days does shipping take | how long does shipping take
who wrote Emma and why | why did somebody write Emma
怎么还没发货 | 为什么还没发货
怎么办理护照 | 如何办理护照
谁有好看的小说 | 有什么好看的小说
is the shop open | is the shop currently open
who is the current king of Spain | who is the king of Spain
what is the newest version | what is the latest version
现在怎么申请护照 | 怎么申请护照
how do I get used to the noise | how can I get used to noise
how does alternating current flow | how does an alternating current flow
what are the best beaches in the world | what are the best beaches
what is the monthly fee | what is the fee per month
what can I keep in a fridge | what can I keep in a refrigerator
is there a discount for kids | is there a discount for children
who has taught here in the past | who has taught here
which classes are there next term | which classes are there next semester
how do I block a number on Android | on Android, how do I block a number
what is the tax rate in Germany | what is Germany's tax rate
德国的税率是多少 | 在德国税率是多少
企业版怎么导出数据 | 怎么在企业版里导出数据
please explain gravity | explain gravity
could you kindly tell me what gravity is | what is gravity
请问怎么煮饭 | 怎么煮饭
explain gravity in detail | explain gravity in great detail
describe Rome briefly | briefly describe Rome
list it as a table | list it in a table
用英语回答什么是引力 | 用英文回答什么是引力
简单介绍一下罗马 | 简要介绍罗马
Did Anna follow Bo? | Was Bo followed by Anna?
why don't bees sleep | why do bees not sleep
does stress cause insomnia | is insomnia caused by stress
which songs did Anna write | which songs were written by Anna
are any living room curtains open | are there any curtains open in the living room
推荐一个评分4分以上、门票100元的景点 | 我想找一个门票100元、评分4分以上的景点
how can I become less shy | how can I become more confident
how can I become less invisible | how can I become more visible
Is Lena a producer or an editor? | Is Lena an editor or a producer?
茶和咖啡健康吗 | 咖啡和茶健康吗
运动鞋和休闲鞋有什么区别 | 休闲鞋和运动鞋有什么区别
what are the top 10 lakes in Norway | what are the best lakes in Norway
why were the 500 and 1000 notes withdrawn | why were the 500/1000 notes withdrawn
what is an em dash and how do I type it | do em dashes have a key, and how do I type one
Who was Elisabeth Taylor | Who was Elizabeth Taylor
what is Kubernetes | what is Kubernets
"""


REFUSED = refused(
    {
        Reason.QUESTION_TYPE_DIFFERS: QUESTION_TYPE,
        Reason.TIME_DIFFERS: TIME,
        Reason.SCOPE_DIFFERS: SCOPE,
        Reason.INSTRUCTION_DIFFERS: INSTRUCTION,
        Reason.WORD_ORDER_DIFFERS: ROLES,
        Reason.IDENTIFIERS_DIFFER: NAMES,
    }
)


@pytest.mark.parametrize(("question", "stored", "reason"), REFUSED)
def test_another_question_is_refused_with_its_reason(
    question: str, stored: str, reason: Reason
) -> None:
    """Whichever of the two was stored."""
    assert_refused(question, stored, reason)


@pytest.mark.parametrize(("question", "stored"), pairs(PASS))
def test_the_same_in_other_words_passes(question: str, stored: str) -> None:
    """Another wording is no other kind, time, scope or form."""
    assert_passes(question, stored)


@pytest.mark.parametrize("pair", REFUSED)
def test_each_text_is_its_own_answer(pair: tuple[str, str, Reason]) -> None:
    """The text that was stored is served when it is asked again."""
    assert check(pair[0], pair[0]) is None
    assert check(pair[1], f"{pair[1]}?") is None


ONE_SIDED = """
How much does it cost per month? | the price, please
Can I enter without a visa? | visa-free entry, is that possible?
how many calories do 3 eggs have | calories in eggs
which films are out today | films in cinemas
explain gravity in one sentence | what is gravity
每月多少钱 | 要多少钱
没有发票能退货吗 | 发票丢了还可以退吗
"""
TWO_SIDED = """
how many calories do 3 eggs have | calories in 5 eggs
how do I switch the alarm on | switching off the alarm
Is Rosa Berg a doctor? | Is Carla Berg a doctor?
每月多少钱 | 每年的价格
怎么打开通知 | 关闭通知的方法
"""


@pytest.mark.parametrize(
    ("question", "stored", "one_sided"),
    [(*pair, True) for pair in pairs(ONE_SIDED)] + [(*pair, False) for pair in pairs(TWO_SIDED)],
)
def test_a_refusal_says_whether_only_one_question_names_it(question, stored, one_sided):
    for found in (check(question, stored), check(stored, question)):
        assert found is not None
        assert found.one_sided is one_sided


NOT_FINAL = """
Are children let in without a grown-up? | unaccompanied minors, entry permitted
How much does it cost per month? | what is the price, please
没有发票还能退货吗 | 小票丢了，想把东西退掉
"""
FINAL = """
Are children let in without a grown-up? | are children let in with a grown-up?
refund | can I get a refund after 30 days
Can I enter without a visa? | enter visa
没有发票还能退货吗 | 有发票还能退货吗
How many calories do 3 eggs have in Berlin? | calories of an egg, Paris style
Why is there no refund for me after 30 days? | when do I get money back
"""


@pytest.mark.parametrize(
    ("question", "stored", "final"),
    [(*pair, False) for pair in pairs(NOT_FINAL)] + [(*pair, True) for pair in pairs(FINAL)],
)
def test_only_what_one_question_names_in_other_words_is_not_final(question, stored, final):
    for found in (check(question, stored), check(stored, question)):
        assert found is not None
        assert found.final is final
