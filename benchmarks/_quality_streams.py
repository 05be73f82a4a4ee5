"""Part 2 of `quality.py`: streams of questions through the real cache, with an error budget."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _quality_data import Pool, Stream, chinese_pool, english_pool
from _quality_setup import Row, Setup, mean, share
from numpy.typing import NDArray

from langchain_semcache import Request, Response, Semcache
from langchain_semcache.clock import ManualClock

LENGTH = 2000
RATES = (0.005, 0.01, 0.02, 0.03)
POOLS: tuple[Callable[[Path, int], Pool], ...] = (english_pool, chinese_pool)
BARS = (*np.arange(0.7, 0.9, 0.01), *np.arange(0.9, 0.9999, 0.0025), 0.999)
TUNING_SEEDS = range(1000, 1005)
CURVE = 4
"""Points over the length of a stream at which the rates so far are kept for the JSON file."""

MISS, RIGHT, WRONG = 0, 1, 2
Outcomes = NDArray[np.int8]
HEAD = (
    "stream",
    "budget",
    "n",
    "error rate",
    "hit rate",
    "seeds within",
    "fixed bar for the budget",
    "its error rate",
    "its hit rate",
    "its seeds within",
    "fixed bar at our error",
    "its hit rate then",
    "ceiling",
)


@dataclass(frozen=True, slots=True)
class Similar:
    """A stream with the cosine of every two of its questions."""

    stream: Stream
    cosine: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Curve:
    """Error rate of each fixed bar, on streams of other questions."""

    errors: Sequence[float]

    def bar(self, error: float) -> float:
        """The lowest bar from which on the error rate stays at or below `error`."""
        above = [place for place, value in enumerate(self.errors) if value > error]
        first = above[-1] + 1 if above else 0
        return float(BARS[first]) if first < len(BARS) else 1.01


def run(setup: Setup) -> tuple[list[str], list[Row], list[str]]:
    """Columns, rows and remarks."""
    rows: list[Row] = []
    length = setup.at_most(LENGTH)
    for pool in POOLS:
        others = pool(setup.data, 0)
        curve = _curve([_similar(setup, others.stream(s, length)) for s in TUNING_SEEDS])
        mine = pool(setup.data, 1)
        streams = [_similar(setup, mine.stream(seed, length)) for seed in range(setup.seeds)]
        rows += [_row(setup, streams, curve, rate) for rate in RATES]
    notes = [
        f"{setup.seeds} seeds. A wrong hit is one of another cluster.",
        "Labels of QQP and LCQMC are noisy: errors here are against the labels, not the truth.",
        "The ceiling is a cache that hits whenever a question of the cluster was asked before.",
    ]
    return list(HEAD), rows, notes


def replay(setup: Setup, stream: Stream, rate: float) -> Outcomes:
    """One pass through the real cache: look up, and store the model's answer on every miss.

    The answer names the cluster, so that comparisons of answers come out as the labels say.
    """
    outcomes = np.zeros(len(stream.texts), dtype=np.int8)
    with Semcache.open(
        setup.config,
        encoder=setup.encoder,
        verifier=setup.verifier,
        clock=ManualClock(),  # no deadline passes on a busy machine
        max_error_rate=rate,
    ) as cache:
        for place, (text, cluster) in enumerate(zip(stream.texts, stream.clusters, strict=True)):
            answer = Response.from_text(f"This is answer number {cluster}.")
            request = Request(messages=text, model="bench")
            decision = cache.get_or_call(request, lambda answer=answer: answer)  # type: ignore[misc]
            if decision.hit and decision.response is not None:
                outcomes[place] = RIGHT if decision.response.text == answer.text else WRONG
    return outcomes


def fixed(similar: Similar, bar: float) -> Outcomes:
    """One pass with a fixed bar on the cosine of the nearest question."""
    clusters = similar.stream.clusters
    absent = np.full(len(clusters), -np.inf, dtype=np.float32)
    outcomes = np.zeros(len(clusters), dtype=np.int8)
    for place, cluster in enumerate(clusters):
        scores = similar.cosine[place] + absent
        best = int(scores.argmax())
        if scores[best] >= bar:
            outcomes[place] = RIGHT if clusters[best] == cluster else WRONG
        else:
            absent[place] = 0
    return outcomes


def _similar(setup: Setup, stream: Stream) -> Similar:
    vectors = setup.encoder.encode(stream.texts)
    return Similar(stream, vectors @ vectors.T)


def _curve(streams: Sequence[Similar]) -> Curve:
    return Curve([float(np.mean([_error(fixed(one, bar)) for one in streams])) for bar in BARS])


def _row(setup: Setup, streams: Sequence[Similar], curve: Curve, rate: float) -> Row:
    name = streams[0].stream.name
    print(f"  {name}, budget {rate:g}", file=sys.stderr, flush=True)
    ours = [replay(setup, one.stream, rate) for one in streams]
    bar = curve.bar(rate)
    theirs = [fixed(one, bar) for one in streams]
    equal = curve.bar(float(np.mean([_error(one) for one in ours])))
    ceilings = [1 - len(set(one.stream.clusters)) / len(one.stream.texts) for one in streams]
    return {
        "stream": name,
        "budget": f"{rate:.1%}",
        "n": len(streams[0].stream.texts),
        "error rate": {**mean([_error(one) for one in ours]), "digits": 2},
        "hit rate": mean([_hits(one) for one in ours]),
        "seeds within": _within(ours, rate),
        "fixed bar for the budget": round(bar, 4),
        "its error rate": {**mean([_error(one) for one in theirs]), "digits": 2},
        "its hit rate": mean([_hits(one) for one in theirs]),
        "its seeds within": _within(theirs, rate),
        "fixed bar at our error": round(equal, 4),
        "its hit rate then": mean([_hits(fixed(one, equal)) for one in streams]),
        "ceiling": mean(ceilings),
        "curve": _over_time(ours),
    }


def _within(outcomes: Sequence[Outcomes], rate: float) -> Row:
    return share(sum(_error(one) <= rate for one in outcomes), len(outcomes))


def _error(outcomes: Outcomes) -> float:
    return float((outcomes == WRONG).mean())


def _hits(outcomes: Outcomes) -> float:
    return float((outcomes != MISS).mean())


def _over_time(outcomes: Sequence[Outcomes]) -> list[Row]:
    """Both rates over the first so many requests."""
    least = min(len(one) for one in outcomes)
    ends = [least * point // CURVE for point in range(1, CURVE + 1)]
    return [
        {
            "n": end,
            "error rate": mean([_error(one[:end]) for one in outcomes]),
            "hit rate": mean([_hits(one[:end]) for one in outcomes]),
        }
        for end in ends
        if end
    ]
