"""Made-up labelled pairs: families of templates whose slots are filled with words.

A family (see `FAMILIES` in the lexicons) is a list of classes of templates. Two templates of one
class with the same words ask the same; templates of two classes do not, nor do two templates of
which one has another word in a slot. So every form of words stands under both labels.

    @name kind [options]   a family; `case`: upper and lower case matter; `noflip`: no antonyms
    {name1.poss}           a slot: type, number, parts
    {?first}               a slot that does not matter: other words on each side
    [a|b|]                 any of these means the same
    --                     the next class
    ~ name1 name2          one more class: the first one with these slots swapped
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from training import lexicon_en as en
from training import lexicon_zh as zh
from training.data import Pair

Value = dict[str, tuple[str, ...]]
Draw = Callable[[random.Random], Value]
Near = Callable[[Value, random.Random], Value]

SLOT = re.compile(r"\{(\??)([a-z]+)(\d*\??)((?:\.[a-z]+)*)\}")
CHOICE = re.compile(r"\[([^\[\]]*)\]")
AN = re.compile(
    r"\b([Aa]) (?=(?!uni|use|usu|eu|one\b|once|URL|UK|UN\b|USB)[aeiou]|honest)", re.IGNORECASE
)
OPPOSITE = {"": "o", "part": "opart", "pos": "neg", "more": "less", "most": "least", "p": "n"}
FLIP = OPPOSITE | {other: one for one, other in OPPOSITE.items()}
TYPED = ("first", "last", "name", "city", "country", "object", "job", "place", "group", "animal")


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    kind: str
    case: bool
    flip: bool
    classes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Language:
    code: str
    families: tuple[Family, ...]
    draws: dict[str, Draw]
    nears: dict[str, Near]
    opens: tuple[str, ...]
    plain_opens: tuple[str, ...]
    closes: tuple[str, ...]
    words: set[str] = field(default_factory=set)


def made(count: int, seed: int = 0) -> Iterator[Pair]:
    """`count` pairs, two in five Chinese, half of them the same, always equal for equal seeds."""
    dice = random.Random(seed)
    languages = (_english(), _chinese())
    for _ in range(count):
        language = languages[dice.random() < 0.42]
        yield _pair(language, dice.choice(language.families), dice.random() < 0.5, dice)


def families() -> dict[str, int]:
    """How many families there are in each language."""
    return {language.code: len(language.families) for language in (_english(), _chinese())}


# ── one pair ─────────────────────────────────────────────────────────────────────────────────────


def _pair(language: Language, family: Family, same: bool, dice: random.Random) -> Pair:
    for _ in range(50):
        found = _try(language, family, same, dice)
        if found and found[0] != found[1]:
            a, b, kind = found
            if dice.random() < 0.5:
                a, b = b, a
            group = f"made_{language.code}:{family.name}"
            return Pair(a, b, same, kind, group, f"made_{language.code}")
    raise ValueError(f"{family.name}: no pair with same={same}")


def _try(
    language: Language, family: Family, same: bool, dice: random.Random
) -> tuple[str, str, str] | None:
    values = _values(language, family, dice)
    first = dice.choice(family.classes)
    a, b = dice.choice(first), dice.choice(first)
    kind, changed = "paraphrase", values
    if not same and len(family.classes) > 1 and dice.random() < 0.65:
        b = dice.choice(dice.choice([other for other in family.classes if other is not first]))
        kind = family.kind
    elif not same:
        shared = sorted(_keys(a) & _keys(b))
        if not shared:
            return None
        key = dice.choice(shared)
        near = _near(language, key, values[key], dice, flip=family.flip)
        others = [other for name, other in values.items() if name != key]
        if near is None or any(_clash(near, other) for other in others):
            return None
        kind, changed = key.rstrip("0123456789?"), values | {key: near}
    elif a == b and len(first) > 1 and dice.random() < 0.9:
        b = dice.choice([other for other in first if other != a])
    return (
        _dressed(language, family, _filled(language, a, values, dice), dice),
        _dressed(language, family, _filled(language, b, changed, dice), dice),
        kind,
    )


def _keys(template: str) -> set[str]:
    return {kind + number for free, kind, number, _ in SLOT.findall(template) if not free}


def _values(language: Language, family: Family, dice: random.Random) -> dict[str, Value]:
    """A value for each slot; those of one type have nothing in common."""
    keys = sorted(set().union(*(_keys(line) for lines in family.classes for line in lines)))
    values: dict[str, Value] = {}
    for key in keys:
        kind = key.rstrip("0123456789?")
        value = language.draws[kind](dice)
        while any(_clash(value, other) for other in values.values()):
            value = language.draws[kind](dice)
        values[key] = value
    return values


def _overlap(one: Value, other: Value) -> bool:
    return any(
        not set(forms).isdisjoint(other.get(part, ()))
        for part, forms in one.items()
        if not part.startswith("_")
    )


def _clash(one: Value, other: Value) -> bool:
    """Whether the two cannot stand in one text: the same word, or names with a part in common."""
    if "_name" not in one or "_name" not in other:
        return _overlap(one, other)
    return any(a in b or b in a for a in one["_name"] for b in other["_name"])


def _near(
    language: Language, key: str, value: Value, dice: random.Random, *, flip: bool
) -> Value | None:
    """Another value for the slot, one that is easily taken for the first."""
    kind = key.rstrip("0123456789?")
    if flip and set(value) & {"o", "less", "n"} and dice.random() < 0.5:
        return {FLIP.get(part, part): forms for part, forms in value.items()}
    near = language.nears[kind](value, dice) if kind in language.nears else None
    near = near or language.draws[kind](dice)
    return None if _overlap(near, value) else near


def _filled(
    language: Language, template: str, values: dict[str, Value], dice: random.Random
) -> str:
    while CHOICE.search(template):
        template = CHOICE.sub(lambda m: dice.choice(m[1].split("|")), template, count=1)
    typo = dice.random() < 0.06

    def word(match: re.Match[str]) -> str:
        free, kind, number, parts = match.groups()
        value = language.draws[kind](dice) if free else values[kind + number]
        names = parts.split(".")[1:]
        text = dice.choice(value[names.pop(0) if names and names[0] in value else ""])
        if typo and kind in TYPED:
            text = _slip(language, text, dice)
        for name in names:
            text = FORMS[name](text)
        return text

    text = re.sub(r" +([?.!,:])|  +", lambda m: m[1] or " ", SLOT.sub(word, template)).strip()
    return AN.sub(r"\1n ", text) if language.code == "en" else text


FORMS: dict[str, Callable[[str], str]] = {
    "cap": lambda text: text[:1].upper() + text[1:],
    "an": lambda text: f"a {text}",
    "poss": lambda text: f"{text}'" if text.endswith("s") else f"{text}'s",
    "pl": lambda text: en.PLURAL.get(text) or re.sub("y$", "ie", text) + "s",
}


def _slip(language: Language, text: str, dice: random.Random) -> str:
    """The word with a slip of the fingers, if that is not another word."""
    if len(text) < 6 or not text.isascii():
        return text
    n = dice.randrange(1, len(text) - 2)
    slips = (
        text[:n] + text[n + 1] + text[n] + text[n + 2 :],
        text[:n] + text[n + 1 :],
        text[:n] + text[n] + text[n:],
    )
    slipped = dice.choice(slips)
    return text if slipped in language.words else slipped


def _dressed(language: Language, family: Family, text: str, dice: random.Random) -> str:
    """The text with some greeting before it, thanks after it, and careless writing."""
    if language.code == "en":
        text = text[:1].upper() + text[1:]
    if dice.random() < 0.25:
        opens = language.opens if text.endswith(("?", "？")) else language.plain_opens
        opening = _filled(language, dice.choice(opens), {}, dice)
        if opening.endswith(",") and text.split()[0] in en.STARTS:
            text = text[0].lower() + text[1:]
        text = f"{opening} {text}" if language.code == "en" else opening + text
    if dice.random() < 0.08:
        pause = "，" if language.code == "zh" and text[-1] not in "？。" else ""
        text += pause + dice.choice(language.closes)
    luck = dice.random()
    if luck < 0.15:
        text = text.rstrip("?？.。!")
    elif luck < 0.18:
        text = text.replace("?", "??").replace("？", "??")
    if not family.case and dice.random() < 0.15:
        text = text.upper() if dice.random() < 0.1 else text.lower()
    return text


# ── values ───────────────────────────────────────────────────────────────────────────────────────


def _plain(*forms: str) -> Value:
    return {"": forms}


def _one_of(values: list[Value]) -> Draw:
    return lambda dice: dice.choice(values)


def _words(words: list[str]) -> Draw:
    """Words, each with its other ways to say it behind `=`."""
    return _one_of([_plain(*word.split("=")) for word in words])


def _pairs(text: str, *parts: str) -> Draw:
    rows = [row.split() for row in text.replace("\n", " ").split(";")]
    clean = [[word.replace("~", " ") for word in row] for row in rows]
    return _one_of(
        [{part: (word,) for part, word in zip(parts, row, strict=True)} for row in clean]
    )


def _opposites(text: str) -> Draw:
    """Synonyms / their opposites; drawn either way round."""
    values: list[Value] = []
    for row in text.replace("\n", " ").split(";"):
        one, other = (tuple(side.split()) for side in row.split("/"))
        values += [{"": one, "o": other}, {"": other, "o": one}]
    return _one_of(values)


def _past(base: str) -> str:
    if base.endswith("e"):
        return f"{base}d"
    return f"{base}ged" if base in ("hug", "tag") else f"{base}ed"


def _verb(word: str) -> tuple[str, str, str]:
    if "-" in word:
        base, past, part = word.split("-")
        return base, past, part
    base, _, past = word.partition(":")
    return base, past or _past(base), past or _past(base)


def _verbs(words: list[str]) -> Draw:
    rows = [[_verb(word) for word in group.split("=")] for group in words]
    parts = [tuple(zip(*row, strict=True)) for row in rows]
    return _one_of([{"": base, "past": past, "part": part} for base, past, part in parts])


def _actions(words: list[str]) -> Draw:
    values: list[Value] = []
    for row in words:
        sides = [side.partition("=")[::2] for side in row.split(":")]
        (one, done), (other, undone) = ((base, done or _past(base)) for base, done in sides)
        values.append({"": (one,), "part": (done,), "o": (other,), "opart": (undone,)})
        values.append({"": (other,), "part": (undone,), "o": (one,), "opart": (done,)})
    return _one_of(values)


def _name(firsts: list[str], lasts: list[str], join: str) -> tuple[Draw, Near]:
    """First names, last names and both; Chinese ones (no `join`) with the last name first."""

    def value(first: str, last: str) -> Value:
        parts = (first, last) if join else (last, first)
        return {"": (join.join(filter(None, parts)),), "_name": tuple(filter(None, (first, last)))}

    def draw(dice: random.Random) -> Value:
        first, last, luck = dice.choice(firsts), dice.choice(lasts), dice.random()
        if luck < 0.35:
            return value(first, "")
        return value("", last) if luck < 0.45 and join else value(first, last)

    def near(old: Value, dice: random.Random) -> Value:
        first, last = dice.choice(firsts), dice.choice(lasts)
        if len(old["_name"]) == 1:
            return value(first, "") if old["_name"][0] in firsts else value("", last)
        luck = dice.random()
        if luck < 0.2:
            return value(first, last)
        return value(old["_name"][0], last) if luck < 0.6 else value(first, old["_name"][1])

    return draw, near


def _number(spell: Callable[[int], str]) -> tuple[Draw, Near]:
    def value(n: int) -> Value:
        return _plain(str(n), spell(n)) if n < 100 else _plain(str(n))

    def draw(dice: random.Random) -> Value:
        return value(
            dice.choice((dice.randint(2, 20), dice.randint(2, 99), 5 * dice.randint(20, 900)))
        )

    def near(old: Value, dice: random.Random) -> Value:
        n = int(old[""][0])
        return value(max(2, dice.choice((n + 1, n - 1, n * 10, n // 10, n + 10, n * 2))))

    return draw, near


def _quantity(units: list[str], write: Callable[[int, str], str]) -> tuple[Draw, Near]:
    rows = [(big, int(size), small) for big, size, small in (unit.split(":") for unit in units)]

    def value(n: int, row: tuple[str, int, str]) -> Value:
        return _plain(write(n, row[0]), write(n * row[1], row[2]))

    def draw(dice: random.Random) -> Value:
        n, row = dice.randint(2, 15), dice.choice(rows)
        return value(n, row) | {"_": (f"{n}:{row[0]}:{row[1]}:{row[2]}",)}

    def near(old: Value, dice: random.Random) -> Value:
        n, big, size, small = old["_"][0].split(":")
        row = (big, int(size), small)
        return dice.choice(
            (value(int(n) + 1, row), value(2 * int(n), row), _plain(write(int(n), small)))
        )

    return draw, near


def _calendar(write: Callable[[int, int, int], tuple[str, ...]]) -> tuple[Draw, Near]:
    def value(year: int, month: int, day: int) -> Value:
        return {"": write(year, month, day), "_": (f"{year}-{month}-{day}",)}

    def draw(dice: random.Random) -> Value:
        return value(dice.randint(1900, 2030), dice.randint(1, 12), dice.randint(1, 28))

    def near(old: Value, dice: random.Random) -> Value:
        year, month, day = map(int, old["_"][0].split("-"))
        if day < 13 and dice.random() < 0.5:
            return value(year, day, month)
        return dice.choice(
            (
                value(year + 1, month, day),
                value(year, month % 12 + 1, day),
                value(year, month, day % 28 + 1),
            )
        )

    return draw, near


def _clock(write: Callable[[int], tuple[str, ...]]) -> tuple[Draw, Near]:
    def draw(dice: random.Random) -> Value:
        hour = dice.choice([n for n in range(7, 24) if n != 12])
        return {"": write(hour), "_": (str(hour),)}

    def near(old: Value, dice: random.Random) -> Value | None:
        hour = dice.choice(((int(old["_"][0]) + 12) % 24, int(old["_"][0]) + 1))
        return {"": write(hour), "_": (str(hour),)} if hour not in (0, 12, 24) else None

    return draw, near


def _version(dice: random.Random) -> Value:
    text = ".".join(str(dice.randint(0, 14)) for _ in range(dice.choice((2, 2, 3))))
    return _plain(text, f"v{text}", f"version {text}")


def _version_zh(dice: random.Random) -> Value:
    text = _version(dice)[""][0]
    return _plain(text, f"v{text}", f"{text}版", f"{text}版本")


def _other_digit(value: Value, dice: random.Random) -> Value:
    """The same text but for one digit."""
    text = value[""][0]
    n = dice.choice([n for n, char in enumerate(text) if char.isdigit()])
    digit = dice.choice([char for char in "123456789" if char != text[n]])
    return _plain(*(form.replace(text, text[:n] + digit + text[n + 1 :]) for form in value[""]))


def _identifier(dice: random.Random) -> Value:
    prefix = "".join(dice.choices("ABCDEFGHKLMNPRSTUVXZ", k=dice.choice((2, 3))))
    return _plain(f"{prefix}-{dice.randint(1, 99999):0{dice.choice((3, 4, 5))}d}")


def _app(dice: random.Random) -> Value:
    return _plain((dice.choice(en.SYLLABLE) + dice.choice(en.SYLLABLE + en.ENDING)).capitalize())


def _flag(dice: random.Random) -> Value:
    if dice.random() < 0.4:
        return _plain("-" + dice.choice("abcdefghklmnopqrstuvwxABCDEFGHLMNPRSTVWX"))
    return _plain("--" + dice.choice(("", "no-", "no-")) + dice.choice(en.FLAG))


def _other_flag(value: Value, dice: random.Random) -> Value:
    text = value[""][0]
    if len(text) == 2:
        return _plain(text.swapcase() if dice.random() < 0.6 else "-" + dice.choice("abcdefgh"))
    if dice.random() < 0.6:
        return _plain("--" + text[5:] if text.startswith("--no-") else "--no-" + text[2:])
    return _plain("--" + dice.choice(en.FLAG))


def _file(dice: random.Random) -> Value:
    number = dice.choice(("", f"_{dice.randint(1, 9)}", f"-{dice.randint(2015, 2026)}"))
    return _plain(f"{dice.choice(en.FILE)}{number}.{dice.choice(en.SUFFIX)}")


def _other_file(value: Value, dice: random.Random) -> Value | None:
    stem, suffix = value[""][0].rsplit(".", 1)
    if dice.random() < 0.4:
        return _plain(f"{stem}.{dice.choice(en.SUFFIX)}")
    return _other_digit(value, dice) if re.search(r"\d", stem) else _plain(f"{stem}_old.{suffix}")


def _families(text: str) -> tuple[Family, ...]:
    found = []
    for block in re.split(r"^@", text, flags=re.MULTILINE)[1:]:
        head, *lines = block.strip().splitlines()
        classes: list[list[str]] = [[]]
        for line in lines:
            if line.startswith("~"):
                one, other = line[1:].split()
                swap = {one: other, other: one}
                classes.append([_renamed(template, swap) for template in classes[0]])
            elif line == "--":
                classes.append([])
            else:
                classes[-1].append(line)
        name, kind, *options = head.split()
        found.append(
            Family(
                name, kind, "case" in options, "noflip" not in options, tuple(map(tuple, classes))
            )
        )
    return tuple(found)


def _renamed(template: str, names: dict[str, str]) -> str:
    def renamed(match: re.Match[str]) -> str:
        free, kind, number, parts = match.groups()
        return f"{{{free}{names.get(kind + number, kind + number)}{parts}}}"

    return SLOT.sub(renamed, template)


# ── languages ────────────────────────────────────────────────────────────────────────────────────


def _spelled(n: int) -> str:
    tens, ones = divmod(n, 10)
    return en.ONES[n] if n < 20 else en.TENS[tens - 2] + (f"-{en.ONES[ones]}" if ones else "")


def _date(year: int, month: int, day: int) -> tuple[str, ...]:
    name = en.MONTH[month - 1]
    end = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return (
        f"{day} {name} {year}",
        f"{name} {day}{end}, {year}",
        f"{name} {day}, {year}",
        f"the {day}{end} of {name} {year}",
        f"{year}-{month:02}-{day:02}",
    )


def _hour(hour: int) -> tuple[str, ...]:
    half = "am" if hour < 12 else "pm"
    return (
        f"{(hour - 1) % 12 + 1} {half}",
        f"{hour:02}:00",
        f"{(hour - 1) % 12 + 1}:00 {half.upper()}",
    )


def _hanzi(n: int) -> str:
    tens, ones = divmod(n, 10)
    return (
        ("" if tens < 2 else zh.DIGIT[tens])
        + ("十" if tens else "")
        + (zh.DIGIT[ones] if ones else "")
    )


def _shared() -> tuple[dict[str, Draw], dict[str, Near]]:
    draws: dict[str, Draw] = {
        "app": _app,
        "code": _words(en.CODE),
        "format": _words(en.FORMAT),
        "version": _version,
        "id": _identifier,
        "flag": _flag,
        "file": _file,
        "age": lambda dice: _plain(str(dice.randint(3, 80))),
        "year": lambda dice: _plain(str(dice.randint(1820, 2025))),
    }
    nears: dict[str, Near] = {
        "version": _other_digit,
        "id": _other_digit,
        "flag": _other_flag,
        "file": _other_file,
        "year": lambda value, dice: _plain(str(int(value[""][0]) + dice.choice((-10, -1, 1, 10)))),
    }
    return draws, nears


def _english() -> Language:
    draws, nears = _shared()
    for kind in en.LISTS:
        draws[kind] = _words(getattr(en, kind.upper()))
    draws |= {
        "job": _words(en.JOB + en.JOB_SAME.split(", ")),
        "verb": _verbs(en.VERB + en.VERB_SAME),
        "do": _actions(en.DO),
        "grade": _pairs(en.GRADE, "pos", "more", "most", "neg", "less", "least"),
        "hgrade": _pairs(en.HUMAN_GRADE, "pos", "more", "most", "neg", "less", "least"),
        "adj": _opposites(en.ADJ),
        "trait": _opposites(en.TRAIT),
        "un": _pairs(en.UN, "p", "n"),
        "more": _pairs(en.MORE, "p", "n"),
        "self": _pairs(en.SELF, "p", "n"),
    }
    draws["name"], nears["name"] = _name(en.FIRST, en.LAST, " ")
    draws["number"], nears["number"] = _number(_spelled)
    draws["quantity"], nears["quantity"] = _quantity(en.UNIT, lambda n, unit: f"{n} {unit}s")
    draws["duration"], nears["duration"] = _quantity(en.UNIT[:5], lambda n, unit: f"{n} {unit}s")
    draws["date"], nears["date"] = _calendar(_date)
    draws["clock"], nears["clock"] = _clock(_hour)
    words = set(en.FIRST + en.LAST + en.CITY + en.COUNTRY)
    carriers = tuple(en.OPEN), tuple(en.PLAIN_OPEN), tuple(en.CLOSE)
    return Language("en", _families(en.FAMILIES), draws, nears, *carriers, words)


def _chinese() -> Language:
    draws, nears = _shared()
    for kind in zh.LISTS:
        draws[kind] = _words(getattr(zh, kind.upper()))
    draws |= {
        "version": _version_zh,
        "do": _actions_zh(),
        "grade": _pairs(zh.GRADE, "p", "n"),
        "hgrade": _pairs(zh.HUMAN_GRADE, "p", "n"),
        "adj": _opposites(zh.ADJ),
        "trait": _opposites(zh.TRAIT),
    }
    draws["name"], nears["name"] = _name(zh.FIRST, zh.LAST, "")
    draws["number"], nears["number"] = _number(_hanzi)
    draws["quantity"], nears["quantity"] = _quantity(zh.UNIT, lambda n, unit: f"{n}{unit}")
    draws["duration"], nears["duration"] = _quantity(zh.UNIT[:5], lambda n, unit: f"{n}{unit}")
    draws["date"], nears["date"] = _calendar(
        lambda year, month, day: (
            f"{year}年{month}月{day}日",
            f"{year}年{month}月{day}号",
            f"{year}-{month:02}-{day:02}",
            f"{''.join(zh.DIGIT[int(n)] for n in str(year))}年{_hanzi(month)}月{_hanzi(day)}日",
        )
    )
    draws["clock"], nears["clock"] = _clock(
        lambda hour: (f"{'上午' if hour < 12 else '下午'}{(hour - 1) % 12 + 1}点", f"{hour:02}:00")
    )
    carriers = tuple(zh.OPEN), tuple(zh.PLAIN_OPEN), tuple(zh.CLOSE)
    return Language("zh", _families(zh.FAMILIES), draws, nears, *carriers)


def _actions_zh() -> Draw:
    sides = [row.split(":") for row in zh.DO]
    return _one_of(
        [{"": (x,), "o": (y,)} for one, other in sides for x, y in ((one, other), (other, one))]
    )
