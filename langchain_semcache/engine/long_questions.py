"""Questions longer than the encoder's window: compared window by window, judged by what differs.

One vector of the whole only nominates. What is served has nothing in it that was not looked at:
the windows are paired up, and where two texts differ the differing spans are shown to the guards
and to the verifier, each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from langchain_semcache.engine import asking
from langchain_semcache.engine.commands import Failure, Flow
from langchain_semcache.guards import Refusal
from langchain_semcache.ports import Vector, Vectors
from langchain_semcache.records import Candidate, Query, Reason, Verdict
from langchain_semcache.threshold.confidence import Calibration
from langchain_semcache.threshold.features import Observed
from langchain_semcache.windows import compare, lengths, pooled

Split: TypeAlias = Callable[[str], tuple[str, ...]]
Guard: TypeAlias = Callable[[str, str], Refusal | None]

UNTOUCHED = 0.999
"""Confidence where two texts differ in white space only."""


def embed_question(query: Query) -> Flow[Vector | Failure]:
    """The vector that a question is searched by; of a long one the mean of its windows."""
    if not query.windows:
        return (yield from asking.embed(query.compared))
    vectors = yield from asking.embed_all(query.windows)
    return vectors if isinstance(vectors, Failure) else pooled(vectors, lengths(query.windows))


def judge(
    query: Query,
    verdicts: Sequence[Verdict],
    *,
    split: Split,
    guard: Guard,
    calibration: Calibration | None,
    verifies: bool,
) -> Flow[Sequence[Verdict] | Failure]:
    """The verdicts on candidates that are near, after their windows were compared."""
    ours = yield from asking.embed_all(query.windows)
    if isinstance(ours, Failure):
        return ours
    judged: list[Verdict] = []
    for verdict in verdicts:
        if verdict.reason is not Reason.SEMANTIC:
            judged.append(verdict)
            continue
        outcome = yield from _compared(query, ours, verdict.candidate, split)
        if isinstance(outcome, Failure):
            return outcome
        if isinstance(outcome, Verdict):
            judged.append(outcome)
        elif calibration is None or not verifies:
            detail = f"{len(outcome)} passages differ, and there is no verifier to judge them"
            judged.append(Verdict(verdict.candidate, Reason.LONG_TEXT_DIFFERS, detail))
        else:
            judged.append((yield from _spans(verdict.candidate, outcome, guard, calibration)))
    return judged


def _compared(
    query: Query, ours: Vectors, candidate: Candidate, split: Split
) -> Flow[Verdict | Sequence[tuple[str, str]] | Failure]:
    """A verdict where comparing was enough; otherwise the spans that differ."""
    windows = split(candidate.entry.question)
    if not windows:
        return Verdict(candidate, Reason.LONG_TEXT_DIFFERS, "the stored question is no long one")
    row = dict(zip(query.windows, ours, strict=True))
    unknown = tuple([text for text in windows if text not in row])
    if unknown:
        found = yield from asking.embed_all(unknown)
        if isinstance(found, Failure):
            return found
        row |= dict(zip(unknown, found, strict=True))
    theirs = np.stack([row[text] for text in windows])
    compared = compare(query.windows, windows, ours @ theirs.T)
    if compared.refused:
        return Verdict(candidate, Reason.LONG_TEXT_DIFFERS, compared.refused)
    if not compared.differing:
        return Verdict(candidate, Reason.SEMANTIC, confidence=UNTOUCHED)
    return compared.differing


def _spans(
    candidate: Candidate,
    spans: Sequence[tuple[str, str]],
    guard: Guard,
    calibration: Calibration,
) -> Flow[Verdict]:
    """Every span has to be judged the same; the least sure one counts."""
    sure = 1.0
    for ours, theirs in spans:
        refusal = guard(ours, theirs)
        if refusal is not None:
            return Verdict(candidate, refusal.reason, refusal.detail)
        vectors = yield from asking.embed_all((ours, theirs))
        if isinstance(vectors, Failure):
            return Verdict(candidate, vectors.reason, str(vectors.error))
        opinions = yield from asking.verify(ours, (theirs,))
        if isinstance(opinions, Failure):
            return Verdict(candidate, opinions.reason, str(opinions.error))
        similarity = min(1.0, max(0.0, float(vectors[0] @ vectors[1])))
        observed = Observed(ours, theirs, similarity, opinions[0])
        sure = min(sure, calibration.probability(observed))
    if sure >= calibration.bar:
        return Verdict(candidate, Reason.SEMANTIC, confidence=sure)
    detail = f"confidence {sure:.3f} < {calibration.bar:g} in what differs"
    return Verdict(candidate, Reason.LOW_CONFIDENCE, detail, confidence=sure)
