"""`semcache hotness evaluate`: how well models rank what is used next."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from langchain_semcache.cli import screen
from langchain_semcache.cli.options import AsJson, duration
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness import HORIZON, EWMAHotness, PopularityHotness
from langchain_semcache.hotness.accesses import Accesses, moments, read_accesses
from langchain_semcache.hotness.ranking import Quality, evaluate, mean
from langchain_semcache.hotness.repository import NAME
from langchain_semcache.hotness.torchscript import TorchScriptHotness, about
from langchain_semcache.ports import Heats, HotnessModel, Windows
from langchain_semcache.records import JSON

HALF_LIVES = (4.0, 16.0, 64.0)
TRITON_DEADLINE = 60.0
"""Here nobody waits for an answer."""

File = Annotated[Path, typer.Argument(help="Uses: JSON lines of t and entry_id or prompt, or .gz.")]
Step = Annotated[str, typer.Option("--step", help="Length of a step, as in 60s; 64 are a window.")]


def simple() -> list[HotnessModel]:
    """The models that need no training."""
    return [PopularityHotness(), *(EWMAHotness(half) for half in HALF_LIVES)]


def evaluated(
    file: File,
    *,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="A model of semcache hotness train.")
    ] = None,
    triton: Annotated[
        str | None, typer.Option(help="grpc://HOST:8001 or http://HOST:8000 of a Triton server.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the model on that server.")] = NAME,
    step: Step = "60s",
    start: Annotated[
        float,
        typer.Option("--from", min=0.0, max=0.99, help="Share of the time that is passed over."),
    ] = 0.5,
    top: Annotated[int, typer.Option(min=1, help="How many of the first ranks count.")] = 100,
    json: AsJson = False,
) -> None:
    """Say how well models rank what is used in the next five steps of past uses."""
    seconds = duration(step, option="--step").total_seconds()
    models = {one.identity: one for one in simple()}
    if model is not None:
        seconds = about(model).step_seconds  # it knows no other
        models["network"] = TorchScriptHotness(model).open()
    if triton is not None:
        models["Triton"] = _OnlyTriton(triton, name)
    uses = read_accesses(file, step_seconds=seconds)
    at = moments(uses, start=round(uses.end * start), end=uses.end)
    found = evaluate(models, at, k=top)
    if not all(found.values()):
        raise ConfigurationError(
            f"{file}: nothing that is known by then is used again; pass over less with --from"
        )
    averages = {label: mean(qualities) for label, qualities in found.items()}
    count = min(len(qualities) for qualities in found.values())
    if json:
        screen.write_json(_document(averages, uses, count, top))
        return
    out = screen.out()
    out.print(screen.heading(f"{uses.name}: {len(uses.steps):,} uses of {uses.keys:,} entries"))
    ahead = screen.span(HORIZON * seconds)
    out.print(Text(f"the next {ahead}, at {count} moments\n", style="dim"))
    out.print(_table(averages, top))


class _OnlyTriton:
    """A server's answers and nobody else's: a local one would be measured in its place."""

    def __init__(self, url: str, name: str) -> None:
        from langchain_semcache.hotness.triton import TritonHotness

        self._server = TritonHotness(url, model=name, deadline_seconds=TRITON_DEADLINE)

    @property
    def identity(self) -> str:
        return self._server.identity

    def predict(self, windows: Windows) -> Heats:
        heats = self._server.predict(windows)
        if self._server.fell_back:
            raise ConfigurationError(
                f"no answer from {self._server.identity.split(' or ')[0]}: is the server running, "
                "and does it have this model?"
            )
        return heats


def _table(averages: dict[str, Quality], top: int) -> Table:
    columns = (f"NDCG@{top}", f"used of {top}", f"uses in {top}", "rank correlation", "bias")
    table = screen.table("model", *columns, right=columns)
    best = max(averages, key=lambda label: averages[label].ndcg)
    for label, one in averages.items():
        table.add_row(
            label,
            f"{one.ndcg:.3f}",
            screen.percent(one.precision),
            screen.percent(one.coverage),
            f"{one.spearman:.3f}",
            f"{one.bias:.2f}",
            style="bold" if label == best else "",
        )
    return table


def _document(
    averages: dict[str, Quality], uses: Accesses, moments_: int, top: int
) -> dict[str, JSON]:
    return {
        "uses": len(uses.steps),
        "entries": uses.keys,
        "step_seconds": uses.step_seconds,
        "moments": moments_,
        "top": top,
        "models": {label: asdict(one) for label, one in averages.items()},
    }
