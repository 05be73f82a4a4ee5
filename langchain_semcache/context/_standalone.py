"""Whether a question can be understood without the chat before it."""

from __future__ import annotations

import re

from langchain_semcache.context._mentions import RARE, TITLE, is_han, mentions, plain
from langchain_semcache.context._words import ENGLISH_ATTRIBUTES, ENGLISH_FUNCTION, words

_LONGEST = 600  # of a long question the beginning decides
_LONGEST_REPLY = 40
_NAMED = 0.6

_MATERIAL = re.compile(
    r"```|\b(?:following|below|this|these)\b[^:\n]{0,40}[:\n].{12}"
    r"|(?:以下|下面|如下|这[句段个篇首])[^:\n]{0,20}[:\n].{6}",
    re.IGNORECASE | re.DOTALL,
)
"""The question brings along what it points at."""

_WORDS = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_REPLY_WORDS = words(
    """
    oh ok okay yes yeah yep yup yea no nope nah sure please go ahead continue more on do it that so
    right correct exactly fine great good perfect sounds thanks thank you tell me keep going proceed
    next why how what really and then which when where who i agree the first second last one of
    course let's lets not now
    """
)
_HAN_REPLY = re.compile(
    r"(?:好的?|行|可以的?|是的?|对的?|嗯+|不?要|需要|不用了?|不是?|继续|接着说?|说吧?|讲|请|谢谢|没错|当然|"
    r"没问题|同意|确[定认]|算了|为什么|怎么说|然后|还有|真的|哪[个里]|谁|详细说说|展开|再来一?个?|"
    r"再说一遍|[下上]一个|第[一二三]个|[啊呀吧呢吗哦的了\s,.!?。、~…])+"
)

_HAN_POINTING = re.compile(
    r"(?:(?<![\u3400-\u9fff])|(?<=请问))(?:附近|周边|周围|当地)|[它她他]|里面|当中|其中|(?<!其)(?<!利)(?<!尤)其(?![他它次实余中])|(?<!应)该(?=[\u3400-\u9fff])|此(?!外)|"
    r"这(?!么)|那(?!么|不勒斯)|前者|后者|刚才|刚刚|上面|上述|以上|前面|之前[说提]|另外|另一|别的|"
    r"其他|其它|还[有能会要想]|再(?=[来推介给说讲写换加帮详举])|换[一个成]|接下来|下一步|同样|"
    r"第[一二三四五两几][个种条家点步位]|两[个者家]|同一|继续|接着|都[有是](?=什么|啥|哪|谁)"
)
_HAN_OPENING = re.compile(
    r"(?:请问|请|帮我)?(?:那|还|再|又|然后|而且|但是|不过|所以|并且|换|改|也|翻译?[成为]|[写说讲][得成]|"
    r"变成|缩短|简化|精简|总结一下|举)"
)
_HAN_NO_SUBJECT = re.compile(
    r"(?:请问|您|你|能|可以|帮我|告诉我|知道|,)*"
    r"(?:是|有|在|需要|要|需|提供|包括|包含|属于|位于|具体|大概|一般|通常|哪|什么(?![是叫])|多|几|啥)"
)
_HAN_AND_X = re.compile(r"[^?]{1,12}呢[?!~。]*$")
_HAN_ASKS = re.compile(r"什么|怎|如何|为何|哪|谁|几|多少|多[大久长高远]|啥|吗|是否|能否|有没有")
_HAN_ABOUT = re.compile(
    r"(?:请问|什么是|什么叫|如何|怎么|怎样|为什么|为何)|.{2,6}(?:是什么|是谁|是啥|的|出生|在哪)"
)

_OPENING = re.compile(
    r"(?:(?:ok|okay|well|great|nice|thanks|cool|alright|right|hmm|oh)[\s,.!]+)*"
    r"(?:and|but|or|so|also|then|what about|how about|why\W*$|what else|how so|instead|same|"
    r"otherwise|in that case|any (?:other|more)|anything else|more|another)\b",
    re.IGNORECASE,
)
_BARE_ORDER = re.compile(
    r"(?:(?:now|please|could you|can you|would you|just)[\s,]+)*"
    r"(?:(?:shorten|summari[sz]e|elaborate|cancel|repeat|rephrase|undo|expand|simplify|rewrite)\W*$|"
    r"(?:translate|convert|put|turn|make|change) (?:in)?to\b|"
    r"give (?:me )?(?:an?|some|one|two|three|\d+|more) (?:more )?examples?\W*$)",
    re.IGNORECASE,
)
_PERSONS = words("they them theirs he him she hers")
_POSSESSIVE = words("its their his her")
_PREPOSITIONS = words("to in into for from with of and or on at by as up down out off again")
_BACKWARD = words("former latter then else instead above previous nearby")
_NOT_POINTED_AT = words(
    "year week month morning afternoon evening weekend summer winter spring autumn sentence text"
)
_EXISTENTIAL = words(
    "is are was were be been will would exist exists has have should could can isn't aren't"
)
_IMPERSONAL = re.compile(
    r"\b(?:is|was|will|would|'s)\s+it\s+(?:be\s+)?(?:not\s+)?(?:really\s+)?"
    r"(?:possible|safe|ok|okay|legal|illegal|normal|hard|easy|difficult|important|necessary|worth|"
    r"better|bad|good|healthy|common|rude|true|expensive|cheaper|wise|allowed|dangerous)\b"
    r".*\b(?:to|that|for|if)\b"
    r"|\b(?:does|will|would|did)\s+it\s+(?:take|cost|mean|feel|rain|snow)\b.*\b(?:to|when|if|in)\b"
    r"|\bit\s+(?:takes?|costs?|means)\b.*\bto\b"
    r"|\bwhat time is it in\b|\bis it (?:raining|snowing)\b",
    re.IGNORECASE,
)
_CLAUSES = words("and if when because while that so but or who which as")
_THE = re.compile(
    r"\bthe\s+((?:[^\W_]+(?:['-][^\W_]+)*\s*){1,3}?)(?=[?.!,]|$|\b(?:is|are|was|were|be|and|or|on|"
    r"at|with|by|from|to|that|as|do|does|did|can|will|have|has|get|work|look|start|open|close)\b)",
    re.IGNORECASE,
)
_MADE = re.compile(r"\b(?:invent|discover|found|creat|design|develop|buil[dt]|wr[oi]te)\w*\s+$")
_COMPLEMENT = re.compile(r"\b(?:of|for|in|between|first)\b|\w\west\b", re.IGNORECASE)
_COUNTED = re.compile(r"\bhow many\b.*\b(?:in|per) (?:a|an|one)\b", re.IGNORECASE)


