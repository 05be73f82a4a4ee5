"""Typing errors as people make them: on a keyboard of letters, and by pinyin."""

from __future__ import annotations

import random
import re

from langchain_semcache.verifiers._sounds import same_sound

NEIGHBOURS = {
    key: row[max(0, n - 1) : n] + row[n + 1 : n + 2]
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for n, key in enumerate(row)
}
BY_EAR = (
    ("ie", "ei"), ("ei", "ie"), ("ph", "f"), ("ck", "k"), ("tion", "shun"), ("ight", "ite"),
    ("you", "u"), ("are", "r"), ("to ", "too "), ("ea", "ee"), ("ough", "uff"), ("wh", "w"),
    ("ible", "able"), ("ance", "ence"), ("ence", "ance"), ("ely", "ly"), ("ss", "s"), ("ll", "l"),
    ("mm", "m"), ("cc", "c"), ("tt", "t"), ("pp", "p"), ("c", "s"), ("s", "c"), ("i", "e"),
    ("e", "a"), ("a", "e"), ("or", "er"), ("er", "or"), ("ly", "ley"), ("qu", "kw"), ("x", "ks"),
    ("please", "pls"), ("thanks", "thx"), ("because", "cuz"), ("what", "wat"), ("their", "there"),
    ("your", "ur"), ("with", "w/"), ("without", "w/o"), ("could", "cud"), ("night", "nite"),
)  # fmt: skip
MEANT = frozenset(
    "一二三四五六七八九十百千万亿两零半不没无非未别勿莫买卖收售进出上下左右东南西北男女大小多少开关"
    "前后早晚借还加减增降升输赢正反先里外内公私有是否"
)
"""Characters that another one in their place makes another question of."""

HAN = re.compile("[\u4e00-\u9fff]")


def mistyped(text: str, dice: random.Random) -> str:
    """One to three slips, and sometimes no capitals or no question mark."""
    slips = min(dice.choice((1, 1, 2, 2, 3)), 1 + len(text) // 10)
    han = len(HAN.findall(text)) * 2 > len(text)
    for _ in range(slips):
        text = _han_slip(text, dice) if han else _latin_slip(text, dice)
    if dice.random() < 0.4:
        text = text.lower()
    return text.rstrip("?？.。") if dice.random() < 0.5 else text


def _latin_slip(text: str, dice: random.Random) -> str:
    if dice.random() < 0.3:
        fitting = [(one, other) for one, other in BY_EAR if one in text[1:].lower()]
        if fitting:
            one, other = dice.choice(fitting)
            found = [m.start() for m in re.finditer(re.escape(one), text.lower()) if m.start()]
            if found:
                at = dice.choice(found)
                return text[:at] + other + text[at + len(one) :]
    places = [n for n, char in enumerate(text) if char.isalpha() and n and n + 1 < len(text)]
    if not places:
        return text
    n = dice.choice(places)
    char, after = text[n], text[n + 1]
    match dice.randrange(7):
        case 0 | 1:
            return text[:n] + after + char + text[n + 2 :] if after.isalpha() else text
        case 2 | 3:
            return text[:n] + text[n + 1 :]
        case 4:
            return text[:n] + char + text[n:]
        case 5:
            return text[:n] + dice.choice(NEIGHBOURS.get(char.lower(), char)) + text[n + 1 :]
    spaces = [m.start() for m in re.finditer(r"['’]|(?<=[a-z]) (?=[a-z])", text)]
    at = dice.choice(spaces) if spaces else n
    return text[:at] + text[at + 1 :]


def _han_slip(text: str, dice: random.Random) -> str:
    places = [n for n, char in enumerate(text) if HAN.match(char) and char not in MEANT]
    if not places:
        return text
    n = dice.choice(places)
    others = [char for char in same_sound(text[n]) if char != text[n] and char not in MEANT]
    if others and dice.random() < 0.75:
        # An input method offers what is common first.
        return text[:n] + others[min(len(others) - 1, int(dice.expovariate(0.4)))] + text[n + 1 :]
    match dice.randrange(4):
        case 0 | 1:
            return text[:n] + text[n + 1 :] if len(places) > 4 else text
        case 2:
            return text[:n] + text[n] + text[n:]
    return text[:n] + text[n + 1 : n + 2] + text[n] + text[n + 2 :]
