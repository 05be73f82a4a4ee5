"""The decision: exact → semantic → guards → confidence → serve. Pure; knows no backend.

Everything a lookup or a store does is in this file. Sync and async behave the same because both
drivers run these generators.
"""

from __future__ import annotations

import hashlib
import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from langchain_semcache.context import summarise
from langchain_semcache.engine import asking, judging, long_questions
from langchain_semcache.engine.commands import Admit, Failure, Flow, Rewrite
from langchain_semcache.engine.packing import Fresh, opened, write
from langchain_semcache.engine.policy import Policy
from langchain_semcache.errors import IndexUnavailable
from langchain_semcache.eviction import Assessment
from langchain_semcache.guards import kind
from langchain_semcache.life import Life
from langchain_semcache.ports import Vector
from langchain_semcache.records import (
    Candidate,
    Decision,
    Entry,
    Query,
    Reason,
    Response,
    Scope,
    Selection,
    StoreResult,
    Verdict,
)
from langchain_semcache.responses import refusal_to_store
from langchain_semcache.responses.codec import to_raw
from langchain_semcache.responses.parts import Owner
from langchain_semcache.threshold.agreement import agree
from langchain_semcache.ttl import expires_at

ANSWER_HEAD = 400
"""Characters of an answer that are compared; an encoder's window ends soon after."""

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
    confidence = hit.confidence or 0.0
    if policy.calibration is not None:
        confidence = policy.calibration.prudent(query.text, confidence)
    served = next(v for v in hit.verdicts if v.candidate.entry.id == hit.entry_id)
    entry = served.candidate.entry
    admitted = yield from asking.admit(
        Admit(scope.namespace, asked, entry.id, confidence, kind(query.text))
    )
    if admitted is None or admitted.reason is Reason.SEMANTIC:
        return hit
    refused = replace(served, reason=admitted.reason, detail=admitted.detail)
    others = [verdict for verdict in hit.verdicts if verdict is not served]
    return _miss(admitted.reason, query, verdicts=(refused, *others), detail=admitted.detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a reply is kept.

    Attributes:
        ttl: Lifetime; None never expires. At most, where there is a `life`.
        life: Who has a say in the lifetime; see `Entry.life`.
        tags, sources: What the entry can be invalidated by.
        room: How many answers the limits leave room for at most; they are held to afterwards.
            None is unbounded.
        sweep: Without limits, whether to remove what is expired afterwards.
    """

    ttl: timedelta | None
    life: str = ""
    tags: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    room: int | None = None
    sweep: bool = False


def store(
    scope: Scope, query: Query, response: Response, policy: Policy, terms: Terms
) -> Flow[StoreResult]:
    """Keep the reply if it may be kept; one key is one entry, the newest value wins."""
    query = policy.refine(query)
    if (refusal := refusal_to_store(response, query)) is not None:
        return StoreResult(stored=False, reason=refusal[0], detail=refusal[1])
    if terms.ttl is not None and not terms.ttl:
        return StoreResult(stored=False, reason=Reason.TTL_ZERO, detail="a lifetime of zero")
    assessment = Assessment()
    if policy.evaluations is not None:
        assessment = policy.evaluations.assess(query, response)
        if not assessment.kept:
            detail = assessment.in_words()
            return StoreResult(stored=False, reason=Reason.UNSURE_REPLY, detail=detail)
        if not terms.life:
            terms = replace(terms, ttl=policy.evaluations.lifetime(terms.ttl, assessment))
    if policy.budgeted:
        yield from _compared(entry_id(scope, query), response, policy)
    try:
        raw = to_raw(response)
    except (TypeError, ValueError, RecursionError) as error:
        detail = type(error).__name__
        return StoreResult(stored=False, reason=Reason.UNSUPPORTED_REPLY, detail=detail)
    entry = replace(_draft(scope, query, policy, terms), assessment=assessment.to_json())
    if (life := policy.life(entry)) is not None and not life.seconds:
        return StoreResult(stored=False, reason=Reason.TTL_ZERO, detail=str(life), life=life)
    vector = yield from _vector(query)
    before = yield from _before(entry.id, policy)
    changed = None if before is None else (yield from _learned(before, response, policy))
    life = policy.life(entry)
    fresh = Fresh(
        raw=raw,
        kind=response.kind,
        entry_id=entry.id,
        owner=Owner(scope.namespace, scope.tenant),
        partition=query.partition,
        vector=vector,
        before=before,
        ttl=terms.ttl if life is None else _span(life),
        among=terms.room,
    )
    written = yield from write(fresh, policy)
    now = policy.now()
    entry = replace(
        entry, payload=written.payload, created_at=now, expires_at=expires_at(terms.ttl, now=now)
    )
    result = yield from _put(entry, vector, written.afterwards, terms)
    if result.stored:
        _tell(entry, query, response, policy, changed=changed)
    return replace(result, detail=result.detail or assessment.in_words(), life=life)


def _put(
    entry: Entry, vector: Vector | None, change: Rewrite | None, terms: Terms
) -> Flow[StoreResult]:
    """Write the entry, then what changes with it, and make room where there is a limit."""
    bounded = terms.room is not None
    if bounded and (too_large := (yield from asking.announce(entry))) is not None:
        return StoreResult(stored=False, reason=Reason.TOO_LARGE, detail=too_large)
    failure = yield from asking.put(entry, vector)
    if failure is not None:
        if bounded:
            yield from asking.withdraw(entry.id)
        return StoreResult(stored=False, reason=failure.reason, detail=str(failure.error))
    if change is not None:
        # If this fails, the neighbour stays as it is: larger, and as good.
        yield from asking.rewrite(change.entry_id, expected=change.expected, payload=change.payload)
    if bounded:
        held = yield from asking.hold(entry)
        if isinstance(held, Failure):
            yield from asking.withdraw(entry.id)
    elif terms.sweep:
        yield from asking.remove(Selection(expired_at=entry.created_at), dry_run=False)
    return StoreResult(stored=True, reason=Reason.STORED, entry_id=entry.id)


def _tell(
    entry: Entry, query: Query, response: Response, policy: Policy, *, changed: bool | None
) -> None:
    """Whoever learns from what is stored hears of it."""
    if policy.freshness is not None:
        policy.freshness.stored(entry, changed=changed)
    if policy.evaluations is not None:
        policy.evaluations.stored(entry, query, response.text)


def _draft(scope: Scope, query: Query, policy: Policy, terms: Terms) -> Entry:
    """The entry without its answer."""
    return Entry(
        id=entry_id(scope, query),
        scope=scope.digest,
        partition=query.partition,
        fingerprint=query.fingerprint,
        namespace=scope.namespace,
        tenant=scope.tenant,
        model=scope.model,
        question=query.text,
        context=summarise(query.turns, query.text).to_json() if query.turns else "",
        payload=b"",
        created_at=policy.now(),
        tags=terms.tags,
        sources=terms.sources,
        life=terms.life,
    )


def _vector(query: Query) -> Flow[Vector | None]:
    """Where the entry is found by meaning; None where it is not to be, or cannot be."""
    if query.exact_only is not None:
        return None
    embedded = yield from long_questions.embed_question(query)
    # Without a vector the answer is still worth keeping: identical requests will find it.
    return None if isinstance(embedded, Failure) else embedded


def _learned(before: Entry, response: Response, policy: Policy) -> Flow[bool | None]:
    """Whether the model says something else than before; the rules learn from it."""
    if policy.freshness is None:
        return None
    changed = yield from _differs(before, response, policy)
    if changed is not None:
        policy.freshness.refreshed(before, changed=changed)
    return changed


def _span(life: Life) -> timedelta | None:
    return timedelta(seconds=life.seconds) if life.seconds < math.inf else None


def _before(wanted: str, policy: Policy) -> Flow[Entry | None]:
    """The answer that a new one replaces, where anybody wants to know; also one that is over."""
    if not policy.packs and policy.freshness is None:
        return None
    found = yield from asking.fetch(wanted, expired=True)
    return found if isinstance(found, Entry) else None


def _compared(asked: str, fresh: Response, policy: Policy) -> Flow[None]:
    """Where this answer is due for a comparison with a stored one: make it, and book the label."""
    due = yield from asking.due(asked)
    stored = (yield from asking.fetch(due)) if due is not None else None
    old = (yield from opened(stored, policy)) if isinstance(stored, Entry) else None
    right = (yield from _alike(old, fresh)) if isinstance(old, Response) else None
    if right is not None:
        yield from asking.book(asked, wrong=not right)


def _differs(before: Entry, fresh: Response, policy: Policy) -> Flow[bool | None]:
    """Whether the model says something else by now; None where that cannot be told."""
    old = yield from opened(before, policy)
    alike = (yield from _alike(old, fresh)) if isinstance(old, Response) else None
    return None if alike is None else not alike


def _alike(old: Response, fresh: Response) -> Flow[bool | None]:
    """Whether two answers say the same; None where there are no words to compare."""
    if not old.text.strip() or not fresh.text.strip():
        return None
    if old.text == fresh.text:
        return True
    one = yield from asking.embed(old.text[:ANSWER_HEAD])
    other = yield from asking.embed(fresh.text[:ANSWER_HEAD])
    if isinstance(one, Failure) or isinstance(other, Failure):
        return None
    return agree(old.text, fresh.text, float(one @ other))


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
    ranked = sorted(range(len(seen)), key=lambda place: -_sureness(seen[place]))
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


def _sureness(verdict: Verdict) -> float:
    return verdict.candidate.similarity if verdict.confidence is None else verdict.confidence


def _hit(verdict: Verdict, response: Response, policy: Policy) -> Decision:
    entry = verdict.candidate.entry
    life = policy.life(entry)
    return Decision(
        hit=True,
        reason=verdict.reason,
        response=response,
        similarity=verdict.candidate.similarity,
        confidence=_sureness(verdict),
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
