"""What every part of `quality.py` works with: the models, remembered, and how a table looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.assembly import FALLBACK_THRESHOLD, make_calibration
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.lab.pairs import interval
from langchain_semcache.ports import Encoder, SupportsThreshold, Vectors, Verifier
from langchain_semcache.threshold.confidence import Calibration

Mask = NDArray[np.bool_]
Row = dict[str, object]
BATCH = 64
RESAMPLES = 2000


class RememberingEncoder:
    """An encoder that makes each vector once: twenty passes over a stream cost as much as one."""

    may_block = False

    def __init__(self, inner: Encoder) -> None:
        self.inner = inner
        self.dimension, self.identity = inner.dimension, inner.identity
        self.max_tokens, self.count_tokens = inner.max_tokens, inner.count_tokens
        measured = isinstance(inner, SupportsThreshold)
        self.similarity_threshold = inner.similarity_threshold if measured else FALLBACK_THRESHOLD
        self._vectors: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        for first in range(0, len(new), BATCH):
            part = new[first : first + BATCH]
            self._vectors.update(zip(part, self.inner.encode(part), strict=True))
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([self._vectors[text] for text in texts])


class RememberingVerifier:
    """A verifier that judges each pair once."""

    may_block = False

    def __init__(self, inner: Verifier) -> None:
        self.inner, self.identity = inner, inner.identity
        self._opinions: dict[tuple[str, str], float] = {}

    def judge(self, question: str, stored: Sequence[str]) -> Sequence[float]:
        new = [text for text in dict.fromkeys(stored) if (question, text) not in self._opinions]
        if new:
            keys = [(question, text) for text in new]
            self._opinions.update(zip(keys, self.inner.judge(question, new), strict=True))
        return [self._opinions[question, text] for text in stored]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The cache to measure, and how much of it.

    Attributes:
        sample: Rows of each half of a file, requests of a stream, calls of a timing; None is all
            that the part uses by default.
        gptcache: A Python in which GPTCache is installed; None leaves it out.
    """

    data: Path
    encoder: RememberingEncoder
    verifier: RememberingVerifier | None
    config: SemcacheConfig
    sample: int | None = None
    seeds: int = 20
    gptcache: Path | None = None

    def at_most(self, count: int) -> int:
        return count if self.sample is None else min(count, self.sample)

    def calibration(self, *, max_error_rate: float | None = None) -> Calibration | None:
        config = self.config.model_copy(update={"max_error_rate": max_error_rate})
        return make_calibration(config, self.encoder, self.verifier)

    def floor(self) -> float:
        """The least similarity of a candidate, as the cache sets it."""
        calibration = self.calibration()
        if self.config.similarity_threshold is not None:
            return self.config.similarity_threshold
        return calibration.floor if calibration else self.encoder.similarity_threshold


def share(hits: int, count: int) -> Row:
    """A share with its Wilson interval."""
    low, high = interval(hits, count)
    return {"hits": hits, "count": count, "share": hits / max(1, count), "low": low, "high": high}


def mean(values: Sequence[float]) -> Row:
    """A mean over seeds with its bootstrap interval."""
    numbers = np.asarray(values, dtype=np.float64)
    picks = np.random.default_rng(0).integers(len(numbers), size=(RESAMPLES, len(numbers)))
    low, high = np.quantile(numbers[picks].mean(axis=1), [0.025, 0.975])
    count = len(numbers)
    return {"count": count, "share": float(numbers.mean()), "low": float(low), "high": float(high)}


def table(head: Sequence[str], rows: Sequence[Row]) -> str:
    """Rows as a Markdown table; a share is shown in percent with its interval."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(_shown(row.get(name)) for name in head)} |" for row in rows]
    return "\n".join(lines)


def percent(cell: Row) -> str:
    """A share in percent with its interval; a figure with a unit as it is."""
    if not cell["count"]:
        return "-"
    scale, digits = (1, 3) if cell.get("unit") else (100, int(str(cell.get("digits", 1))))
    share, low, high = (scale * float(str(cell[name])) for name in ("share", "low", "high"))
    return f"{share:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _shown(cell: object) -> str:
    if isinstance(cell, dict):
        return percent(cell)
    return "-" if cell is None else f"{cell:g}" if isinstance(cell, float) else str(cell)
