"""What becomes of a reply: whether it may be kept, how long, and how it is written down. Pure.

The other half of `flow`: a lookup that misses is followed by a store.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import timedelta

from langchain_semcache.context import summarise
from langchain_semcache.engine import asking, long_questions
from langchain_semcache.engine.commands import Failure, Flow, Rewrite
from langchain_semcache.engine.flow import entry_id
from langchain_semcache.engine.packing import Fresh, opened, write
from langchain_semcache.engine.policy import Policy
from langchain_semcache.eviction import Assessment
from langchain_semcache.life import Life
from langchain_semcache.ports import Vector
from langchain_semcache.records import (
    Entry,
    Query,
    Reason,
    Response,
    Scope,
    Selection,
    StoreResult,
)
from langchain_semcache.responses import refusal_to_store
from langchain_semcache.responses.codec import to_raw
from langchain_semcache.responses.parts import Owner
from langchain_semcache.threshold.agreement import agree
from langchain_semcache.ttl import expires_at

ANSWER_HEAD = 400
"""Characters of an answer that are compared; an encoder's window ends soon after."""


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
