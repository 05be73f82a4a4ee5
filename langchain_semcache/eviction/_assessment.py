"""How sure an answer is, as it is kept with its entry."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Self

from langchain_semcache.eviction._confidence import (
    HIGHEST_SCORE,
    Score,
    Unscored,
)
from langchain_semcache.eviction._entropy import (
    LARGEST_VOCABULARY,
    Bounds,
    entropy_bounds,
    mean,
    top_difference,
)
from langchain_semcache.eviction._logprobs import read_tokens
from langchain_semcache.records import JSON

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Signals:
    """What the tokens of an answer tell: means in nats; None where they do not."""

    entropy: Bounds | None = None
    difference: Bounds | None = None


def signals(told: Sequence[JSON], vocabulary: int = LARGEST_VOCABULARY) -> Signals:
    """What is told of the tokens of each choice; of several choices the least sure one counts."""
    choices = [tokens for one in told if (tokens := read_tokens(one))]
    if not choices:
        return Signals()
    entropies = [mean([entropy_bounds(one, vocabulary) for one in tokens]) for tokens in choices]
    differences = [found for tokens in choices if (found := top_difference(tokens)) is not None]
    return Signals(
        entropy=Bounds(max(e.lower for e in entropies), max(e.upper for e in entropies)),
        difference=Bounds(min(d.lower for d in differences), min(d.upper for d in differences))
        if differences
        else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What is known of an answer's sureness, and what that did to its lifetime.

    Attributes:
        signals: What its tokens tell.
        score: What its model said of it.
        factor: What its lifetime is multiplied by, in [0, 1]; at 0 it is not kept.
    """

    signals: Signals = Signals()
    score: Score = Unscored.NOT_ASKED
    factor: float = 1.0

    @property
    def trace(self) -> tuple[str, float]:
        """The factor with its name, for whoever tells how a lifetime came about."""
        return ("confidence", self.factor)

    @property
    def kept(self) -> bool:
        """Whether the answer may stay at all."""
        return self.factor > 0

    def in_words(self) -> str:
        """One line of what is known, without any text of the answer."""
        parts = []
        if (entropy := self.signals.entropy) is not None:
            parts.append(f"mean entropy {_span(entropy)} nats")
        if (difference := self.signals.difference) is not None:
            parts.append(f"top-k difference {_span(difference)} nats")
        if isinstance(self.score, int):
            parts.append(f"scored {self.score} of {HIGHEST_SCORE}")
        elif self.score is Unscored.UNREADABLE:
            parts.append("no score in the reply")
        if self.kept and self.factor != 1:
            parts.append(f"lifetime x {self.factor:g}")
        return ", ".join(parts)

    def to_json(self) -> str:
        """As it is stored; the empty text when nothing is known."""
        told = self.as_json()
        return "" if told is None else json.dumps(told, separators=(",", ":"))

    def as_json(self) -> dict[str, JSON] | None:
        """The same as data; None when nothing is known."""
        if self == type(self)():
            return None
        told: dict[str, JSON] = {"v": _VERSION, "factor": self.factor}
        if self.signals.entropy is not None:
            told["entropy"] = [*astuple(self.signals.entropy)]
        if self.signals.difference is not None:
            told["difference"] = [*astuple(self.signals.difference)]
        if self.score is not Unscored.NOT_ASKED:
            told["score"] = self.score if isinstance(self.score, int) else None
        return told

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What is stored; nothing known where that is empty, of another version, or damaged."""
        try:
            told = json.loads(text) if text else None
            if not isinstance(told, dict) or told.get("v") != _VERSION:
                return cls()
            return cls(
                signals=Signals(_bounds(told.get("entropy")), _bounds(told.get("difference"))),
                score=_score(told["score"]) if "score" in told else Unscored.NOT_ASKED,
                factor=_factor(told["factor"]),
            )
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return cls()


def _span(bounds: Bounds) -> str:
    lower, upper = f"{bounds.lower:.2f}", f"{bounds.upper:.2f}"
    return lower if lower == upper else f"{lower} to {upper}"


def _bounds(told: JSON) -> Bounds | None:
    if told is None:
        return None
    if not isinstance(told, list) or len(told) != 2:
        raise ValueError("no pair of bounds")
    lower, upper = _number(told[0]), _number(told[1])
    if not lower <= upper:
        raise ValueError("bounds the wrong way round")
    return Bounds(lower, upper)


def _score(told: JSON) -> Score:
    if told is None:
        return Unscored.UNREADABLE
    if isinstance(told, bool) or not isinstance(told, int) or not 0 <= told <= HIGHEST_SCORE:
        raise ValueError("no score")
    return told


def _factor(told: JSON) -> float:
    factor = _number(told)
    if not 0 < factor <= 1:
        raise ValueError("no factor")
    return factor


def _number(told: JSON) -> float:
    if isinstance(told, bool) or not isinstance(told, int | float) or not math.isfinite(told):
        raise ValueError("no number")
    return float(told)
