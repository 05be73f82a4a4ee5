"""How well predictions rank what is used next: pure arithmetic on scores and counts.

Many predictions are equal, and what stands first among equals is chance. So every figure is its
expectation over all orders of what is tied (McSherry and Najork, "Computing Information Retrieval
Performance Measures Efficiently in the Presence of Tied Scores", ECIR 2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.hotness.accesses import Moment
from langchain_semcache.hotness.features import checked_heats, distinct
from langchain_semcache.ports import HotnessModel

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quality:
    """How one model did at one moment, or on average.

    Attributes:
        ndcg: Normalised discounted cumulative gain of the first k; the gain is log2(1 + uses).
        precision: Share of the first k that are used at all.
        coverage: Share of the uses of all ranked entries that the first k have.
        spearman: Rank correlation of all predictions with the uses.
        bias: Predicted over real uses, in sum: 1 is right, more is too many.
    """

    ndcg: float
    precision: float
    coverage: float
    spearman: float
    bias: float


def settled(scores: Floats, values: Floats) -> Floats:
    """The values in the order of falling scores, each that of the mean of its ties."""
    order = np.argsort(-scores, kind="stable")
    _, first, count = np.unique(-scores[order], return_index=True, return_counts=True)
    means: Floats = np.repeat(np.add.reduceat(values[order], first) / count, count)
    return means


def ndcg(scores: Floats, uses: Floats, k: int) -> float:
    """Of the first k (Järvelin and Kekäläinen, 2002), with log2(1 + uses) as gain.

    The logarithm keeps one entry that everybody asks for from being all that counts.
    """
    discounts = 1.0 / np.log2(np.arange(2, min(k, len(scores)) + 2))
    gains = np.log2(1.0 + uses)
    ideal = float(np.sort(gains)[::-1][: len(discounts)] @ discounts)
    return float(settled(scores, gains)[: len(discounts)] @ discounts) / ideal if ideal else 0.0


def spearman(first: Floats, second: Floats) -> float:
    """Rank correlation, ties at their mean rank; 0 where one of both is constant."""
    ranks = [_ranks(values) - (len(values) - 1) / 2 for values in (first, second)]
    spread = float(np.sqrt((ranks[0] @ ranks[0]) * (ranks[1] @ ranks[1])))
    return float(ranks[0] @ ranks[1]) / spread if spread else 0.0


def quality(heats: Floats, uses: Floats, k: int) -> Quality:
    """How these predictions rank and sum up, for at least one use."""
    total = float(uses.sum())
    top = min(k, len(uses))
    return Quality(
        ndcg=ndcg(heats, uses, k),
        precision=float(settled(heats, (uses > 0).astype(np.float64))[:top].mean()),
        coverage=float(settled(heats, uses)[:top].sum()) / total,
        spearman=spearman(heats, uses),
        bias=float(heats.sum()) / total,
    )


def evaluate(
    models: Mapping[str, HotnessModel], at: Iterable[Moment], *, k: int = 100
) -> dict[str, list[Quality]]:
    """Each model at each moment at which any known entry is used again."""
    found: dict[str, list[Quality]] = {name: [] for name in models}
    for moment in at:
        if not moment.uses.any():
            continue
        rows, places = distinct(moment.windows)
        uses = moment.uses.astype(np.float64)
        for name, model in models.items():
            heats = checked_heats(model.predict(rows), len(rows))[places].astype(np.float64)
            found[name].append(quality(heats, uses, k))
    return found


def mean(qualities: Iterable[Quality]) -> Quality:
    """Of moments, each counting the same.

    Raises:
        ValueError: There are none.
    """
    rows = [(one.ndcg, one.precision, one.coverage, one.spearman, one.bias) for one in qualities]
    if not rows:
        raise ValueError("there is no moment to take the mean of")
    return Quality(*np.mean(rows, axis=0).tolist())


def _ranks(values: Floats) -> Floats:
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count) - 1
    ranks: Floats = (last - (count - 1) / 2)[inverse]
    return ranks
