"""Questions put to stores of other questions, as a cache meets them: candidates and their crowd.

A pair by itself says nothing of how a question that was asked before stands out from its
neighbours. Here each held-out question of our own is looked for in a store of a random size, with
its answer in it or without, and with some of the questions beside it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.encoders.onnx import OnnxEncoder
from langchain_semcache.threshold.features import CROWD
from training import data

ROUNDS = 3
LARGEST = 1_500
"""Clusters in a store at most; their number is drawn so that each order of size is as likely."""

KNOWN = 0.6
"""How often the store has an answer to what is asked."""

MORE = 0.2
BESIDE = 0.3
"""How often another wording of it is there too, and a question beside another cluster."""

STATEMENTS = 0.3
"""How many of the sentences that are no questions are asked."""

CANDIDATES = 3
FLOOR = 0.2


@dataclass(slots=True)
class Cluster:
    source: str
    same: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate of a question, and how near the other stored ones are; best first."""

    pair: data.Pair
    around: tuple[float, ...]


class Texts:
    """Cosines of any of a number of texts."""

    def __init__(self, encoder: OnnxEncoder, texts: Sequence[str]) -> None:
        self._row = {text: row for row, text in enumerate(texts)}
        parts = (texts[n : n + 256] for n in range(0, len(texts), 256))
        self._vectors = np.concatenate([encoder.encode(part) for part in parts])

    def likeness(self, text: str, others: Sequence[str]) -> NDArray[np.float32]:
        rows = self._vectors[[self._row[other] for other in others]]
        return rows @ self._vectors[self._row[text]]


def found(encoder: OnnxEncoder, folder: Path, seed: int = 9) -> Iterator[Found]:
    """The candidates of each question, where it is known whether their answer is right.

    Of two clusters from `data.CLOSE` on nobody knows, and they are left out; so are strangers among
    statements, of which many say the same.
    """
    clusters = _clusters(folder)
    texts = Texts(encoder, sorted({t for c in clusters.values() for t in (*c.same, *c.beside)}))
    names = sorted(clusters)
    dice = random.Random(seed)
    for _ in range(ROUNDS):
        for name in names:
            own = clusters[name]
            if not _is_asked(name, own, dice):
                continue
            asked, known = dice.sample(own.same, 2)
            store = _store(clusters, name, asked, known, dice)
            yield from _candidates(texts, clusters, asked, name, store)


def _clusters(folder: Path) -> dict[str, Cluster]:
    clusters: dict[str, Cluster] = {}
    for pair in data.own_clusters():
        cluster = clusters.setdefault(pair.group, Cluster(pair.source))
        kept = cluster.same if pair.same else cluster.beside
        texts = (pair.a, pair.b) if pair.same else (pair.b,)
        kept += [text for text in texts if text not in kept]
    for number, row in enumerate(data.rows(folder / "pairs_en_gptcache_mock999.jsonl.gz")):
        if number % 2 == 0:
            clusters[f"statements:{number}"] = Cluster("statements", [row["a"], row["b"]])
    return clusters


def _is_asked(name: str, own: Cluster, dice: random.Random) -> bool:
    if own.source == "statements":
        return dice.random() < STATEMENTS
    held_out = data.held_out(data.Pair("", "", False, "", name, own.source))
    return held_out and len(own.same) > 1


def _store(
    clusters: dict[str, Cluster], name: str, asked: str, known: str, dice: random.Random
) -> dict[str, str]:
    """Stored questions and the clusters they are of; of its own, those beside it have no name."""
    store: dict[str, str] = {}
    size = int(math.exp(dice.uniform(0, math.log(LARGEST))))
    for other in dice.sample(sorted(clusters), size):
        if other == name:
            continue
        cluster = clusters[other]
        store.setdefault(dice.choice(cluster.same or cluster.beside), other)
        if cluster.beside and dice.random() < BESIDE:
            store.setdefault(dice.choice(cluster.beside), other)
    own = clusters[name]
    if dice.random() < KNOWN:
        store[known] = name
        store |= {t: name for t in own.same if t not in (asked, known) and dice.random() < MORE}
    return store | {text: "" for text in own.beside if dice.random() < BESIDE}


def _candidates(
    texts: Texts, clusters: dict[str, Cluster], asked: str, name: str, store: dict[str, str]
) -> Iterator[Found]:
    stored = list(store)
    if not stored:
        return
    likeness = texts.likeness(asked, stored)
    nearest = [int(place) for place in np.argsort(-likeness)[: CROWD + 1]]
    for place in nearest[:CANDIDATES]:
        similarity, cluster = float(likeness[place]), store[stored[place]]
        stranger = cluster not in (name, "")
        if stranger and (similarity > data.CLOSE or clusters[name].source == "statements"):
            continue
        if similarity < FLOOR:
            continue
        pair = data.Pair(asked, stored[place], cluster == name, "", name, "crowd")
        others = [float(likeness[other]) for other in nearest if other != place]
        yield Found(pair, tuple(others[:CROWD]))
