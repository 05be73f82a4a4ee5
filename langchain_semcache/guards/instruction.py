"""How the answer is wanted: its form, length, depth and language."""

from __future__ import annotations

import re
from functools import lru_cache

from langchain_semcache.guards._english import CLASSES
from langchain_semcache.guards._reading import Reading, Refusal, differing
from langchain_semcache.records import Reason

_LANGUAGE = "|".join(sorted(next(c for c in CLASSES if "french" in c)))
_COUNT = r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|a single|a couple of)"
_FORM = (
    r"tables?|lists?|bulleted list|numbered list|bullet(?:ed)? (?:list|points?)|bullets|json|csv|"
    r"yaml|xml|markdown|html|latex|poem|haiku|song|essay|e-?mail|letter|story|tweet|diagram|"
    r"flow ?chart|mind ?map|script|dialogue|paragraphs?|plain text|code block|spreadsheet|outline"
)
_TELL = r"answer|reply|respond|explain|describe|write|summari[sz]e|tell|say it|output|list"
_REACH = 600
"""Characters of a sentence between "explain" and "in French"."""
_ENGLISH = (
    ("language", re.compile(
        rf"\b(?:{_TELL})\b[^.?!]{{0,{_REACH}}}\bin ({_LANGUAGE})\b|[,.;?!] *in ({_LANGUAGE})\b"
        rf"|^in ({_LANGUAGE})[,:]")),
    ("form", re.compile(
        rf"\bas an? (?:\w+ )?({_FORM})\b|\bin (?:an? |the form of )?(?:an? )?({_FORM})"
        rf"(?: (?:form|format))?(?=[,.?!]|$| please)|\b({_FORM}) (?:form|format)\b"
        rf"|\b(?:in|with|using) (?:{_COUNT} )?(bullet(?:ed)? points?|bullets)\b"
        r"|\b(step[ -]by[ -]step)\b|\bwith (?:an? |some )?(examples?|code)(?=[,.?!]|$)")),
    ("length", re.compile(
        rf"\bin ({_COUNT} (?:short )?(?:sentence|word|line|paragraph|bullet|step|point)s?)\b"
        r"|\b(?:under|within|at most|no more than|less than|fewer than|up to|max(?:imum)?|about|"
        r"around|in) (\d+ (?:word|character|sentence|line|paragraph|page)s?)\b"
        r"|\b(\d+-(?:word|sentence|page|line|paragraph))\b")),
    ("depth", re.compile(
        r"\b(briefly|in brief|in short|concisely|tl;?dr|keep it short|short answer|in a nutshell|"
        r"be (?:brief|concise))\b|\b(in (?:more |great(?:er)? |full )?detail|in[ -]depth|at length|"
        r"thoroughly|comprehensively|elaborately|detailed (?:answer|explanation)|"
        r"long answer)\b")),
    ("level", re.compile(
        r"\b(in (?:simple|plain|easy|layman'?s?) (?:words|terms|english|language)|eli5|"
        r"like i(?:'m| am) (?:five|5|a child))\b"
        rf"|\b(?:{_TELL}|teach)\b[^.?!]{{0,{_REACH}}}\b((?:to|for) (?:a child|a kid|dummies|"
        r"kids|children|an? (?:\d+|five|six|ten)[ -]year[ -]old|beginners|an? beginner|an? expert|"
        r"experts))\b")),
)  # fmt: skip
_ALIKE = (
    (re.compile(r"bullet.*"), "bullets"),
    (re.compile(r"\b(?:a single|an?|1)\b"), "one"),
    (re.compile(r"(?:brief|in brief|in short|concise|tl|keep|short|in a nut|be ).*"), "brief"),
    (re.compile(r"(?:in (?:more|great|full|detail)|in[ -]depth|at length|thorough|comp|elab|detail|"
                r"long).*"), "detailed"),
    (re.compile(r"in (?:simple|plain|easy|layman).*|eli5|like i.*|(?:to|for) (?:a child|a kid|kids|"
                r"children|dummies|an? (?:five|5)[ -]year[ -]old)"), "simple"),
    (re.compile(r"(?:to|for) (?:an? )?(beginner|expert)s?"), r"\1"),
    (re.compile(r"(?<=[a-z]{3})s$"), ""),
)  # fmt: skip
_HAN_LANGUAGE = (
    "英文|英语|中文|汉语|法语|法文|德语|德文|日语|日文|韩语|韩文|俄语|西班牙语|粤语|文言文"
)
_SAY = "回答|回复|答复|解释|说明|写|介绍|描述|讲|说|告诉|总结|概括|作答|列出"
_HAN = (
    ("language", re.compile(rf"[用以]({_HAN_LANGUAGE})(?:来)?(?:{_SAY})(?!起来)")),
    ("form", re.compile(
        r"[用以做成画]{1,2}[成一个张]{0,2}(表格|列表|流程图|思维导图|markdown|json|csv|代码|诗|图表)"
        r"|(表格|列表|markdown|json|csv|xml|邮件|诗歌)(?:的)?(?:形式|格式)"
        r"|(分点|分条|要点|逐条|分步骤|一步一步|按步骤|逐步|举例|举个例子)")),
    ("length", re.compile(
        r"(一句话|一段话|[两三]句话|\d+句话|[一两三四五]个字|一个词)"
        r"|(?:不超过|不多于|最多|控制在|少于|至少|不少于|大约|用|写)?(\d+)个?字(?:以内|左右|之内|以上|内)?")),
    ("depth", re.compile(
        rf"(简要|简短|简洁|简略|精简|扼要|简单(?:地|的)?(?={_SAY}))|"
        rf"(详细(?!地址|信息|资料|位置|时间|日期)|详尽|深入|展开讲|具体(?={_SAY}))")),
    ("level", re.compile(
        r"(通俗|大白话|浅显|给(?:小孩|孩子|小朋友|小白|初学者|新手)(?:讲|解释|说))")),
)  # fmt: skip
_HAN_ALIKE = (
    (re.compile(r"简[要短洁略单].*|精简|扼要"), "简"),
    (re.compile(r"详.*|深入|展开讲|具体"), "详"),
    (re.compile(r"分[点条]|要点|逐条"), "分点"),
    (re.compile(r"举.*"), "举例"),
    (re.compile(r"分步骤|一步一步|按步骤|逐步"), "分步"),
    (re.compile(r"([英法德日韩])[语文]"), r"\1"),
    (re.compile("汉语"), "中文"),
)
_WANTED = frozenset(
    f"{_LANGUAGE}|as|detail|depth|in-depth|length|bullet|bullets|step|steps|step-by-step|words|word|"
    "sentence|sentences|briefly|brief|short|concisely|concise|nutshell|examples|example|code|eli5|"
    "simple|plain|layman's|layman|child|kid|kids|children|beginners|beginner|expert|experts|dummies|"
    "json|csv|yaml|xml|markdown|html|table|list|format|form|tl|tldr|thoroughly|comprehensively|"
    "elaborately|detailed|lines|line|paragraph|paragraphs|characters|pages|poem|haiku|essay|old|"
    "song|email|e-mail|letter|story|tweet|diagram|script|bulleted|outline|easy|five".split("|")
)
"""Without one of these words an English sentence gives no instruction, and most have none."""
_ASKED = frozenset(
    "explain describe write give show compare list provide make create answer reply respond tell "
    "summarize summarise say output translate teach define outline tl eli5 please name discuss "
    "what how why who".split()
)
"""Without one of these, or a question mark, nothing is wanted: "they come back as a list"."""


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when the two want their answers in another form. Politeness is no instruction."""
    if question.has_han != stored.has_han:
        return None
    ours, theirs = instructions(question), instructions(stored)
    if ours == theirs:
        return None
    return differing(Reason.INSTRUCTION_DIFFERS, ours - theirs, theirs - ours)


@lru_cache(maxsize=64)
def instructions(reading: Reading) -> frozenset[str]:
    """What is said of the answer itself, as "slot: value"."""
    text = reading.lower.strip()
    if reading.has_han:
        return _found(text, _HAN, _HAN_ALIKE)
    if _WANTED.isdisjoint(reading.words):
        return frozenset()
    if _ASKED.isdisjoint(reading.words) and "?" not in text:
        return frozenset()
    return _found(text, _ENGLISH, _ALIKE)


def _found(
    text: str,
    slots: tuple[tuple[str, re.Pattern[str]], ...],
    alike: tuple[tuple[re.Pattern[str], str], ...],
) -> frozenset[str]:
    found = set()
    for slot, pattern in slots:
        for match in pattern.finditer(text):
            value = next(filter(None, match.groups()), "")
            for same, name in alike:
                value = same.sub(name, value)
            found.add(f"{slot}: {value}")
    return frozenset(found)
