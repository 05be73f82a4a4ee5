"""What speaks for and against each candidate: distance, guards, its chat, and the confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from langchain_semcache.context import (
    Agreement,
    Context,
    Difference,
    OtherAttribute,
    asked_part,
    relate,
    summarise,
)
from langchain_semcache.engine import asking, long_questions
from langchain_semcache.engine.commands import Failure, Flow
from langchain_semcache.engine.policy import Policy
from langchain_semcache.guards import Refusal
from langchain_semcache.ports import Vector
from langchain_semcache.records import Candidate, Entry, Query, Reason, Verdict
from langchain_semcache.threshold.confidence import Calibration
from langchain_semcache.threshold.features import CROWD, Observed

WIDEST = 64
"""Candidates that are looked at, at most, to get by those that are over."""


def verdicts(query: Query, policy: Policy) -> Flow[Sequence[Verdict] | Failure]:
    """The candidates, nearest first, each with what speaks against it."""
    vector = yield from long_questions.embed_question(query)
    if isinstance(vector, Failure):
        return vector
    # Where the nearest is too far, so are all others, and one record is read instead of several.
    found = yield from asking.search(query.partition, vector, 1)
    if isinstance(found, Failure):
        return found
    candidates = found
    if found and _near(found[0], policy):
        nearest = yield from _nearest(query, vector, found, policy)
        if isinstance(nearest, Failure):
            return nearest
        candidates, found = nearest
    near = [candidate for candidate in candidates if _near(candidate, policy)]
    in_chat = near and (query.turns or any(candidate.entry.context for candidate in near))
    chat = summarise(query.turns, query.text) if in_chat else None
    screened = [
        _screened(query, chat, candidate, _around(candidate, found), policy)
        for candidate in candidates
    ]
    if query.windows:
        return (
            yield from long_questions.judge(
                query,
                screened,
                split=policy.split,
                guard=policy.guard,
                calibration=policy.calibration,
                verifies=policy.verifies,
            )
        )
    if policy.calibration is None:
        return screened
    return (yield from _weighed(query, screened, policy.calibration, verifies=policy.verifies))


def _nearest(
    query: Query, vector: Vector, first: Sequence[Candidate], policy: Policy
) -> Flow[tuple[Sequence[Candidate], Sequence[Candidate]] | Failure]:
    """The candidates to judge, and all that were found around them.

    Those that are over by the rules are judged, too, but for each another one is looked for.
    """
    wanted = policy.neighbours
    limit = wanted if policy.calibration is None else max(wanted, CROWD + 1)
    found = first
    while True:
        if limit > 1:
            more = yield from asking.search(query.partition, vector, limit)
            if isinstance(more, Failure):
                return more
            found = more
        live, candidates = 0, []
        for one in found:
            if live == wanted:
                break
            candidates.append(one)
            live += policy.is_over(one.entry) is None
        enough = live == wanted or len(found) < limit
        if enough or limit >= WIDEST or not _near(found[-1], policy):
            return candidates, found
        limit = min(WIDEST, 4 * limit)


def _around(candidate: Candidate, found: Sequence[Candidate]) -> tuple[float, ...]:
    """How near the others are that the search has brought."""
    others = [other.similarity for other in found if other is not candidate]
    return tuple(others[:CROWD])


def _screened(
    query: Query,
    chat: Context | None,
    candidate: Candidate,
    around: tuple[float, ...],
    policy: Policy,
) -> Verdict:
    """What distance, the guards and the chats say; `chat` is None where nobody is in one."""
    verdict = partial(Verdict, candidate, around=around)
    if not _near(candidate, policy):
        detail = f"similarity {candidate.similarity:.3f} < {policy.similarity_threshold:g}"
        return verdict(Reason.BELOW_THRESHOLD, detail)
    if (lives := policy.is_over(candidate.entry)) is not None:
        return verdict(Reason.EXPIRED, str(lives))
    if policy.is_too_old(candidate.entry):
        return verdict(Reason.TOO_OLD, "stored longer ago than the caller allows")
    # Of a long question only what differs is shown to the guards, later.
    ours, theirs = query.compared, _compared(candidate.entry)
    refusal = None if query.windows else policy.guard(ours, theirs)
    related = Agreement.NEEDLESS if chat is None else _related(query, chat, candidate.entry)
    if refusal is not None and _settles(refusal, related):
        refusal = None
    if refusal is not None and (refusal.final or not policy.may_outweigh(ours, theirs)):
        return verdict(refusal.reason, refusal.detail)
    if isinstance(related, Difference):
        return verdict(Reason.CONTEXT_DIFFERS, related.detail)
    if isinstance(related, OtherAttribute):
        return verdict(Reason.QUESTION_TYPE_DIFFERS, related.detail)
    passed = verdict(Reason.SEMANTIC, same_attribute=related is Agreement.ATTRIBUTE)
    if related is not Agreement.NEEDLESS:
        # "How much is it?" is as near to every other one, whatever they are about.
        passed = replace(passed, around=())
    if refusal is not None:
        return replace(passed, detail=refusal.detail, doubt=refusal.reason)
    return passed


def _settles(refusal: Refusal, related: Agreement | Difference | OtherAttribute) -> bool:
    """Whether that both ask for the same is known: "how old is she" and "when was she born"."""
    return refusal.reason is Reason.QUESTION_TYPE_DIFFERS and related is Agreement.ATTRIBUTE


def _compared(stored: Entry) -> str:
    """What of a stored question was embedded; see `Query.compared`."""
    return asked_part(stored.question) if stored.context else stored.question


def _related(query: Query, chat: Context, stored: Entry) -> Agreement | Difference | OtherAttribute:
    """How what the two questions lean on compares, and what they ask for of it."""
    theirs = Context.from_json(stored.context) if stored.context else summarise((), stored.question)
    if theirs is None:
        return Difference("the stored chat was summarised by another release")
    return relate(query.compared, chat, _compared(stored), theirs)


def _weighed(
    query: Query, verdicts: Sequence[Verdict], calibration: Calibration, *, verifies: bool
) -> Flow[Sequence[Verdict]]:
    """The verdicts with a confidence for each that stands so far; too little makes it fall."""
    standing = [verdict for verdict in verdicts if verdict.reason is Reason.SEMANTIC]
    opinions: Sequence[float] | Failure | None = None
    stored = tuple([_compared(verdict.candidate.entry) for verdict in standing])
    if verifies and standing:
        opinions = yield from asking.verify(query.compared, stored)
    weighed: dict[str, Verdict] = {}
    for place, verdict in enumerate(standing):
        entry = verdict.candidate.entry
        if isinstance(opinions, Failure):
            # Without the opinion that the calibration counts on, nothing is known: fail closed.
            weighed[entry.id] = replace(verdict, reason=opinions.reason, detail=str(opinions.error))
            continue
        opinion = None if opinions is None else opinions[place]
        observed = Observed(
            query.compared,
            stored[place],
            verdict.candidate.similarity,
            opinion,
            same_attribute=verdict.same_attribute,
            around=verdict.around,
        )
        weighed[entry.id] = _confident(verdict, calibration.probability(observed), calibration.bar)
    return [weighed.get(verdict.candidate.entry.id, verdict) for verdict in verdicts]


def _confident(verdict: Verdict, confidence: float, bar: float) -> Verdict:
    if confidence >= bar:
        return replace(verdict, confidence=confidence)
    detail = f"confidence {confidence:.3f} < {bar:g}"
    if verdict.doubt is None:
        return replace(verdict, reason=Reason.LOW_CONFIDENCE, detail=detail, confidence=confidence)
    detail = f"{verdict.detail}; {detail}"
    return replace(verdict, reason=verdict.doubt, detail=detail, confidence=confidence)


def _near(candidate: Candidate, policy: Policy) -> bool:
    return candidate.similarity >= policy.similarity_threshold
