"""Labelled pairs of questions, and what a cache would make of them, each from an empty cache."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.guards import Refusal, check
from langchain_semcache.ports import Encoder, Verifier
from langchain_semcache.threshold.confidence import Calibration
from langchain_semcache.threshold.features import Observed

BATCH = 64
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions; `same` says whether the stored answer to `stored` also answers `question`."""

    question: str
    stored: str
    same: bool
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A pair with everything that a decision could be made of.

    Attributes:
        refusal: What the guards say; None where they let it pass.
        observed: Similarity and the verifier's opinion. The opinion is asked for every pair, also
            where a guard refuses, so that one run serves any number of settings.
    """

    pair: Pair
    observed: Observed
    refusal: Refusal | None

    def stands(self, calibration: Calibration | None) -> bool:
        """Whether no guard refuses it, or this calibration has the last word on that."""
        if self.refusal is None:
            return True
        if calibration is None or self.refusal.final:
            return False
        return calibration.has_last_word(self.pair.question, self.pair.stored)

    @property
    def teaches(self) -> bool:
        """Whether a calibration can be fitted on it: no guard refuses it, or not finally."""
        judged = self.observed.opinion is not None
        return self.refusal is None or (judged and not self.refusal.final)


def measure(
    pairs: Sequence[Pair],
    encoder: Encoder,
    verifier: Verifier | None = None,
    *,
    progress: Progress | None = None,
) -> list[Measured]:
    """Everything a decision needs, of every pair; `progress` is told how many are done."""
    measured: list[Measured] = []
    for first in range(0, len(pairs), BATCH):
        part = pairs[first : first + BATCH]
        texts = list(dict.fromkeys(text for pair in part for text in (pair.question, pair.stored)))
        row = {text: place for place, text in enumerate(texts)}
        vectors = encoder.encode(texts)
        for pair in part:
            cosine = float(vectors[row[pair.question]] @ vectors[row[pair.stored]])
            opinion = verifier.judge(pair.question, [pair.stored])[0] if verifier else None
            similarity = min(1.0, max(0.0, cosine))
            refusal = check(pair.question, pair.stored)
            observed = Observed(pair.question, pair.stored, similarity, opinion)
            measured.append(Measured(pair, observed, refusal))
        if progress is not None:
            progress(len(measured))
    return measured


def interval(hits: int, count: int) -> tuple[float, float]:
    """The 95% Wilson score interval of a share (Wilson 1927)."""
    if not count:
        return 0.0, 1.0
    z, share = 1.959964, hits / count
    spread = z * float(np.sqrt(share * (1 - share) / count + z * z / (4 * count * count)))
    centre, scale = share + z * z / (2 * count), 1 + z * z / count
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def read_pairs(path: str | Path) -> list[Pair]:
    """Pairs from JSON lines, TSV or CSV, gzipped or not.

    JSON lines hold `a` (or `question`), `b` (or `stored`), `same` (or `label`), and may hold
    `kind`. Tables hold question, stored and label in columns of those names, or in this order.
    Labels are 1 and 0, true and false, or yes and no.

    Raises:
        ConfigurationError: The file cannot be read, or a line is no pair; it is named.
    """
    file = Path(path).expanduser()
    names = file.name.removesuffix(".gz")
    try:
        with _opened(file) as lines:
            if names.endswith((".jsonl", ".json")):
                found = list(_json_lines(lines))
            else:
                found = list(_table(lines, "," if names.endswith(".csv") else "\t"))
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise ConfigurationError(f"the pairs in {path} cannot be read: {error}") from error
    except (ValueError, csv.Error, zlib.error) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    if not found:
        raise ConfigurationError(f"{path} holds no pairs")
    return found


def _opened(file: Path) -> TextIO:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8", newline="")
    return file.open(encoding="utf-8", newline="")


def _json_lines(lines: TextIO) -> Iterator[Pair]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _pair(json.loads(line), number)
        except (json.JSONDecodeError, TypeError) as error:
            raise ValueError(f"line {number} is no JSON object of a pair ({error})") from error


def _table(lines: TextIO, delimiter: str) -> Iterator[Pair]:
    header: list[str] | None = None
    for number, cells in enumerate(csv.reader(lines, delimiter=delimiter), 1):
        if not any(cells):
            continue
        if header is None:
            header = [cell.strip().lower() for cell in cells]
            if _named(dict.fromkeys(header, ""), _QUESTION) is not None:
                continue
            header = ["question", "stored", "label", "kind"]
        yield _pair(dict(zip(header, cells, strict=False)), number)


_QUESTION = ("a", "question", "question1")
_STORED = ("b", "stored", "question2")
_LABEL = ("same", "label", "is_duplicate")
_YES, _NO = ("1", "true", "yes", "same"), ("0", "false", "no", "different")


def _pair(row: dict[str, object], number: int) -> Pair:
    question, stored, label = (_named(row, names) for names in (_QUESTION, _STORED, _LABEL))
    if not isinstance(question, str) or not isinstance(stored, str) or label is None:
        raise ValueError(f"line {number} lacks a question, a stored question or a label")
    text = str(label).strip().lower().removesuffix(".0")
    if text not in _YES + _NO:
        raise ValueError(f"line {number} has the label {label!r}, expected 1 or 0")
    return Pair(question, stored, text in _YES, str(row.get("kind") or ""))


def _named(row: dict[str, object] | dict[str, str], names: Sequence[str]) -> object:
    return next((row[name] for name in names if name in row), None)
