"""Tells a text that is to be worked on from a question.

"Translate: I like tea" and "Translate: I enjoy tea" mean the same and have different answers. Where
the answer is made of the words themselves, likeness of meaning is no reason to share it.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

_LEAD = (
    r"(?:(?:please|kindly|now|then|first|just|(?:can|could|would|will)[ ]you|"
    r"(?:i[ ](?:want|need)|i'd[ ]like|i[ ]would[ ]like)[ ]you[ ]to|help[ ]me(?:[ ]to)?|"
    r"your[ ](?:task|job|goal|role)[ ]is[ ]to|you[ ](?:must|should|will|need[ ]to|have[ ]to)|"
    r"(?:carefully|accurately|briefly|concisely))[ ,]+)"
)
_OF_WORDS = r"(?:translate|transliterate|paraphrase|rephrase|proofread)"
_OF_TEXTS = (
    r"(?:summari[sz]e|classify|categori[sz]e|rewrite|reword|correct|extract|convert|shorten|"
    r"simplify|polish|transcribe|fix|complete|continue|expand|label|tag|edit|parse|reverse)"
)
_START = rf"(?:^\s*|[.!?;:\n>\-][ \t]*){_LEAD}{{0,3}}"
_PAYLOAD = r"[^\n]*?(?:[:：][ \t]*\S|[:：]?[ \t]*\n\s*\S|[\"“”«»「『`]|(?<=\s)'\w)"

_TRANSLATES = re.compile(rf"(?:{_START}|,[ ]{_LEAD}{{0,3}}){_OF_WORDS}\b", re.IGNORECASE)
_WORKS_ON = re.compile(rf"{_START}{_OF_TEXTS}\b{_PAYLOAD}", re.IGNORECASE)
_INSTRUCTS = re.compile(
    rf"{_START}(?:{_OF_WORDS}|summari[sz]e|classify|categori[sz]e|rewrite|reword|extract|convert|"
    r"transcribe|simplify|shorten|polish|(?:correct|fix|edit|label|tag|complete|continue|expand|"
    r"parse|reverse)[ ](?:the|any|all|every|each|this|these|my|what|whatever|their|users?))\b"
    r"|\btranslat(?:e|es|ing)\b[^.\n]{0,60}\b(?:to|into|from)\b",
    re.IGNORECASE,
)
_WORKER = re.compile(
    r"\b(?:translator|proofreader|summari[sz]er|classifier|copy[- ]?editor)\b", re.IGNORECASE
)
_LANGUAGES = (
    r"(?:english|french|german|spanish|italian|chinese|mandarin|japanese|korean|russian|"
    r"portuguese|arabic|dutch|latin|hindi|turkish|polish|swedish|greek)"
)
_SAY = re.compile(
    rf"\bhow (?:do|would|can|should) (?:you|i|we|one) say\b[^\n]*(?:\bin {_LANGUAGES}\b|[\"“])"
    rf"|\b{_LANGUAGES} for [\"“'‘]|用.{{1,4}}(?:语|文)怎么说|[语文]怎么说",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"^[^\n:：]{0,80}\b(?:antonyms?|synonyms?|opposite|sentiment|grammar|spell(?:ing)?[- ]?check|"
    r"summary|tl;?dr|translation|paraphrase|plural|past tense|rhymes?)\b[^\n:：]{0,40}[:：]\s*\S"
    r"|\b(?:sentiment|tone|grammar) of [\"“]"
    r"|(?:情感|语法|摘要|译中|译英|互译|关键词|反义词|同义词)[^\n:：]{0,10}[:：]\s*\S"
    r"|(?:->|=>|→)\s*\Z|[:：][^\n]*\S[ \t][\w ]{1,30}[:：]\s*\Z",
    re.IGNORECASE,
)
_GIVEN_TEXT = re.compile(
    r"\b(?:following|below|(?:given|this)[ ](?!problem|issue|situation|error)\w+)\b"
    r"(?![^\n:：]*\b(?:questions?|quer(?:y|ies)|requests?|problem|issue|situation)\b)"
    r"[^\n:：.?]{0,60}[:：]\s*\S"
    r"|\b(?:following|below|this[ ](?:code|text|sentence|word|email|review|passage|message))\b"
    r"[^\n]*\n\s*\S|\n[^\n]*\b(?:above|the[ ](?:text|code|passage))\b"
    r"|(?:以下|下面|下列|如下)[^\n]*\n\s*\S|\n[^\n]*(?:以上|上面|上述)"
    r"|(?:以下|下面|下列|如下)(?![^\n:：]*(?:问题|提问))[^\n:：。？]{0,30}[:：]\s*\S",
    re.IGNORECASE,
)

_MARK = re.compile(r"[:：\n\"“”«»「『`'‘→>。]")

_UNMARKED_WORK = ("translat", "transliterat", "phrase", "proofread", " say", "怎么说", "译")

_ZH_START = (
    r"(?:^|[。！!；;，,\n：:])[ \t]*(?:你的任务是|请你?|帮我|帮忙|麻烦你?|现在|将|把|对|给)*"
)
_ZH_TRANSLATES = re.compile(
    rf"翻?译(?:成|为|到)|{_ZH_START}翻译(?![的是软机工器专行业家员官学])|翻译(?:一下|下面|以下|这)"
)
_ZH_VERBS = (
    r"(?:总结|概括|改写|分类|润色|纠正|校对|修改|提取|抽取|摘要|缩写|扩写|续写|归纳|转换|纠错|重写)"
)
_ZH_WORKS_ON = re.compile(
    rf"{_ZH_START}[^。？?\n：:]{{0,24}}{_ZH_VERBS}[^。？?\n：:]{{0,30}}"
    r"(?:[：:]\s*\S|[。]?[ \t]*\n\s*\S|[\"“「『]|。\S)"
)
_ZH_INSTRUCTS = re.compile(
    rf"(?:请你?|帮我|任务是|将|把|对|需要|负责)[^。？?\n：:]{{0,24}}(?:翻译|{_ZH_VERBS})"
    rf"|(?:^\s*|[。\n])(?:翻译|{_ZH_VERBS})|翻译(?:成|为)"
)
_ZH_WORKER = re.compile(
    r"翻译(?:官|员|家|专家|助手|引擎|器|机器人)|(?:一|1)(?:名|个|位)[^。\n]{0,8}翻译"
)
_HOW = re.compile(r"\s*(?:请问)?[,，]?\s*(?:如何|怎么|怎样|为什么|为何|什么|哪)")

_OBJECT = re.compile(r"""\{\s*["'][^"'\n]{1,80}["']\s*:|\[\s*\{""")
_DATA_URL = re.compile(r"\bdata:[\w.+-]+/[\w.+-]+[;,]", re.IGNORECASE)
_RUN = re.compile(r"[A-Za-z0-9+/=_-]{64,}")
_READ = 4000  # what is longer is matched exactly as it is
_FIRST = 400
"""Instructions stand in front; further down a text may quote anything."""


def names_no_work(sentence: str) -> bool:
    """Whether `is_worked_on` is false for this sentence, which holds no quotation, colon or line.

    Quicker than asking: work that needs no such mark is named by one of a few words.
    """
    folded = sentence.casefold()
    return not any(word in folded for word in _UNMARKED_WORK)


def is_worked_on(text: str) -> bool:
    """Whether `text` names a piece of work and holds the text it is to be done on."""
    text = text[:_READ]
    if _SAY.search(text) or _TRANSLATES.search(text):
        return True
    # The rest needs a mark between the work and the text, which a plain question does not have.
    marked = _MARK.search(text) is not None
    if marked and (_GIVEN_TEXT.search(text) or _NAMED.search(text) or _WORKS_ON.search(text)):
        return True
    if text.isascii():
        return False
    if marked and _ZH_WORKS_ON.search(text):
        return True
    asks_how = _HOW.match(text) is not None and "：" not in text and ":" not in text
    return not asks_how and _ZH_TRANSLATES.search(text) is not None


def instructs(text: str) -> bool:
    """Whether `text` says what to do with another text: a template or a system prompt."""
    return _instructs(text[:_FIRST])


@lru_cache(maxsize=256)
def _instructs(head: str) -> bool:
    if _INSTRUCTS.search(head) or _WORKER.search(head):
        return True
    return not head.isascii() and bool(_ZH_INSTRUCTS.search(head) or _ZH_WORKER.search(head))


def is_data(text: str) -> bool:
    """Whether `text` is, or holds, what is written for machines: JSON, a data URL, base64."""
    if _OBJECT.search(text) or _DATA_URL.search(text):
        return True
    if any(_is_mixed(run[0]) for run in _RUN.finditer(text)):
        return True
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_mixed(run: str) -> bool:
    """Words are written in one case; encoded bytes are not."""
    kinds = (str.isdigit, str.isupper, str.islower)
    return sum(any(map(kind, run)) for kind in kinds) > 1
