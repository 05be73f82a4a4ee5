"""`semcache report`: what a user says of a served answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.text import Text

from langchain_semcache.cli import screen
from langchain_semcache.cli.entries import named
from langchain_semcache.cli.options import Namespace, Where, spread
from langchain_semcache.cli.places import open_existing
from langchain_semcache.client import Semcache
from langchain_semcache.engine import feedback
from langchain_semcache.engine.sync_driver import SyncDriver
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.records import Feedback

WHOLE = 36
"""Characters of an id."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a report did."""

    entry_id: str
    question: str | None
    wrong: bool
    removed: bool
    budgeted: bool
    kept: bool

    @property
    def told(self) -> str:
        """In one line."""
        who = f"entry {self.entry_id[:8]}"
        if not self.wrong:
            after = (
                "the error budget holds nothing against it"
                if self.budgeted
                else "without max_error_rate there is nothing to count"
            )
            return f"{'Kept' if self.question is not None else 'Cleared'} {who}: {after}."
        done = f"Removed {who}" if self.removed else f"{who.capitalize()} was gone already"
        after = (
            "the error budget counts it, and does not serve it again should it come back"
            if self.budgeted
            else "the model is asked the next time"
        )
        return f"{done}: {after}."


@spread
def report(
    where: Where,
    *,
    entry_id: Annotated[str, typer.Argument(metavar="ID", help="An id, or its beginning.")],
    wrong: Annotated[
        bool | None, typer.Option("--wrong/--right", help="What the answer was.")
    ] = None,
    asked: Annotated[
        str | None,
        typer.Option("--question", help="What was asked, to be kept as a pair for calibrate."),
    ] = None,
    namespace: Namespace = None,
) -> None:
    """Say that a served answer was wrong, which removes it, or that it was right after all."""
    if wrong is None:
        raise ConfigurationError("report needs to be told: add --wrong or --right")
    config = where.settings(namespace=namespace)
    with open_existing(config) as cache:
        budgeted = config.max_error_rate is not None
        found, question = _meant(cache, entry_id, gone=budgeted)
        kept = asked is not None and question is not None
        if asked is not None and question is not None:
            _keep(cache, Feedback(asked, question, right=not wrong))
        removed = cache.report(found, wrong=wrong)
        outcome = Outcome(found, question, wrong, removed, budgeted, kept)
    if where.json:
        screen.write_json(
            {
                "entry_id": found,
                "question": question,
                "wrong": wrong,
                "removed": removed,
                "counted": outcome.budgeted,
                "pair_kept": kept,
            }
        )
        return
    out = screen.out()
    out.print(Text(outcome.told), soft_wrap=True)
    if question is not None:
        out.print(Text(f"  {screen.clean(question)}", "dim"))
    if outcome.kept:
        out.print(Text("  The pair is kept for calibrate.", "dim"))


def _keep(cache: Semcache, said: Feedback) -> None:
    workplace = cache.core.workplace
    steps = feedback.remember(said, namespace=cache.config.namespace, now=workplace.clock.now())
    SyncDriver(workplace).run(steps, {})


def _meant(cache: Semcache, entry_id: str, *, gone: bool) -> tuple[str, str | None]:
    """Id and question; the budget remembers an entry that is `gone`, so its whole id will do."""
    try:
        entry = named(cache, entry_id)
    except ConfigurationError:
        if gone and len(entry_id) == WHOLE:
            return entry_id.lower(), None
        raise
    return entry.id, entry.question
