"""`semcache calibrate`: from labelled pairs to a file that says how sure is sure enough."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from langchain_semcache.cli import screen
from langchain_semcache.cli.models import Loaded, Models, load, measured
from langchain_semcache.cli.options import spread
from langchain_semcache.cli.places import open_existing, shown
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.lab.calibrate import Bin, Fitted
from langchain_semcache.lab.calibrate import calibrate as fitted
from langchain_semcache.lab.curve import Point
from langchain_semcache.lab.pairs import Pair, read_pairs
from langchain_semcache.records import JSON

BAR = 20

# Feedback is only read: what weighs hits there may be what is to be made here.
_UNWEIGHED = {
    "verifier": "none",
    "calibration": "none",
    "max_error_rate": None,
    "min_confidence": None,
}


@spread
def calibrate(
    models: Models,
    *,
    out: Annotated[Path, typer.Option(help="The file to write.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="Labelled pairs: JSON lines, TSV, CSV, or .gz."),
    ] = None,
    feedback: Annotated[
        list[str] | None,
        typer.Option(help="What users reported: a cache (directory or URL), or a file of pairs."),
    ] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Whose feedback, in a cache.")
    ] = None,
    max_false_pass: Annotated[
        float,
        typer.Option(help="Share of the different pairs that may pass, between 0 and 1."),
    ] = 0.05,
) -> None:
    """Fit confidence on labelled pairs, choose the bar, and try both on pairs never seen."""
    if not 0 < max_false_pass < 1:
        raise ConfigurationError(
            f"--max-false-pass is {max_false_pass:g}, expected between 0 and 1, as in 0.05"
        )
    out = out.expanduser()
    _check_target(out)
    named = {str(file): read_pairs(file) for file in files or []}
    told = {shown(place): _feedback(place, models, namespace) for place in feedback or []}
    pairs = [pair for found in (named, told) for part in found.values() for pair in part]
    if not pairs:
        empty = f"; no feedback is kept in {', '.join(told)}" if told else ""
        raise ConfigurationError(f"calibrate needs a FILE of labelled pairs, or --feedback{empty}")
    loaded = load(models.settings())
    made = fitted(
        measured(pairs, loaded),
        encoder=loaded.encoder.identity,
        verifier=loaded.verifier.identity if loaded.verifier else None,
        max_false_pass=max_false_pass,
        fitted_on=_described(len(pairs), [*named, *told], max_false_pass),
        feedback=sum(map(len, told.values())),
    )
    try:
        out.write_text(made.calibration.to_json(), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{out} cannot be written: {error.strerror}") from error
    if models.json:
        screen.write_json(_document(made, loaded, out, max_false_pass))
        return
    _print(made, loaded, out, max_false_pass)


def _check_target(out: Path) -> None:
    """Said before the minutes of measuring, and not after."""
    if out.is_dir() or not out.parent.is_dir():
        raise ConfigurationError(f"--out {out} is no file in a directory that exists")


def _feedback(place: str, models: Models, namespace: str | None) -> list[Pair]:
    """What users said of hits: kept in a cache, or in a file."""
    if "://" not in place and not Path(place).expanduser().is_dir():
        return read_pairs(place)
    config = models.settings(location=place, namespace=namespace)
    with open_existing(SemcacheConfig.of(config, **_UNWEIGHED)) as cache:
        return [Pair(said.question, said.stored, said.right) for said in cache.feedback()]


def _described(count: int, files: Sequence[str], max_false_pass: float) -> str:
    names = ", ".join(Path(file).name for file in files)
    return f"half of {count:,} pairs of {names}, for a false-pass rate of {max_false_pass:g}"


def _print(made: Fitted, loaded: Loaded, path: Path, wish: float) -> None:
    out = screen.out()
    calibration = made.calibration
    out.print(screen.heading(f"Calibration {path}", loaded.named))
    out.print(
        screen.facts(
            {
                "fitted on": _counted(made.fitting),
                "tried on": f"{_counted(made.held_out)}, with no question of the others",
                **({"in neither": f"{made.left_out:,} that link the two"} if made.left_out else {}),
                "floor": f"{calibration.floor:.3f}  similarity from which a candidate is weighed",
                "bar": f"{calibration.bar:.4f}  confidence from which it is served",
                "least": f"{calibration.least:.4f}  confidence that an error budget may go down to",
            }
        )
    )
    out.print(screen.heading("On pairs it never saw"))
    out.print(_rates(made.held_out, wish))
    if made.feedback is not None:
        # What was served before is a choice, not a sample: no wish holds for it.
        out.print(screen.heading("On the feedback among them"))
        out.print(_rates(made.feedback, None))
    out.print(screen.heading("Does its confidence come true?"))
    out.print(_reliability(made.bins))
    out.print(f"\nexpected calibration error  {made.calibration_error:.3f}")
    for warning in made.warnings:
        out.print(Text(f"\n! {warning}", style="yellow"))
    out.print(screen.heading("To use it", "in semcache.toml, or as settings of open()"))
    for name, value in _settings(loaded, path).items():
        # What JSON writes as text, TOML reads as text.
        out.print(f"{name} = {json.dumps(value, ensure_ascii=False)}", soft_wrap=True)


def _counted(point: Point) -> str:
    return f"{point.same:,} same and {point.different:,} different pairs"


def _rates(point: Point, wish: float | None) -> Table:
    table = screen.table("", "rate", "95% interval", "pairs", "", right=("rate", "pairs"))
    if point.same:
        table.add_row(
            "coverage",
            screen.percent(point.coverage),
            _between(point.coverage_interval),
            f"{point.passed_same:,} of {point.same:,}",
            "",
        )
    if point.different:
        wished = Text()
        if wish is not None:
            kept = screen.mark(point.false_pass <= wish)
            wished = Text.assemble(kept, f" wished: at most {wish:g}")
        table.add_row(
            "false-pass",
            screen.percent(point.false_pass),
            _between(point.false_pass_interval),
            f"{point.passed_different:,} of {point.different:,}",
            wished,
        )
    return table


def _between(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.1%} to {interval[1]:.1%}"


def _reliability(bins: Sequence[Bin]) -> Table:
    table = screen.table(
        *("confidence", "pairs", "predicted", "came true", ""),
        right=("pairs", "predicted", "came true"),
    )
    for one in bins:
        table.add_row(
            f"{one.low:.1f} to {one.high:.1f}",
            f"{one.count:,}",
            screen.percent(one.predicted),
            screen.percent(one.observed),
            _compared(one),
        )
    return table


def _compared(one: Bin) -> Text:
    """What came true as a bar, with a mark where the prediction lies."""
    cells = screen.bar(one.observed, BAR)
    place = min(BAR - 1, int(one.predicted * BAR))
    return Text.assemble((cells[:place], "green"), ("│", "bold"), (cells[place + 1 :], "green"))


def _settings(loaded: Loaded, path: Path) -> dict[str, str]:
    """The settings of a cache that uses the file."""
    verifier = loaded.config.verifier
    if loaded.verifier is None:
        verifier = "none"  # "auto" may be another one with the next release
    elif verifier == "auto":
        verifier = "local"
    return {"encoder": loaded.config.encoder, "verifier": verifier, "calibration": str(path)}


def _document(made: Fitted, loaded: Loaded, path: Path, wish: float) -> dict[str, JSON]:
    calibration = made.calibration
    return {
        "out": str(path),
        "settings": {**_settings(loaded, path)},
        "max_false_pass": wish,
        "floor": calibration.floor,
        "bar": calibration.bar,
        "least": calibration.least,
        "weights": {**calibration.weights},
        "fitting": _numbers(made.fitting),
        "held_out": _numbers(made.held_out),
        "feedback": None if made.feedback is None else _numbers(made.feedback),
        "left_out": made.left_out,
        "calibration_error": made.calibration_error,
        "reliability": [
            {
                "low": one.low,
                "high": one.high,
                "count": one.count,
                "predicted": one.predicted,
                "observed": one.observed,
            }
            for one in made.bins
        ],
        "warnings": list(made.warnings),
    }


def _numbers(point: Point) -> dict[str, JSON]:
    return {
        "same": point.same,
        "different": point.different,
        "coverage": point.coverage,
        "coverage_interval": list(point.coverage_interval),
        "false_pass": point.false_pass,
        "false_pass_interval": list(point.false_pass_interval),
    }