def is_reply(question: str) -> bool:
    """Whether `question` only answers or pushes on what was last said: "yes", "继续", "why?"."""
    if len(question) > _LONGEST_REPLY:
        return False
    text = plain(question).strip()
    found = _WORDS.findall(text.casefold())
    if found and _REPLY_WORDS.issuperset(found):
        return True
    return bool(_HAN_REPLY.fullmatch(text))


def is_standalone(question: str) -> bool:
    """Whether `question` names what it is about and points at nothing before it.

    Unsure is no: such a question is then compared together with its chat.
    """
    text = plain(question[:_LONGEST]).strip()
    if is_reply(text):
        return False
    if _MATERIAL.search(text):
        return True
    return _han_standalone(text) if is_han(text) else _english_standalone(text)


def english_words(text: str) -> list[str]:
    """The words of a question in which nothing points back; none for one that does."""
    if is_han(text) or _OPENING.match(text) or _points_back(text):
        return []
    return _WORDS.findall(text.casefold())


def _han_standalone(text: str) -> bool:
    if _HAN_POINTING.search(text) or _HAN_OPENING.match(text):
        return False
    if _HAN_AND_X.match(text) and not _HAN_ASKS.search(text):
        return False
    named = [(name, weight) for name, weight in mentions(text) if len(name) > 1]
    best = max((weight for _, weight in named), default=0.0)
    size = sum(len(name) for name, weight in named if weight >= _NAMED)
    if best < TITLE and _HAN_NO_SUBJECT.match(text) and size < 4:
        return False
    if best < TITLE and size < 3:
        return best >= RARE and bool(_HAN_ABOUT.match(text))
    return best >= _NAMED


def _english_standalone(text: str) -> bool:
    if _OPENING.match(text) or _BARE_ORDER.match(text) or _points_back(text):
        return False
    if _COUNTED.search(text):
        return True
    known = _bound(text)
    weights = [
        weight
        for at, word in enumerate(_WORDS.findall(text))
        if word.casefold() not in known and word.casefold() not in ENGLISH_ATTRIBUTES
        for _, weight in mentions(f"- {word}" if at else word)
    ]
    return max(weights, default=0.0) >= RARE or len(weights) >= 3


def _bound(text: str) -> set[str]:
    """The words of "the X" without a complement: an X that is known already."""
    known: set[str] = set()
    for phrase in _THE.finditer(text):
        inside = phrase[1].split()
        described = _MADE.search(text[: phrase.start()]) or _COMPLEMENT.search(phrase[1])
        if not described and not any(word[0].isupper() for word in inside):
            known.update(word.casefold() for word in inside)
    return known


def _points_back(text: str) -> bool:
    """Whether a pronoun has no antecedent within the question."""
    folded = ["", *_WORDS.findall(text.casefold()), ""]
    impersonal = bool(_IMPERSONAL.search(text))
    named = joined = False
    for before, word, after in zip(folded, folded[1:], folded[2:], strict=False):
        joined = joined or (named and word in _CLAUSES)
        stem = word.removesuffix("'s").removesuffix("'re")
        inner = named and (joined or stem in _POSSESSIVE)
        if not inner and (stem in _PERSONS or stem in _POSSESSIVE):
            return True
        if stem == "it" and not (inner or impersonal):
            return True
        if _demonstrates(stem, before, after):
            return True
        named = named or word not in ENGLISH_FUNCTION
    return False


def _demonstrates(word: str, before: str, after: str) -> bool:
    match word:
        case "this" | "these" | "those":
            return after not in _NOT_POINTED_AT
        case "that":  # what follows a noun and is followed by a clause is no pronoun
            relative = before and before not in ENGLISH_FUNCTION and after in ENGLISH_FUNCTION
            return not relative or after in _PREPOSITIONS
        case "there":
            return before not in _EXISTENTIAL and after not in _EXISTENTIAL
        case "one" | "ones":
            return before != "in" and after != "of" and (not after or after in ENGLISH_FUNCTION)
        case "other" | "others" | "another":
            return before in ("the", "any", "some", "are", "what", "which", "")
        case _:
            return word in _BACKWARD
