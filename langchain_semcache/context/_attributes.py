"""What a follow-up asks about its subject: its price, its hours, its age.

In a follow-up hardly anything else is said, and there are few things that people ask about most
subjects. "How much is a ticket?" and "what do they charge" name one of them in words that have
little in common, "how long does it take" and "how long is it open" two in words that have much.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from langchain_semcache.context._mentions import NAME, RARE, is_han, mentions, plain, stem_of
from langchain_semcache.context._words import ENGLISH_FUNCTION, HAN_FUNCTION, words

_NEARBY: Final = r"(?:周边|附近|周围|旁边|边上|\bnearby\b|\bclose by\b)"
_KNOWN: Final = {
    "price": (
        "门票|票价|价[格钱位]|多少?钱|收费|费用|花费|怎么卖|免费|要票|买票|人均|消费|贵|便宜",
        r"\b(?:prices?|costs?|fees?|charges?|pay|expensive|cheap(?:er)?)\b|\bhow much (?:is|are)\b",
    ),
    "hours": (
        "开放|[开关]门|营业|[开闭]馆|几点开|时段|对外",
        r"\b(?:open(?:s|ing)?|clos(?:e|es|ing)|hours)\b",
    ),
    "duration": (
        "多久|多长时间|游玩时间|[能可以得]玩|几个?(?:小时|钟头|天)|时长|片长",
        r"\bhow long (?!ha[sd]|have)|\bduration\b",
    ),
    "way": (
        "多远|路程|路上|走过去|步行|怎么[走去]",
        r"\b(?:get|walk|drive) (?:to|there)\b|\bhow far\b|\bdirections\b",
    ),
    "phone": ("电话|号码|联系方式|手机号", r"\b(?:tele)?phone\b|\bcontact\b"),
    "address": (
        "地址|位置|在哪|在什么地方|位于|坐落",
        r"\baddress\b|\bwhere (?:is|are)\b|\blocated\b",
    ),
    "places to eat nearby": (rf"{_NEARBY}.*(?:餐|饭|吃|美食)", rf"{_NEARBY}.*\brestaurants?\b"),
    "places to stay nearby": (rf"{_NEARBY}.*(?:酒店|宾馆|旅馆|住)", rf"{_NEARBY}.*\bhotels?\b"),
    "places to see nearby": (rf"{_NEARBY}.*(?:景[点区]|玩|逛)", rf"{_NEARBY}.*\bsights?\b"),
    "age": (
        "多大(?!小)|几岁|岁数|年[龄纪]|出生|生日|生于|哪年生",
        r"\bhow old\b|\bhow long ha(?:s|ve)\b|\bages?\b|\bborn\b|\bbirthday\b",
    ),
    "release": ("上映|发[行布售]|出版|首播|问世", r"\breleased?\b|\bc[oa]me out\b|\bpublished\b"),
    "founding": ("成立|创[办立建]|建[立成于]|始建", r"\bfounded\b|\bestablished\b|\bbuilt\b"),
    "director": ("导演|执导", r"\bdirect(?:or|ed|s)\b"),
    "cast": ("主演|演员|谁演|出演|饰演", r"\bcast\b|\bstar(?:s|ring|red)?\b|\bactors?\b"),
    "writer": ("作者|编剧|谁写", r"\bauthors?\b|\bwr(?:ote|itten|iter)\b"),
    "lyricist": ("作词|填词", r"\blyrics\b"),
    "composer": ("作曲|谱曲|编曲", r"\bcompose[rd]\b"),
    "singer": ("原唱|演唱者?|谁唱|歌手是", r"\bsings?\b|\bsung\b"),
    "works": (
        "代表作|作品|哪[些首部]|什么(?:歌|电影|书)",
        r"\b(?:which|what) (?:songs|albums|films|movies|books)\b",
    ),
    "awards": ("奖|荣誉|成就", r"\bawards?\b|\bprizes?\b"),
    "plot": ("剧情|情节|讲[的述了]|故事", r"\bplot\b|\babout\W*$|\bstory\b"),
    "company": ("公司|经纪", r"\bcompany\b|\bemployer\b"),
    "rating": ("评分|打分|几分|口碑", r"\brat(?:ing|ed)\b|\bscore\b"),
    "name": ("叫什么|名字", r"\bnames?\b|\bcalled\b"),
    "origin": ("国籍|哪国|籍贯|老家|哪里人", r"\bnationality\b|\bcome from\b"),
    "members": ("成员", r"\bmembers\b"),
    "height": ("多高|身高|高度", r"\bhow (?:tall|high)\b|\bheight\b"),
    "weight": ("多重|体重|重量", r"\bhow heavy\b|\bweigh[st]?\b"),
    "size": ("多大小|面积|尺寸|大小", r"\bhow (?:big|large)\b|\bsize\b|\barea\b"),
    "population": ("人口", r"\bpopulation\b|\bhow many people\b"),
    "lifespan": ("寿命|活多久|能活", r"\blife(?:span| expectancy)\b|\bhow long do \w+ live\b"),
    "language": ("什么语言?|哪种语言", r"\b(?:what|which) language\b"),
    "dishes": ("招牌菜|推荐菜|特色菜|有什么菜", r"\bdish(?:es)?\b|\bmenu\b"),
    "reason": ("为什么|原因|为何|为啥", r"\bwhy\b|\breasons?\b"),
    "replacement": ("代替|替代|替换", r"\binstead\b|\bsubstitutes?\b|\breplace(?:ment)?\b"),
    "discovery": ("发明|发现", r"\binvent(?:ed|or)\b|\bdiscover(?:ed|er)\b"),
    "capital": ("首都|省会", r"\bcapital\b"),
    "example": ("例子|举例|示例", r"\bexamples?\b"),
}
"""By name, how they are asked for in Chinese and in English."""

_OTHER_KIND: Final = frozenset({"reason", "replacement", "example", "way"})
"""Whoever asks for one of these beside another attribute asks for something else."""

_FACTS: Final = frozenset(
    """
    phone address age release founding director cast writer lyricist composer singer awards origin
    members height population lifespan discovery capital
    """.split()
)
"""What is the same for everybody, whoever they are and whatever they have."""

_WHEN: Final = re.compile(
    r"哪一?年|\b(?:what|which) year\b|\bwhen (?:did|was|were)\b", re.IGNORECASE
)
"""A date is no attribute: it is asked of anything that happened."""

_OF_ONESELF: Final = re.compile(
    r"[我咱俺]|\b(?:i|me|my|mine|we|us|ours?|i'[a-z]+|we'[a-z]+)\b", re.IGNORECASE
)

_PATTERNS: Final = {
    name: re.compile("|".join(ways), re.IGNORECASE) for name, ways in _KNOWN.items()
}


_KINDS: Final = words(
    """
    时间 日期 地点 景点 景区 公园 餐馆 餐厅 饭店 酒店 宾馆 电影 影片 电视剧 歌曲 专辑 乐队
    组合 歌手 艺人 演员 导演 公司 学校 大学 博物馆 场馆 商店 医院 城市 国家 产品 商品 书
    """
)
"""What the subject is, or what is asked for, without saying more of it."""

_HAN_NOTHING: Final = re.compile("|".join(sorted(HAN_FUNCTION | _KINDS, key=len, reverse=True)))
_PIECE: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]{2,}|[^\W\u3400-\u9fff\uf900-\ufaff]+")
"""A single character that is left of Chinese says nothing by itself."""


@dataclass(frozen=True, slots=True)
class OtherAttribute:
    """Two follow-ups that ask for something else of their subject; `detail` says it in words."""

    detail: str


def same_attribute(
    question: str, stored: str, names: Collection[str] = ()
) -> bool | OtherAttribute:
    """Whether both are known to ask for the same and for nothing else; False where they are not.

    Args:
        names: What both chats speak of, folded: one question may name it and the other point at it.
    """
    ours, theirs = _attributes(question), _attributes(stored)
    kinds = (ours ^ theirs) & _OTHER_KIND
    if ours and theirs and (kinds or (ours - theirs and theirs - ours)):
        return OtherAttribute(f"asks for {_shown(ours)}, the stored one for {_shown(theirs)}")
    if not ours or ours != theirs:
        return False
    known = frozenset(names)
    return _besides(question, ours) - known == _besides(stored, theirs) - known


def asks_for_a_fact(question: str) -> bool:
    """Whether the answer is the same for everybody: what users told of themselves says nothing.

    Precise rather than complete: "When was the Eiffel Tower built?" is such a question. How much a
    ticket is depends on who buys it, and when the delivery left on whose it is: it takes a name.
    """
    if _OF_ONESELF.search(question) or not _names(question):
        return False
    asked = _attributes(question)
    return asked <= _FACTS if asked else _WHEN.search(question) is not None


def _names(question: str) -> bool:
    return any(
        weight >= NAME or (weight >= RARE and len(name) > 2 and is_han(name))
        for name, weight in mentions(plain(question))
    )


@lru_cache(maxsize=512)
def _attributes(question: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _PATTERNS.items() if pattern.search(question))


@lru_cache(maxsize=512)
def _besides(question: str, asked: frozenset[str]) -> frozenset[str]:
    """What else is said: "for students" makes another question of how much it is."""
    rest = plain(question)
    for name in asked:
        rest = _PATTERNS[name].sub(" ", rest)
    rest = _HAN_NOTHING.sub(" ", rest)
    pieces = _PIECE.findall(rest.casefold())
    return frozenset(stem_of(piece) for piece in pieces if piece not in ENGLISH_FUNCTION)


def _shown(found: frozenset[str]) -> str:
    return " and ".join(sorted(found))
