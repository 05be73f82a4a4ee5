"""`semcache show`: the newest entries, or one of them whole."""

from __future__ import annotations

import heapq
from typing import Annotated

import typer
from rich.text import Text

from langchain_semcache.cli import screen
from langchain_semcache.cli.options import Where, Whose, spread
from langchain_semcache.cli.places import open_existing, shown
from langchain_semcache.client import Semcache
from langchain_semcache.clock import SystemClock
from langchain_semcache.errors import ConfigurationError, CorruptEntry
from langchain_semcache.eviction import Assessment
from langchain_semcache.records import JSON, Entry, Response, Selection
from langchain_semcache.request import tenant_digest


@spread
def show(
    where: Where,
    whose: Whose,
    *,
    entry_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="An id, or its beginning.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Entries to list.")] = 20,
) -> None:
    """List the newest entries, or show one with its whole answer."""
    with open_existing(where.settings(namespace=whose.namespace)) as cache:
        if entry_id is not None:
            _show_one(cache, named(cache, entry_id), as_json=where.json)
            return
        entries = heapq.nlargest(limit, _mine(cache, whose), key=lambda e: (e.created_at, e.id))
        if where.json:
            screen.write_json([_record(cache, entry) for entry in entries])
            return
        _list(cache, entries)


def _mine(cache: Semcache, whose: Whose) -> list[Entry]:
    tenant = None if whose.tenant is None else tenant_digest(whose.tenant)
    selection = Selection(namespace=cache.config.namespace, tenant=tenant)
    return list(cache.core.workplace.index.scan(selection))


def named(cache: Semcache, entry_id: str) -> Entry:
    """The entry whose id begins so.

    Raises:
        ConfigurationError: None does, or several do.
    """
    wanted = entry_id.lower()
    found = [entry for entry in cache.entries() if entry.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    problem = "no id begins" if not found else f"{len(found)} ids begin"
    fix = "`semcache show` lists the ids" if not found else "give more of the id"
    raise ConfigurationError(
        f"{problem} with {entry_id!r} in namespace {cache.config.namespace!r}: {fix}"
    )


def _list(cache: Semcache, entries: list[Entry]) -> None:
    out = screen.out()
    config = cache.config
    title = f"namespace {config.namespace}"
    if not entries:
        out.print(f"No entries in {shown(config.location)}, {title}.")
        return
    now = SystemClock().now()
    wide = screen.pair_columns("question", "answer", out.width)
    table = screen.table(
        *("id", "age", "expires in", "model", *wide), right=("age", "expires in"), wide=wide
    )
    for entry in entries:
        table.add_row(
            entry.id[:8],
            screen.span(now - entry.created_at),
            _expiry(cache, entry, now),
            screen.short(entry.model or "–", 14),
            *screen.pair(entry.question, _answer(cache, entry), out.width),
        )
    out.print(screen.heading(shown(config.location), f"{title}, newest first"))
    out.print(table)


def _show_one(cache: Semcache, entry: Entry, *, as_json: bool) -> None:
    if as_json:
        screen.write_json(_record(cache, entry))
        return
    now = SystemClock().now()
    out = screen.out()
    out.print(
        screen.facts(
            {
                "id": entry.id,
                "question": entry.question,
                "model": entry.model or "–",
                "stored": f"{screen.span(now - entry.created_at)} ago",
                "expires in": _expiry(cache, entry, now),
                **_life(cache, entry),
                "sureness": Assessment.from_json(entry.assessment).in_words() or "–",
                "tags": ", ".join(entry.tags) or "–",
                "sources": ", ".join(f"{name} {version}" for name, version in entry.sources) or "–",
                "scope": entry.scope,
                "tenant": entry.tenant,
                "size": screen.size(len(entry.payload)),
            }
        )
    )
    out.print(Text("\n").append("\n".join(map(screen.clean, _answer(cache, entry).split("\n")))))


def _expiry(cache: Semcache, entry: Entry, now: float) -> str:
    ends_at = _ends_at(cache, entry)
    if ends_at is None:
        return "never"
    return screen.span(ends_at - now) if ends_at > now else "expired"


def _ends_at(cache: Semcache, entry: Entry) -> float | None:
    policy = cache.core.policy
    return policy.ends_at(entry, policy.life(entry))


def _life(cache: Semcache, entry: Entry) -> dict[str, str]:
    lives = cache.core.policy.life(entry)
    return {} if lives is None else {"lifetime": str(lives)}


def _decoded(cache: Semcache, entry: Entry) -> Response | None:
    try:
        return cache.read(entry)
    except CorruptEntry:
        return None


def _answer(cache: Semcache, entry: Entry) -> str:
    response = _decoded(cache, entry)
    if response is None:
        return "(cannot be read; it counts as a miss)"
    return response.text or f"({response.kind}, without text)"


def _record(cache: Semcache, entry: Entry) -> JSON:
    response = _decoded(cache, entry)
    return {
        "id": entry.id,
        "question": entry.question,
        "model": entry.model,
        "namespace": entry.namespace,
        "tenant": entry.tenant,
        "scope": entry.scope,
        "created_at": entry.created_at,
        "expires_at": _ends_at(cache, entry),
        "lifetime": None if (lives := cache.core.policy.life(entry)) is None else str(lives),
        "assessment": Assessment.from_json(entry.assessment).as_json(),
        "tags": list(entry.tags),
        "sources": {**dict(entry.sources)},
        "answer": response.text if response else None,
        "kind": response.kind if response else None,
    }
