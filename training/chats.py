"""What it says for an answer that two follow-ups mean the same thing, from open chats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from langchain_semcache.context import (
    Agreement,
    Context,
    Turn,
    asked_part,
    relate,
    summarise,
)
from langchain_semcache.encoders.onnx import OnnxEncoder
from langchain_semcache.lab.pairs import Measured, Pair, measure
from langchain_semcache.threshold.confidence import Calibration
from langchain_semcache.threshold.features import logit
from langchain_semcache.verifiers.pairs import PairVerifier
from training import data

FILE = "open/chatpairs_zh_crosswoz.jsonl.gz"
STEPS = 50
LENIENCY = 0.35
"""Added: the bar was chosen for pairs that are harder than follow-ups. Looked at on the even rows
of KdConv."""


def weight_of_the_same(
    folder: Path, calibration: Calibration, encoder: OnnxEncoder, verifier: PairVerifier | None
) -> float:
    """The weight of "same_attribute", beside those that the calibration has: logistic.

    Fitted on the pairs of chats that ask for the same of the same thing.
    """
    found = [
        (judged, bool(row["same"]))
        for row in data.rows(folder / FILE)
        if (judged := _judged(list(row["a"]), list(row["b"]), encoder, verifier)) is not None
        and judged.stands(calibration)
    ]
    plain = [replace(one.observed, same_attribute=False) for one, _ in found]
    known = np.array([logit(calibration.probability(one)) for one in plain])
    labels = np.array([same for _, same in found], dtype=np.float64)
    weight = 0.0
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-(known + weight)))
        weight -= float((chances - labels).sum() / (chances * (1 - chances)).sum())
    print(f"{len(found)} pairs of chats, {labels.mean():.0%} of them the same: {weight:.3f}")
    return weight + LENIENCY


def _judged(
    one: list[str], other: list[str], encoder: OnnxEncoder, verifier: PairVerifier | None
) -> Measured | None:
    """What is measured of two chats' last questions; None unless they ask for the same."""
    pair = Pair(_asks(one), _asks(other), False)
    related = relate(pair.question, _context(one), pair.stored, _context(other))
    if related is not Agreement.ATTRIBUTE:
        return None
    (measured,) = measure([pair], encoder, verifier)
    return replace(measured, observed=replace(measured.observed, same_attribute=True))


def _context(chat: list[str]) -> Context:
    return summarise(_turns(chat), chat[-1])


def _turns(chat: list[str]) -> list[Turn]:
    """The messages before the last, which is the user's."""
    before = list(reversed(chat[:-1]))
    roles = ("assistant", "user")
    return [(roles[place % 2], text) for place, text in enumerate(before)][::-1]


def _asks(chat: list[str]) -> str:
    return asked_part(chat[-1]) if len(chat) > 1 else chat[-1]
