"""A lookup, with what becomes of it noted for the lifetimes."""

from __future__ import annotations

from langchain_semcache.engine.commands import Flow
from langchain_semcache.engine.flow import entry_id, get
from langchain_semcache.engine.freshness import Freshness
from langchain_semcache.records import Decision, Entry, Query, Scope


def learning(
    steps: Flow[Decision], scope: Scope, query: Query, freshness: Freshness
) -> Flow[Decision]:
    """Carry the lookup out, and tell of it afterwards: nothing is decided otherwise by that."""
    started = freshness.clock.monotonic()
    decision = yield from steps
    seconds = freshness.clock.monotonic() - started
    # Before this request is counted: the lifetimes beside the live one must know what that knew.
    for shadow in freshness.shadows:
        if not decision.hit:
            shadow.missed(entry_id(scope, query), seconds)
        elif (served := (yield from _served(decision))) is not None:
            shadow.hit(served, seconds)
    freshness.asked(scope)
    freshness.decided(decision, scope)
    return decision


def _served(hit: Decision) -> Flow[Entry | None]:
    """The entry of a hit; one that was found by its words has to be asked for again."""
    entries = [verdict.candidate.entry for verdict in hit.verdicts]
    found = next((entry for entry in entries if entry.id == hit.entry_id), None)
    if found is None and hit.entry_id is not None:
        found = yield from get(hit.entry_id)
    return found
