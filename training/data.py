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

import numpy as np

from langchain_semcache.encoders.onnx import OnnxEncoder
from training.slips import mistyped

HERE = Path(__file__).parent
LEFT_OUT = ("hint3", "enzh", "tatoeba_pos")
"""Unsettled licence; questions in two languages, which never share an answer; positives only."""

CAPS = {
    "spider_train": 2_500, "wikisql": 600, "disflqa": 2_500, "gsmplus": 300, "mcwq": 300,
    "en_overnight": 1_500, "zh_overnight": 1_500, "derived_swaps": 2_500, "advising": 2_000,
}  # fmt: skip
"""Rows taken at most of sets whose style is narrow: otherwise they are what is learned."""

CLOSE = 0.65
"""Cosine of two questions from which on they may be the same, though nobody said so."""

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
                ((trap, a) for a in dice.sample(same, min(3, len(same)))) for trap in traps
            ):
                yield Pair(
                    a, b.strip(), False, kind.strip(), group, f"own_{path.stem}", weight * 2 / 3
                )
    for path in sorted(HERE.glob("paraphrases_*.tsv")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            a, b = line.split("\t")[:2]
            yield Pair(
                a, b, True, "paraphrase", f"{path.stem}:{number}", f"own_{path.stem}", weight
            )


def neighbours(encoder: OnnxEncoder, count: int = 2, weight: float = 0.7) -> Iterator[Pair]:
    """Questions of our own, each with the nearest of other clusters on its side of the split.

    This is what most candidates of a cache are: no trap that somebody thought of, and no stranger.
    From `CLOSE` on some are the same question, asked in two clusters, and are left out.
    """
    asked: dict[str, tuple[str, str]] = {}
    for pair in own_clusters():
        for text in (pair.a, pair.b) if pair.same else (pair.a,):
            asked.setdefault(text, (pair.group, pair.source))
    for kept in (False, True):
        texts = [
            text
            for text, (group, source) in asked.items()
            if held_out(Pair(text, "", False, "", group, source)) is kept
        ]
        parts = (texts[n : n + 256] for n in range(0, len(texts), 256))
        vectors = np.concatenate([encoder.encode(part) for part in parts])
        groups = np.array([asked[text][0] for text in texts])
        for number, text in enumerate(texts):
            group, source = asked[text]
            likeness = vectors @ vectors[number]
            likeness[(groups == group) | (likeness > CLOSE)] = -1.0
            for place in np.argsort(likeness)[::-1][:count]:
                yield Pair(
                    text, texts[place], False, "neighbour", group, f"neighbours_{source[4:6]}",
                    weight,
                )  # fmt: skip


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
            if not pair.same and b == pair.a:
                continue
            yield Pair(
                pair.a, b, pair.same, f"{pair.kind}+typo", pair.group, pair.source, pair.weight
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
