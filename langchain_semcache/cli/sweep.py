"""`semcache sweep`: what every threshold would find and what it would serve wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from langchain_semcache.assembly import make_calibration
from langchain_semcache.cli import screen
from langchain_semcache.cli.models import Loaded, Models, load, measured
from langchain_semcache.cli.options import spread
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.lab.curve import (
    Curve,
    Kind,
    Point,
    by_confidence,
    by_similarity,
    kinds,
)
from langchain_semcache.lab.curve import (
    sweep as swept,
)
from langchain_semcache.lab.pairs import read_pairs
from langchain_semcache.lab.plots import check_plot, plot_curve
from langchain_semcache.records import JSON
from langchain_semcache.threshold.confidence import Calibration

BAR = 10
MOST_KINDS = 12


class By(StrEnum):
    """What the threshold is compared with."""

    SIMILARITY = "similarity"
    CONFIDENCE = "confidence"


@spread
def sweep(
    models: Models,
    *,
    file: Annotated[Path, typer.Argument(help="Labelled pairs: JSON lines, TSV or CSV, or .gz.")],
    by: Annotated[By, typer.Option(help="What the threshold is compared with.")] = By.SIMILARITY,
    calibration: Annotated[
        str | None, typer.Option(help="With --by confidence: auto, or a file of calibrate.")
    ] = None,
    guards: Annotated[
        bool, typer.Option("--guards/--no-guards", help="Whether the guards refuse as in a cache.")
    ] = True,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw a picture: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Show for each threshold how many right answers it finds and how many wrong ones it serves."""
    if plot is not None:
        check_plot(plot)
    pairs = read_pairs(file)
    # The verifier is asked only where its opinion counts.
    alone = {"verifier": "none", "calibration": "none"} if by is By.SIMILARITY else {}
    loaded = load(models.settings(**{"calibration": calibration, **alone}))
    weighs = None if by is By.SIMILARITY else _calibration(loaded)
    score = by_similarity if weighs is None else by_confidence(weighs)
    found = measured(pairs, loaded)
    curve = swept(found, score, guards=guards, calibration=weighs)
    groups = kinds(found, score, curve.balance.threshold, guards=guards, calibration=weighs)
    guarded = "guards on" if guards else "guards off"
    note = loaded.encoder.identity if by is By.SIMILARITY else loaded.named
    if plot is not None:
        plot_curve(curve, plot, by=by, title=f"{file.name}: {note}, {guarded}")
    if models.json:
        screen.write_json(_document(curve, groups, loaded, by, guards))
        return
    out = screen.out()
    out.print(screen.heading(f"{file.name} by {by}"))
    out.print(_measured_with(curve, note, guarded))
    out.print(_rows(curve))
    out.print(_named(curve))
    if groups:
        note = f"at the balance point {curve.balance.threshold:.3f}"
        out.print(screen.heading("By kind", note))
        out.print(_kinds(groups))
    if plot is not None:
        out.print(f"\nThe picture is in {plot}.")


def _calibration(loaded: Loaded) -> Calibration:
    calibration = make_calibration(loaded.config, loaded.encoder, loaded.verifier)
    if calibration is None:
        raise ConfigurationError(
            f"--by confidence needs a calibration for {loaded.named}, and none ships: "
            "make one with semcache calibrate and name it with --calibration"
        )
    return calibration


def _measured_with(curve: Curve, models: str, guarded: str) -> Text:
    first = curve.points[0]
    counted = f"{first.same:,} same and {first.different:,} different pairs, {guarded}"
    return Text(f"{counted}\n{models}\n", style="dim")


def _rows(curve: Curve) -> Table:
    table = screen.table(
        "",
        "from",
        "false-pass",
        "different".rjust(BAR),
        "same",
        "coverage",
        "precision",
        "F1",
        right=("from", "false-pass", "coverage", "precision", "F1"),
    )
    for point in curve.rows():
        balance, best = point == curve.balance, point == curve.best
        table.add_row(
            ("◆" if balance else "") + ("★" if best else ""),
            f"{point.threshold:.3f}",
            screen.percent(point.false_pass),
            Text(screen.bar(point.false_pass, BAR, leftwards=True), style="red"),
            Text(screen.bar(point.coverage, BAR), style="green"),
            screen.percent(point.coverage),
            screen.percent(point.precision),
            f"{point.f1:.3f}",
            style="bold" if balance or best else "",
        )
    return table


def _named(curve: Curve) -> Text:
    balance, best = curve.balance, curve.best
    low, high = balance.false_pass_interval
    lines = Text.assemble(
        ("\n◆ balance  ", "bold"),
        f"{balance.threshold:.3f}: equal error rate {curve.equal_error_rate:.1%} "
        f"(false-pass {low:.1%} to {high:.1%})",
        ("\n★ best F1  ", "bold"),
        f"{best.threshold:.3f}: F1 {best.f1:.3f}, coverage {best.coverage:.1%}, "
        f"false-pass {best.false_pass:.1%}",
    )
    if not curve.balances:
        lines.append(
            "\nThe two errors never meet: guards refuse more of the same pairs than they let\n"
            "pass of the different ones. The balance is where they come nearest.",
            style="dim",
        )
    return lines


def _kinds(groups: Sequence[Kind]) -> Table:
    table = screen.table(
        "kind",
        "different",
        "false-pass",
        "same",
        "coverage",
        right=("different", "false-pass", "same", "coverage"),
    )
    for kind in groups[:MOST_KINDS]:
        point = kind.point
        table.add_row(
            screen.short(kind.name, 36),
            f"{point.different:,}",
            screen.percent(point.false_pass if point.different else None),
            f"{point.same:,}",
            screen.percent(point.coverage if point.same else None),
        )
    if len(groups) > MOST_KINDS:
        table.add_row(Text(f"{len(groups) - MOST_KINDS} more with --json", style="dim"))
    return table


def _document(
    curve: Curve, groups: Sequence[Kind], loaded: Loaded, by: By, guards: bool
) -> dict[str, JSON]:
    first = curve.points[0]
    return {
        "by": by.value,
        "guards": guards,
        "encoder": loaded.encoder.identity,
        "verifier": loaded.verifier.identity if loaded.verifier else None,
        "same": first.same,
        "different": first.different,
        "balance": {**_point(curve.balance), "equal_error_rate": curve.equal_error_rate},
        "balances": curve.balances,
        "best_f1": _point(curve.best),
        "points": [_point(point) for point in curve.points[::10]],
        "kinds": {kind.name: _point(kind.point) for kind in groups},
    }


def _point(point: Point) -> dict[str, JSON]:
    return {
        "threshold": point.threshold,
        "same": point.same,
        "different": point.different,
        "coverage": point.coverage,
        "coverage_interval": list(point.coverage_interval),
        "false_pass": point.false_pass,
        "false_pass_interval": list(point.false_pass_interval),
        "precision": point.precision,
        "f1": point.f1,
    }
