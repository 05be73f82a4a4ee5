"""The decision: exact → semantic → guards → confidence → serve. Pure; knows no backend.

Everything a lookup does is in this file, and what a store does in `storing`. Sync and async behave
the same because both drivers run these generators.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from langchain_semcache.engine import asking, judging
from langchain_semcache.engine.commands import Admit, Failure, Flow
from langchain_semcache.engine.packing import opened
from langchain_semcache.engine.policy import Policy
from langchain_semcache.errors import IndexUnavailable
from langchain_semcache.guards import kind
from langchain_semcache.records import (
    Candidate,
    Decision,
    Entry,
    Query,
    Reason,
    Response,
    Scope,
    Selection,
    Verdict,
)

ENTRY_NAMESPACE = uuid.UUID("0c5d6c4e-6f0b-5d0a-9a64-5e3f0a1c7b21")
"""Namespace of entry ids: one (scope, fingerprint) is one point for ever."""


def entry_id(scope: Scope, query: Query) -> str:
    """UUIDv5 of scope and fingerprint: the exact tier is a fetch by this id."""
    name = f"{scope.digest}:{query.fingerprint}".encode()
    text = hashlib.sha1(ENTRY_NAMESPACE.bytes + name, usedforsecurity=False).hexdigest()
    # What `uuid.uuid5` returns, spelled out: building the object takes longer than the hash, and
    # every exact hit pays for it.
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def lookup(scope: Scope, query: Query, policy: Policy) -> Flow[Decision]:
    """Serve the exact entry, else the best candidate that passes, else say why not."""
    asked = entry_id(scope, query)
    exact = yield from asking.fetch(asked)
    trouble: Failure | None = exact if isinstance(exact, Failure) else None
    bar = _bar(exact, policy) if isinstance(exact, Entry) else None
    if isinstance(exact, Entry) and bar is None:
        response = yield from opened(exact, policy)
        if isinstance(response, Response):
            return _hit(Verdict(Candidate(exact, 1.0), Reason.EXACT), response, policy)
        trouble = response
    query = policy.refine(query)
    if query.exact_only is not None:
        if bar is not None:
            return replace(_miss(bar[0], query, detail=bar[1]), entry_id=asked)
        return _miss(trouble.reason if trouble else query.exact_only, query, trouble=trouble)
    if trouble is not None and trouble.reason is not Reason.CORRUPT_ENTRY:
        return _miss(trouble.reason, query, trouble=trouble)
    verdicts = yield from judging.verdicts(query, policy)
    if isinstance(verdicts, Failure):
        return _miss(verdicts.reason, query, trouble=verdicts)
    decision = yield from _decide(query, verdicts, policy)
    if policy.budgeted and decision.hit:
        decision = yield from _admitted(scope, asked, query, decision, policy)
    if trouble is not None and not decision.hit:
        return replace(decision, reason=trouble.reason, detail=str(trouble.error))
    return decision


def _bar(exact: Entry, policy: Policy) -> tuple[Reason, str] | None:
    """What keeps the entry of these very words from being served, and how that comes."""
    if (lives := policy.is_over(exact)) is not None:
        return Reason.EXPIRED, str(lives)
    return (Reason.TOO_OLD, "") if policy.is_too_old(exact) else None


def explain(scope: Scope, query: Query, policy: Policy) -> Flow[Decision]:
    """What `lookup` would decide, with every candidate judged and no answer handed out.

    The error budget is not asked: it would count.
    """
    policy = replace(policy, budgeted=False)
    decision = yield from lookup(scope, query, policy)
    query = policy.refine(query)
    if decision.reason is Reason.EXACT and query.exact_only is None:
        verdicts = yield from judging.verdicts(query, policy)
        if not isinstance(verdicts, Failure):
            decision = replace(decision, verdicts=tuple(verdicts))
    return replace(decision, response=None)


def _admitted(
    scope: Scope, asked: str, query: Query, hit: Decision, policy: Policy
) -> Flow[Decision]:
    """The hit, or the miss that the error budget makes of it."""
    served = next(v for v in hit.verdicts if v.candidate.entry.id == hit.entry_id)
    entry, sureness = served.candidate.entry, policy.sureness(query.text, served)
    admitted = yield from asking.admit(
        Admit(scope.namespace, asked, entry.id, sureness, kind(query.text))
    )
    if admitted is None or admitted.reason is Reason.SEMANTIC:
        return hit
    refused = replace(served, reason=admitted.reason, detail=admitted.detail)
    others = [verdict for verdict in hit.verdicts if verdict is not served]
    return _miss(admitted.reason, query, verdicts=(refused, *others), detail=admitted.detail)


def get(wanted: str) -> Flow[Entry | None]:
    """The live entry with this id; None also when the index does not answer."""
    found = yield from asking.fetch(wanted)
    return found if isinstance(found, Entry) else None


def remove(selection: Selection, *, dry_run: bool = False) -> Flow[int]:
    """Remove what matches.

    Raises:
        IndexUnavailable: The index did not do it. Unlike a lookup, an administrative operation
            that silently does nothing would be a lie.
    """
    count = yield from asking.remove(selection, dry_run=dry_run)
    if isinstance(count, Failure):
        raise IndexUnavailable(str(count.error)) from count.error
    return count


def _decide(query: Query, verdicts: Sequence[Verdict], policy: Policy) -> Flow[Decision]:
    """Serve the surest candidate that stands and can be read; among equals the nearest."""
    seen = list(verdicts)
    ranked = sorted(range(len(seen)), key=lambda place: -policy.sureness(query.text, seen[place]))
    for place in ranked:
        verdict = seen[place]
        if verdict.reason is not Reason.SEMANTIC:
            continue
        response = yield from opened(verdict.candidate.entry, policy)
        if isinstance(response, Response):
            hit = _hit(verdict, response, policy)
            return replace(hit, verdicts=tuple(seen), asked=query.text)
        seen[place] = replace(verdict, reason=response.reason, detail=str(response.error))
    if not seen:
        return _miss(Reason.NO_CANDIDATE, query)
    best = seen[0]
    return _miss(best.reason, query, verdicts=tuple(seen), detail=best.detail)


def _hit(verdict: Verdict, response: Response, policy: Policy) -> Decision:
    entry = verdict.candidate.entry
    life = policy.life(entry)
    return Decision(
        hit=True,
        reason=verdict.reason,
        response=response,
        similarity=verdict.candidate.similarity,
        confidence=verdict.sureness,
        entry_id=entry.id,
        question=entry.question,
        # A clock that was set back must not give a negative age.
        age=timedelta(seconds=max(0.0, policy.now() - entry.created_at)),
        expires_at=policy.ends_at(entry, life),
        life=life,
    )


def _miss(
    reason: Reason,
    query: Query,
    *,
    trouble: Failure | None = None,
    verdicts: tuple[Verdict, ...] = (),
    detail: str = "",
) -> Decision:
    nearest = verdicts[0] if verdicts else None
    best = nearest.candidate if nearest else None
    return Decision(
        hit=False,
        reason=reason,
        similarity=best.similarity if best else None,
        confidence=nearest.confidence if nearest else None,
        entry_id=best.entry.id if best else None,
        question=best.entry.question if best else None,
        exact_only=query.exact_only,
        detail=str(trouble.error) if trouble else detail,
        verdicts=verdicts,
    )
