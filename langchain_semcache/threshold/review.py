"""Looking at the evidence: the terms from now on, and the way into exact-only mode and back."""

from __future__ import annotations

from dataclasses import dataclass

from langchain_semcache.threshold.bounds import allowance, least_expected, most_expected
from langchain_semcache.threshold.budget import (
    Budget,
    ErrorRate,
    Mode,
    Review,
    Terms,
    Transition,
    mode_of,
)
from langchain_semcache.threshold.ledger import Evidence, Ledger, Tally, bin_edge


def review(budget: Budget, ledger: Ledger, *, now: float) -> Review:
    """Set the terms anew, and change the mode where the evidence asks for it.

    Call it to begin with, after a label, a report or a merge, and every few dozen requests. Terms
    that are a little old are a little strict.

    *Open to exact-only*: the whole interval of the error rate lies above the budget. The upper
    bound alone is no reason: it is above the budget for lack of labels, and also for a cache that
    spends its budget as it may.

    *Exact-only to open*: the upper bound of what serving would have cost is within the budget, over
    the newest blocks of the window, however many, if they hold enough requests for a bound to be so
    low at all. Would-be hits are labelled all the time, and the bar stands at half the budget
    meanwhile, so that a cache in order gets there.

    Each turn begins with its own evidence for this, which is what keeps it from flapping: it takes
    new proof to turn back. The ratio is learnt across turns.
    """
    window = ledger.window(budget.oldest(now), ledger.turn)
    rate = error_rate(window, _each_side(budget))
    if not _turns(budget, ledger, rate, now=now):
        return Review(ledger, _terms(budget, ledger, rate, now=now), None)
    before = mode_of(ledger.turn)
    turned = ledger.changed(turns=1, now=now)
    nothing_yet = error_rate(Tally(), _each_side(budget))
    terms = _terms(budget, turned, nothing_yet, now=now)
    return Review(turned, terms, Transition(before, terms.mode, rate))


def _turns(budget: Budget, ledger: Ledger, rate: ErrorRate, *, now: float) -> bool:
    if mode_of(ledger.turn) is Mode.OPEN:
        return rate.lower > budget.max_error_rate
    starts = range(budget.oldest(now), budget.block(now) + 1)
    return any(_in_order(budget, ledger.window(start, ledger.turn)) for start in starts)


def _in_order(budget: Budget, tally: Tally) -> bool:
    # One of several stretches is enough, so that each has to be surer: the union bound.
    level = 1 - (1 - _each_side(budget)) / budget.blocks
    enough = most_expected(0, level) <= budget.max_error_rate * tally.requests
    return enough and error_rate(tally, level).upper <= budget.max_error_rate


def _each_side(budget: Budget) -> float:
    # Labels and reports give a bound each: together they are wrong as rarely as was asked for.
    return (1 + budget.confidence_level) / 2


def error_rate(tally: Tally, level: float) -> ErrorRate:
    """The rate of errors among all requests of a tally, from its labels and reports.

    The share of wrong answers among the labelled, each weighted by 1 / (its probability to be
    drawn), is carried over to all that passed (the ratio estimator of Hajek 1971). A weighted count
    divided by its largest weight has steps of at most 1, for which the martingale of `bounds`
    stands as it is; equal weights cancel. `level` is that of each bound.
    """
    if not tally.requests:
        return ErrorRate(None, 0.0, 1.0)
    passed = tally.passed / tally.requests
    reports = tally.evidence.reported
    lower = least_expected(reports, level) / tally.requests
    if not tally.heaviest:
        return ErrorRate(None, min(passed, lower), passed)
    wrong, labelled = tally.wrong / tally.heaviest, tally.labelled / tally.heaviest
    estimate = max(passed * tally.wrong / tally.labelled, reports / tally.requests)
    lower = max(lower, passed * min(1.0, least_expected(wrong, level) / labelled))
    upper = max(estimate, passed * min(1.0, most_expected(wrong, level) / labelled))
    return ErrorRate(estimate, lower, upper)


def _terms(budget: Budget, ledger: Ledger, rate: ErrorRate, *, now: float) -> Terms:
    window = ledger.window(budget.oldest(now))
    mode = mode_of(ledger.turn)
    errors = budget.max_error_rate * ledger.requests
    half = budget.max_error_rate / 2
    spend_rate = (
        allowance(errors, budget.confidence_level) / ledger.requests if ledger.requests else half
    )
    ratio = _ratio(1.0, window.evidence, budget.strength)
    per_request = spend_rate if mode is Mode.OPEN else half
    return Terms(
        turn=ledger.turn,
        mode=mode,
        risk_bar=min(
            1 - budget.least_confidence,
            max(half, _risk_bar(window, per_request, whole=mode is Mode.OPEN)),
        ),
        spend_rate=spend_rate,
        ratio=ratio,
        class_ratios={
            bucket: _ratio(ratio, evidence, budget.strength)
            for bucket, evidence in window.classes.items()
        },
        error_rate=rate,
    )


def _ratio(parent: float, evidence: Evidence, strength: float) -> float:
    sampled = (strength * parent + evidence.wrong) / (strength + evidence.expected)
    # Reports are at most the errors among all that was served, hence at most their ratio.
    reported = (strength * parent + evidence.reported) / (strength + evidence.served)
    return max(1.0, sampled, reported)


def _risk_bar(window: Tally, per_request: float, *, whole: bool) -> float:
    """The risk up to which the window's hits would have spent `per_request` on average.

    The bin in which that is reached counts whole where the account rations it, and else not.
    """
    left = per_request * window.requests
    for index, risk in enumerate(window.risk):
        left -= risk
        if left < 0:
            return bin_edge(index + 1) if whole else bin_edge(index)
    return 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Where a namespace stands, for people and dashboards.

    `requests` and `spent` are since ever, the counts beside them of the window. `bar` is the
    confidence that a hit of no known class needs.
    """

    mode: Mode
    requests: int
    spent: float
    hits: int
    passed: int
    labels: int
    wrong_labels: int
    reports: int
    ratio: float
    bar: float
    error_rate: ErrorRate


def summary(budget: Budget, ledger: Ledger, terms: Terms, *, now: float) -> Summary:
    """The figures of a namespace; nothing is decided here."""
    window = ledger.window(budget.oldest(now))
    return Summary(
        mode=terms.mode,
        requests=ledger.requests,
        spent=ledger.spent,
        hits=window.hits,
        passed=window.passed,
        labels=window.labels,
        wrong_labels=window.wrong_labels,
        reports=round(window.evidence.reported),
        ratio=terms.ratio,
        bar=1 - terms.risk_bar / terms.ratio,
        error_rate=terms.error_rate,
    )
