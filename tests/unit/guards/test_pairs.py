"""What the guards refuse and what they let pass, by whole kinds, in English and Chinese."""

from __future__ import annotations

import pytest

from langchain_semcache.records import Reason
from tests.unit.guards.conftest import assert_passes, assert_refused, pairs, refused

NUMBERS = """
what does error 404 mean | what does error 403 mean
the population of the town in 1998 | the population of the town in 1989
how tall is a 12 storey house | how tall is a 21 storey house
does version 2.4.1 fix the leak | does version 2.4.2 fix the leak
is Python 3.1 still supported | is Python 3.10 still supported
tip on a 20% discount | tip on a 25% discount
what is 7+8 | what is 7+18
invoice R-00831 | invoice R-00813
how many litres are 5 gallons | how many gallons are 5 litres
the meeting at 3 pm | the meeting at 3 am
a loan of $1,500 | a loan of $15,000
a loan of $200 | a loan of €200
ticket forty two | ticket forty three
what is due on 2025-03-04 | what is due on 2025-04-03
events on March 5 | events on March 6
weather on January 7 | weather on February 7
the first president | the second president
chapter 4 | chapter 5
a file of 10 MB | a file of 10 GB
order １２３ | order 124
history of the war since 1914 | history of the war
-5 C in fahrenheit | 5 C in fahrenheit
第七章讲了什么 | 第八章讲了什么
订单三百二十一在哪里 | 订单三百一十二在哪里
2021年的收入 | 2022年的收入
五个苹果多少钱 | 六个苹果多少钱
百分之十五是多少 | 百分之五十是多少
星期三有课吗 | 星期四有课吗
100公里是多少 | 100英里是多少
3万块够用吗 | 3亿块够用吗
"""

IDENTIFIERS = """
what does --dry-run do | what does --force do
open report.csv | open summary.csv
what does get_user return | what does get_group return
mail to anna@example.org | mail to bob@example.org
the address of Tom Reed | the address of Tom Reid
how do I tune PostgreSQL | how do I tune MySQL
what is the capital of Norway | what is the capital of Finland
is the shop open on monday | is the shop open on tuesday
say hello in french | say hello in italian
sort a list in python | sort a list in ruby
who wrote "Dark Water" | who wrote "White Water"
call parseInt twice | call parseFloat twice
why is /etc/hosts empty | why is /etc/fstab empty
trains to berlin | trains to munich
price of the silver card per week | price of the silver card per quarter
does the starter tariff include calls | does the premium tariff include calls
专业版支持导出吗 | 企业版支持导出吗
一个月可以请几次假 | 一年可以请几次假
Is Carla Berg Danish? | Is Rosa Berg Danish?
怎么用Redis做缓存 | 怎么用Kafka做缓存
北京的天气 | 广州的天气
《红楼梦》的作者是谁 | 《水浒传》的作者是谁
用法语怎么说谢谢 | 用德语怎么说谢谢
介绍一下大西洋 | 介绍一下太平洋
東京の人口 | 大阪の人口
"""

POLARITY = """
how do I turn on the alarm | how do I turn off the alarm
is the port open | is the port closed
is it safe to swim here | is it not safe to swim here
can I cancel the order | can't I cancel the order
list rooms with a view | list rooms without a view
how do I enable logging | how do I disable logging
should I buy these shares | should I sell these shares
which drinks are allowed | which drinks are forbidden
how do I install the driver | how do I uninstall the driver
what happens before the meal | what happens after the meal
why does it work | why doesn't it work
is sharing a password legal | is sharing a password illegal
how do I log in | how do I log out
how to scale up the cluster | how to scale down the cluster
the pros of nuclear power | the cons of nuclear power
how do I gain weight | how do I lose weight
the highest mountain | the lowest mountain
cities larger than Bonn | cities smaller than Bonn
is he older than me | is she older than me
is the service available | is the service unavailable
people who eat meat | people who never eat meat
import the data | export the data
怎么开启通知 | 怎么关闭通知
孕妇可以吃螃蟹吗 | 孕妇不可以吃螃蟹吗
允许拍照的地方 | 禁止拍照的地方
饭前吃药 | 饭后吃药
怎么安装打印机 | 怎么卸载打印机
评分在四分以上的店 | 评分在四分以下的店
价格上涨的原因 | 价格下跌的原因
他为什么来 | 他为什么没来
这样做合法吗 | 这样做违法吗
怎么登录账号 | 怎么退出账号
手机为什么能充电 | 手机为什么无法充电
"""

ORDER = """
merge hotfix into release | merge release into hotfix
copy a.txt to b.txt | copy b.txt to a.txt
convert pounds to yen by hand | convert yen to pounds by hand
the train from Lyon to Nice | the train from Nice to Lyon
does stress cause insomnia | does insomnia cause stress
is tea better than coffee | is coffee better than tea
do cats eat birds | do birds eat cats
who did Rome defeat before Carthage fell | who did Carthage defeat before Rome fell
how far is the bank from the school to walk | how far is the school from the bank to walk
从南京到苏州怎么走 | 从苏州到南京怎么走
把美元换成欧元 | 把欧元换成美元
狗会怕猫吗 | 猫会怕狗吗
你喜欢谁 | 谁喜欢你
"""

