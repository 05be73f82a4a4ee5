"""`semcache clear`: remove entries, all of a namespace or those that match."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

import typer

from langchain_semcache.cli import screen
from langchain_semcache.cli.options import Where, Whose, duration, spread
from langchain_semcache.cli.places import open_existing, shown
from langchain_semcache.client import Semcache
from langchain_semcache.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which entries go: everything that is said must match."""

    tag: Annotated[list[str] | None, typer.Option(help="With this tag; may be repeated.")] = None
    model: Annotated[str | None, typer.Option(help="Answers of this model.")] = None
    source: Annotated[str | None, typer.Option(help="Answers that rest on this source.")] = None
    older_than: Annotated[
        str | None, typer.Option(help="Stored longer ago: 90s, 15m, 12h, 7d, 2w.")
    ] = None


@spread
def clear(
    where: Where,
    whose: Whose,
    which: Which,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, and remove nothing.")] = False,
) -> None:
    """Remove the entries of a namespace, or those of them that match; asks first."""
    if where.json and not (yes or dry_run):
        raise ConfigurationError("clear --json cannot ask: add --yes, or --dry-run to count only")
    older = duration(which.older_than) if which.older_than is not None else None
    config = where.settings(namespace=whose.namespace)
    with open_existing(config) as cache:
        count = _remove(cache, whose, which, older, dry_run=True)
        if not dry_run and count:
            if not yes:
                _ask(count, f"{shown(config.location)}, namespace {config.namespace}")
            count = _remove(cache, whose, which, older, dry_run=False)
    if where.json:
        screen.write_json({"removed": 0 if dry_run else count, "matched": count})
        return
    verb = "would be removed" if dry_run else "removed"
    screen.out().print(f"{count:,} {_entries(count)} {verb}.")


def _remove(
    cache: Semcache, whose: Whose, which: Which, older: timedelta | None, *, dry_run: bool
) -> int:
    # An empty name is a name: `--model ""` must never widen into everything.
    named = (which.model, which.source, older, whose.tenant)
    if which.tag or any(one is not None for one in named):
        return cache.invalidate(
            tags=which.tag or (),
            source=which.source,
            model=which.model,
            tenant=whose.tenant,
            older_than=older,
            dry_run=dry_run,
        )
    return cache.stats(sizes=False).entries if dry_run else cache.clear()


def _ask(count: int, place: str) -> None:
    """Raises typer.Abort unless the answer is yes."""
    typer.confirm(f"Remove {count:,} {_entries(count)} from {place}?", abort=True, err=True)


def _entries(count: int) -> str:
    return "entry" if count == 1 else "entries"
