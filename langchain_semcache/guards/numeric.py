"""Numbers, dates, versions, amounts: another value is another question."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from langchain_semcache.guards._chinese import (
    HAN_DIGITS,
    HAN_MEASURES,
    HAN_MYRIADS,
    HAN_NUMERAL_WORDS,
    HAN_STEPS,
)
from langchain_semcache.guards._english import (
    MONTH_OR_WORD,
    MONTHS,
    MULTIPLIERS,
    NUMERALS,
    ORDINALS,
    ROMAN,
    SUFFIXES,
    UNITS,
)
from langchain_semcache.guards._reading import Reading, Refusal, differing, shown
from langchain_semcache.records import Reason


@dataclass(frozen=True, slots=True)
class Number:
    """A value in canonical spelling. A weak one ("first", "one") may be a manner of speech."""

    value: str
    unit: str = ""
    weak: bool = False


_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_DIGITS = re.compile(
    r"(?P<sign>(?<![\w.\-)])-)?(?P<money>[$€£¥₹]\s?)?"
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.:/]\d+)*)"
    r"(?:(?P<scale>(?:k|m|bn)\b|[万亿千]|\s(?:hundred|thousand|million|billion|trillion)\b))?"
    rf"(?:st|nd|rd|th)?(?:[\s-]?(?P<unit>{_UNIT})(?![a-z]))?"
)
_DIGIT = re.compile(r"\d")
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})(?![\d.])")
_EITHER = re.compile(r"(?<=\d{3})/(?=\d{3})")
"""500/1000 is two amounts, 1/2 a fraction."""
_TOP = re.compile(r"(?:\btop|前)[\s-]?$")
_HAN_MONTH = re.compile(r"(?<!\d)(\d{1,2})月")
_WORD = "|".join([*NUMERALS, *MULTIPLIERS])
_SPELLED = re.compile(
    rf"\b(?:{_WORD})(?:(?:[\s-]+|\s+and\s+)(?:{_WORD}))*\b(?:\s(?P<unit>{_UNIT})\b)?"
)
_NUMERALS = frozenset(NUMERALS)
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
_ROMAN = re.compile(r"\b[A-Za-z]+\s+(II|III|IV|VI|VII|VIII|IX|XI|XII|XIII|XIV|XV|V|X)\b")
_HAN = re.compile(
    r"(?P<lead>第|周|星期|礼拜|百分之)?"
    r"(?P<number>[零〇一二两三四五六七八九十百千万亿]+)"
    r"(?:点(?P<fraction>[零〇一二三四五六七八九]+))?(?P<measure>.)?"
)
_HAN_WORDS = re.compile("|".join(sorted(HAN_NUMERAL_WORDS)))


def check(question: Reading, stored: Reading) -> Refusal | None:
    """Refuse when the two name different numbers, or the same number in different units."""
    asked, known = numbers(question), numbers(stored)
    if asked == known:
        return None
    left, right = _unmatched(asked, known)
    if (left and right) or any(not number.weak for number in left + right):
        ours, theirs = [n.value for n in left], [n.value for n in right]
        return differing(Reason.NUMBERS_DIFFER, ours, theirs)
    return _units(asked, known)


def _unmatched(
    asked: tuple[Number, ...], known: tuple[Number, ...]
) -> tuple[list[Number], list[Number]]:
    """What each side names more often than the other; a repetition alone does not count."""
    ours, theirs = Counter(n.value for n in asked), Counter(n.value for n in known)
    left = [n for n in asked if ours[n.value] > theirs[n.value]]
    right = [n for n in known if theirs[n.value] > ours[n.value]]
    if left and right:
        return left, right
    return [n for n in left if n.value not in theirs], [n for n in right if n.value not in ours]


def _units(asked: tuple[Number, ...], known: tuple[Number, ...]) -> Refusal | None:
    for value in sorted({number.value for number in asked}):
        ours = {n.unit for n in asked if n.value == value and n.unit}
        theirs = {n.unit for n in known if n.value == value and n.unit}
        if ours and theirs and ours != theirs:
            detail = f"{value} {shown(ours)} vs {value} {shown(theirs)}"
            return Refusal(Reason.NUMBERS_DIFFER, detail)
    return None


@lru_cache(maxsize=64)
def numbers(reading: Reading) -> tuple[Number, ...]:
    """The numbers of a sentence, in digits or in words."""
    text = reading.lower
    found: list[Number] = []
    if _DIGIT.search(text):
        text = _EITHER.sub(" ", _ISO.sub(r"\1年\2月 \3", text))
        found += [_month(int(month)) for month in _HAN_MONTH.findall(text)]
        found += [_of_digits(match) for match in _DIGITS.finditer(_HAN_MONTH.sub(" ", text))]
    if reading.has_han:
        found += _of_han(text)
    else:
        found += _of_english(text, reading.words)
        found += [
            Number(str(ROMAN[m[1].lower()]), weak=True) for m in _ROMAN.finditer(reading.text)
        ]
    return tuple(found)


def _of_digits(match: re.Match[str]) -> Number:
    raw = match["number"]
    scale = (match["scale"] or "").strip()
    sign = "-" if match["sign"] else ""
    unit = UNITS.get(match["unit"] or (match["money"] or "").strip(), "")
    if ":" in raw or "/" in raw or raw.count(".") > 1:
        return Number(sign + raw, unit)
    plain = Decimal(raw.replace(",", ""))
    if _TOP.search(match.string, max(0, match.start() - 5), match.start()):
        return Number(_spelled(plain), unit, weak=True)  # the top 10 are the best
    if scale:
        plain *= SUFFIXES[scale]
    elif "." in raw and not unit:
        return Number(sign + raw.replace(",", ""))  # 3.10 may be a version: not 3.1
    return Number(sign + _spelled(plain), unit)


def _month(number: int) -> Number:
    return Number(f"month {_spelled(number)}")


def _spelled(value: Decimal | int) -> str:
    value = Decimal(value)
    whole = value.to_integral_value()
    # Not by way of int: Python refuses to print a long one.
    return f"{whole:f}" if whole == value else str(value.normalize())


def _of_english(text: str, words: tuple[str, ...]) -> list[Number]:
    found = []
    have = {piece for word in words for piece in word.split("-")}
    for match in _SPELLED.finditer(text) if not _NUMERALS.isdisjoint(have) else ():
        tokens = [t for t in re.split(r"[\s-]+", match[0]) if t in NUMERALS or t in MULTIPLIERS]
        bare = tokens[0] in MULTIPLIERS  # the number before it was in digits, or is "a"
        if not bare:
            weak = tokens in (["one"], ["zero"])
            found.append(Number(_spelled(_value(tokens)), UNITS.get(match["unit"] or "", ""), weak))
    found += [Number(str(ORDINALS[word]), weak=True) for word in words if word in ORDINALS]
    for match in _MONTH.finditer(text) if not MONTHS.keys().isdisjoint(have) else ():
        near = text[max(0, match.start() - 6) : match.end() + 6]
        if match[0] not in MONTH_OR_WORD or any(char.isdigit() for char in near):
            found.append(_month(MONTHS[match[0]]))
    return found


def _value(tokens: list[str]) -> int:
    total = current = 0
    for token in tokens:
        factor = MULTIPLIERS.get(token)
        if factor is None:
            current += NUMERALS[token]
        elif factor == MULTIPLIERS["hundred"]:
            current = max(current, 1) * factor
        else:
            total, current = total + max(current, 1) * factor, 0
    return total + current


def _of_han(text: str) -> list[Number]:
    found = []
    for match in _HAN.finditer(_HAN_WORDS.sub(" ", text)):
        raw, lead, measure = match["number"], match["lead"], match["measure"] or ""
        if text[max(0, match.start() - 1) : match.start()].isdigit():
            continue  # the 万 of "3万" belongs to the digits
        if raw in "百千万亿" or (raw == "一" and not lead and measure not in HAN_MEASURES):
            continue  # part of a word
        weak = lead == "第" or (len(raw) == 1 and not lead and measure not in HAN_MEASURES)
        weak = weak or raw == "两" or (raw == "一" and measure not in "年月日号")
        if measure == "月":
            found.append(_month(han_value(raw)))
            continue
        value = _spelled(han_value(raw))
        if match["fraction"]:
            value += "." + "".join(str(HAN_DIGITS[char]) for char in match["fraction"])
        found.append(Number(value, "%" if lead == "百分之" else "", weak))
    return found


def han_value(raw: str) -> int:
    """The value of a Chinese numeral: positional (二〇二四) or with steps (三百二十)."""
    if all(char in HAN_DIGITS for char in raw):
        return int(Decimal("".join(str(HAN_DIGITS[char]) for char in raw)))
    total = section = digit = 0
    for char in raw:
        if char in HAN_DIGITS:
            digit = HAN_DIGITS[char]
        elif char in HAN_STEPS:
            section += max(digit, 1) * HAN_STEPS[char]
            digit = 0
        else:
            total = (total + section + digit or 1) * HAN_MYRIADS[char]
            section = digit = 0
    return total + section + digit
