"""What a user says in a chat that changes later answers without being pointed at."""

from __future__ import annotations

import re
from functools import lru_cache

from langchain_semcache.request.transformation import instructs

_STANDING = re.compile(
    r"\b(?:from now on|from here on|for the rest of|always|every (?:answer|reply|time)|pretend|"
    r"act as|role-?play|imagine you|you are (?:a|an|my|the)\b|(?:answer|reply|respond|write|speak) "
    r"(?:only |always )?(?:in|as|like|with)\b|call me|my name is|remember (?:that|this|my)|"
    r"keep (?:it|your answers)|stop (?:using|being)|don't use|be (?:brief|concise|polite|funny)|"
    r"explain\b[^.?!\n]{0,30} (?:(?:for|like|to) an?|like i'?m)\b)"
    r"|从现在|从此|以后都|之后都|接下来都|一直用|总是|每次|扮演|假装|你是(?:一|我)|"
    r"用.{1,8}(?:回答|回复|说话|口吻)|叫我|我叫|我的名字|记住|请记得|不要用|别用|"
    r"回答(?:要|得|尽量|简)",
    re.IGNORECASE,
)
"""How to answer from then on."""

_OF_ONESELF = re.compile(
    r"(?:^|[.!?;,:\n]|\b(?:and|but|so|since|because|as|that)\b)\s*"
    r"(?:(?:hi|hello|hey|well|ok|okay|also|btw|by the way|note that)[\s,!.]+)*(?:"
    r"(?:i'm|i am|we're|we are)\s+(?!going|looking|trying|sorry|glad|sure|curious|afraid|wondering)"
    r"(?:(?!\w+ing\b)\w|(?:us|runn|work|liv|learn|mov|hav)ing\b)"
    r"|(?:i've|we've)\s+got\b|(?:i|we)\s+(?:only|also|always|never|can't|cannot|can not|do not|"
    r"don't|have|use|run|own|live|work|drive|eat|speak|prefer)\b"
    r"|my\s+(?:\w+\s+){1,3}(?:is|are|has|runs?)\b)"
    r"|我们?(?:是|有|在?用|住|在.{1,8}工作|对.{1,8}过敏|不吃|不能|不会|只)",
    re.IGNORECASE,
)
"""What users tell of themselves: another one's "I use Windows" is another answer's condition."""

_MATERIAL = re.compile(
    r"\b(?:here (?:is|are)|here's|documents?|context|the following|below|given|assum(?:e|ing)|"
    r"suppose|imagine|consider|let's say|fyi|note that)\b"
    r"|(?<!\d)[:：]\s*\S.{9}|```|\n.{40}|以下|下面|文档|资料|背景|假设|已知|这是",
    re.IGNORECASE | re.DOTALL,
)
_LONG = 400
"""Characters from which on a message is more than a question."""

_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]?")
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|had|means|costs?|equals|contains|belongs|opens?|closes?|starts?)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\s*(?:(?:and|so|but|ok|okay|well|then|now|please|thanks|great|hi|hello)[\s,]+)*(?:who|whom|"
    r"whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|should|would|will|"
    r"has|have|had|am|may|tell|give|show|list|name|explain|describe|write|recommend|suggest|find)\b",
    re.IGNORECASE,
)


def lays_down(text: str) -> bool:
    """Whether `text` says how to answer from then on."""
    return _lays_down(text) if len(text) <= _LONG else _lays_down.__wrapped__(text)


def brings_facts(text: str) -> bool:
    """Whether `text` holds facts that answers may build on: of the user, a document, a statement.

    "I use Windows" makes "How do I take a screenshot?" another question. English and Chinese; plain
    statements in English only.
    """
    return len(text) > _LONG or _brings_facts(text)


# A chat comes back with every turn, and each time with all of its messages.
@lru_cache(maxsize=1024)
def _lays_down(text: str) -> bool:
    return _STANDING.search(text) is not None or instructs(text)


@lru_cache(maxsize=1024)
def _brings_facts(text: str) -> bool:
    if _OF_ONESELF.search(text) or _MATERIAL.search(text):
        return True
    return any(
        _STATES.search(sentence) and not _ASKS.match(sentence)
        for sentence in _SENTENCE.findall(text)
        if not sentence.endswith("?")
    )
