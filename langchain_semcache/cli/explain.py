"""`semcache explain`: what the cache would do with a question, and why.

A question belongs to a scope, and the command line cannot know every parameter an application sends
to its model. So the question is put to each scope that the tenant has in the store, by the engine's
own rules, one scope at a time as in a real lookup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from langchain_semcache.cli import screen
from langchain_semcache.cli.options import Where, Whose, spread
from langchain_semcache.cli.places import open_existing
from langchain_semcache.client import Semcache
from langchain_semcache.engine import flow
from langchain_semcache.engine.sync_driver import SyncDriver
from langchain_semcache.records import (
    JSON,
    Decision,
    Entry,
    Query,
    Reason,
    Request,
    Scope,
    Selection,
)

MOST_SCOPES = 200
"""Scopes and histories that a question is put to; the ones stored to last come first."""


@dataclass(frozen=True, slots=True)
class Look:
    """The decision in one scope."""

    scope: str
    model: str
    decision: Decision

    @property
    def rank(self) -> tuple[bool, float]:
        """Hits first, then what is nearest."""
        return self.decision.hit, self.decision.similarity or 0.0


@spread
def explain(
    where: Where,
    whose: Whose,
    *,
    question: Annotated[str, typer.Argument(help="The question, as a user would ask it.")],
    model: Annotated[str, typer.Option(help="Only answers of this model.")] = "",
    system: Annotated[
        str | None,
        typer.Option(
            help="Only the scope of this system prompt, with --model and no further parameters."
        ),
    ] = None,
) -> None:
    """Show every candidate for a question with its verdict, and what would be served."""
    config = where.settings(namespace=whose.namespace, tenant=whose.tenant)
    messages = [{"role": "user", "content": question}]
    if system is not None:
        messages.insert(0, {"role": "system", "content": system})
    with open_existing(config) as cache:
        cache.core.workplace.encoder.encode([question])  # loads the model, outside any deadline
        asked = Request(messages=messages, model=model)
        looks = [_asked(cache, asked)]
        if system is None:
            looks = sorted([*looks, *_elsewhere(cache, asked)], key=lambda one: one.rank)[::-1]
        threshold = cache.core.policy.similarity_threshold
    if where.json:
        screen.write_json(_document(question, threshold, looks))
        return
    _print(question, threshold, looks)


def _asked(cache: Semcache, asked: Request) -> Look:
    """Exactly this request, as the framework-free cache would see it."""
    scope = cache.core.resolve(asked).scope
    return Look(scope.digest, scope.model, cache.explain(asked))


def _elsewhere(cache: Semcache, asked: Request) -> Iterator[Look]:
    resolved = cache.core.resolve(asked)
    if resolved.query.exact_only is not None or resolved.cacheable is not None:
        return
    driver = SyncDriver(cache.core.workplace)
    text = resolved.query.text
    for entry in _one_of_each(cache, resolved.scope, text):
        if entry.partition == resolved.query.partition:
            continue
        scope = Scope(
            digest=entry.scope, namespace=entry.namespace, tenant=entry.tenant, model=entry.model
        )
        # The same words in the same partition are the same request, whatever its parameters are.
        fingerprint = entry.fingerprint if entry.question == text else ""
        query = Query(text=text, fingerprint=fingerprint, partition=entry.partition)
        decision = driver.run(flow.explain(scope, query, cache.core.policy), {})
        yield Look(entry.scope, entry.model, decision)


def _one_of_each(cache: Semcache, scope: Scope, text: str) -> Sequence[Entry]:
    """One entry for each partition: the one with these very words if there is one."""
    chosen: dict[str, Entry] = {}
    wanted = Selection(namespace=scope.namespace, tenant=scope.tenant, model=scope.model or None)
    for entry in cache.core.workplace.index.scan(wanted):
        held = chosen.get(entry.partition)
        key = (entry.question == text, entry.created_at)
        if held is None or key > (held.question == text, held.created_at):
            chosen[entry.partition] = entry
    newest = sorted(chosen.values(), key=lambda one: (one.question == text, one.created_at))
    return newest[::-1][:MOST_SCOPES]


def _print(question: str, threshold: float, looks: Sequence[Look]) -> None:
    out = screen.out()
    best = looks[0]
    out.print(screen.heading(screen.clean(question), f"hits from similarity {threshold:g} on"))
    out.print(_outcome(best))
    shown = [look for look in looks if look.decision.verdicts]
    if shown:
        out.print()
        out.print(_candidates(shown))
    if len(shown) > 1:
        out.print(Text(f"\n{len(shown)} scopes hold answers; none is served to another.", "dim"))


def _candidates(shown: Sequence[Look]) -> Table:
    scopes = ("scope",) if len(shown) > 1 else ()
    columns = ("", "sim", "stored question", "verdict", *scopes)
    table = screen.table(*columns, right=("sim",), wide=("stored question",))
    for look in shown:
        for verdict in look.decision.verdicts:
            told = Text(str(verdict.reason))
            if verdict.detail and verdict.reason is not Reason.BELOW_THRESHOLD:
                told.append("\n").append(screen.short(verdict.detail, 34).plain, style="dim")
            table.add_row(
                screen.mark(verdict.reason is Reason.SEMANTIC),
                f"{verdict.candidate.similarity:.3f}",
                screen.short(verdict.candidate.entry.question, 200),
                told,
                *((look.scope[:8],) if scopes else ()),
            )
    return table


def _outcome(look: Look) -> Text:
    decision = look.decision
    if not decision.hit:
        detail = f" ({screen.clean(decision.detail)})" if decision.detail else ""
        return Text.assemble(screen.mark(False), f" asks the model: {decision.reason}{detail}")
    similarity = decision.similarity or 0.0
    age = decision.age.total_seconds() if decision.age is not None else 0.0
    return Text.assemble(
        screen.mark(True),
        f" served from the cache: {decision.reason}, similarity {similarity:.3f}\n  ",
        (screen.clean(decision.question or ""), "bold"),
        f"\n  entry {(decision.entry_id or '')[:8]}, model {look.model or '(none)'}, "
        f"stored {screen.span(age)} ago",
    )


def _document(question: str, threshold: float, looks: Sequence[Look]) -> JSON:
    return {
        "question": question,
        "similarity_threshold": threshold,
        **_decision(looks[0]),
        "other_scopes": [_decision(look) for look in looks[1:] if look.decision.verdicts],
    }


def _decision(look: Look) -> dict[str, JSON]:
    decision = look.decision
    return {
        "hit": decision.hit,
        "reason": decision.reason.value,
        "detail": decision.detail,
        "similarity": decision.similarity,
        "entry_id": decision.entry_id,
        "stored_question": decision.question,
        "scope": look.scope,
        "model": look.model,
        "candidates": [
            {
                "entry_id": verdict.candidate.entry.id,
                "question": verdict.candidate.entry.question,
                "similarity": verdict.candidate.similarity,
                "verdict": verdict.reason.value,
                "detail": verdict.detail,
            }
            for verdict in decision.verdicts
        ],
    }
