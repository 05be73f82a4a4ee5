"""`semcache history`: how an answer has changed."""

from __future__ import annotations

import difflib
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from langchain_semcache.cli import screen
from langchain_semcache.cli.entries import named
from langchain_semcache.cli.options import Namespace, Where, spread
from langchain_semcache.cli.places import open_existing
from langchain_semcache.clock import SystemClock
from langchain_semcache.engine.past import Past
from langchain_semcache.records import Entry

_STYLES = {"+": "green", "-": "red", "@": "dim"}


@spread
def history(
    where: Where,
    *,
    entry_id: Annotated[str, typer.Argument(metavar="ID", help="An id, or its beginning.")],
    namespace: Namespace = None,
) -> None:
    """Show what changed between an answer and the one before it, and how much at each refresh."""
    with open_existing(where.settings(namespace=namespace)) as cache:
        entry = named(cache, entry_id)
        past = cache.history(entry.id) or Past(current=cache.read(entry))
    if where.json:
        screen.write_json(
            {
                "id": entry.id,
                "question": entry.question,
                "changes": [{**asdict(change)} for change in past.changes],
                "previous_at": past.previous_at,
                "previous": past.previous.text if past.previous else None,
                "current": past.current.text,
                "words_alike": past.words_alike,
            }
        )
        return
    _show(entry, past)


def _show(entry: Entry, past: Past) -> None:
    out = screen.out()
    out.print(screen.heading(screen.clean(entry.question), entry.id[:8]))
    if not past.changes:
        out.print("No other answer is on record.")
        return
    now = SystemClock().now()
    for change in past.changes:
        told = "not compared" if change.share is None else f"{change.share:.0%} new"
        out.print(f"replaced {screen.span(now - change.at)} ago, {told}")
    if past.previous is None:
        out.print("The answer before is not kept: too little of it is left in this one.")
        return
    out.print(f"alike in the first {past.words_alike:,} words")
    lines = difflib.unified_diff(
        past.previous.text.splitlines(), past.current.text.splitlines(), lineterm="", n=1
    )
    for line in list(lines)[2:] or ["The text is the same."]:
        out.print(Text(screen.clean(line), _STYLES.get(line[:1], "")))
