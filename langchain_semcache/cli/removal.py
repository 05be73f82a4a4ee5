"""How a command removes entries: count, ask, remove, say how many that were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer

from langchain_semcache.cli import screen
from langchain_semcache.cli.options import Where
from langchain_semcache.cli.places import open_existing, shown
from langchain_semcache.client import Semcache
from langchain_semcache.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Sure:
    """Whether to ask, and whether to do it at all."""

    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, and remove nothing.")] = False


def carry_out(
    command: str,
    where: Where,
    namespace: str | None,
    sure: Sure,
    remove: Callable[[Semcache, bool], int],
) -> None:
    """Remove what `remove` means; it is called to count (True), and then to do it (False).

    Raises:
        ConfigurationError: It would have to ask, and cannot.
        Abort: The answer was no.
    """
    if where.json and not (sure.yes or sure.dry_run):
        raise ConfigurationError(
            f"{command} --json cannot ask: add --yes, or --dry-run to count only"
        )
    config = where.settings(namespace=namespace)
    with open_existing(config) as cache:
        count = remove(cache, True)
        if not sure.dry_run and count:
            if not sure.yes:
                _ask(count, f"{shown(config.location)}, namespace {config.namespace}")
            count = remove(cache, False)
    if where.json:
        screen.write_json({"removed": 0 if sure.dry_run else count, "matched": count})
        return
    verb = "would be removed" if sure.dry_run else "removed"
    screen.out().print(f"{count:,} {_entries(count)} {verb}.")


def _ask(count: int, place: str) -> None:
    """Raises typer.Abort unless the answer is yes."""
    typer.confirm(f"Remove {count:,} {_entries(count)} from {place}?", abort=True, err=True)


def _entries(count: int) -> str:
    return "entry" if count == 1 else "entries"
