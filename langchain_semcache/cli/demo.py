"""`semcache demo`: a morning of support questions through LangChain, and what was made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated

import typer
from rich.progress import Progress, TaskID
from rich.table import Table
from rich.text import Text

from langchain_semcache.cli import screen
from langchain_semcache.cli.demo_corpus import STREAM
from langchain_semcache.cli.demo_run import NAMESPACE, Run, Turn, play
from langchain_semcache.cli.demo_summary import Summary, document, summarise
from langchain_semcache.cli.options import Where, spread
from langchain_semcache.records import Reason


@spread
def demo(
    where: Where,
    *,
    delay: Annotated[float, typer.Option(min=0, help="Seconds the model takes.")] = 0.3,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget earlier demos first.")] = False,
    price_per_million: Annotated[
        float, typer.Option(min=0, help="Price of a million tokens, in dollars.")
    ] = 10.0,
) -> None:
    """Send a morning of support questions through a LangChain chain and see what the cache serves.

    The model is a local stand-in: no key, no network. The entries live in a namespace of their
    own, "demo", and stay: the second run finds them.
    """
    config = where.settings()
    with screen.progress() as bar:
        task = bar.add_task("loading the encoder", total=len(STREAM))
        run = play(config, delay=delay, fresh=fresh, watch=partial(_watched, bar, task))
    summary = summarise(run, price_per_million)
    if where.json:
        screen.write_json(document(run, summary, price_per_million))
        return
    out = screen.out()
    out.print(_opening(run))
    for title, note, block in _blocks(run, out.width):
        out.print(screen.heading(title, note))
        out.print(block)
    out.print(screen.heading("Summary"))
    out.print(screen.facts(_facts(run, summary, price_per_million)))


def _watched(bar: Progress, task: TaskID, turns: Iterator[Turn]) -> Sequence[Turn]:
    done: list[Turn] = []
    for turn in turns:
        done.append(turn)
        hits = sum(one.decision.hit for one in done)
        bar.update(task, advance=1, description=f"{hits} from the cache")
    return done


def _opening(run: Run) -> Text:
    found = (
        f"{run.found} entries of an earlier run were found: the cache persisted."
        if run.found
        else "The cache is empty."
    )
    return Text.assemble(
        (f"set_llm_cache(SemanticCache({run.location!r}, namespace={NAMESPACE!r}))\n", "bold"),
        ("chain = prompt | model | StrOutputParser()\n", "bold"),
        f"{len(run.turns)} questions in English and Chinese; ",
        f"the model takes {run.delay * 1000:.0f} ms an answer. {found}",
    )


def _blocks(run: Run, width: int) -> Iterator[tuple[str, str, Table]]:
    exact = sum(turn.decision.reason is Reason.EXACT for turn in run.turns)
    groups = {
        "Served by meaning": (
            f"and {exact} more, word for word",
            [turn for turn in run.turns if turn.decision.reason is Reason.SEMANTIC],
        ),
        "Kept apart": (
            "close to a stored question, and another question",
            [turn for turn in run.turns if turn.refused and not turn.overlooked],
        ),
        "Overlooked": (
            "asked before in other words; the model was asked again",
            [turn for turn in run.turns if turn.overlooked],
        ),
        "Wrong": (
            "served the answer of another question",
            [turn for turn in run.turns if turn.wrong],
        ),
    }
    for title, (note, turns) in groups.items():
        shown = [turn for turn in turns if title == "Wrong" or not turn.wrong]
        if shown:
            yield f"{title}: {len(shown)}", note, _neighbours(shown, width)


def _neighbours(turns: Sequence[Turn], width: int) -> Table:
    wide = screen.pair_columns("asked", "stored", width)
    roomy, traps = len(wide) > 1, any(turn.ask.kind.is_trap for turn in turns)
    last = ("reason", "what differs") if roomy and traps else ("reason",)
    table = screen.table("sim", *wide, *last, right=("sim",), wide=wide)
    for turn in turns:
        near = turn.decision.similarity
        questions = screen.pair(turn.ask.text, turn.decision.question or "–", width)
        told = [Text(str(turn.decision.reason))]
        if turn.ask.kind.is_trap:
            told.append(Text(str(turn.ask.kind), style="dim"))
        reason = told if roomy else [Text("\n").join(told)]
        table.add_row("–" if near is None else f"{near:.3f}", *questions, *reason)
    return table


def _facts(run: Run, summary: Summary, price: float) -> dict[str, object]:
    known = summary.rewordings + sum(turn.ask.kind == "repeat" for turn in run.turns)
    fooled = sum(turn.wrong for turn in run.turns if turn.ask.kind.is_trap)
    facts: dict[str, object] = {
        "hit rate": f"{summary.hit_rate:.1%}: {summary.hits} of {summary.asked} "
        f"({summary.exact} exact, {summary.semantic} semantic)",
        "recognised": f"{known - summary.overlooked} of {known} repeated or reworded questions",
        "kept apart": f"{summary.traps - fooled} of {summary.traps} traps "
        "(other number, name, period, negation, opposite, direction, language)",
        "wrong answers": Text(str(summary.wrong), style="bold red" if summary.wrong else "green"),
        "a hit takes": _latency(summary.hit_p50, summary.hit_p95),
        "a miss takes": _latency(summary.miss_p50, summary.miss_p95),
        "time saved": f"{summary.seconds_saved:.1f} s of "
        f"{summary.seconds_saved + summary.seconds_spent:.1f} s",
        "money saved": f"${summary.money_saved:.4f}: {summary.tokens_saved:,} of "
        f"{summary.tokens_saved + summary.tokens_billed:,} tokens at ${price:g} a million",
        "compared by": f"{run.encoder}, from similarity {run.threshold:g} on",
    }
    if run.failures:
        counted = ", ".join(f"{port} {count}" for port, count in run.failures.items())
        facts["failures"] = Text(f"{counted}: those misses were not decided", style="bold red")
    return facts


def _latency(p50: float | None, p95: float | None) -> str:
    if p50 is None or p95 is None:
        return "– (there was none)"
    return f"{screen.millis(p50)} (p50), {screen.millis(p95)} (p95)"
