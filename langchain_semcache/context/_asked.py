"""The part of a follow-up that asks.

"Oh, that is cheap! And how long does it take?" is two things: what somebody makes of the last
answer, and a question. Only the second is to be compared with other questions, and in it neither
the way of asking ("do you know …") nor a word that points back: what it points at is compared as
the chat's referents are.
"""

from __future__ import annotations

import re
from functools import lru_cache

from langchain_semcache.context._mentions import is_han
from langchain_semcache.context._words import HAN_ATTRIBUTES, HAN_FUNCTION, HAN_PARTICLES, words

_LEAST_HAN = 2
_LEAST_WORDS = 2

_HAN_CHAR = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_HAN_CLAUSE = re.compile(r"[^，,。！!～~；;…、\s]*[，,。！!～~；;…、\s]*")
_HAN_ASKS = re.compile(
    r"什么|啥|多[少久长大高远贵钱]|几|哪|谁|怎|咋|如何|吗|嘛|[么呢][？?]?$|吧[？?]$|(.)[不没]\1|"
    r"有没有|[能可是]否|[？?]"
)
_HAN_TELLS = re.compile(
    r"\d|[A-Za-z]|[《“\"]|如果|要是|假如|的话|时候|我(?:是|在|要|想|用|住|有|带|家|们)|带|打算|准备|预算|"
    r"不(?:要|想|能|吃|用)"
)
"""What a question may depend on: a condition, a plan, a name."""

_HAN_JUDGES = words(
    """
    便宜 贵 划算 厉害 棒 牛 强 酷 好玩 好看 好听 好吃 漂亮 美 热闹 有趣 有意思 年轻
    远 近 长 短 久 快 慢 多 少 高 低 大 小 早 晚 值 巧 够 真 谢 难怪 看这样 这么看来 说来 说实话 算
    """
)
_HAN_REACTS = re.compile(
    "|".join(sorted(HAN_FUNCTION | HAN_ATTRIBUTES | HAN_PARTICLES | _HAN_JUDGES, key=len)[::-1])
)
"""What is said of an answer: how it is, and that it was heard. Nothing of one's own is in it."""

_MOST_LEFT = 1

_HAN_OPENING = re.compile(
    r"(?:那么|那|哦+|噢|啊+|嗯+|哇+|哈+|哎|诶|呃|唉|呀|对了|话说|请问|请教|所以|而且|还有|另外|不过|但是|但|其实|"
    r"就是|具体|一般|通常|[你您]好|是[吗嘛])+"
)
_HAN_ASKING = re.compile(
    r"(?:你们?|您)?还?(?:知不知道|知道|清楚|了解|记得|晓得|能告诉我|告诉我|能说说|说说|介绍一?下)(?:关于)?"
)
_HAN_TAG = re.compile(
    r"(?:(?:你们?|您)?[还都]?(?:知道|记得|清楚|晓得|了解)[吗嘛么不吧]?(?=[？?。!！呀啊]*$)|来着(?=[？?]*$))"
)
_HAN_POINTING = re.compile(
    r"(?:它们?|[这那][里儿]|此[处地]|[这那该此本][个部首家座张位所]?(?:景[点区]|地方|电影|影片|片子?|歌曲?|专辑|公司|"
    r"酒店|餐[厅馆]|饭店|人|组合|乐队|导演|学校|博物馆))的?|[他她]们?的?"
)
_OPENING = re.compile(
    r"(?:(?:oh|ok|okay|great|nice|thanks|thank you|wow|cool|perfect|i see|got it|hm+|alright|right|"
    r"sure|yes|yeah|and|but|so|now|then|well|ah|please|also)\b[ ,.!…]*)+",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"[ ,]+(?:then|though|please|now)(?=[?.!]*$)", re.IGNORECASE)


@lru_cache(maxsize=512)
def asked_part(question: str) -> str:
    """The part of a follow-up that asks; all of it where that cannot be told."""
    part = question.strip()
    shorten = _han_part if is_han(part) else _english_part
    while (shorter := shorten(part)) != part:
        part = shorter
    return part


def _han_part(text: str) -> str:
    text = _after_reactions(text)
    for pattern in (_HAN_OPENING, _HAN_ASKING):
        if found := pattern.match(text):
            text = _if_enough(text[found.end() :], text)
    for pattern in (_HAN_TAG, _HAN_POINTING):
        text = _if_enough(pattern.sub("", text, count=1), text)
    return text


def _after_reactions(text: str) -> str:
    """Without what is said of the last answer, before the question."""
    clauses = [clause for clause in _HAN_CLAUSE.findall(text) if clause]
    first = 0
    while first < len(clauses) - 1 and _only_reacts(clauses[first]):
        first += 1
    rest = "".join(clauses[first:])
    return rest if _HAN_ASKS.search(rest) else text


def _only_reacts(clause: str) -> bool:
    if _HAN_TELLS.search(clause) or _HAN_ASKS.search(clause.rstrip("，,。！!")):
        return False
    return len(_HAN_CHAR.findall(_HAN_REACTS.sub("", clause))) <= _MOST_LEFT


def _if_enough(shorter: str, text: str) -> str:
    shorter = shorter.strip(" ，,、")
    return shorter if len(_HAN_CHAR.findall(shorter)) >= _LEAST_HAN else text


def _english_part(text: str) -> str:
    opening = _OPENING.match(text)
    shorter = _CLOSING.sub("", text[opening.end() :] if opening else text)
    return shorter if len(shorter.split()) >= _LEAST_WORDS else text
