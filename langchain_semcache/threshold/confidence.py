"""How likely a stored answer is right: one probability from all that was measured of two questions.

A logistic regression over a handful of features, kept in a small file per encoder that anyone can
read. It is fitted by `semcache calibrate`, on pairs with labels or on a cache's own feedback.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.threshold.features import (
    NAMES,
    Observed,
    features,
    is_chinese,
    is_untried,
    relative_distance,
)

FORMAT = 1
UNTRIED_SIMILAR = 0.9
"""Least similarity of a hit in languages other than English and Chinese; the guards read on."""

UNTRIED_BAR = 0.9
"""Least confidence of a hit with a verifier whose probabilities nobody has compared with labels."""

_SIMILARITY, _FAR = NAMES.index("similarity"), NAMES.index("far")

_RIDGE = 1.0
_STEPS = 50
_CONVERGED = 1e-8
_SAME = 1e-9
"""A feature that varies less says nothing, like the bias."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Turns what was measured into a probability.

    Attributes:
        encoder, verifier: Identities of the models whose numbers it was fitted on; `verifier` is
            None for a cache without one.
        floor: Least similarity of a candidate worth judging.
        bar: Least confidence of a hit where no error budget moves it.
        least: Least confidence of a hit that an error budget may buy.
        weights: One number a feature, and "bias".
        margin, margin_chinese: How many times as many errors as expected an error budget reckons
            with, 1 or more: what comes in is not what it was fitted on.
        distance, distance_chinese: What share of that expectation goes by distance instead of the
            confidence, from 0 to 1; see `prudent`.
        outweighs: Whether confidence has the last word where the refusal of a guard is not final:
            only if pairs of that kind were fitted on, and with a verifier.
        fitted_on: What it was fitted on, for the reader.
    """

    encoder: str
    verifier: str | None
    floor: float
    bar: float
    least: float
    weights: Mapping[str, float]
    margin: float = 1.0
    margin_chinese: float = 1.0
    distance: float = 0.0
    distance_chinese: float = 0.0
    outweighs: bool = False
    fitted_on: str = ""

    def probability(self, observed: Observed) -> float:
        """The probability in [0, 1] that the answer to the stored question is right.

        In languages that nothing was fitted on, similarity alone has to do: from `UNTRIED_SIMILAR`
        on it is the confidence, and below there is none.
        """
        if is_untried(observed.question) or is_untried(observed.stored):
            near = observed.similarity >= UNTRIED_SIMILAR
            return observed.similarity if near else 0.0
        total = self.weights["bias"]
        for name, value in zip(NAMES, features(observed), strict=True):
            total += self.weights.get(name, 0.0) * value
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

    def has_last_word(self, question: str, stored: str) -> bool:
        """Whether confidence decides where the refusal of a guard is not final.

        In languages that nothing was fitted on it never does.
        """
        return self.outweighs and not is_untried(question) and not is_untried(stored)

    def prudent(
        self, question: str, similarity: float, confidence: float, around: Sequence[float] = ()
    ) -> float:
        """The confidence that an error budget reckons with, in [0, 1].

        Pairs that a calibration learns from are harder than what people ask, and so it counts
        similarity for little. Where that makes it rank everyday questions worse than their
        distance does, the two share the say: the expected errors are `margin` times the geometric
        mean of 1 - confidence and the distance relative to those around it, weighted by the share
        of the distance.
        """
        chinese = is_chinese(question)
        margin = self.margin_chinese if chinese else self.margin
        share = self.distance_chinese if chinese else self.distance
        apart = relative_distance(similarity, around)
        expected = margin * math.pow(1 - confidence, 1 - share) * math.pow(apart, share)
        return max(0.0, 1 - expected)

    def to_json(self) -> str:
        """The file's text, for people to read."""
        record = {
            "format": FORMAT,
            "encoder": self.encoder,
            "verifier": self.verifier,
            "floor": self.floor,
            "bar": self.bar,
            "least": self.least,
            "margin": self.margin,
            "margin_chinese": self.margin_chinese,
            "distance": self.distance,
            "distance_chinese": self.distance_chinese,
            "outweighs": self.outweighs,
            "weights": {name: round(weight, 5) for name, weight in self.weights.items()},
            "fitted_on": self.fitted_on,
        }
        return json.dumps(record, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str, *, name: str) -> Calibration:
        """Read a file's text; `name` is what the file is called in an error.

        Raises:
            ConfigurationError: It is no calibration, or of another format.
        """
        try:
            return _read(json.loads(text))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise ConfigurationError(
                f"{name} is no calibration ({problem}): make one with semcache calibrate"
            ) from error


