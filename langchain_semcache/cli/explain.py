"""`semcache explain`: what the cache would do with a question, and why.

A question belongs to a scope, and the command line cannot know every parameter an application sends
to its model. So the question is put to each scope that the tenant has in the store, by the engine's
own rules, one scope at a time as in a real lookup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from langchain_semcache.cli import screen
from langchain_semcache.cli.candidates import Seen, seen
from langchain_semcache.cli.options import Where, Whose, spread
from langchain_semcache.cli.places import open_existing
from langchain_semcache.cli.terms import Terms, terms_of
from langchain_semcache.client import Semcache
from langchain_semcache.engine import flow
from langchain_semcache.engine.refining import WINDOWS
from langchain_semcache.engine.sync_driver import SyncDriver
from langchain_semcache.eviction import Assessment
from langchain_semcache.records import (
    JSON,
    Decision,
    Entry,
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
    candidates: Sequence[Seen] = ()

    @property
    def sureness(self) -> Assessment:
        """How sure the answer is that would be served."""
        entries = (one.verdict.candidate.entry for one in self.candidates)
        served = [entry for entry in entries if entry.id == self.decision.entry_id]
        return Assessment.from_json(served[0].assessment if served else "")

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
        terms = terms_of(cache.core)
    if where.json:
        screen.write_json(_document(question, terms, looks))
        return
    _print(question, terms, looks)


def _asked(cache: Semcache, asked: Request) -> Look:
    """Exactly this request, as the framework-free cache would see it."""
    resolved = cache.core.resolve(asked)
    decision = cache.explain(asked)
    driver, query = SyncDriver(cache.core.workplace), cache.core.policy.refine(resolved.query)
    found = seen(cache.core, driver, query, decision.verdicts)
    return Look(resolved.scope.digest, resolved.scope.model, decision, found)


def _elsewhere(cache: Semcache, asked: Request) -> Iterator[Look]:
    resolved = cache.core.resolve(asked)
    asking = cache.core.policy.refine(resolved.query)
    personal = asking.exact_only is Reason.PERSONAL_QUESTION
    if resolved.cacheable is not None or (asking.exact_only is not None and not personal):
        return
    driver, text = SyncDriver(cache.core.workplace), asking.text
    for entry in _one_of_each(cache, resolved.scope, text):
        if entry.partition == asking.partition or (personal and entry.question != text):
            continue
        if entry.partition.endswith(WINDOWS) is not bool(asking.windows):
            continue  # a long text meets long ones only, and a short one short ones
        scope = Scope(
            digest=entry.scope, namespace=entry.namespace, tenant=entry.tenant, model=entry.model
        )
        # The same words in the same partition are the same request, whatever its parameters are.
        fingerprint = entry.fingerprint if entry.question == text else ""
        query = replace(asking, fingerprint=fingerprint, partition=entry.partition)
        decision = driver.run(flow.explain(scope, query, cache.core.policy), {})
        found = seen(cache.core, driver, query, decision.verdicts)
        yield Look(entry.scope, entry.model, decision, found)


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


def _print(question: str, terms: Terms, looks: Sequence[Look]) -> None:
    out = screen.out()
    best = looks[0]
    out.print(screen.heading(screen.clean(question), f"hits {terms.told}"))
    out.print(_outcome(best))
    if best.decision.hit and best.decision.reason is not Reason.EXACT and terms.max_error_rate:
        rate = f"{terms.max_error_rate:g}"
        out.print(
            Text(f"  The error budget of {rate} has the last word, and was not asked.", "dim")
        )
    shown = [look for look in looks if look.candidates]
    if shown:
        out.print()
        out.print(_candidates(shown, terms))
    if len(shown) > 1:
        out.print(Text(f"\n{len(shown)} scopes hold answers; none is served to another.", "dim"))


def _candidates(shown: Sequence[Look], terms: Terms) -> Table:
    scopes = ("scope",) if len(shown) > 1 else ()
    sure = () if terms.min_confidence is None else ("conf",)
    second = () if terms.verifier is None else ("verifier",)
    columns = ("", "sim", *sure, *second, *scopes, "stored question, and what became of it")
    table = screen.table(*columns, right=("sim", "conf", "verifier"), wide=columns[-1:])
    table.columns[-1].no_wrap = False
    table.columns[-1].overflow = "fold"
    for look in shown:
        for one in look.candidates:
            stored = screen.short(one.verdict.candidate.entry.question, 200)
            table.add_row(
                screen.mark(one.verdict.reason is Reason.SEMANTIC),
                f"{one.verdict.candidate.similarity:.3f}",
                *((_number(one.confidence),) if sure else ()),
                *((_number(one.opinion),) if second else ()),
                *((look.scope[:8],) if scopes else ()),
                stored.append(f"\n{screen.clean(one.words())}", style="dim"),
            )
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _outcome(look: Look) -> Text:
    decision = look.decision
    if not decision.hit:
        detail = f" ({screen.clean(decision.detail)})" if decision.detail else ""
        return Text.assemble(screen.mark(False), f" asks the model: {decision.reason}{detail}")
    similarity = decision.similarity or 0.0
    told = decision.confidence if decision.confidence != similarity else None
    sure = "" if told is None else f", confidence {told:.3f}"
    age = decision.age.total_seconds() if decision.age is not None else 0.0
    return Text.assemble(
        screen.mark(True),
        f" served from the cache: {decision.reason}, similarity {similarity:.3f}{sure}\n  ",
        (screen.clean(decision.question or ""), "bold"),
        f"\n  entry {(decision.entry_id or '')[:8]}, model {look.model or '(none)'}, "
        f"stored {screen.span(age)} ago",
        f"\n  {words}" if (words := look.sureness.in_words()) else "",
    )


def _document(question: str, terms: Terms, looks: Sequence[Look]) -> JSON:
    return {
        "question": question,
        **asdict(terms),
        **_decision(looks[0]),
        "other_scopes": [_decision(look) for look in looks[1:] if look.candidates],
    }


def _decision(look: Look) -> dict[str, JSON]:
    decision = look.decision
    return {
        "hit": decision.hit,
        "reason": decision.reason.value,
        "detail": decision.detail,
        "similarity": decision.similarity,
        "confidence": decision.confidence,
        "entry_id": decision.entry_id,
        "stored_question": decision.question,
        "scope": look.scope,
        "model": look.model,
        "candidates": [_candidate(one) for one in look.candidates],
    }


def _candidate(one: Seen) -> JSON:
    entry, refusal = one.verdict.candidate.entry, one.refusal
    return {
        "entry_id": entry.id,
        "question": entry.question,
        "similarity": one.verdict.candidate.similarity,
        "around": list(one.verdict.around),
        "confidence": one.confidence,
        "opinion": one.opinion,
        "guard": None
        if refusal is None
        else {
            "reason": refusal.reason.value,
            "detail": refusal.detail,
            "final": refusal.final,
        },
        "assessment": Assessment.from_json(entry.assessment).as_json(),
        "verdict": one.verdict.reason.value,
        "detail": one.verdict.detail,
        "in_words": one.words(),
    }
