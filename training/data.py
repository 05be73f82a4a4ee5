"""Pairs to learn from: open data sets with their kinds, our own clusters, and made-up errors.

{"a", "b", "same", "kind", "group", "src"}, as in the files of open pairs. A group never lies on
both sides of the split.
"""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
LEFT_OUT = ("hint3", "enzh", "tatoeba_pos")
"""Unsettled licence; questions in two languages, which never share an answer; positives only."""

CAPS = {
    "spider_train": 2_500, "wikisql": 600, "disflqa": 2_500, "gsmplus": 300, "mcwq": 300,
    "en_overnight": 1_500, "zh_overnight": 1_500, "derived_swaps": 2_500, "advising": 2_000,
}  # fmt: skip
"""Rows taken at most of sets whose style is narrow: otherwise they are what is learned."""

HELD_OUT = ("spider_dev", "cspider")
"""Databases that the training questions do not speak of."""


@dataclass(frozen=True, slots=True)
class Pair:
    a: str
    b: str
    same: bool
    kind: str
    group: str
    source: str
    weight: float = 1.0


def open_pairs(folder: Path, seed: int = 0) -> Iterator[Pair]:
    """The pair files of `folder`, narrow ones cut down."""
    for path in sorted(folder.glob("pairs_*.jsonl.gz")):
        source = path.name.removeprefix("pairs_").removesuffix(".jsonl.gz")
        if any(name in source for name in LEFT_OUT):
            continue
        found = list(rows(path))
        cap = next((cap for name, cap in CAPS.items() if name in source), len(found))
        random.Random(seed).shuffle(found)
        for row in found[:cap]:
            yield Pair(row["a"], row["b"], bool(row["same"]), row["kind"], row["group"], source)


def word_swaps(folder: Path) -> Iterator[Pair]:
    """The even rows of PAWS and PAWS-X: the odd ones are what we report on."""
    for name in ("pairs_en_paws_wiki_dev", "pairs_zh_pawsx_a"):
        for number, row in enumerate(rows(folder / f"{name}.jsonl.gz")):
            if number % 2 == 0:
                yield Pair(row["a"], row["b"], bool(row["same"]), "swap", f"{name}:{number}", name)


def own_clusters(weight: float = 1.0) -> Iterator[Pair]:
    """Every two ways to ask one thing; every question beside it against two of them."""
    dice = random.Random(0)
    for path in sorted((HERE / "clusters").glob("*.txt")):
        for number, block in enumerate(path.read_text("utf-8").split("\n\n")):
            lines = [line.strip() for line in block.splitlines()]
            same = [line[1:].strip() for line in lines if line.startswith("=")]
            traps = [
                line[1:].split(":", 1) for line in lines if line.startswith("!") and ":" in line
            ]
            group = f"{path.stem}:{number}"
            for a, b in itertools.combinations(same, 2):
                yield Pair(a, b, True, "paraphrase", group, f"own_{path.stem}", weight)
            for (kind, b), a in itertools.chain.from_iterable(
                ((trap, a) for a in dice.sample(same, min(2, len(same)))) for trap in traps
            ):
                yield Pair(a, b.strip(), False, kind.strip(), group, f"own_{path.stem}", weight)
    for path in sorted(HERE.glob("paraphrases_*.tsv")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            a, b = line.split("\t")[:2]
            yield Pair(
                a, b, True, "paraphrase", f"{path.stem}:{number}", f"own_{path.stem}", weight
            )


def with_typos(pairs: list[Pair], share: float, seed: int = 0) -> Iterator[Pair]:
    """Some of the pairs again, with typing errors on one side; some texts with their own errors."""
    dice = random.Random(seed)
    for pair in pairs:
        if dice.random() >= share:
            continue
        if pair.same and dice.random() < 0.3:
            yield Pair(pair.a, mistyped(pair.a, dice), True, "typo", pair.group, pair.source, 0.5)
        else:
            b = mistyped(pair.b, dice)
            yield Pair(
                pair.a, b, pair.same, f"{pair.kind}+typo", pair.group, pair.source, pair.weight
            )


_HOMOPHONES = {
    one: other
    for pair in """
    的得 在再 做作 那哪 他她 以已 是事 么莫 什神 帐账 到道 和合 号好 为位 像象 会回 没每 有又
    里理 意义 需须 分份 度渡 带代 付负 定订 记计 即既 解决 其期 气器 前钱 情请 求球 身生 时实
    式试 受收 速素 题提 消销 信新 形型 性姓 要药 一已 因应 用佣 由油 友有 于与 元圆 原源 远院
    月越 运晕 再在 造早 则责 只支 知之 中种 重众 住主 转赚 装庄 自字 最醉 办板 保宝 报抱 备被
    本奔 必毕 变便 别憋 查察 长常 成城
    """.split()
    for one, other in (tuple(pair), tuple(reversed(pair)))
}


def mistyped(text: str, dice: random.Random) -> str:
    """One to three slips of the fingers in words of letters, or a lost character in Chinese."""
    chars = list(text)
    places = [n for n, char in enumerate(chars) if char.isalpha() and n]
    for _ in range(min(dice.choice((1, 1, 2, 3)), 1 + len(chars) // 12)):
        if not places:
            break
        sounds_alike = [m for m, char in enumerate(chars) if char in _HOMOPHONES]
        if sounds_alike and dice.random() < 0.7:
            m = dice.choice(sounds_alike)
            chars[m] = _HOMOPHONES[chars[m]]
            continue
        n = dice.choice(places)
        if n >= len(chars) - 1:
            continue
        match dice.randrange(4):
            case 0:
                chars[n], chars[n + 1] = chars[n + 1], chars[n]
            case 1:
                chars[n] = ""
            case 2:
                chars[n] = chars[n] * 2
            case _:
                chars[n] = dice.choice("aeiourstlnmdcp") if chars[n].isascii() else ""
    slipped = "".join(chars)
    return (
        slipped.lower()
        if dice.random() < 0.4
        else slipped.rstrip("?？")
        if dice.random() < 0.5
        else slipped
    )


def strangers(pairs: list[Pair], count: int, seed: int = 0) -> Iterator[Pair]:
    """Questions of one source that have nothing to do with each other."""
    dice = random.Random(seed)
    for _ in range(count):
        one, other = dice.sample(pairs, 2)
        if one.source == other.source and one.group != other.group:
            yield Pair(one.a, other.b, False, "stranger", one.group, one.source, 0.5)


def held_out(pair: Pair, share: int = 8) -> bool:
    """Whether the pair's group is for validation: one in `share`, and whole held-out sets."""
    if any(name in pair.source for name in HELD_OUT):
        return True
    return hashlib.sha256(pair.group.encode()).digest()[0] % share == 0


def rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
