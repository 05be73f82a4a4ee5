"""A calibration from labelled pairs: fitted on one half, and tried on the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.lab.curve import Point, by_confidence
from langchain_semcache.lab.halves import halves
from langchain_semcache.lab.pairs import Measured
from langchain_semcache.threshold.confidence import Calibration, fit, shipped

MORE_LIKELY_THAN_NOT = 0.5
"""No bar lies below: an answer that is more probably wrong than right is served by nobody."""

LEAST = 0.8
"""Least confidence that an error budget may buy, where the bar itself does not lie lower."""

FLOOR_SHARE = 0.005
"""Share of the same pairs that may lie below the floor."""

FEWEST_TO_OUTWEIGH = 20
"""Pairs of each label that guards refuse, but not finally; with fewer they have the last word."""

UNTAUGHT = ("same_attribute", "lead", "alone")
"""Features that pairs cannot teach: they have no chat, and no other questions around them."""

BINS = 10
FEW = 200
ONE_SIDED = 0.1


@dataclass(frozen=True, slots=True)
class Bin:
    """Pairs whose predicted confidence lies in [low, high), the last one inclusive.

    Attributes:
        predicted: Mean confidence.
        observed: Share of them whose answer was right.
    """

    low: float
    high: float
    count: int
    predicted: float
    observed: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration and what it did.

    Attributes:
        fitting, held_out: What passes in the half it was fitted on, and in the half it never saw.
        feedback: The same for the held-out pairs that came as feedback; None without any.
        bins: Reliability on the held-out pairs that guards and floor let pass.
        calibration_error: Mean distance of predicted and observed over the bins, weighed by pairs.
        left_out: Pairs in neither half, because they link the two.
        warnings: What makes these figures weak, in words.
    """

    calibration: Calibration
    fitting: Point
    held_out: Point
    feedback: Point | None
    bins: tuple[Bin, ...]
    calibration_error: float
    left_out: int
    warnings: tuple[str, ...]


def calibrate(
    measured: Sequence[Measured],
    *,
    encoder: str,
    verifier: str | None,
    max_false_pass: float,
    fitted_on: str = "",
    feedback: int = 0,
) -> Fitted:
    """Fit on one half of the pairs, choose floor, bar and least there, and try all on the other.

    The weights are fitted on what is weighed in a cache: the pairs that the guards let pass, and,
    with a verifier and enough of them, those that they do not refuse finally. Shares are over all
    pairs of a label, those included that guards refuse.

    Args:
        measured: Pairs with what was measured of them by the two models.
        encoder, verifier: Identities of the two models.
        max_false_pass: Share of the different pairs that may pass, in (0, 1).
        fitted_on: What the pairs are, for the reader of the file.
        feedback: How many of the pairs, at the end, came as feedback.

    Raises:
        ConfigurationError: There are too few pairs to fit anything, or all have one label.
    """
    if not 0 < max_false_pass < 1:
        raise ConfigurationError(f"max_false_pass is {max_false_pass!r}, expected between 0 and 1")
    one, other = halves([found.pair for found in measured])
    fitting = [measured[place] for place in one]
    held_out = [measured[place] for place in other]
    made = _fit(fitting, encoder, verifier, max_false_pass, fitted_on)
    served = [measured[place] for place in other if place >= len(measured) - feedback]
    bins = reliability(held_out, made)
    chosen_on, tried_on = passing(fitting, made), passing(held_out, made)
    return Fitted(
        calibration=made,
        fitting=chosen_on,
        held_out=tried_on,
        feedback=passing(served, made) if served else None,
        bins=bins,
        calibration_error=calibration_error(bins),
        left_out=len(measured) - len(fitting) - len(held_out),
        warnings=(
            *_weaknesses(measured, held_out),
            *_useless(chosen_on),
            *_broken_wish(tried_on, max_false_pass),
        ),
    )


def _fit(
    pairs: Sequence[Measured],
    encoder: str,
    verifier: str | None,
    max_false_pass: float,
    fitted_on: str,
) -> Calibration:
    not_final = [one.pair.same for one in pairs if one.refusal is not None and one.teaches]
    outweighs = min(sum(not_final), len(not_final) - sum(not_final)) >= FEWEST_TO_OUTWEIGH
    open_to = [one for one in pairs if one.refusal is None or (outweighs and one.teaches)]
    if len({one.pair.same for one in open_to}) < 2:
        raise ConfigurationError(
            f"a calibration needs same and different pairs that the guards let pass: of "
            f"{len(pairs)} to fit on they let pass {sum(o.pair.same for o in open_to)} same and "
            f"{sum(not o.pair.same for o in open_to)} different ones"
        )
    weights = fit([one.observed for one in open_to], [one.pair.same for one in open_to])
    weights = _with_the_untaught(weights, shipped(encoder, verifier))
    draft = Calibration(
        encoder=encoder,
        verifier=verifier,
        floor=_floor([one.observed.similarity for one in pairs if one.pair.same]),
        bar=0.0,
        least=0.0,
        # As they will be read back from the file: the bar must fit these and no others.
        weights={name: round(weight, 5) for name, weight in weights.items()},
        outweighs=outweighs,
        fitted_on=fitted_on,
    )
    different = [one for one in pairs if not one.pair.same]
    bar = _bar([_confidence(one, draft) for one in different], max_false_pass)
    return replace(draft, bar=bar, least=min(bar, LEAST))


