"""The labelled files that `quality.py` reads, and which rows of them it tunes and reports on."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_semcache.lab.pairs import Pair

SETS = Path(__file__).parent / "sets"
LARGE = 4000
"""Rows of each half of a file that are looked at; more would narrow no interval that matters."""


@dataclass(frozen=True, slots=True)
class PairFile:
    """Pairs of one file. Bars are tuned on the even rows and reported on the odd ones.

    The sets in this repository tune nothing: all their rows are reported.
    """

    name: str
    even: Sequence[Pair]
    odd: Sequence[Pair]


@dataclass(frozen=True, slots=True)
class Stream:
    """Questions in the order they are asked; equal clusters have one answer."""

    name: str
    texts: Sequence[str]
    clusters: Sequence[int]


def pair_files(data: Path, most: int) -> Iterable[PairFile]:
    """Every file of part 1; of each half at most `most` rows, drawn with a fixed seed."""
    yield _file(data / "pairs_en_gptcache_mock999.jsonl.gz", most)
    yield from (_set(SETS / f"{name}.tsv", most) for name in ("paraphrases_en", "paraphrases_zh"))
    for name in ("en_checklist_a", "en_paws_wiki_dev", "zh_pawsx_a"):
        yield _file(data / f"pairs_{name}.jsonl.gz", most)
    yield from (_set(SETS / f"{name}.tsv", most) for name in ("traps_en", "traps_zh"))
    for name in ("en_qqp_20k", "zh_lcqmc_dev", "zh_afqmc_dev"):
        yield _file(data / f"pairs_{name}.jsonl.gz", most)


def _file(path: Path, most: int) -> PairFile:
    pairs = [_pair(row) for row in rows_of(path)]
    name = path.name.removesuffix(".jsonl.gz").removeprefix("pairs_")
    return PairFile(name, drawn(pairs[0::2], most), drawn(pairs[1::2], most))


def _set(path: Path, most: int) -> PairFile:
    """A set of this repository: paraphrases, or traps."""
    same = path.stem.startswith("paraphrases")
    cells = [line.split("\t") for line in path.read_text("utf-8").splitlines() if line.strip()]
    pairs = [Pair(question, stored, same, kind) for question, stored, kind in cells]
    return PairFile(f"sets/{path.stem}", (), drawn(pairs, most))


def _pair(row: dict[str, Any]) -> Pair:
    return Pair(row["a"], row["b"], bool(row["same"]), row.get("test") or row.get("kind") or "")


def rows_of(path: Path) -> list[dict[str, Any]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def drawn(pairs: Sequence[Any], most: int, seed: int = 0) -> list[Any]:
    return random.Random(seed).sample(list(pairs), min(most, len(pairs)))


class Pool:
    """Where streams of one language are drawn from: one half of the files.

    `sources` are groups of questions that are drawn together. Questions with one answer, and the
    same question in several groups, come into one cluster.
    """

    def __init__(self, name: str, sources: Sequence[Sequence[Sequence[str]]]) -> None:
        self.name = name
        self.sources = sources
        self._parents: dict[str, str] = {}

    def join(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._parents[self.root(text)] = self.root(texts[0])

    def root(self, text: str) -> str:
        while (parent := self._parents.get(text, text)) != text:
            text = parent
        return text

    def stream(self, seed: int, length: int) -> Stream:
        """As many questions of each source, each question once, in a seeded order."""
        rng = random.Random(seed)
        texts: dict[str, None] = {}
        for source, room in zip(self.sources, _parts(length, len(self.sources)), strict=True):
            goal = len(texts) + room
            for group in rng.sample(source, len(source)):
                if len(texts) >= goal:
                    break
                texts.update(dict.fromkeys(rng.sample(group, min(4, len(group)))))
        order = rng.sample(list(texts), len(texts))
        numbers: dict[str, int] = {}
        clusters = [numbers.setdefault(self.root(text), len(numbers)) for text in order]
        return Stream(self.name, order, clusters)


def _parts(length: int, sources: int) -> list[int]:
    """Half for the first source, the rest in even parts for those that distract from it."""
    if sources == 1:
        return [length]
    return [length // 2, *([length // 2 // (sources - 1)] * (sources - 1))]


def english_pool(data: Path, half: int) -> Pool:
    """Clusters of duplicates, with templated and word-swap traps between them."""
    clusters = [row["texts"] for row in rows_of(data / "clusters_en_qqp_min3.jsonl.gz")[half::2]]
    files = ("pairs_en_checklist_a", "pairs_en_paws_wiki_dev")
    traps = [rows_of(data / f"{name}.jsonl.gz")[half::2] for name in files]
    sources = [clusters, *([[row["a"], row["b"]] for row in rows] for rows in traps)]
    pool = Pool("en: QQP + CheckList + PAWS", sources)
    for texts in clusters:
        pool.join(texts)
    _join_same(pool, [row for rows in traps for row in rows])
    return pool


def chinese_pool(data: Path, half: int) -> Pool:
    """Pairs of alike questions, the same and not; labels are carried over the whole file."""
    rows = rows_of(data / "pairs_zh_lcqmc_dev.jsonl.gz")
    pool = Pool("zh: LCQMC", [[[row["a"], row["b"]] for row in rows[half::2]]])
    _join_same(pool, rows)
    return pool


def _join_same(pool: Pool, rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        if row["same"]:
            pool.join([row["a"], row["b"]])
