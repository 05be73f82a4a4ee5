"""Part 4 of `quality.py`: what a decision costs, on one core."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from _quality_data import drawn, rows_of
from _quality_setup import Row, Setup

from langchain_semcache import Request, Response, Semcache
from langchain_semcache.backends import make_encoder, make_verifier
from langchain_semcache.guards import check
from langchain_semcache.ports import Encoder, Verifier
from langchain_semcache.threshold.features import Observed, features

CALLS = 1000
CANDIDATES = 3
WARM_UP = 20
RESAMPLES = 500
HEAD = ("what", "calls", "p50, ms", "p99, ms")
FILES = {"en": "pairs_en_qqp_20k", "zh": "pairs_zh_lcqmc_dev"}
Pairs = Sequence[tuple[str, str]]


def run(setup: Setup) -> tuple[list[str], list[Row], list[str]]:
    """Columns, rows and remarks."""
    rows: list[Row] = []
    with one_core():
        encoder = _encoder(setup.config.encoder)
        verifier = make_verifier(setup.config.verifier, encoder)
        for language, name in FILES.items():
            pairs = _distinct(rows_of(setup.data / f"{name}.jsonl.gz")[1::2])
            pairs = drawn(pairs, 3 * (setup.at_most(CALLS) + WARM_UP))
            decided, judged, looked_up = pairs[0::3], pairs[1::3], pairs[2::3]
            rows.append(timed(f"{language}: guards and confidence", _decide(setup), decided))
            if verifier is not None:
                judge = _judge(verifier, [stored for _, stored in judged])
                rows.append(timed(f"{language}: verifier, {CANDIDATES} candidates", judge, judged))
            rows += _lookups(setup, language, looked_up, encoder, verifier)
    notes = ["One thread on one core; every text is new to the process when it is timed."]
    if verifier is None:
        notes.append("No verifier: none is shipped for this encoder, or it is switched off.")
    return list(HEAD), rows, notes


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this thread, and those it starts, on one core, where the system lets us."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def timed(name: str, call: Callable[[str, str], object], pairs: Pairs) -> Row:
    """Percentiles of a call with each pair; the first few are not counted."""
    seconds = []
    for question, stored in pairs:
        start = time.perf_counter()
        call(question, stored)
        seconds.append(time.perf_counter() - start)
    return row(name, seconds[WARM_UP:])


def row(name: str, seconds: Sequence[float]) -> Row:
    """Percentiles with bootstrap intervals over the calls."""
    if not seconds:
        return {"what": name, "calls": 0}
    times = np.asarray(seconds) * 1e3
    picks = np.random.default_rng(0).choice(times, (RESAMPLES, len(times)))
    result: Row = {"what": name, "calls": len(times)}
    for part in (50, 99):
        low, high = np.quantile(np.percentile(picks, part, axis=1), [0.025, 0.975])
        middle = float(np.percentile(times, part))
        interval = {"share": middle, "low": float(low), "high": float(high)}
        result[f"p{part}, ms"] = {"unit": "ms", "count": len(times), **interval}
    return result


def _encoder(name: str) -> Encoder:
    if name != "local":
        return make_encoder(name)
    from langchain_semcache.encoders.onnx import OnnxEncoder

    return OnnxEncoder(threads=1).open()


def _distinct(rows: Sequence[dict[str, str]]) -> list[tuple[str, str]]:
    """Pairs of whose texts none was there before: whatever is remembered must not help."""
    seen: set[str] = set()
    kept = []
    for pair in [(row["a"], row["b"]) for row in rows]:
        if not seen & {*pair} and pair[0] != pair[1]:
            kept.append(pair)
            seen.update(pair)
    return kept


def _decide(setup: Setup) -> Callable[[str, str], object]:
    """All that is computed of one candidate, the verifier's opinion apart."""
    calibration = setup.calibration()

    def call(question: str, stored: str) -> object:
        refusal = check(question, stored)
        observed = Observed(question, stored, 0.9, 0.5)
        return refusal, calibration.probability(observed) if calibration else features(observed)

    return call


def _judge(verifier: Verifier, stored: Sequence[str]) -> Callable[[str, str], object]:
    """Each question with its own candidate and those of the next pairs."""
    place = {text: number for number, text in enumerate(stored)}
    around = [*stored, *stored[:CANDIDATES]]

    def call(question: str, own: str) -> object:
        first = place[own]
        return verifier.judge(question, around[first : first + CANDIDATES])

    return call


def _lookups(
    setup: Setup, language: str, pairs: Pairs, encoder: Encoder, verifier: Verifier | None
) -> list[Row]:
    """Whole lookups: all of them, and those with a candidate near enough to be judged."""
    everything: list[float] = []
    judged: list[float] = []
    with Semcache.open(setup.config, encoder=encoder, verifier=verifier) as cache:
        for _, stored in pairs:
            answer = Response.from_text("This is an answer.")
            cache.store(Request(messages=stored, model="bench"), answer)
        for question, _ in pairs:
            request = Request(messages=question, model="bench")
            start = time.perf_counter()
            decision = cache.lookup(request)
            everything.append(time.perf_counter() - start)
            if any(verdict.confidence is not None for verdict in decision.verdicts):
                judged.append(everything[-1])
    label = f"{language}: lookup among {len(pairs)} entries"
    rows = [row(label, everything[WARM_UP:])]
    return [*rows, row(f"{label}, judged", judged)] if judged else rows
