"""Pictures of what cutting answers into pieces does. Needs the extra `lab`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from langchain_semcache.lab.avalanche import Sweep
from langchain_semcache.lab.plots import QUIET, RIGHT, WRONG, check_plot, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BETWEEN = "#2c5aa0"


def plot_sweep(sweep: Sweep, path: Path, *, title: str) -> None:
    """Draw hit rates and evictions over the size of the store, and the avalanche point.

    Raises:
        ConfigurationError: The file cannot be written.
        MissingExtra: matplotlib is not installed.
    """
    check_plot(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    _hits(left, sweep)
    _evictions(right, sweep)
    save(figure, path, title)


def _hits(axes: Axes, sweep: Sweep) -> None:
    at = _sizes(sweep)
    for name, rates, colour in (
        ("whole answers", [row.answers.hit_rate for row in sweep.rows], RIGHT),
        ("segments", [row.segments.hit_rate for row in sweep.rows], BETWEEN),
        ("a key for each token", [row.tokens.hit_rate for row in sweep.rows], WRONG),
    ):
        axes.plot(at, rates, color=colour, marker="o", markersize=4, label=name)
    partial = [row.tokens.partial_rate for row in sweep.rows]
    label = "of tokens: some of the answer"
    axes.plot(at, partial, color=WRONG, linestyle=":", linewidth=1.2, label=label)
    axes.axhline(sweep.ceiling, color=QUIET, linestyle=":", linewidth=1, label="without a limit")
    axes.set(ylim=(0, max(0.05, min(1.0, 1.15 * sweep.ceiling))), ylabel="share of requests")
    axes.yaxis.set_major_formatter("{x:.1%}" if sweep.ceiling < 0.1 else "{x:.0%}")
    _finish(axes, sweep)


def _evictions(axes: Axes, sweep: Sweep) -> None:
    at = _sizes(sweep)
    for name, counts, colour in (
        ("whole answers", [row.answers.evictions for row in sweep.rows], RIGHT),
        ("segments", [row.segments.evictions for row in sweep.rows], BETWEEN),
        ("a key for each token", [row.tokens.evictions for row in sweep.rows], WRONG),
    ):
        requests = sweep.rows[0].tokens.requests
        shares = [count / requests for count in counts]
        axes.plot(at, shares, color=colour, marker="o", markersize=4, label=name)
    axes.set_yscale("symlog", linthresh=0.1)
    axes.set(ylim=(0, None), ylabel="evictions for each request")
    axes.yaxis.set_major_formatter("{x:g}")
    _finish(axes, sweep)


def _sizes(sweep: Sweep) -> list[float]:
    return [row.memory / 1e6 for row in sweep.rows]


def _finish(axes: Axes, sweep: Sweep) -> None:
    """The legend below, where it hides no curve."""
    fall = sweep.avalanche
    if fall is not None:
        label = f"avalanche {'from ' if fall.at_least else ''}{fall.memory / 1e6:,.2f} MB"
        axes.axvline(fall.memory / 1e6, color=QUIET, linestyle="--", linewidth=1.2, label=label)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("size of the store, MB")
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)
    axes.grid(alpha=0.25)
