"""Who does it and to whom it is done: voice, pronouns, source and target."""

from __future__ import annotations

import re

from langchain_semcache.guards._english import STOPWORDS
from langchain_semcache.guards._reading import Reading, Refusal, shared, stem
from langchain_semcache.records import Reason

_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|get|gets|got)\b (?P<before>[^.?!]*?)"
    r"(?P<verb>[a-z]+(?:ed|en|wn|ne|ung|ught|ept|old|ound|ade|ost|eft|ent|elt|un|oken)) "
    r"by (?!\d|[a-z]+ing\b)(?P<agent>[^.?!,]+)"
)
_HE = {"he": "he", "him": "he", "his": "he", "himself": "he",
       "she": "she", "her": "she", "hers": "she", "herself": "she"}  # fmt: skip
_PRONOUNS = frozenset({*_HE, "their", "they", "them"})
_WH = frozenset({"what", "which", "who", "whom", "whose", "many", "much"})
_PAIR = 2
_SHARED = 0.4
_DEED = (
    "借给|还给|送给|打败|击败|欠|告诉|介绍给|追|喜欢|爱|骂|打|帮助|教|嫁给|杀|给|导致|引起|影响|"
    "收购|大于|高于"
)
_HAN_WAYS = tuple(
    (re.compile(key), re.compile(way))
    for key, way in (
        (
            "从",
            r"从(?P<a>[^从到,，。?？]{1,8}?)[到去往飞至](?P<b>[^从到怎多要有需,，。?？的]{1,8})",
        ),
        (
            "[把将]",
            (
                r"[把将](?P<a>[^把将,，。?？]{1,10}?)(?:转|换|变|改|翻译|合并|移动?|复制|放|加|并|折算)"
                r"换?[成为到进入给](?P<b>[^,，。?？吗呢怎]{1,10})"
            ),
        ),
        (
            "[变换转改]",
            (
                r"(?P<a>[^,，。?？怎如何么让使]{1,8})(?:如何|怎么|怎样)?(?:转换?|换|变|改)[成为]?"
                r"(?P<b>[^,，。?？吗呢怎]{1,8})"
            ),
        ),
        (_DEED, rf"(?P<a>[^,，。?？是]{{1,8}})(?:{_DEED})了?(?P<b>[^,，。?？吗呢的]{{1,8}})"),
    )
)
"""What must be there for a way of speaking, and who or what stands on its two sides."""


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when the doer and the one it is done to, or source and target, are exchanged."""
    if question.has_han and stored.has_han:
        turned = _han_turned(question.core, stored.core)
    elif question.has_han or stored.has_han:
        return None
    else:
        turned = _pronouns(question, stored) or _voice(question, stored) or _voice(stored, question)
    return Refusal(Reason.WORD_ORDER_DIFFERS, turned) if turned else None


def _voice(passive: Reading, active: Reading) -> str:
    """Was A seen by B: did B see A, and not did A see B."""
    if "by" not in passive.words or "by" in active.words or not _WH.isdisjoint(active.words):
        return ""  # "which books did Ann write": what it is done to stands first
    match = _PASSIVE.search(passive.lower)
    if match is None or shared(passive, active) < _SHARED:
        return ""
    agent, patient = _head(match["agent"]), _head(match["before"] or passive.lower[: match.start()])
    stems = active.stems
    if not agent or not patient or agent not in stems or patient not in stems:
        return ""
    if stems.index(patient) < stems.index(agent):
        return f"{agent} does it vs {patient} does it"
    return ""


def _head(phrase: str) -> str:
    """The stem of the first word that carries meaning."""
    return next((stem(w) for w in re.findall(r"[\w'-]+", phrase) if w not in STOPWORDS), "")


def _pronouns(question: Reading, stored: Reading) -> str:
    """He … her against she … him; her against one of the two people there are."""
    ours = [_HE[word] for word in question.words if word in _HE]
    theirs = [_HE[word] for word in stored.words if word in _HE]
    if len(ours) == len(theirs) and len(set(ours)) == _PAIR and ours != theirs:
        return f"{'/'.join(ours)} vs {'/'.join(theirs)}"
    if bool(ours) == bool(theirs):
        return ""
    return _named(question, stored) if ours else _named(stored, question)


def _named(pronoun: Reading, name: Reading) -> str:
    """A pronoun in one text, and in its place in the other a word that both hold already."""
    if len(pronoun.words) != len(name.words):
        return ""
    changed = [
        (a, b)
        for a, b, one, other in zip(
            pronoun.words, name.words, pronoun.stems, name.stems, strict=True
        )
        if one != other
    ]
    if len(changed) != 1:
        return ""
    word, other = changed[0]
    known = stem(other) in pronoun.stems and name.stems.count(stem(other)) > 1
    return f"{word} vs {other}" if word in _PRONOUNS and known else ""


def _han_turned(ours: str, theirs: str) -> str:
    if len(set(ours) & set(theirs)) < _SHARED * max(len(set(ours)), len(set(theirs))):
        return ""
    for key, way in _HAN_WAYS:
        if not key.search(ours) or not key.search(theirs):
            continue
        one, other = way.search(ours), way.search(theirs)
        if one is None or other is None:
            continue
        crossed = _alike(one["a"], other["b"]) and _alike(one["b"], other["a"])
        if crossed and not _alike(one["a"], other["a"]) and not _alike(one["b"], other["b"]):
            return f"{one['a']} … {one['b']} vs {other['a']} … {other['b']}"
    return ""


def _alike(one: str, other: str) -> bool:
    """One ends or begins with the other: what surrounds a name is caught along with it."""
    short, long = sorted((one.strip(), other.strip()), key=len)
    return bool(short) and (long.endswith(short) or long.startswith(short))
