"""What it says for an answer that two follow-ups lean on the same thing, from open chats."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from langchain_semcache.context import (
    Agreement,
    Context,
    Difference,
    Turn,
    asked_part,
    compare,
    summarise,
)
from langchain_semcache.encoders.onnx import OnnxEncoder
from langchain_semcache.lab.pairs import Measured, Pair, measure
from langchain_semcache.threshold.confidence import Calibration
from langchain_semcache.threshold.features import logit
from langchain_semcache.verifiers.pairs import PairVerifier
from training import data

FILE = "open/chatpairs_zh_crosswoz.jsonl.gz"
FALSE_PASS = 0.07
"""Share of its pairs that must not hit and may: half of them ask for another thing of the same
subject, which is harder than what a chat brings."""


def agreement_weight(
    folder: Path, calibration: Calibration, encoder: OnnxEncoder, verifier: PairVerifier | None
) -> float:
    """The weight of "agreed" with which `FALSE_PASS` of the pairs that must not hit are served."""
    needed: list[float] = []
    traps = 0
    for row in data.rows(folder / FILE):
        if row["same"]:
            continue
        traps += 1
        judged = _judged(list(row["a"]), list(row["b"]), encoder, verifier)
        if judged is None or not judged.stands(calibration):
            continue
        if judged.observed.similarity >= calibration.floor:
            needed.append(_needed(judged, calibration))
    place = int(FALSE_PASS * traps)
    return max(0.0, math.floor(100 * sorted(needed)[place]) / 100)


def _needed(judged: Measured, calibration: Calibration) -> float:
    """The weight from which on it is served; none can serve what no chat speaks for."""
    plain = replace(judged.observed, agreed=False)
    missing = logit(calibration.bar) - logit(calibration.probability(plain))
    return missing if judged.observed.agreed or missing <= 0 else math.inf


def _judged(
    one: list[str], other: list[str], encoder: OnnxEncoder, verifier: PairVerifier | None
) -> Measured | None:
    """What is measured of two chats' last questions; None where they lean on different things."""
    ours, theirs = _context(one), _context(other)
    related = compare(ours, theirs)
    if isinstance(related, Difference):
        return None
    pair = Pair(_asks(one), _asks(other), False)
    (measured,) = measure([pair], encoder, verifier)
    agreed = replace(measured.observed, agreed=related is Agreement.SAME)
    return replace(measured, observed=agreed)


def _context(chat: list[str]) -> Context:
    return summarise(_turns(chat), chat[-1])


def _turns(chat: list[str]) -> list[Turn]:
    """The messages before the last, which is the user's."""
    before = list(reversed(chat[:-1]))
    roles = ("assistant", "user")
    return [(roles[place % 2], text) for place, text in enumerate(before)][::-1]


def _asks(chat: list[str]) -> str:
    return asked_part(chat[-1]) if len(chat) > 1 else chat[-1]