LANGUAGE = """
how do I boil an egg | 怎么煮鸡蛋
what is the weather like | какая сегодня погода
where is the station | où est la gare
how are you my friend | wie geht es dir und was ist los
天気はどうですか | 天气怎么样
날씨가 어때요 | what is the weather
"""

PASS = """
快递为什么还没到 | 为什么我还没收到快递
is there a monthly report | is there a report each month
the annual fee | the yearly fee
how do I sign up for the service | how can I register for the service
reset my password | how can I reset the password
enable two-step login | turn on two-step login
order #123 | order no. 123
order 123 | order one hundred and twenty three
1,000 metres in miles | 1000 metres in miles
a loan of $10 | a loan of 10 dollars
20 percent of the budget | 20% of the budget
events on 2024-05-06 | events on May 6, 2024
in Rust, how do I read a file | how do I read a file in Rust
when it rains, what should I wear | what should I wear when it rains
the difference between jazz and blues | the difference between blues and jazz
tell me the capital of Norway | what is the capital of Norway
what is the capital of norway | What is the capital of Norway?
HOW DO I COOK RICE | how do i cook rice
how do i use postgres | how do I use PostgreSQL
is it unsafe to eat this | is it not safe to eat this
not only fast but cheap cars | cars that are fast and cheap
I can't wait for the concert, when is it | when is the concert
I don't know how to tie a tie | how do I tie a tie
why don't we use plastic | why not use plastic
do you know whether or not it rains | do you know whether it rains
it is late, isn't it | is it late
how do I recieve a parcel | how do I receive a parcel
what's the best way to learn chess | what is the best way to learn chess
which one is the best phone | which is the best phone
what should I do first in Paris | what should I do in Paris
give me a hand with the tent | help me with the tent
who is the author of the book Emma | who wrote the book Emma
recommend a good film | can you recommend a good movie
the price of a ticket | how much does a ticket cost
World War II causes | causes of World War 2
how do I delete my account | how can I remove my account
how many people live in India | what is the population of India
Facebok password reset | Facebook password reset
how long does shipping take | what is the delivery time
mail to anna@example.org please | please mail to anna@example.org
run the script with --fast | how do I run the script with --fast
open `report.csv` | open report.csv
why is the sky blue | why does the sky look blue
Wi-Fi keeps dropping | wifi keeps dropping
who founded the company Alpha | who is the founder of Alpha
How Do I Bake Bread At Home | how do I bake bread at home
how is tea made | how do you make tea
is Monday a holiday | is it a holiday on Monday
I want to learn to sing | how do I learn to sing
这个手机不错吗 | 这个手机好吗
苹果和香蕉哪个好 | 香蕉和苹果哪个好
什么是爱情 | 爱情是什么
有没有好看的电影 | 推荐好看的电影
是不是明天放假 | 明天放假吗
能不能退货 | 可以退货吗
订单一百二十三在哪里 | 订单123在哪里
二〇二四年的收入 | 2024年的收入
百分之二十是多少 | 20%是多少
帮我找一个酒店 | 帮我找酒店
怎么用Python读文件 | Python怎么读文件
如何学习游泳 | 怎么学游泳
你吃饭了没有 | 你吃饭了吗
感冒了应该怎么办？ | 感冒怎么办
我不知道怎么做蛋糕 | 怎么做蛋糕
关于公司的介绍 | 公司介绍
千万别忘了带伞 | 别忘了带伞
重庆好玩的地方有哪些 | 重庆有哪些好玩的地方
男士袜子什么牌子好 | 什么牌子的男士袜子好
非常感谢怎么说 | 感谢怎么说
又快又好的方法 | 又好又快的方法
一起去看电影吧 | 去看电影吧
身份证丢了怎么补办 | 身份证遗失如何补办
微信怎么加好友 | 怎么在微信上加好友
"""


REFUSED = refused(
    {
        Reason.NUMBERS_DIFFER: NUMBERS,
        Reason.IDENTIFIERS_DIFFER: IDENTIFIERS,
        Reason.POLARITY_DIFFERS: POLARITY,
        Reason.WORD_ORDER_DIFFERS: ORDER,
        Reason.LANGUAGE_DIFFERS: LANGUAGE,
    }
)


@pytest.mark.parametrize(("question", "stored", "reason"), REFUSED)
def test_another_question_is_refused_with_its_reason(
    question: str, stored: str, reason: Reason
) -> None:
    """A pair that asks something else is refused, whichever of the two was stored."""
    assert_refused(question, stored, reason)


@pytest.mark.parametrize(("question", "stored"), pairs(PASS))
def test_a_paraphrase_passes(question: str, stored: str) -> None:
    """Another wording, spelling or order of the same question is not refused."""
    assert_passes(question, stored)


def test_there_are_enough_pairs() -> None:
    """Both sides are covered by whole kinds, not by an example or two."""
    assert len(REFUSED) >= 60
    assert len(pairs(PASS)) >= 60
