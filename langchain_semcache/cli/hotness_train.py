"""`semcache hotness train`: a network from past uses, and whether it is worth it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from langchain_semcache.cli import screen
from langchain_semcache.cli.hotness_evaluate import File, Step, simple
from langchain_semcache.cli.options import AsJson, duration, spread
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness.accesses import Accesses, read_accesses
from langchain_semcache.hotness.torchscript import need_torch, save
from langchain_semcache.records import JSON

if TYPE_CHECKING:
    from langchain_semcache.hotness.training import Trained


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """How a network is trained."""

    epochs: Annotated[int, typer.Option(min=1, help="Passes over the windows at most.")] = 20
    patience: Annotated[
        int, typer.Option(min=1, help="Passes without a gain after which it is enough.")
    ] = 3
    max_windows: Annotated[
        int, typer.Option(min=1, help="Different windows to learn from at most.")
    ] = 40_000
    validation: Annotated[
        float, typer.Option(help="Share of the time, at its end, that is kept back.")
    ] = 0.2
    seed: Annotated[int, typer.Option(min=0, help="Equal seeds make equal networks.")] = 0
    threads: Annotated[
        int | None, typer.Option(min=1, help="Of torch; fewer are faster on a busy machine.")
    ] = None


Until = Annotated[float, typer.Option(min=0.01, max=1.0, help="Share of the time to learn from.")]


@spread
def train(
    learning: Learning,
    *,
    file: File,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the model goes.")],
    step: Step = "60s",
    until: Until = 1.0,
    json: AsJson = False,
) -> None:
    """Train a network on past uses, and say whether it beats what needs no training."""
    need_torch("semcache hotness train")
    if not out.absolute().parent.is_dir():
        raise ConfigurationError(f"{out} cannot be written: make its directory first")
    seconds = duration(step, option="--step").total_seconds()
    uses = read_accesses(file, step_seconds=seconds)
    trained, losses = _trained(uses, learning, round(uses.end * until))
    save(trained, out)
    if json:
        screen.write_json(_trained_document(trained, losses, uses, out))
        return
    _print_trained(trained, losses, uses, out)


def _trained(uses: Accesses, learning: Learning, until: int) -> tuple[Trained, dict[str, float]]:
    import torch

    from langchain_semcache.hotness.training import TrainingSettings, divided, loss_of
    from langchain_semcache.hotness.training import train as fit

    if learning.threads is not None:
        torch.set_num_threads(learning.threads)
    settings = TrainingSettings(
        epochs=learning.epochs,
        patience=learning.patience,
        max_windows=learning.max_windows,
        validation=learning.validation,
        seed=learning.seed,
    )
    with screen.progress() as bar:
        task = bar.add_task("training", total=1.0)
        trained = fit(
            uses,
            settings,
            until=until,
            progress=lambda share, said: bar.update(
                task, completed=share, description=f"training  {said}"
            ),
        )
    _, back = divided(uses, until, settings)
    losses = {"network": trained.best.validation}
    losses |= {model.identity: loss_of(model, back) for model in simple()}
    return trained, losses


def _print_trained(trained: Trained, losses: dict[str, float], uses: Accesses, out: Path) -> None:
    say = screen.out()
    say.print(screen.heading(f"{uses.name}: {len(uses.steps):,} uses of {uses.keys:,} entries"))
    say.print(
        Text(
            f"{trained.windows:,} different windows, {len(trained.epochs)} passes, "
            f"the best is number {trained.best.number}\n",
            style="dim",
        )
    )
    table = screen.table("on uses that were kept back", "loss", right=("loss",))
    best = min(losses, key=lambda name: losses[name])
    for name, loss in losses.items():
        table.add_row(name, f"{loss:.4f}", style="bold" if name == best else "")
    say.print(table)
    if best != "network":
        say.print(Text(f"\n{best} does better: use that, or train on more.", style="yellow"))
    say.print(f"\nThe model is in {out}.")


def _trained_document(
    trained: Trained, losses: dict[str, float], uses: Accesses, out: Path
) -> dict[str, JSON]:
    return {
        "model": str(out),
        "uses": len(uses.steps),
        "entries": uses.keys,
        "step_seconds": uses.step_seconds,
        "windows": trained.windows,
        "epochs": [
            {"number": one.number, "loss": one.loss, "validation": one.validation}
            for one in trained.epochs
        ],
        "best": trained.best.number,
        "validation_losses": {**losses},
    }
