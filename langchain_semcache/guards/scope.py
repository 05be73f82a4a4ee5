"""For whom, where, on what and under which condition: a limited question is another question."""

from __future__ import annotations

import re
from functools import lru_cache

from langchain_semcache.guards._chinese import HAN_CLASSES
from langchain_semcache.guards._english import ALIASES, CLASSES, STOPWORDS, words
from langchain_semcache.guards._reading import Reading, Refusal, content, differing, stem
from langchain_semcache.records import Reason

_LIMITS = words("for on in with without within under using via unless during except")
_ENDS = _LIMITS | words(
    "of to from by at into about and or is are was were do does did can could will would should "
    "have has what who why how when where which that than because so but i you he she we they it"
)
_SAYS_NOTHING = frozenset(map(stem, words(
    "world life general detail way person people order case example fact mind time place word term "
    "meaning possible everyday reality day everyone everybody anyone someone something anything "
    "thing myself yourself us question answer help addition total particular real actual whole "
    "today now moment past future year "
    "history earth short brief english ever all kind sort type good best "
    "better lot purpose reason beginning end sense regard respect practice use own advance english "
    "only please thank thanks opinion size system usually really easily quickly first"
)))  # fmt: skip
_REACH = 3
_LONGEST = 20
"""Words of a question; in a longer text a phrase more is another wording as often as not."""
_CLASSES = tuple(
    members
    for members in CLASSES
    if not members.isdisjoint(("android", "premium", "germany", "berlin", "python", "aws"))
)
_PLACED = frozenset().union(*_CLASSES)
_GROUP_OF = {
    stem(name): group
    for group in (
        "students pupils|teachers professors|children kids|adults|seniors elderly|men|women|"
        "parents|beginners novices|experts professionals|employees staff|employers|managers|"
        "developers|customers clients|sellers merchants|tourists visitors|residents citizens|"
        "immigrants|doctors|nurses|patients|businesses companies|nonprofits charities|dogs|cats|"
        "individuals|horses|birds|babies infants|toddlers|teenagers teens|runners|drivers|card|"
        "cash|cyclists|vegans|vegetarians|diabetics|freelancers|landlords|tenants|exams|work|school"
    ).split("|")
    for name in group.split()
}
"""For whom it is: another of these is another scope."""
_PER = re.compile(
    r"\b(?:per|a|each|every) (hour|day|week|month|quarter|year)\b(?! (?:ago|old|later|after|before|"
    r"or|from|off))|\b(hour|dai|week|month|quarter|year|annual)(?:ly|ily|y)\b|\b(annual)\b"
)
_PERIODS = {"dai": "day", "annual": "year"}
_HAN_PER = re.compile(r"[每按](?:一?个)?(小时|天|日|周|星期|月|季度|年)(?!龄|级|轻)")
_HAN_PERIODS = {"日": "天", "星期": "周"}
_HAN_PLAN = re.compile(
    r"(免费|基础|标准|专业|高级|旗舰|企业|团队|个人|家庭|学生|教育|试用|国际|海外|港版|国行)(?:版|套餐|用户|账号|账户|会员)"
)
_HAN_PLATFORM = re.compile(
    r"(安卓|苹果|ios|鸿蒙|windows|mac|linux|电脑|手机|网页|平板)(?:手机|系统|电脑)?(?:上|端|版|里|系统)"
)
_HAN_PLACE = re.compile(
    "|".join(m for c in HAN_CLASSES if c & {"中国", "北京", "湖南"} for m in sorted(c))
)
_HAN_NO_PLACE = re.compile(
    r"(?:中国|北京|上海|南京|广东|浙江)(?:移动|联通|电信|银行|人寿|平安|(?:工商|农业|建设|招商|民生|光大)银行)"
    r"|(?:国语|汉语)|印度洋|苏州话"
)


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when one is limited in a way in which the other is not, or to something else."""
    if question.has_han and stored.has_han:
        ours, theirs = _han_scopes(question), _han_scopes(stored)
        lost, gained = _unsaid(ours - theirs, stored), _unsaid(theirs - ours, question)
    elif question.has_han or stored.has_han:
        return None
    else:
        lost, gained = _differences(question, stored)
    if not lost and not gained:
        return None
    return differing(Reason.SCOPE_DIFFERS, lost, gained)


def _unsaid(scopes: frozenset[str], other: Reading) -> set[str]:
    text = other.lower.replace("国内", "中国")
    return {scope for scope in scopes if scope.rpartition(" ")[2] not in text}


def _differences(question: Reading, stored: Reading) -> tuple[set[str], set[str]]:
    ours, theirs = _periods(question), _periods(stored)
    if ours != theirs and not (ours and theirs and ours & theirs):
        return set(ours - theirs), set(theirs - ours)
    if max(len(question.words), len(stored.words)) > _LONGEST:
        return set(), set()
    here, there = set(content(question)), set(content(stored))
    lost = _limits(question, here - there)
    gained = _limits(stored, there - here)
    if not lost and not gained:
        return set(), set()
    sure = {s for s in lost | gained if s.partition(" ")[2] in _PLACED}
    if sure:
        return lost & sure, gained & sure
    if lost and gained and not (_groups(lost) and _groups(gained) - _groups(lost)):
        return set(), set()  # a fridge may be a refrigerator
    rest_ours = here - there - _SAYS_NOTHING - _named(lost)
    rest_theirs = there - here - _SAYS_NOTHING - _named(gained)
    return (set(), set()) if rest_ours or rest_theirs else (lost, gained)


def _groups(limits: set[str]) -> set[str]:
    return {_GROUP_OF[word] for word in _named(limits) if word in _GROUP_OF}


def _named(limits: set[str]) -> set[str]:
    return {stem(word) for limit in limits for word in limit.split(" ")[1:]}


def _limits(reading: Reading, missing: set[str]) -> set[str]:
    """Phrases like "for students" of which the other sentence has no word."""
    return {
        f"{limit} {' '.join(phrase)}"
        for limit, phrase in limited(reading)
        if all(stem(word) in missing for word in phrase)
        and not all(stem(word) in _SAYS_NOTHING for word in phrase)
    }


@lru_cache(maxsize=64)
def limited(reading: Reading) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each word that limits, with the words of its phrase that carry meaning."""
    found = []
    text = reading.words
    for place, word in enumerate(text):
        if word not in _LIMITS:
            continue
        phrase = []
        for follower in text[place + 1 : place + 2 + _REACH]:
            if follower in _ENDS:
                break
            if follower not in STOPWORDS and not follower[0].isdigit():
                phrase.append(ALIASES.get(follower, follower))
        if phrase:
            found.append((word, tuple(phrase)))
    return tuple(found)


@lru_cache(maxsize=64)
def _periods(reading: Reading) -> frozenset[str]:
    found = {next(filter(None, m.groups())) for m in _PER.finditer(reading.lower)}
    return frozenset(_PERIODS.get(period, period) for period in found)


@lru_cache(maxsize=64)
def _han_scopes(reading: Reading) -> frozenset[str]:
    text = reading.lower
    found = {f"每{_HAN_PERIODS.get(m[1], m[1])}" for m in _HAN_PER.finditer(text)}
    found |= {f"版本 {m[1]}" for m in _HAN_PLAN.finditer(text)}
    found |= {f"平台 {m[1]}" for m in _HAN_PLATFORM.finditer(text)}
    found |= {f"在 {m[0]}" for m in _HAN_PLACE.finditer(_HAN_NO_PLACE.sub(" ", text))}
    return frozenset(found)
