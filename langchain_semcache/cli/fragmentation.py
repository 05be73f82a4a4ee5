"""`semcache lab fragmentation`: what a key for each token does to a cache, at equal memory."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from langchain_semcache.cli import screen
from langchain_semcache.cli.options import AsJson, byte_count, spread
from langchain_semcache.clock import SystemClock
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.lab.avalanche import Row, Sweep, memories, sweep
from langchain_semcache.lab.fragmentation import (
    OVERHEAD,
    RATE,
    SEGMENT,
    TOKENS,
    Costs,
    Lookup,
    Outcome,
    simulate,
)
from langchain_semcache.lab.fragmentation_plot import plot_sweep
from langchain_semcache.lab.otel import check_otel, send, write
from langchain_semcache.lab.plots import check_plot
from langchain_semcache.lab.spans import spans
from langchain_semcache.lab.traffic import (
    DEMO_PROMPTS,
    DEMO_REQUESTS,
    Popularity,
    Traffic,
    demo_traffic,
    read_traffic,
)
from langchain_semcache.records import JSON

BAR = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which traffic, and which prompts where it does not say."""

    demo: Annotated[bool, typer.Option("--demo", help="Made-up traffic, without a file.")] = False
    limit: Annotated[int | None, typer.Option(min=1, help="Play no more requests than these.")] = (
        None
    )
    prompts: Annotated[
        int | None, typer.Option(min=1, help="Where the file names none: how many prompts.")
    ] = None
    skew: Annotated[
        float, typer.Option(min=0, help="The n-th prompt is asked in proportion to 1 / n**skew.")
    ] = 1.0
    seed: Annotated[int, typer.Option(min=0, help="Equal seeds draw equal prompts.")] = 0

    def traffic(self, file: Path | None) -> Traffic:
        """What is to be played.

        Raises:
            ConfigurationError: There is no file or no such file, or a line is no request.
        """
        if (file is None) is not self.demo:
            raise ConfigurationError("name one FILE of traffic, or --demo for traffic made up")
        if file is None:
            drawn = Popularity(self.prompts or DEMO_PROMPTS, self.skew, self.seed)
            return demo_traffic(drawn, requests=self.limit or DEMO_REQUESTS)
        popularity = Popularity(self.prompts, self.skew, self.seed)
        return read_traffic(file, popularity, limit=self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Which stores."""

    memory: Annotated[
        list[str] | None,
        typer.Option(help="A size to try, as in 64MB; may be repeated. Else ten or so that tell."),
    ] = None
    segment: Annotated[int, typer.Option(min=1, help="Tokens of a segment.")] = SEGMENT
    overhead: Annotated[
        int, typer.Option(min=0, help="Bytes of an entry beside key and value.")
    ] = OVERHEAD
    rate: Annotated[float, typer.Option(min=0.1, help="Tokens a second of the model.")] = RATE

    @property
    def costs(self) -> Costs:
        """What an entry takes."""
        return Costs(overhead=self.overhead, rate=self.rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How it is told."""

    json: AsJson = False
    plot: Annotated[Path | None, typer.Option(help="Draw a picture: .png, .svg or .pdf.")] = None
    otlp: Annotated[
        str | None, typer.Option(help="Send spans there, as to http://localhost:4318.")
    ] = None
    trace_out: Annotated[Path | None, typer.Option(help="Write spans as OTLP JSON.")] = None
    sample: Annotated[int, typer.Option(min=1, help="Requests that have spans.")] = 50

    def check(self) -> None:
        """Said before the minutes of playing, and not after.

        Raises:
            ConfigurationError: Something cannot be written or sent there.
        """
        if self.plot is not None:
            check_plot(self.plot)
        if self.otlp is not None or self.trace_out is not None:
            check_otel(self.otlp, self.trace_out)

    @property
    def traced(self) -> bool:
        """Whether spans are wanted."""
        return self.otlp is not None or self.trace_out is not None


@spread
def fragmentation(
    asked: Asked,
    stores: Stores,
    told: Told,
    *,
    file: Annotated[
        Path | None,
        typer.Argument(help="Traffic: JSON lines of t, prompt, out_tok, or .gz.", metavar="[FILE]"),
    ] = None,
) -> None:
    """Play traffic on a store of tokens, of segments and of answers, all of one size."""
    told.check()
    sizes = [byte_count(size) for size in stores.memory or []]
    traffic = asked.traffic(file)
    found = _played(traffic, sizes or memories(traffic.arrivals, stores.costs), stores)
    if told.plot is not None:
        plot_sweep(found, told.plot, title=f"{traffic.name}: {_counted(traffic)}")
    traced = _trace(traffic, found.shown, stores.costs, told) if told.traced else 0
    if told.json:
        screen.write_json(_document(traffic, found, stores))
        return
    _print(traffic, found, stores)
    out = screen.out()
    if told.plot is not None:
        out.print(f"\nThe picture is in {told.plot}.")
    if traced:
        where = " and ".join([str(place) for place in (told.otlp, told.trace_out) if place])
        out.print(
            f"\n{traced} requests to the store of tokens of {screen.size(found.shown)}: {where}"
        )


def _played(traffic: Traffic, sizes: list[float], stores: Stores) -> Sweep:
    total = (3 * len(set(sizes)) + 1) * len(traffic.arrivals)
    with screen.progress() as bar:
        task = bar.add_task("playing requests", total=total)
        return sweep(
            traffic.arrivals,
            sizes,
            stores.costs,
            segment=stores.segment,
            progress=lambda done: bar.update(task, completed=done),
        )


def _trace(traffic: Traffic, memory: float, costs: Costs, told: Told) -> int:
    """Spans of requests from all over the traffic, as if it had ended just now."""
    lookups: list[Lookup] = []
    simulate(traffic.arrivals, TOKENS, memory, costs, watch=lookups.append)
    step = max(1, -(-len(lookups) // told.sample))
    sample = [spans(lookup, costs) for lookup in lookups[step - 1 :: step]]
    begin = SystemClock.now() - max(request.end for request in sample)
    # What it logs of a receiver that is not there is said in one line below; whoever has set up
    # logging still reads it.
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    if told.otlp is not None:
        send(sample, told.otlp, begin=begin)
    if told.trace_out is not None:
        write(sample, told.trace_out, begin=begin)
    return len(sample)


def _counted(traffic: Traffic) -> str:
    drawn = ", drawn" if traffic.drawn else ""
    return (
        f"{len(traffic.arrivals):,} requests for {traffic.prompts:,} prompts{drawn}; "
        f"{traffic.tokens:,} tokens"
    )


def _print(traffic: Traffic, found: Sweep, stores: Stores) -> None:
    out = screen.out()
    out.print(screen.heading(f"{traffic.name} on three stores of one size"))
    most = max(row.answers.streams for row in found.rows)
    out.print(Text(f"{_counted(traffic)}; up to {most} at a time\n", style="dim"))
    out.print(_rows(found))
    out.print(
        Text(
            f"\nhits, segments of {stores.segment} tokens, answers: requests whose whole answer "
            f"was there;\nwithout a limit {found.ceiling:.1%}. Of tokens: partial, only some of "
            "the answer was there;\nrun, how many of it from the first one on; evictions for each "
            "that is written.",
            style="dim",
        )
    )
    out.print(screen.heading("All answers at once take"))
    out.print(screen.facts({name: screen.size(size) for name, size in found.footprints.items()}))
    out.print(_fall(found, traffic.prompts))


def _rows(found: Sweep) -> Table:
    right = ("memory", "hits", "segments", "answers", "partial", "run", "evictions")
    table = screen.table(
        "memory", "tokens".rjust(BAR), "hits", "segments", "answers", "partial", "run", "evictions",
        right=right,
    )  # fmt: skip
    fall = found.avalanche
    for row in found.rows:
        tokens = row.tokens
        table.add_row(
            screen.size(row.memory),
            Text(screen.bar(tokens.hit_rate, BAR, leftwards=True), style="red"),
            screen.percent(tokens.hit_rate),
            screen.percent(row.segments.hit_rate),
            screen.percent(row.answers.hit_rate),
            screen.percent(tokens.partial_rate),
            f"{tokens.mean_run:.0f}" if tokens.partials else "–",
            f"{tokens.evictions_per_insert:.2f}",
            style="bold" if fall is not None and row.memory <= fall.memory else "",
        )
    return table


def _fall(found: Sweep, prompts: int) -> Text:
    fall = found.avalanche
    if fall is None:
        return Text("\nNo avalanche: at none of these sizes do whole answers stand alone.")
    size = screen.size(fall.memory)
    where = f"up to {size}, the largest tried" if fall.at_least else f"below {size}"
    room = {name: fall.memory * prompts / all_ for name, all_ in found.footprints.items()}
    return Text.assemble(
        ("\nAvalanche ", "bold"),
        f"{where}: there a key for each token serves less than half\n"
        f"of what whole answers serve in the same memory ({fall.whole:.1%}). It is room for\n"
        f"{room['tokens']:,.0f} answers of mean length in tokens, or {room['answers']:,.0f} whole.",
    )


def _document(traffic: Traffic, found: Sweep, stores: Stores) -> dict[str, JSON]:
    fall = found.avalanche
    return {
        "traffic": traffic.name,
        "requests": len(traffic.arrivals),
        "prompts": traffic.prompts,
        "prompts_drawn": traffic.drawn,
        "tokens": traffic.tokens,
        "segment": stores.segment,
        "overhead": stores.overhead,
        "rate": stores.rate,
        "hit_rate_without_limit": found.ceiling,
        "footprints": {**found.footprints},
        "avalanche": None
        if fall is None
        else {"memory": fall.memory, "answers_hit_rate": fall.whole, "at_least": fall.at_least},
        "rows": [_row(row) for row in found.rows],
    }


def _row(row: Row) -> dict[str, JSON]:
    return {
        "memory": row.memory,
        "tokens": _outcome(row.tokens),
        "segments": _outcome(row.segments),
        "answers": _outcome(row.answers),
    }


def _outcome(outcome: Outcome) -> dict[str, JSON]:
    return {
        "hit_rate": outcome.hit_rate,
        "partial_rate": outcome.partial_rate,
        "mean_run": outcome.mean_run,
        "entries": outcome.entries,
        "inserts": outcome.inserts,
        "evictions": outcome.evictions,
        "evictions_per_insert": outcome.evictions_per_insert,
        "streams": outcome.streams,
    }