def _read(record: Mapping[str, object]) -> Calibration:
    if record["format"] != FORMAT:
        raise ValueError(f"format {record['format']!r}, this release reads {FORMAT}")
    weights = record["weights"]
    if not isinstance(weights, dict) or "bias" not in weights:
        raise ValueError("weights without a bias")
    if unknown := weights.keys() - {*NAMES, "bias"}:
        raise ValueError(f"weights of unknown features: {', '.join(sorted(unknown))}")
    numbers = {str(name): float(weight) for name, weight in weights.items()}
    if not all(map(math.isfinite, numbers.values())):
        raise ValueError("a weight is not finite")
    verifier = record["verifier"]
    return Calibration(
        encoder=str(record["encoder"]),
        verifier=None if verifier is None else str(verifier),
        floor=_share(record, "floor"),
        bar=_share(record, "bar"),
        least=_share(record, "least"),
        weights=numbers,
        margin=_margin(record, "margin"),
        margin_chinese=_margin(record, "margin_chinese"),
        distance=_share({"distance": 0.0, **record}, "distance"),
        distance_chinese=_share({"distance_chinese": 0.0, **record}, "distance_chinese"),
        outweighs=_outweighs(record, verifier),
        fitted_on=str(record.get("fitted_on", "")),
    )


def shipped(encoder: str, verifier: str | None) -> Calibration | None:
    """The calibration that came with this release for these models, if there is one."""
    return _shipped().get((encoder, verifier))


@lru_cache(maxsize=1)
def _shipped() -> Mapping[tuple[str, str | None], Calibration]:
    folder = resources.files(__package__) / "calibrations"
    files = [file for file in folder.iterdir() if file.name.endswith(".json")]
    found = [Calibration.from_json(file.read_text("utf-8"), name=file.name) for file in files]
    return {(one.encoder, one.verifier): one for one in found}


def as_it_is(encoder: str, verifier: str, *, floor: float) -> Calibration:
    """For a verifier that nobody calibrated: its probability is the confidence."""
    weights = {"opinion": 1.0, "bias": 0.0}
    return Calibration(
        encoder=encoder,
        verifier=verifier,
        floor=floor,
        bar=UNTRIED_BAR,
        least=UNTRIED_BAR,
        weights=weights,
    )


def load(path: str | Path) -> Calibration:
    """The calibration in a file.

    Raises:
        ConfigurationError: There is no such file, or it is no calibration.
    """
    try:
        text = Path(path).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the calibration {path} cannot be read: {error}") from error
    return Calibration.from_json(text, name=str(path))


def fit(
    observed: Sequence[Observed], right: Sequence[bool], weights: Sequence[float] | None = None
) -> dict[str, float]:
    """The weights of a logistic regression, by Newton's method with a small ridge.

    Below the similarity from which on a pair counts as far, being less alike makes no pair surer.

    Args:
        observed: What was measured of each pair.
        right: Whether the stored answer was right for it.
        weights: How much each pair counts; all the same by default.

    Raises:
        ConfigurationError: All pairs have one label, so there is nothing to tell apart.
    """
    labels = np.asarray(right, dtype=np.float64)
    if len(labels) == 0 or labels.min() == labels.max():
        raise ConfigurationError("a calibration needs pairs of both labels, right and wrong")
    rows = np.array([(*features(one), 1.0) for one in observed], dtype=np.float64)
    counts = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    found = _solved(rows, labels, counts)
    if found[_FAR] > found[_SIMILARITY]:
        rows[:, _SIMILARITY] += rows[:, _FAR]
        rows[:, _FAR] = 0.0
        found = _solved(rows, labels, counts)
        found[_FAR] = found[_SIMILARITY]
    return dict(zip((*NAMES, "bias"), map(float, found), strict=True))


def _solved(
    rows: NDArray[np.float64], labels: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weight of each column, whatever its unit is."""
    spread = rows.std(axis=0)
    scale = np.where(spread > _SAME, spread, 1.0)
    return _newton(rows / scale, labels, counts) / scale


def _newton(
    rows: NDArray[np.float64], labels: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    beta = np.zeros(rows.shape[1])
    ridge = np.full(rows.shape[1], _RIDGE)
    ridge[-1] = 0.0
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(rows @ beta, -30, 30)))
        slope = rows.T @ (counts * (chances - labels)) + ridge * beta
        curve = (rows.T * (counts * chances * (1 - chances))) @ rows + np.diag(ridge + 1e-9)
        step = np.linalg.solve(curve, slope)
        beta -= step
        if float(np.abs(step).max()) < _CONVERGED:
            break
    return beta


def _margin(record: Mapping[str, object], name: str) -> float:
    value = record.get(name, 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value < math.inf:
        raise ValueError(f"{name} is {value!r}, expected a number from 1 up")
    return float(value)


def _outweighs(record: Mapping[str, object], verifier: object) -> bool:
    value = record.get("outweighs", False)
    if not isinstance(value, bool):
        raise ValueError(f"outweighs is {value!r}, expected true or false")
    if value and verifier is None:
        raise ValueError("outweighs is true, which takes a verifier")
    return value


def _share(record: Mapping[str, object], name: str) -> float:
    value = record[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{name} is {value!r}, expected a number from 0 to 1")
    return float(value)
