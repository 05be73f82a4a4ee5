"""Pictures of experiments. Needs the extra `lab`; no window is opened and nothing global is set."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_semcache.errors import ConfigurationError, MissingExtra
from langchain_semcache.lab.curve import Curve, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
RIGHT, WRONG, QUIET = "#1b7f5c", "#c0392b", "#666666"
BALANCE, BEST = "#2c5aa0", "#8e44ad"


def check_plot(path: Path) -> None:
    """Whether a picture can be drawn and put there, before anything long begins.

    Raises:
        ConfigurationError: The ending is none that is drawn, or the directory is not there.
        MissingExtra: matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise ConfigurationError(f"{path} is no picture: let it end in {', '.join(FORMATS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigurationError(
            f"{path} cannot be written: name a file in a directory that exists"
        )
    if find_spec("matplotlib") is None:
        raise MissingExtra("a picture", "lab", "matplotlib")


def plot_curve(curve: Curve, path: Path, *, by: str, title: str) -> None:
    """Draw coverage and false passes over the threshold, and one against the other.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    check_plot(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    _over_thresholds(left, curve, by)
    _against_each_other(right, curve)
    save(figure, path, title)


def save(figure: Figure, path: Path, title: str) -> None:
    """Write a picture with its title above.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    figure.suptitle(drawable(title), fontsize=11)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error


def drawable(text: str) -> str:
    """A text of a file's name: a dollar begins no formula, and the font has no Chinese."""
    shown = "".join(char if char.isprintable() and char < "\u2e80" else "?" for char in text)
    return shown.replace("$", r"\$")


def _over_thresholds(axes: Axes, curve: Curve, by: str) -> None:
    points = curve.points
    at = [point.threshold for point in points]
    for name, colour, values, bands in (
        (
            "coverage (same pairs that pass)",
            RIGHT,
            [point.coverage for point in points],
            [point.coverage_interval for point in points],
        ),
        (
            "false passes (different pairs that pass)",
            WRONG,
            [point.false_pass for point in points],
            [point.false_pass_interval for point in points],
        ),
    ):
        axes.plot(at, values, color=colour, label=name)
        low, high = zip(*bands, strict=True)
        axes.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(
        at, [point.f1 for point in points], color=QUIET, linestyle=":", linewidth=1, label="F1"
    )
    for point, name, colour, style in (
        (curve.balance, f"balance {curve.balance.threshold:.3f}", BALANCE, "--"),
        (curve.best, f"best F1 {curve.best.threshold:.3f}", BEST, "-."),
    ):
        axes.axvline(point.threshold, color=colour, linestyle=style, linewidth=1.2, label=name)
    shown = curve.rows()
    axes.set_xlim(max(0.0, shown[0].threshold - 0.05), min(1.0, shown[-1].threshold + 0.02))
    axes.set(ylim=(0, 1), xlabel=f"least {by}", ylabel="share of pairs")
    _finish(axes)


def _against_each_other(axes: Axes, curve: Curve) -> None:
    points = curve.points
    axes.plot(
        [point.false_pass for point in points],
        [point.coverage for point in points],
        color=RIGHT,
    )
    _mark(axes, curve.balance, "balance", BALANCE, "D")
    _mark(axes, curve.best, "best F1", BEST, "o")
    axes.axline((0, 1), (1, 0), color=QUIET, linestyle=":", linewidth=1, label="equal errors")
    most = max(curve.best.false_pass, curve.balance.false_pass, 0.05)
    axes.set(
        xlim=(0, min(1.0, 2 * most)),
        ylim=(0, 1),
        xlabel="false-pass rate",
        ylabel="coverage",
    )
    axes.xaxis.set_major_formatter("{x:.0%}")
    _finish(axes)


def _finish(axes: Axes) -> None:
    """The legend below, where it hides no curve."""
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)
    axes.grid(alpha=0.25)


def _mark(axes: Axes, point: Point, name: str, colour: str, marker: str) -> None:
    label = f"{name}: {point.coverage:.1%} at {point.false_pass:.1%} false passes"
    axes.plot(
        [point.false_pass],
        [point.coverage],
        marker=marker,
        markersize=9,
        markeredgewidth=1.5,
        fillstyle="none",
        linestyle="none",
        color=colour,
        label=label,
    )
