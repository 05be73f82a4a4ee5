"""What is asked for: a reason is no time, and a place is no person."""

from __future__ import annotations

import re
from functools import lru_cache

from langchain_semcache.guards._reading import Reading, Refusal
from langchain_semcache.records import Reason

_ENGLISH = {
    "duration": r"how (?:long|much time|many (?:minutes|hours|days|weeks|months|years))\b",
    "amount": r"how (?:many|much|old|far|tall|big|large|high|heavy|deep|fast|often|hot)\b"
    r"|how (?!exactly|else|come|to)[a-z]+(?<!ly) (?:is|are|was|were)\b",
    "why": r"why\b|how come\b|what (?:is|are|was|were) the (?:reasons?|causes?)\b|"
    r"what (?:causes|caused)\b|for what reason\b",
    "when": r"(?:(?<=^)|(?<=[.,?!] )|(?<=tell me )|(?<=know ))when\b"
    r"|what (?:time|date|year)\b|(?:in|on) (?:what|which) (?:year|date|day)\b|since when\b",
    "where": r"where\b|(?:what|which) (?:place|location)\b|in (?:what|which) (?:city|country)\b",
    "who": r"(?:(?<=^)|(?<=[.,?!] )|(?<=tell me )|(?<=know ))(?:who|who's|whose|whom)\b"
    r"|(?:which|what) person\b|by whom\b",
    "how": r"how (?:do|can|could|should|would|to|might)\b|(?:what is|what's|is there|which is) "
    r"(?:the |a |an )?(?:best |easiest |right |fastest |simplest |correct |proper )?"
    r"(?:way|method|procedure)\b|(?:what|which) (?:are )?(?:the )?steps\b",
}
_ASKED = re.compile(
    r"\b(?=[bfhisw])(?:" + "|".join(f"(?P<{kind}>{form})" for kind, form in _ENGLISH.items()) + ")"
)
_WHETHER = re.compile(
    r"^(?:is|are|was|were|do|does|did|will|would|should|has|have|had)\b"
    r"(?! (?:there|it possible|you (?:know|have)|anyone|anybody|i need to|we need to))"
)
_OPEN = re.compile(r"\bor\b|\band (?:why|how|where|when|who)\b|\bif (?:yes|so|not)\b|[?.] *\S")
_ACQUIRED = re.compile(
    r"\b(?:find|get|buy|watch|download|hire|meet|see|learn|read|order|rent|sell|book|contact|"
    r"report|check|view|access|change|obtain|apply|purchase|go)\b"
)

_HAN = {
    "duration": r"多久|多长时间|多少(?:天|年|小时|分钟|个月)|几(?:天|年|个月|个小时|小时|分钟)",
    "amount": r"(?:怎么|如何|怎样)(?:收费|收门票|卖|收钱|算钱)|"
    r"多少|几[个次只条种块位斤]|多[大高远重贵宽深]|有多(?![少久种个年次])",
    "why": r"为什么|为何|为啥|什么原因|原因(?:是什么|有哪些|何在)",
    "when": r"什么时候|何时|几点|哪[天年]|几[月号]|啥时候?|什么时间",
    "where": r"哪里|哪儿|在哪|何处|什么地方|哪个(?:城市|国家|地方)|去哪",
    "who": r"谁|哪位|什么人",
    "meaning": r"什么意思|啥意思|是何意",
    "opinion": r"(?:怎么样|怎样|如何|咋样)(?=[啊呀呢的吗哦了嘛]?(?:[,.?!;~。\s]|$))",
    "how": r"如何|怎样(?!的)|"
    r"怎么(?!会|这么|那么|了|回事|就|都|能|\S{0,8}[不没无还总老又]|\S{0,4}一直)",
}
KINDS = (
    *(f"other {kind}" for kind in (*_ENGLISH, "whether", "unclear")),
    *(f"han {kind}" for kind in (*_HAN, "unclear")),
)
"""What `kind` says of a question: Chinese or not, and what it asks for."""

_HAN_ASKED = re.compile("|".join(f"(?P<{kind}>{form})" for kind, form in _HAN.items()))
_HAN_PLEA = re.compile(
    r"谁(?:能|有|知道|可以|给|帮|来|会|了解|认识|懂)|有谁|"
    r"(?:不|没|无论|不管|随便|任何|还是|或者)\S{0,3}(?:谁|多少|怎么|哪里|什么时候)|"
    r"多少有|没多少|怎么说|怎么办"
)
_NEAR = frozenset(frozenset(pair.split()) for pair in ("how where", "how whether", "duration when"))
"""Kinds that one question may be worded in: "where can I get", "how can I get"."""


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when both clearly ask for something, and not for the same kind of thing."""
    if question.has_han != stored.has_han:
        return None
    ours, theirs = asked(question), asked(stored)
    if not ours or not theirs or ours == theirs:
        return None
    if frozenset({ours, theirs}) in _NEAR and _nearby(question, stored):
        return None
    return Refusal(Reason.QUESTION_TYPE_DIFFERS, f"{ours} vs {theirs}")


def _nearby(question: Reading, stored: Reading) -> bool:
    if question.has_han or "whether" in (asked(question), asked(stored)):
        return True
    return bool(_ACQUIRED.search(question.lower) and _ACQUIRED.search(stored.lower))


@lru_cache(maxsize=64)
def asked(reading: Reading) -> str:
    """The kind of thing that is asked for; empty when it is unclear, or several are."""
    text = reading.core
    if reading.has_han:
        kinds = {match.lastgroup for match in _HAN_ASKED.finditer(_HAN_PLEA.sub(" ", text))}
        return next(iter(kinds)) or "" if len(kinds) == 1 else ""
    kinds = {match.lastgroup for match in _ASKED.finditer(text)}
    if len(kinds) > 1 or _OPEN.search(text):
        return ""
    return next(iter(kinds), "whether" if _WHETHER.search(text) else "") or ""
