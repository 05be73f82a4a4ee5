"""Part of `quality.py`: a full cache is asked what it knows in other words, and new questions."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from _quality_data import SETS, Pool, chinese_pool, english_pool, rows_of
from _quality_setup import Row, Setup, share

from langchain_semcache import Request, Response, Semcache
from langchain_semcache.clock import ManualClock

STORED = 600
EACH = 8
"""Questions of an intent."""

OLD_BAR = 0.9
MISS = -1
HEAD = (
    "questions",
    "stored",
    "default right",
    "default wrong",
    "default new",
    "cosine .90 right",
    "cosine .90 wrong",
    "cosine .90 new",
)


@dataclass(frozen=True, slots=True)
class Population:
    """Questions of one kind.

    Attributes:
        reworded: Each stored question in other words, in the order of `stored`; some sets have
            none.
        new: Questions that nothing stored answers.
    """

    name: str
    stored: Sequence[str]
    reworded: Sequence[str]
    new: Sequence[str]


def run(setup: Setup) -> tuple[list[str], list[Row], list[str]]:
    """Columns, rows and remarks."""
    rows = [_row(setup, population) for population in _populations(setup)]
    notes = [
        "Right and wrong are of rewordings; of new questions every answer is wrong.",
        "Of QQP's and LCQMC's new questions some are not new, for nobody labelled them.",
        "CLINC150: questions of other intents, which share neither an answer nor a wording.",
    ]
    return list(HEAD), rows, notes


def _row(setup: Setup, population: Population) -> Row:
    print(f"  {population.name}", file=sys.stderr, flush=True)
    row: Row = {"questions": population.name, "stored": len(population.stored)}
    for name, served in (("default", _asked), ("cosine .90", _nearest)):
        reworded, new = served(setup, population)
        right = sum(one == place for place, one in enumerate(reworded))
        wrong = sum(one != MISS for one in reworded) - right
        row[f"{name} right"] = share(right, len(reworded))
        row[f"{name} wrong"] = share(wrong, len(reworded))
        row[f"{name} new"] = share(sum(one != MISS for one in new), len(new))
    return row


def _asked(setup: Setup, population: Population) -> tuple[list[int], list[int]]:
    """Which stored question is served for each, by the real cache as it ships."""
    with Semcache.open(
        setup.config, encoder=setup.encoder, verifier=setup.verifier, clock=ManualClock()
    ) as cache:
        known = {}
        for place, text in enumerate(population.stored):
            result = cache.store(_request(text), Response.from_text(f"This is answer {place}."))
            known[result.entry_id] = place

        def served(text: str) -> int:
            decision = cache.lookup(_request(text))
            return known[decision.entry_id] if decision.hit else MISS

        return [served(t) for t in population.reworded], [served(t) for t in population.new]


def _nearest(setup: Setup, population: Population) -> tuple[list[int], list[int]]:
    """The same for a fixed bar on the cosine."""
    stored = setup.encoder.encode(population.stored)

    def served(texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        cosine = setup.encoder.encode(texts) @ stored.T
        best = cosine.argmax(axis=1)
        return [int(b) if row[b] >= OLD_BAR else MISS for b, row in zip(best, cosine, strict=True)]

    return served(population.reworded), served(population.new)


def _request(text: str) -> Request:
    return Request(messages=text, model="bench")


def _populations(setup: Setup) -> Iterator[Population]:
    for language in ("en", "zh"):
        lines = (SETS / f"paraphrases_{language}.tsv").read_text("utf-8").splitlines()
        pairs = [line.split("\t")[:2] for line in lines if line.strip()]
        known, unknown = pairs[0::2], pairs[1::2]
        yield Population(
            f"sets/paraphrases_{language}",
            [a for a, _ in known],
            [b for _, b in known],
            [a for a, _ in unknown],
        )
    count = setup.at_most(STORED)
    for make in (english_pool, chinese_pool):
        yield _of_pool(make(setup.data, 1), count)
    intents: dict[str, list[str]] = {}
    for row in rows_of(setup.data / "intents_en_clinc150.jsonl.gz"):
        if row["intent"] != "oos":
            intents.setdefault(row["intent"], []).append(row["text"])
    drawn = [
        random.Random(number).sample(sorted(set(texts)), EACH)
        for number, (_, texts) in enumerate(sorted(intents.items()))
    ]
    known, unknown = (np.concatenate(drawn[first::2]).tolist()[:count] for first in (0, 1))
    yield Population("CLINC150, other intents", known, [], unknown)


def _of_pool(pool: Pool, count: int) -> Population:
    """Clusters of which one question is stored and another asked, and clusters that are new."""
    clusters: dict[str, dict[str, None]] = {}
    for group in pool.sources[0]:
        for text in group:
            clusters.setdefault(pool.root(text), {})[text] = None
    dice = random.Random(2)
    order = dice.sample(list(clusters.values()), len(clusters))
    known = [list(texts) for texts in order if len(texts) > 1][:count]
    taken = {texts[0] for texts in known}
    unknown = [next(iter(texts)) for texts in order if next(iter(texts)) not in taken]
    return Population(pool.name, [t[0] for t in known], [t[1] for t in known], unknown[:count])
