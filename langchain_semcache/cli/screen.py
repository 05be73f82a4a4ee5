"""How things look: consoles, tables, marks, ages. Plain text when the output is no terminal.

Questions and answers are data: they are never read as markup, and control characters in them
never reach the terminal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Literal

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from langchain_semcache.records import JSON

SIDE_BY_SIDE = 110
"""Columns of a terminal from which two texts fit beside each other."""

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_EIGHTHS = "▏▎▍▌▋▊▉"
_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), " ")


def out() -> Console:
    """Standard output as it is now; tests and pipes may have replaced it."""
    return Console(highlight=False, markup=False, emoji=False)


def err() -> Console:
    """Standard error: progress, questions back, and the one line when something is wrong."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def complain(message: str) -> None:
    """One line on standard error, however long."""
    err().print(f"semcache: {clean(message)}", soft_wrap=True)


def progress() -> Progress:
    """A progress bar on standard error, if that is a terminal; it is gone when it is done."""
    console = err()
    if not console.is_terminal:
        # Rich 13 ends a bar with an empty line, a bar that was switched off too.
        console = Console(file=StringIO())
    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def write_json(document: JSON) -> None:
    """The document on standard output."""
    out().print(json.dumps(document, ensure_ascii=False, indent=2), soft_wrap=True)


def clean(text: str) -> str:
    """The text on one line."""
    return text.translate(_CONTROL)


def short(text: str, width: int) -> Text:
    """The beginning of a text, on one line, at most `width` cells wide."""
    line = Text(" ".join(clean(text[: 4 * width]).split()))
    line.truncate(width, overflow="ellipsis")
    return line


def mark(good: bool) -> Text:
    """✓ or ✗."""
    return Text("✓", style="green") if good else Text("✗", style="bold red")


def heading(text: str, note: str = "") -> Text:
    """The title of a block, with a quieter remark behind it."""
    return Text.assemble("\n", (text, "bold"), (f"  {note}" if note else "", "dim"))


def table(*columns: str, right: Sequence[str] = (), wide: Sequence[str] = ()) -> Table:
    """A table without a frame; only the `wide` columns give way when the terminal is narrow."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for column in columns:
        side: Literal["left", "right"] = "right" if column in right else "left"
        if column in wide:
            made.add_column(column, justify=side, overflow="ellipsis", no_wrap=True, ratio=1)
        else:
            made.add_column(column, justify=side, no_wrap=True)
    made.expand = bool(wide)
    return made


def pair(first: str, second: str, width: int) -> list[Text]:
    """Two cells, the second quieter; or where it is narrow one cell, with the second below."""
    cells = [short(first, 160), short(second, 160)]
    cells[1].stylize("dim")
    return cells if width >= SIDE_BY_SIDE else [Text("\n").join(cells)]


def pair_columns(first: str, second: str, width: int) -> tuple[str, ...]:
    """The titles above `pair`."""
    return (first, second) if width >= SIDE_BY_SIDE else (f"{first} / {second}",)


def facts(pairs: Mapping[str, object]) -> Table:
    """Names and values, one pair a line; values wrap within their own column."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs.items():
        grid.add_row(name, value if isinstance(value, Text) else clean(str(value)))
    return grid


def bar(share: float, width: int, *, leftwards: bool = False) -> str:
    """A bar for a share in [0, 1], padded to `width`; leftwards it grows from the right."""
    if leftwards:
        # There are eighths of a block for the left side only, halves for both.
        full, half = divmod(round(share * width * 2), 2)
        return ("▐" * half + "█" * full).rjust(width)
    full, rest = divmod(round(share * width * 8), 8)
    return ("█" * full + (_EIGHTHS[rest - 1] if rest else "")).ljust(width)


def percent(share: float | None) -> str:
    """A share as a percentage; a dash where there is none."""
    return "–" if share is None else f"{share:.1%}"


def span(seconds: float) -> str:
    """A length of time, to the unit that matters."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def millis(seconds: float) -> str:
    """A latency."""
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"


def size(count: JSON) -> str:
    """A number of bytes."""
    left = float(count) if isinstance(count, int | float) else 0.0
    for unit in ("B", "kB", "MB"):
        if left < 1000:
            return f"{left:.0f} {unit}" if unit == "B" else f"{left:.1f} {unit}"
        left /= 1000
    return f"{left:.1f} GB"
