"""What is used next: how well a network, moving averages and popularity rank it."""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

from langchain_semcache.hotness import EWMAHotness, PopularityHotness
from langchain_semcache.hotness.accesses import Accesses, accesses, moments, read_accesses
from langchain_semcache.hotness.ranking import Quality, evaluate, mean
from langchain_semcache.ports import HotnessModel

Row = dict[str, object]
MOONCAKE = "trace_mooncake_conversation.jsonl.gz"
BING = "stream_multi_bing_covid_202001_country.jsonl.gz"
HALF_LIVES = (1, 2, 4, 8, 16, 32, 64)
RESAMPLES = 2_000
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Stream:
    """Uses, and how many of the first ranks count (as many entries as a small cache keeps)."""

    uses: Accesses
    k: int


def mooncake(data: Path) -> Stream:
    """Blocks of a chat service's prompts; the trace is an hour long, so a step is 10 seconds."""
    return Stream(read_accesses(data / MOONCAKE, step_seconds=10.0), 1_000)


def bing(data: Path, *, draws: int = 60_000, seed: int = 1) -> Stream:
    """Queries of January 2020, drawn by their popularity within their day, at any time of it.

    A step is a fifth of a day, so that what is predicted is the next day.
    """
    chance = np.random.default_rng(seed)
    days: dict[str, list[tuple[str, int]]] = {}
    with gzip.open(data / BING, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            query = f"{row['country']}: {row['query']}"
            days.setdefault(row["date"], []).append((query, int(row["pop"])))
    total = sum(popular for rows in days.values() for _, popular in rows)
    drawn: list[tuple[float, object]] = []
    for number, day in enumerate(sorted(days)):
        queries = [query for query, _ in days[day]]
        weights = np.array([popular for _, popular in days[day]], dtype=np.float64)
        count = round(draws * weights.sum() / total)
        picks = chance.choice(len(queries), count, p=weights / weights.sum())
        times = DAY * (number + chance.random(count))
        drawn += [(at, queries[pick]) for at, pick in zip(times.tolist(), picks, strict=True)]
    # From midnight on, whenever the first query of all came.
    return Stream(accesses("Bing", [(0.0, "midnight"), *drawn], step_seconds=DAY / 5), 100)


def made_up(*, hours: int = 24, seed: int = 1) -> Stream:
    """A day in minutes, with what a rate alone does not tell: rhythms and bursts.

    1,000 entries are steady, with rates that fall as one over the rank (60 uses a minute in all).
    1,000 are asked for in five minutes of every half hour, each at its own time, and 1,000 begin at
    some time with a use a minute and halve every ten.
    """
    chance = np.random.default_rng(seed)
    steps = hours * 60
    minutes = np.arange(steps)
    ranks = 1.0 / np.arange(1, 1_001)
    steady = np.repeat((60 * ranks / ranks.sum())[:, None], steps, axis=1)
    phase = chance.integers(0, 30, 1_000)
    rhythmic = 0.3 * ((minutes[None, :] + phase[:, None]) % 30 < 5)
    since = minutes[None, :] - chance.integers(0, steps, 1_000)[:, None]
    bursts = np.where(since >= 0, 0.5 ** (np.maximum(since, 0) / 10), 0.0)
    counts = chance.poisson(np.concatenate([steady, rhythmic, bursts]))
    entries, at = np.nonzero(counts)
    entries, at = (np.repeat(one, counts[entries, at]) for one in (entries, at))
    order = np.argsort(at, kind="stable")
    return Stream(Accesses("made up", at[order], entries[order], 60.0), 100)


STREAMS: dict[str, Callable[[Path], Stream]] = {
    "Mooncake": mooncake,
    "Bing": bing,
    "made up": lambda data: made_up(),  # noqa: ARG005 - it needs no file
}


def tuned(stream: Stream, *, start: int, end: int) -> EWMAHotness:
    """The moving average whose half-life ranks best between these steps."""
    models: dict[str, HotnessModel] = {str(half): EWMAHotness(half) for half in HALF_LIVES}
    found = evaluate(models, moments(stream.uses, start=start, end=end), k=stream.k)
    return EWMAHotness(max(HALF_LIVES, key=lambda half: mean(found[str(half)]).ndcg))


@dataclass(frozen=True, slots=True)
class Effort:
    """How long the network is trained, on how many windows, and from which seed."""

    epochs: int = 20
    max_windows: int = 15_000
    seed: int = 0


def network(stream: Stream, *, until: int, effort: Effort) -> HotnessModel:
    """The network, trained on what was before this step, as it is served: from its file."""
    from langchain_semcache.hotness.torchscript import TorchScriptHotness, save
    from langchain_semcache.hotness.training import TrainingSettings, train

    settings = TrainingSettings(
        epochs=effort.epochs, max_windows=effort.max_windows, seed=effort.seed
    )
    trained = train(stream.uses, settings, until=until)
    for epoch in trained.epochs:
        print(f"{stream.uses.name}: {epoch}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as place:
        save(trained, Path(place) / "heat.pt")
        return TorchScriptHotness(Path(place) / "heat.pt").open()


def interval(first: list[Quality], second: list[Quality]) -> str:
    """95% interval of the mean difference in NDCG, resampling moments (both models at each)."""
    differences = np.array([a.ndcg - b.ndcg for a, b in zip(first, second, strict=True)])
    chance = np.random.default_rng(0)
    means = differences[chance.integers(0, len(differences), (RESAMPLES, len(differences)))].mean(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{low:+.3f} to {high:+.3f}"


def rows(name: str, stream: Stream, effort: Effort) -> list[Row]:
    """One row a model, on the second half of the time; tuned and trained on the first."""
    half = stream.uses.end // 2
    models: dict[str, HotnessModel] = {
        "popularity, 64 steps": PopularityHotness(),
        "popularity, 5 steps": PopularityHotness(5),
        "EWMA": tuned(stream, start=half // 2, end=half),
        "LSTM": network(stream, until=half, effort=effort),
    }
    found = evaluate(models, moments(stream.uses, start=half, end=stream.uses.end), k=stream.k)
    table: list[Row] = []
    for label, qualities in found.items():
        average = mean(qualities)
        row: Row = {"stream": name, "model": label, "k": stream.k, "moments": len(qualities)}
        numbers = zip(fields(Quality), astuple(average), strict=True)
        row |= {field.name: round(value, 3) for field, value in numbers}
        row["LSTM is better by"] = "" if label == "LSTM" else interval(found["LSTM"], qualities)
        row["identity"] = models[label].identity
        table.append(row)
    return table


def run(
    data: Path, *, only: str | None = None, effort: Effort | None = None, threads: int = 1
) -> list[Row]:
    """Every stream, or one."""
    import torch

    torch.set_num_threads(threads)
    return [
        row
        for name, make in STREAMS.items()
        if only in (None, name)
        for row in rows(name, make(data), effort or Effort())
    ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `freshness.py heat` takes beside the data."""
    parser.add_argument("--stream", choices=list(STREAMS), help="this one alone")
    parser.add_argument("--epochs", type=int, default=20, help="passes of training at most")
    parser.add_argument("--max-windows", type=int, default=15_000, help="to learn from at most")
    parser.add_argument("--seed", type=int, default=0, help="of the network")
    parser.add_argument("--threads", type=int, default=1, help="of torch")
