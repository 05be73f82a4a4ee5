"""When: today's answer is not tomorrow's, and the latest is not any."""

from __future__ import annotations

import re
from functools import lru_cache

from langchain_semcache.guards._reading import Reading, Refusal, differing, read
from langchain_semcache.records import Reason

_PERIOD = (
    "week|month|year|quarter|season|semester|term|night|weekend|summer|winter|spring|fall|century"
)
_ENGLISH = {
    "today": r"today(?:'s)?|tonight|this (?:morning|afternoon|evening)",
    "yesterday": r"yesterday(?:'s)?|last night",
    "tomorrow": r"tomorrow(?:'s)?",
    "latest": r"latest|newest|most recent|up-to-date",
    "past": r"used? to be|did(?:n't)? [\w' ]{1,40}? use to"
    r"|(?:who|that|i|you|he|she|it|they|we) used to"
    r"(?! (?:the|being|having|living|working|this|that|my|your)\b)"
    r"|formerly|in the past|back then|no longer|any ?more|in ancient times|historically",
    "future": r"in (?:the )?(?:near )?future|in the coming|one day|someday",
    "period": rf"(?:this|last|next|past|previous|coming) (?:{_PERIOD})",
    "present": r"now|nowadays|currently|current|at the moment|at present|these days|presently",
}
_WHEN = re.compile(rf"\b(?:{'|'.join(f'(?P<{k}>{v})' for k, v in _ENGLISH.items())})\b")
_SOMETHING_ELSE = re.compile(
    r"\b(?:from now on|right now to|until now|now that|know now|just now|by now|even now|"
    r"(?:alternating|direct|electric(?:al)?|high|ac|dc|induced|ocean|eddy) current|"
    r"current (?:account|flow|transformer|density|source|of)|past (?:tense|participle|paper)|"
    r"not any ?more than|in today's world|used to (?:describe|refer|measure|treat))"
)
_ALIKE = {"coming": "next", "past": "last", "previous": "last", "term": "semester"}
_PERIODS = re.compile(r"\b(?:coming|past(?= )|previous|term)\b")
_WAS = re.compile(r"\b(?:was|were|did|had)\b")
_HAD = re.compile(r"\b(?:was|were|did|had|has|have)\b")
_HAN = {
    "今天": "今天|今日|今晚|今早|今晨",
    "昨天": "昨天|昨日|昨晚|昨夜",
    "明天": "明天|明日|明晚|明早",
    "前天": "前天",
    "后天": "(?<!之)(?<!以)后天(?![性])",
    "今年": "今年|本年",
    "去年": "去年",
    "明年": "明年",
    "本周": "[本这](?:个)?(?:周|星期|礼拜)(?![围末年岁])",
    "上周": "上(?:个)?(?:周|星期|礼拜)(?!末)",
    "下周": "下(?:个)?(?:周|星期|礼拜)(?!末)",
    "本月": "[本这](?:个)?月",
    "上月": "上(?:个)?月",
    "下月": "下(?:个)?月",
    "最新": "最新",
    "past": "曾经|从前|过去(?!了)|当年|古代|当时",
    "future": "将来|未来",
    "present": "现在|目前|当前|如今|眼下|现今|当今",
}
_HAN_GROUPS = {f"g{n}": name for n, name in enumerate(_HAN)}
_HAN_WHEN = re.compile("|".join(f"(?P<{g}>{_HAN[name]})" for g, name in _HAN_GROUPS.items()))
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|《[^》]*》|「[^」]*」|(?<!\S)[^\s:=/]*+[:=/]\S+")
_HALF = 1000
"""Characters that are read of a long text, at its beginning and at its end."""

_VOLATILE = re.compile(
    r"\b(?:today(?:'s)?|tonight|yesterday(?:'s)?|tomorrow(?:'s)?|latest|newest|most recent|"
    r"recently|right now|currently|at the moment|at present|these days|nowadays|up-to-date|"
    rf"(?:this|last|next) (?:{_PERIOD}|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|"
    r"current (?!account\b|flow\b|transformer\b|density\b|source\b|of\b|directory\b|working\b|"
    r"line\b|branch\b|user\b|thread\b|through\b|in (?:a|the) (?:wire|circuit|conductor)\b)\w+|"
    r"what (?:time|day|date|month|year) is it|what's the (?:time|date)\b(?! (?:of|in|for|complex))|"
    r"what is the (?:time|date)(?: now)?$|"
    r"(?:weather|forecast|temperature) (?:in|for|outside|like|at)\b|what(?:'s| is) the weather|"
    r"exchange rate|(?:stock|share|bitcoin|gold|oil|gas) prices?|price of (?:bitcoin|gold|oil|gas)|"
    r"breaking news|(?:the|in) news|headlines|live score|who(?:'s| is) (?:winning|leading)|"
    r"how (?:long|many days) (?:until|till)|open now|traffic (?:on|in|to|like))\b|"
    r"\bnow(?=\?|$)|\bis it (?:raining|snowing|cold outside|hot outside)\b"
)
_HAN_VOLATILE = re.compile(
    r"今[天日晚早年]|明[天日晚早年]|昨[天日晚]|后天(?!性)|去年|[本这上下]个?(?:周|星期|礼拜|月)(?![围岁])|"
    r"最新|最近(?!的(?:路|地|店|站|医|银|超|加))|现在|目前|当前(?!目录|用户|行)|如今|眼下|实时|几点了|"
    r"天气(?!学)|气温|汇率|股价|油价|金价|行情|新闻(?!学|系|专业)|路况|热搜|"
    r"(?:还有|距离?).{0,8}(?:几|多少)天"
)


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when one side is about another time than the other.

    A word for the present beside a plain present ("is it currently open", "is it open") is no
    difference; beside a past it is.
    """
    if question.has_han != stored.has_han:
        return None
    ours, theirs = times(question), times(stored)
    if ours == theirs:
        return None
    differ = (ours ^ theirs) - {"present"}
    if differ == {"past"} and _HAD.search((question if "past" in theirs else stored).lower):
        return None
    if differ or ("present" in ours ^ theirs and _tenses(question, stored)):
        return differing(Reason.TIME_DIFFERS, ours - theirs, theirs - ours)
    return None


def _tenses(question: Reading, stored: Reading) -> bool:
    if question.has_han:
        return False
    return bool(_WAS.search(question.lower)) != bool(_WAS.search(stored.lower))


@lru_cache(maxsize=64)
def times(reading: Reading) -> frozenset[str]:
    """The times that a sentence names, other than by a number."""
    if reading.has_han:
        return frozenset(_HAN_GROUPS[m.lastgroup or ""] for m in _HAN_WHEN.finditer(reading.lower))
    text = _SOMETHING_ELSE.sub(" ", reading.lower)
    found = {m[0] if m.lastgroup == "period" else m.lastgroup or "" for m in _WHEN.finditer(text)}
    return frozenset(_PERIODS.sub(lambda match: _ALIKE[match[0]], name) for name in found)


def volatile(question: str) -> bool:
    """Whether the answer changes by the day: today, the latest, the weather, a current price.

    What is quoted, code or a link does not count, nor does the middle of a long text.
    """
    if len(question) > 2 * _HALF:
        question = f"{question[:_HALF]}\n{question[-_HALF:]}"
    reading = read(question)
    text = _QUOTED.sub(" ", reading.lower).rstrip(" ?!.")
    if reading.has_han:
        return bool(_HAN_VOLATILE.search(text))
    return bool(_VOLATILE.search(text))
