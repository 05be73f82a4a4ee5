"""Names and code: another flag, file, person or place is another question."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache

from langchain_semcache.guards._chinese import (
    HAN_CLASSES,
)
from langchain_semcache.guards._english import (
    ALIASES,
    CLASSES,
    FIRST_NAMES,
    STOPWORDS,
)
from langchain_semcache.guards._reading import (
    ARTICLES,
    Reading,
    Refusal,
    differing,
    stem,
    weightiest,
)
from langchain_semcache.records import Reason

_CODE = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+"  # e-mail
    r"|https?://[^\s<>\"']+"
    r"|(?<![\w-])--?[A-Za-z][\w-]*"  # flags
    r"|(?<![\w./-])(?:[\w.-]{0,64}/){1,16}[\w.-]{1,64}\.\w+"
    r"|(?<![\w./-])/[\w.-]+(?:/[\w.-]+)+"  # paths
    r"|\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b"  # snake_case
    r"|(?<![\w-])[\w-]{1,64}\.(?:py|js|ts|go|rs|java|c|h|cpp|md|txt|csv|json|ya?ml|toml|xml|html?|css|pdf|docx?|"
    r"xlsx?|sh|sql|ini|cfg|conf|log|zip|tar|gz|png|jpe?g|exe|dll)\b"
    r"|\b[a-z]+[A-Z]\w+\b"  # camelCase
    r"|`[^`\n]+`",
    re.ASCII,
)
_MAY_BE_CODE = re.compile(r"[@/_`]|-[A-Za-z]|\w\.\w|[a-z][A-Z]")
_QUOTED = re.compile(
    r"\"([^\"\n]{1,80})\"|(?<!\w)'([^'\n]{2,80})'(?!\w)|「([^」]{1,200})」|《([^》]{1,200})》|"
    r"『([^』]{1,200})』"
)
_NAME = re.compile(r"(?<![.!?:\n] )(?<!^)(?<![\w'/@.-])[A-Z][\w&+#]*(?:[.-][A-Z0-9]\w*)*")
_INNER_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
_LATIN_IN_HAN = re.compile(r"[a-z][a-z0-9.+#-]*", re.ASCII)
_IS_NAME = re.compile(r"(?:Is|Was|Are|Were|is|was|are|were) [A-Z][\w'-]+ ")
_CLASSES_OF = {
    word: tuple(members for members in CLASSES if word in members)
    for word in frozenset().union(*CLASSES)
}
_HAN_MEMBERS = frozenset().union(*HAN_CLASSES)
_LONG_NAME = 6
_INFLECTIONS = ("", "s", "es", "'s", "n", "an", "ian", "ns", "ans", "ish", "ese", "ic", "ern")
_SYMBOLS = re.compile(r"[^\w]+")


_MODEL = re.compile(
    r"(?<![a-z0-9.])(?P<number>[a-z]{0,3}\d{1,4}[a-z]?)(?![a-z0-9.])"
    r"(?P<line>(?:[ -]?(?:pro|max|plus|mini|ultra|lite|air|se)(?![a-z]))*)"
)


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when code differs, or when each side has a name that the other lacks."""
    checks = (_code, _models, _classes, _names, _replaced)
    return weightiest(check(question, stored) for check in checks)


def _refusal(ours: AbstractSet[str], theirs: AbstractSet[str]) -> Refusal:
    return differing(Reason.IDENTIFIERS_DIFFER, ours, theirs)


def _squash(text: str) -> str:
    return _SYMBOLS.sub("", text.casefold())


def _models(question: Reading, stored: Reading) -> Refusal | None:
    """A 14 Pro is no 14: the same model number with another word of the line, or with none."""
    ours, theirs = _lines(question), _lines(stored)
    for number, lines in ours.items():
        if lines != theirs.get(number, lines):
            return _refusal(lines or {number}, theirs[number] or {number})
    return None


def _lines(reading: Reading) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for match in _MODEL.finditer(reading.lower):
        lines = found.setdefault(match["number"], set())
        lines.update(match["line"].replace("-", " ").split())
    return found


def _code(question: Reading, stored: Reading) -> Refusal | None:
    ours, theirs = code(question), code(stored)
    if ours == theirs:
        return None
    here, there = _squash(question.lower), _squash(stored.lower)
    lost = {token for token in ours if _squash(token) not in there}
    gained = {token for token in theirs if _squash(token) not in here}
    if (lost and gained) or any(not token.isalnum() for token in lost | gained):
        return _refusal(lost, gained)  # iPhone on one side alone is a name, --flag is not
    strict = {t for t in ours ^ theirs if t.startswith(("-", "/"))}
    return _refusal(ours - theirs, theirs - ours) if strict and ours and theirs else None


@lru_cache(maxsize=64)
def code(reading: Reading) -> frozenset[str]:
    """Flags, files, e-mail addresses, URLs, names in code: as written."""
    if not _MAY_BE_CODE.search(reading.text):
        return frozenset()
    return frozenset(token.strip("`.,").casefold() for token in _CODE.findall(reading.text))


