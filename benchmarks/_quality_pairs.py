"""Part 1 of `quality.py`: single pairs, each from an empty cache."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import _quality_gptcache as gptcache
import numpy as np
from _quality_data import LARGE, PairFile, pair_files
from _quality_setup import Mask, Row, Setup, percent, share
from numpy.typing import NDArray

from langchain_semcache.lab.curve import by_confidence
from langchain_semcache.lab.pairs import Measured, measure
from langchain_semcache.threshold.confidence import Calibration

TRAPS = 0.05
"""Share of the traps that a fixed bar may serve, where it is tuned."""

OLD_BAR = 0.9
HIGH = 0.9
BARS = np.arange(0.5, 1.0005, 0.001)

ONE, OWN = "cosine, one bar", "cosine, own bar"
PLAIN, GUARDED, EFFECT = "cosine .90", "cosine .90 + guards", "guards cut / lose"
DEFAULT, UNGUARDED = "default", "default, no guards"
METHODS = (ONE, OWN, PLAIN, GUARDED, EFFECT, DEFAULT, UNGUARDED)


@dataclass(frozen=True, slots=True)
class Judged:
    """The reported rows of a file, which of them each method serves, and a remark."""

    name: str
    same: Mask
    kinds: Sequence[str]
    served: Mapping[str, Mask]
    ranked: str = ""


@dataclass(frozen=True, slots=True)
class Tuning:
    """The even rows of a file."""

    similarity: NDArray[np.float64]
    same: Mask


def run(setup: Setup) -> tuple[list[str], list[Row], list[str]]:
    """Columns, rows and remarks."""
    files = [file for file in pair_files(setup.data, setup.at_most(LARGE)) if file.odd]
    tunings = {file.name: _tuning(setup, file) for file in files if file.even}
    bar = tuned(list(tunings.values()))
    judged = [_judged(setup, file, bar, tunings.get(file.name)) for file in files]
    questions = [one for one in judged if "paws" not in one.name]
    judged += [_together("all but PAWS", questions), _together("all", judged)]
    rows = [row for one in judged for row in _rows(one)]
    methods = [*METHODS, *(name for name in judged[0].served if name not in METHODS)]
    notes = [
        f"One bar for all files: {bar:.3f}. Labels of QQP, LCQMC and AFQMC are noisy.",
        *(_effect_told(total) for total in judged[-2:]),
        *(one.ranked for one in judged if one.ranked),
        gptcache.NOT_RUN,
    ]
    return ["file", "kind", "rate", "n", *methods], rows, notes


def _effect_told(total: Judged) -> str:
    cut, lost = _effect(total, ~total.same), _effect(total, total.same)
    return (
        f"Guards at .90, {total.name}: {percent(cut)} % of the false hits cut (60 or more wanted), "
        f"{percent(lost)} points of coverage lost (3 at most)."
    )


def tuned(tunings: Sequence[Tuning]) -> float:
    """The lowest bar at which, on average over files, at most `TRAPS` of the traps are served."""
    traps = [one.similarity[~one.same] for one in tunings if not one.same.all()]
    for bar in BARS:
        if traps and np.mean([(sims >= bar).mean() for sims in traps]) <= TRAPS:
            return float(bar)
    return float("inf")


def _tuning(setup: Setup, file: PairFile) -> Tuning:
    measured = measure(file.even, setup.encoder)
    return Tuning(_similarity(measured), np.array([pair.same for pair in file.even]))


def _similarity(measured: Sequence[Measured]) -> NDArray[np.float64]:
    return np.array([one.observed.similarity for one in measured])


def _judged(setup: Setup, file: PairFile, bar: float, tuning: Tuning | None) -> Judged:
    _tell(file.name, len(file.odd))
    measured = measure(file.odd, setup.encoder, setup.verifier)
    own = tuned([tuning]) if tuning is not None else float("inf")
    similar = _similarity(measured)
    stands = np.array([one.stands(None) for one in measured])
    sure = _sure(setup, measured)
    calibration = setup.calibration()
    weighed = np.array([one.stands(calibration) for one in measured])
    served = {ONE: similar >= bar, PLAIN: similar >= OLD_BAR}
    if own < float("inf"):
        served[OWN] = similar >= own
    served |= {GUARDED: served[PLAIN] & stands, DEFAULT: sure & weighed, UNGUARDED: sure}
    served |= _gptcache(setup, file)
    same = np.array([pair.same for pair in file.odd])
    ranked = ""
    if calibration is not None and 0 < same.sum() < len(same):
        ranked = _ranked(file.name, measured, same, calibration)
    return Judged(file.name, same, [pair.kind for pair in file.odd], served, ranked)


def _ranked(name: str, measured: Sequence[Measured], same: Mask, calibration: Calibration) -> str:
    """How well each score ranks the pairs, and whether high confidence comes true."""
    score = by_confidence(calibration)
    confidence = np.array([score(one) if one.stands(calibration) else 0.0 for one in measured])
    scores = {"similarity": _similarity(measured), "confidence": confidence}
    if all(one.observed.opinion is not None for one in measured):
        scores["opinion"] = np.array([one.observed.opinion for one in measured])
    areas = ", ".join(f"{key} {area(values, same):.3f}" for key, values in scores.items())
    told = f"{name}: area under the curve by {areas}"
    if (high := confidence >= HIGH).any():
        wrong, expected = 1 - same[high].mean(), 1 - confidence[high].mean()
        told += (
            f"; of {int(high.sum())} pairs given {HIGH:g} or more {100 * wrong:.1f} % are labelled "
            f"different, where {100 * expected:.1f} % are expected"
        )
    return f"{told}."


def area(scores: NDArray[np.float64], same: Mask) -> float:
    """Share of the couples of a same and a different pair that a score puts in order; ties half."""
    different = np.sort(scores[~same])
    below = np.searchsorted(different, scores[same], side="left")
    up_to = np.searchsorted(different, scores[same], side="right")
    return float((below + up_to).mean() / (2 * len(different)))


def _sure(setup: Setup, measured: Sequence[Measured]) -> Mask:
    """Where similarity and confidence suffice, as the cache sets them by default."""
    calibration, floor = setup.calibration(), setup.floor()
    return np.array(
        [
            one.observed.similarity >= floor
            and (calibration is None or calibration.probability(one.observed) >= calibration.bar)
            for one in measured
        ]
    )


def _gptcache(setup: Setup, file: PairFile) -> dict[str, Mask]:
    ours = setup.encoder.encode([pair.question for pair in file.odd])
    theirs = setup.encoder.encode([pair.stored for pair in file.odd])
    pairs = [(pair.question, pair.stored) for pair in file.odd]
    found = gptcache.verdicts(setup.gptcache, pairs, ours, theirs)
    return {name: np.array(mask) for name, mask in found.items()}


def _together(name: str, judged: Sequence[Judged]) -> Judged:
    names = [key for key in judged[0].served if all(key in one.served for one in judged)]
    return Judged(
        f"{name}, pooled",
        np.concatenate([one.same for one in judged]),
        [""] * sum(len(one.same) for one in judged),
        {key: np.concatenate([one.served[key] for one in judged]) for key in names},
    )


def _rows(judged: Judged) -> Iterator[Row]:
    """Coverage and trap rate of the file, and of each kind where there are several."""
    kinds = sorted(set(judged.kinds))
    groups = [("all", np.ones(len(judged.same), dtype=bool))]
    if len(kinds) > 1:
        groups += [(kind, np.array([one == kind for one in judged.kinds])) for kind in kinds]
    for kind, group in groups:
        for rate, label in (("coverage", judged.same), ("trap rate", ~judged.same)):
            chosen = group & label
            if chosen.any():
                cells: Row = {name: _served(judged, name, chosen) for name in judged.served}
                name = kind.replace("|", "/")
                head = {"file": judged.name, "kind": name, "rate": rate, "n": int(chosen.sum())}
                yield {**head, **cells, EFFECT: _effect(judged, chosen)}


def _served(judged: Judged, name: str, chosen: Mask) -> Row:
    return share(int(judged.served[name][chosen].sum()), int(chosen.sum()))


def _effect(judged: Judged, chosen: Mask) -> Row:
    """What the guards refuse at the old bar: of the false hits, or of all that should hit."""
    plain, refused = judged.served[PLAIN] & chosen, ~judged.served[GUARDED] & chosen
    of = chosen if judged.same[chosen].all() else plain
    return share(int((plain & refused).sum()), int(of.sum()))


def _tell(name: str, count: int) -> None:
    print(f"  {name}: {count} pairs", file=sys.stderr, flush=True)
