"""What is done per request: count it, decide about a would-be hit, book what is learnt of it."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from langchain_semcache.threshold.budget import Admission, Budget, Mode, Terms, Verdict, mode_of
from langchain_semcache.threshold.ledger import (
    BINS,
    Evidence,
    Ledger,
    Tally,
    class_bucket,
    risk_bin,
)

_LEAST_RISK = 1e-4
"""No answer counts as surer than this: otherwise nothing could ever be learnt about it."""

_ONE_REQUEST = Tally(requests=1)

_ENTRY_STRENGTH = 0.5
"""Expected errors after which an entry's own evidence weighs as much as its class's. Low, because
entries differ much: one wrong answer triples the risk of an entry, a second makes it five."""


def observe_request(budget: Budget, ledger: Ledger, *, now: float) -> Ledger:
    """Count a request. Comes first, for every request, whatever becomes of it."""
    tallies = ledger.counted(budget.block(now), _ONE_REQUEST, oldest=budget.oldest(now))
    return ledger.changed(requests=1, tallies=tallies, now=now)


def admit(
    budget: Budget,
    ledger: Ledger,
    terms: Terms,
    *,
    confidence: float,
    entry_id: str,
    class_: str = "",
    now: float,
) -> tuple[Ledger, Admission]:
    """Decide about a would-be hit and book it.

    A confidence that is no number counts as 0: what cannot be judged is not served.
    """
    expected = _expected(confidence)
    record = ledger.entry(entry_id)
    parent = terms.class_ratio(class_)
    ratio = max(1.0, _shrunk(parent, record.expected, record.wrong, _ENTRY_STRENGTH))
    risk = min(1.0, ratio * expected)
    verdict = _verdict(ledger, terms, risk, blocked=record.blocked)
    serve = verdict is Verdict.WITHIN_BUDGET
    passes = serve or verdict is Verdict.EXACT_ONLY
    admission = Admission(
        entry_id=entry_id,
        class_=class_,
        confidence=1 - expected,
        serve=serve,
        passes=passes,
        verdict=verdict,
        bar=2.0 if record.blocked else 1 - terms.risk_bar / ratio,
        risk=risk,
        share=(budget.shadow_share if serve else budget.exact_only_share) if passes else 0.0,
        turn=ledger.turn,
    )
    return _booked(budget, ledger, admission, now=now), admission


def _expected(confidence: float) -> float:
    return min(1.0, max(_LEAST_RISK, 1 - confidence)) if isfinite(confidence) else 1.0


def _shrunk(parent: float, expected: float, wrong: float, strength: float) -> float:
    return (strength * parent + wrong) / (strength + expected)


def _verdict(ledger: Ledger, terms: Terms, risk: float, *, blocked: bool) -> Verdict:
    if blocked:
        return Verdict.REPORTED_WRONG
    if risk > terms.risk_bar:
        return Verdict.BELOW_BAR
    if mode_of(ledger.turn) is Mode.EXACT_ONLY:  # another worker may have found it since
        return Verdict.EXACT_ONLY
    # The sums carry rounding; a millionth of a risk must not shut out the hit that fits exactly.
    if ledger.spent + risk * (1 - 1e-6) > terms.spend_rate * ledger.requests:
        return Verdict.ACCOUNT_SPENT
    return Verdict.WITHIN_BUDGET


def _booked(budget: Budget, ledger: Ledger, admission: Admission, *, now: float) -> Ledger:
    spread = [0.0] * BINS
    spread[risk_bin(admission.risk)] = admission.risk
    served = Evidence(served=1 - admission.confidence)
    tally = Tally(
        hits=1,
        passed=int(admission.passes),
        risk=tuple(spread),
        classes={class_bucket(admission.class_): served} if admission.serve else {},
    )
    tallies = ledger.counted(budget.block(now), tally, oldest=budget.oldest(now))
    return ledger.changed(spent=admission.risk * admission.serve, tallies=tallies, now=now)


def shadow_due(admission: Admission, random_number: float) -> bool:
    """Whether this hit is to be compared; `random_number` is drawn evenly from [0, 1)."""
    return random_number < admission.share


def record(
    budget: Budget,
    ledger: Ledger,
    admission: Admission,
    *,
    wrong: bool,
    share: float | None = None,
    now: float,
) -> Ledger:
    """Count a label that was drawn at random: a comparison, or a judge's verdict.

    `share` is the probability with which it was drawn, where that is not the admission's own.
    A hit that did not pass the bar says nothing about those that do, and is not counted.
    """
    drawn = admission.share if share is None else share
    if not admission.passes or not 0 < drawn <= 1:
        return ledger
    expected, miss = 1 - admission.confidence, float(wrong)
    same_turn = admission.turn == ledger.turn  # of another turn it says nothing about this one
    weight = same_turn / drawn
    tally = Tally(
        labelled=weight,
        wrong=weight * miss,
        heaviest=weight,
        labels=1,
        wrong_labels=int(wrong),
        classes={class_bucket(admission.class_): Evidence(expected=expected, wrong=miss)},
    )
    tallies = ledger.counted(budget.block(now), tally, oldest=budget.oldest(now))
    old = ledger.own_entry(admission.entry_id)
    entry = replace(old, expected=old.expected + expected, wrong=old.wrong + miss, touched=now)
    entries = ledger.touched(admission.entry_id, entry)
    return ledger.changed(tallies=tallies, entries=entries, now=now)


def report_wrong(
    budget: Budget, ledger: Ledger, entry_id: str, *, class_: str = "", now: float
) -> Ledger:
    """A user says that an answer was wrong: its entry is refused until `clear`.

    Users speak up when something is wrong, so reports are no sample. They count as a lower bound of
    the errors, each entry once until cleared; that nobody complains counts for nothing.
    """
    if ledger.entry(entry_id).blocked:
        return ledger
    tally = Tally(classes={class_bucket(class_): Evidence(reported=1.0)})
    tallies = ledger.counted(budget.block(now), tally, oldest=budget.oldest(now))
    # A report in the very moment of clearing is a report: what cannot be told apart is refused.
    stamp = max(now, ledger.entry(entry_id).cleared + 1e-3)
    entry = replace(ledger.own_entry(entry_id), touched=stamp, reported=stamp)
    entries = ledger.touched(entry_id, entry)
    return ledger.changed(tallies=tallies, entries=entries, now=now)


def clear(ledger: Ledger, entry_id: str, *, now: float) -> Ledger:
    """Forget what is held against an entry: its answer was checked, replaced or removed."""
    known = ledger.entry(entry_id)
    if known.touched == known.reported == 0:
        return ledger
    stamp = max(now, known.reported, known.touched + 1e-3)
    entry = replace(ledger.own_entry(entry_id), expected=0.0, wrong=0.0, touched=stamp)
    entries = ledger.touched(entry_id, replace(entry, cleared=stamp))
    return ledger.changed(entries=entries, now=now)