def _classes(question: Reading, stored: Reading) -> Refusal | None:
    """Words of one small class, of which only one can be meant: weekdays, languages, cities."""
    ours, theirs = _aliased(question), _aliased(stored)
    only_ours, only_theirs = ours - theirs, theirs - ours
    known = sorted(only_ours & _CLASSES_OF.keys()) if only_theirs else ()
    for members in [one for word in known for one in _CLASSES_OF[word]]:
        left, right = only_ours & members, only_theirs & members
        if left and right:
            return _refusal(left, right)
    if not (question.has_han and stored.has_han):
        return None
    here, there = _members(question), _members(stored)
    only_here, only_there = here - there, there - here
    for members in HAN_CLASSES if only_here and only_there else ():
        left, right = only_here & members, only_there & members
        if left and right:
            return _refusal(left, right)
    return None


@lru_cache(maxsize=64)
def _aliased(reading: Reading) -> frozenset[str]:
    return frozenset(ALIASES.get(word, word).removesuffix("'s") for word in reading.words)


@lru_cache(maxsize=64)
def _members(reading: Reading) -> frozenset[str]:
    return frozenset(word for word in _HAN_MEMBERS if word in reading.lower)


@lru_cache(maxsize=64)
def names(reading: Reading) -> frozenset[str]:
    """Words that are capitalised inside a sentence, and what is quoted.

    In a sentence where Most Words Are Capitalised, a capital says nothing.
    """
    quoted = _quoted(reading.text)
    if reading.has_han:
        return frozenset(quoted | set(_LATIN_IN_HAN.findall(reading.lower)))
    if reading.text.isupper() or _titled(reading.text):
        return frozenset(quoted)
    found = {name.casefold().removesuffix("'s") for name in _NAME.findall(reading.text)}
    return frozenset(quoted | {name for name in found if name not in STOPWORDS})


def _quoted(text: str) -> set[str]:
    """What stands in quotation marks, where they come in pairs."""
    if text.count('"') % 2:
        return set()
    found = {_squash(next(filter(None, groups))) for groups in _QUOTED.findall(text)}
    return found - {""}


def _titled(text: str) -> bool:
    """Whether Even the Little Words Have Capitals."""
    return any(word.lower() in STOPWORDS for word in _INNER_CAPITAL.findall(text))


def _names(question: Reading, stored: Reading) -> Refusal | None:
    ours, theirs = names(question), names(stored)
    if not ours or not theirs or ours == theirs:
        return None
    lost, gained = _missing(ours, stored), _missing(theirs, question)
    return _refusal(lost, gained) if lost and gained else None


def _missing(wanted: frozenset[str], other: Reading) -> set[str]:
    """The names that the other sentence does not hold in any form."""
    here, squashed = _aliased(other), _squash(other.lower)
    initials = "".join(word[0] for word in other.words)
    return {
        name
        for name in wanted
        if ALIASES.get(name, name) not in here
        and (len(name) < _LONG_NAME or _squash(name) not in squashed)
        and not (len(name) > 1 and name in initials)
        and not any(same_name(name, word) for word in here)
    }


def same_name(one: str, other: str) -> bool:
    """One word in two forms, or with a slip of the pen in a long one that is no other name."""
    if one in FIRST_NAMES and other in FIRST_NAMES:
        return one == other
    short, long = sorted((one, other), key=len)
    if len(short) > 3 and long.startswith(short) and long[len(short) :] in _INFLECTIONS:
        return True
    if stem(one) == stem(other):
        return True
    return len(short) >= _LONG_NAME and one[0] == other[0] and _one_slip(short, long)


def _one_slip(short: str, long: str) -> bool:
    """One letter added, lost, changed, or two neighbours swapped."""
    if any(char.isdigit() for char in short + long) or len(long) - len(short) > 1:
        return False
    start = next(
        (n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short)
    )
    a, b = short[start:], long[start:]
    if len(a) < len(b):
        return a == b[1:]
    return a[1:] == b[1:] or (a[2:] == b[2:] and a[:2] == b[1::-1])


def _told(question: Reading, stored: Reading) -> bool:
    """Whether both ask if somebody or something named is a certain thing."""
    return (
        _IS_NAME.match(question.text) is not None
        and _IS_NAME.match(stored.text) is not None
        and question.words[-1] != stored.words[-1]
    )


def _replaced(question: Reading, stored: Reading) -> Refusal | None:
    """A name in one sentence, another word in its place, and all else the same."""
    if question.has_han or stored.has_han:
        return None
    ours = [word for word in question.words if word not in ARTICLES]
    theirs = [word for word in stored.words if word not in ARTICLES]
    if len(ours) != len(theirs):
        return None
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    if len(pairs) != 1:
        return None
    a, b = pairs[0]
    named = a in names(question) or b in names(stored) or _told(question, stored)
    if not named or a in STOPWORDS or b in STOPWORDS or same_name(a, b):
        return None
    return None if ALIASES.get(a, a) == ALIASES.get(b, b) else _refusal({a}, {b})
