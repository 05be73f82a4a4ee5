"""What a text names: its titles, names, numbers and rare words, each with a weight."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from langchain_semcache.context._words import (
    ENGLISH_ATTRIBUTES,
    ENGLISH_COMMON,
    ENGLISH_FUNCTION,
    HAN_ATTRIBUTES,
    HAN_CUES,
    HAN_FUNCTION,
    HAN_GENERIC,
    HAN_PARTICLES,
)

Mentions = tuple[tuple[str, float], ...]
"""Names in the order of the text, and how much each of them says about what is meant."""

TITLE, NAME, CODE, RARE, COMMON, FAINT = 2.0, 1.6, 1.6, 1.0, 0.4, 0.15

_UNLISTED, _GENERIC, _BREAK, _ASKED = 0, 1, 2, 3
_CUED = 1.4

_QUOTES = str.maketrans({"’": "'", "‘": "'", "”": '"', "“": '"', "–": "-", "−": "-"})
_TOKEN = re.compile(
    r"《(?P<title>[^》]{1,40})》"
    r"|(?P<han>[\u3400-\u9fff\uf900-\ufaff\u30a0-\u30ff]"
    r"(?:[\u3400-\u9fff\uf900-\ufaff\u30a0-\u30ff]|[·・])*)(?P<branch>\([^()\n\ud800-\udfff]{1,16}\))?"
    r"|(?P<word>[^\W\d_\u3040-\u30ff\u3400-\u9fff]+(?:['-][^\W\d_\u3040-\u30ff\u3400-\u9fff]+)*"
    r"(?![0-9]))"
    r"|(?P<amount>[0-9][0-9.:,~-]*(?:[元块分岁年月日号点天米座层人个次名条%]|小时|分钟|公里)+)"
    r"|(?P<code>(?=[A-Za-z]*[0-9])[A-Za-z0-9]+(?:[.:,/-][A-Za-z0-9]+)*)"
)
_DECIMAL = re.compile(r"\d{1,4}(?:,\d{3}|\.\d+)")
_HAN_CHAR = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u30a0-\u30ff]")
_SUBJECT = re.compile(r"\s*(?:[.,]|(?:is|was|are|were|has|had|wrote|helps?)\b)")
_ADDRESS = re.compile(r"[省市区县镇乡村路街巷号].*[区县镇乡村路街号]")
_LONGEST_NAME = 20
_SENTENCE_ENDS = frozenset('.?!:\n"')


def plain(text: str) -> str:
    """NFKC with plain quotes: full-width and half-width forms are one."""
    return unicodedata.normalize("NFKC", text).translate(_QUOTES)


def _by_first() -> dict[str, tuple[tuple[int, ...], dict[str, int]]]:
    """The Chinese list words by first character: their lengths, longest first, and their kinds."""
    kinds: dict[str, dict[str, int]] = {}
    for listed, kind in (
        (HAN_GENERIC, _GENERIC), (HAN_ATTRIBUTES, _ASKED), (HAN_FUNCTION, _BREAK)
    ):  # fmt: skip
        for word in listed:
            kinds.setdefault(word[0], {})[word] = kind
    return {
        first: (tuple(sorted({len(word) for word in table}, reverse=True)), table)
        for first, table in kinds.items()
    }


_HAN = _by_first()


@lru_cache(maxsize=1024)
def mentions(text: str) -> Mentions:
    """What `text` names. `text` is plain; names are folded."""
    found: list[tuple[str, float]] = []
    for token in _TOKEN.finditer(text):
        kind = "han" if token["han"] else token.lastgroup
        value = token.group(kind or 0)
        if kind == "title":
            found += _title(value)
        elif kind == "han":
            found += _han_names(value, token["branch"] or "")
        elif kind == "word":
            found += _word(value, text, token.start())
        elif kind == "amount":
            found.append((value[:_LONGEST_NAME], FAINT))
        elif len(value) > 1 or value.isdigit():
            found.append((value.casefold()[:_LONGEST_NAME], _code_weight(value)))
    return tuple(found)


def _title(value: str) -> list[tuple[str, float]]:
    name = "".join(char for char in value.casefold() if char.isalnum() or char in " -·")
    return [(name.strip()[:_LONGEST_NAME], TITLE)] if name.strip() else []


def is_han(text: str) -> bool:
    """Whether there is Chinese (or katakana) in it."""
    return bool(_HAN_CHAR.search(text))


def _code_weight(value: str) -> float:
    if not value.isdigit():
        if any(map(str.isalpha, value)):
            return CODE
        return RARE if _DECIMAL.fullmatch(value) else FAINT
    return (RARE if len(value) < 7 else FAINT) if len(value) > 2 else COMMON


def _word(value: str, text: str, start: int) -> list[tuple[str, float]]:
    folded = value.casefold()
    if folded in ENGLISH_FUNCTION or len(value) < 2:
        return []
    stem = stem_of(folded)
    common = folded in ENGLISH_COMMON or folded in ENGLISH_ATTRIBUTES or stem in ENGLISH_COMMON
    if value[0].isupper():
        before = text[max(0, start - 3) : start].rstrip(" ")
        inside = bool(before) and before[-1] not in _SENTENCE_ENDS
        if not (inside or common) and _SUBJECT.match(text, start + len(value)):
            inside = True
        if inside or any(map(str.isupper, value[1:])):
            return [(stem[:_LONGEST_NAME], NAME)]
    return [(stem[:_LONGEST_NAME], COMMON if common else RARE)]


@lru_cache(maxsize=4096)
def stem_of(word: str) -> str:
    """A crude English stem: the same for the forms of a regular word."""
    word = word.removesuffix("'s")
    for ending in ("ing", "ied", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            if ending == "s" and word.endswith(("ss", "us", "is")):
                break
            word = word.removesuffix(ending) + ("y" if ending in ("ied", "ies") else "")
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lse":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word


def _han_names(run: str, branch: str) -> list[tuple[str, float]]:
    """The pieces of an unbroken run of Chinese that are not made of list words."""
    names: list[tuple[str, float]] = []
    start = rare = generic = at = 0
    before, size = "", len(run)
    while at <= size:
        kind, length = _listed(run, at) if at < size else (_BREAK, 1)
        if kind == _BREAK and length == 1 and start < at < size and _inside_name(run, start, at):
            kind = _UNLISTED
        if kind == _UNLISTED:
            rare += 1
        elif kind == _GENERIC:
            generic += 1
        else:
            if at > start:
                found = _han_name(run[start:at], rare, generic, branch if at == size else "")
                cue = _CUED if before in HAN_CUES else 1.0
                names += [(name, weight * cue) for name, weight in found]
            before = run[at : at + length]
            start, rare, generic = at + length, 0, 0
        at += length
    return names


def _inside_name(run: str, start: int, at: int) -> bool:
    """Whether a short function word would leave a single character of a name alone."""
    if run[at] in HAN_PARTICLES or at + 1 >= len(run):
        return False
    if _listed(run, at - 1)[0] or _listed(run, at + 1)[0]:
        return False
    return at - start == 1 or at + 2 >= len(run) or _listed(run, at + 2)[0] >= _BREAK


def _listed(run: str, at: int) -> tuple[int, int]:
    """Kind and length of the longest list word at this place."""
    entry = _HAN.get(run[at])
    if entry is not None:
        lengths, table = entry
        for length in lengths:
            piece = run[at : at + length]
            kind = table.get(piece)
            if kind is not None:
                return kind, len(piece)
    return _UNLISTED, 1


def _han_name(piece: str, rare: int, generic: int, branch: str) -> list[tuple[str, float]]:
    if _ADDRESS.search(piece):
        return []
    name = (piece + branch).casefold()[:_LONGEST_NAME]
    if rare == 1:
        return [(name, 0.6 if branch else COMMON)] if generic or branch else []
    if rare:
        return [(name, RARE if rare < 9 else COMMON)]
    if generic > 1 or branch:
        return [(name, 0.6)]
    return [(name, FAINT)] if generic else []
