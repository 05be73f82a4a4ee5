"""`semcache compact`: remove what no answer leans on any more."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer

from langchain_semcache.cli import screen
from langchain_semcache.cli.options import Where, duration, spread
from langchain_semcache.cli.places import open_existing
from langchain_semcache.engine.shelf import GRACE


@spread
def compact(
    where: Where,
    *,
    grace: Annotated[
        str | None,
        typer.Option(
            help="Keep what was written later than so long ago (default 1h); 0s keeps nothing, "
            "and is safe only while nobody writes."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, and remove nothing.")] = False,
) -> None:
    """Remove dictionaries and shared answers that no entry of any namespace leans on any more."""
    kept_for = GRACE if grace is None else _span(grace)
    with open_existing(where.settings()) as cache:
        done = cache.compact(grace=kept_for, dry_run=dry_run)
    if where.json:
        screen.write_json({**asdict(done), "dry_run": dry_run})
        return
    verb = "would be removed" if dry_run else "removed"
    screen.out().print(
        f"{done.parts:,} shared parts {verb}, {screen.size(done.bytes)}; "
        f"{done.kept:,} stay. {done.entries:,} entries were looked at."
    )


def _span(text: str) -> timedelta:
    return timedelta(0) if text in {"0", "0s"} else duration(text, option="--grace")