def _with_the_untaught(weights: dict[str, float], known: Calibration | None) -> dict[str, float]:
    """The weights with those that pairs cannot teach as they ship for these models.

    Each of the pairs is alone, and so what that weighs is in the bias until it is taken out.
    """
    if known is None:
        return weights
    untaught = {name: known.weights.get(name, 0.0) for name in UNTAUGHT}
    return {**weights, **untaught, "bias": weights["bias"] - untaught["alone"]}


def _floor(similarities: Sequence[float]) -> float:
    """Rounded down, so that no more same pairs lie below than was meant."""
    lowest = float(np.quantile(similarities, FLOOR_SHARE, method="lower"))
    return math.floor(max(0.0, lowest) * 1000) / 1000


def _bar(different: Sequence[float], max_false_pass: float) -> float:
    """The least bar that no more than the wished share of these reaches."""
    allowed = math.floor(max_false_pass * len(different))
    first_too_many = sorted(different, reverse=True)[allowed]
    bar = math.floor(first_too_many * 10_000 + 1) / 10_000
    return min(1.0, max(MORE_LIKELY_THAN_NOT, bar))


def _confidence(one: Measured, calibration: Calibration) -> float:
    """As a cache would find it; -1 for what never comes so far."""
    return by_confidence(calibration)(one) if one.stands(calibration) else -1.0


def passing(pairs: Sequence[Measured], calibration: Calibration) -> Point:
    """What a cache with this calibration would serve of these pairs."""
    passed = [_confidence(one, calibration) >= calibration.bar for one in pairs]
    same = [one.pair.same for one in pairs]
    return Point(
        threshold=calibration.bar,
        same=sum(same),
        different=len(same) - sum(same),
        passed_same=sum(p and s for p, s in zip(passed, same, strict=True)),
        passed_different=sum(p and not s for p, s in zip(passed, same, strict=True)),
    )


def reliability(pairs: Sequence[Measured], calibration: Calibration) -> tuple[Bin, ...]:
    """Predicted against observed, in ten bins of equal width; empty ones are left out."""
    groups: dict[int, list[tuple[float, bool]]] = {}
    for one in pairs:
        confidence = _confidence(one, calibration)
        if confidence >= 0:
            place = min(BINS - 1, int(confidence * BINS))
            groups.setdefault(place, []).append((confidence, one.pair.same))
    return tuple(
        Bin(
            low=place / BINS,
            high=(place + 1) / BINS,
            count=len(group),
            predicted=sum(confidence for confidence, _ in group) / len(group),
            observed=sum(same for _, same in group) / len(group),
        )
        for place, group in sorted(groups.items())
    )


def calibration_error(bins: Sequence[Bin]) -> float:
    """Expected calibration error: 0 where each confidence comes true as often as it says."""
    count = sum(one.count for one in bins)
    return sum(one.count * abs(one.predicted - one.observed) for one in bins) / max(1, count)


def _weaknesses(measured: Sequence[Measured], held_out: Sequence[Measured]) -> list[str]:
    found = []
    same = sum(one.pair.same for one in measured)
    if len(measured) < FEW:
        found.append(
            f"only {len(measured)} pairs: from {FEW} on the figures begin to mean something"
        )
    rarer = min(same, len(measured) - same)
    if rarer < ONE_SIDED * len(measured):
        label = "same" if same == rarer else "different"
        found.append(
            f"one-sided: only {rarer} of {len(measured)} pairs are {label}, "
            "so confidence will be wrong where traffic is mixed otherwise"
        )
    labels = {one.pair.same for one in held_out}
    if len(labels) < 2:
        found.append("the half to try it on lacks one label: the figures below say little")
    return found


def _useless(fitting: Point) -> list[str]:
    if fitting.passed_same:
        return []
    return ["no pair reaches the bar: with this wish the cache would serve exact matches only"]


def _broken_wish(held_out: Point, max_false_pass: float) -> list[str]:
    if held_out.false_pass_interval[0] <= max_false_pass:
        return []
    return ["more passes wrongly than wished, and not by chance: add pairs, or wish for less"]
