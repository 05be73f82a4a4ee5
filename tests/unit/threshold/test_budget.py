"""The error budget: simulated traffic whose truth is known, and single decisions."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.threshold import (
    Budget,
    Ledger,
    Mode,
    Verdict,
    admit,
    clear,
    from_json,
    merge,
    observe_request,
    record,
    report_wrong,
    review,
    shadow_due,
    summary,
    to_json,
)
from langchain_semcache.threshold.bounds import allowance, least_expected, most_expected
from langchain_semcache.threshold.ledger import CLASSES, ENTRIES, WORKERS

EVERY = 40  # requests between two reviews without a label


@dataclass(frozen=True)
class Run:
    confidences: np.ndarray  # of the would-be hits
    served: np.ndarray
    wrong: np.ndarray
    modes: list[tuple[int, Mode]]
    ledger: Ledger

    @property
    def error_rate(self) -> float:
        return float(self.wrong.mean())


def risks_of_every_size(generator, size):
    """From one in three thousand to certainly wrong, evenly by order of magnitude."""
    return 10 ** generator.uniform(-3.5, 0, size)


def simulate(budget, *, seed=0, requests, factor=1.0, hit_share=0.6, draw=risks_of_every_size):
    """Traffic in which a hit is wrong with probability factor(t) * (1 - confidence)."""
    generator = np.random.default_rng(seed)
    confidence = 1 - draw(generator, requests)
    hit, truth, shadow = (generator.random(requests) for _ in range(3))
    entry = generator.integers(0, 300, requests)
    served, errors = np.zeros(requests, bool), np.zeros(requests, bool)
    ledger, modes = Ledger("worker"), []
    terms = review(budget, ledger, now=0).terms
    for t in range(requests):
        ledger, due = observe_request(budget, ledger, now=t), t % EVERY == 0
        if hit[t] < hit_share:
            ledger, admission = admit(
                budget,
                ledger,
                terms,
                confidence=float(confidence[t]),
                entry_id=str(entry[t]),
                now=t,
            )
            times = factor(t) if callable(factor) else factor
            wrong = bool(truth[t] < times * (1 - confidence[t]))
            served[t], errors[t] = admission.serve, admission.serve and wrong
            if shadow_due(admission, float(shadow[t])):
                ledger, due = record(budget, ledger, admission, wrong=wrong, now=t), True
        if due:
            result = review(budget, ledger, now=t)
            ledger, terms = result.ledger, result.terms
            if result.transition is not None:
                modes.append((t, result.transition.after))
    return Run(confidence[hit < hit_share], served, errors, modes, ledger)


def opened(budget, *, requests=0, now=0.0, worker="worker"):
    """A ledger after some requests without hits, and its terms."""
    ledger = Ledger(worker)
    for _ in range(requests):
        ledger = observe_request(budget, ledger, now=now)
    return ledger, review(budget, ledger, now=now).terms


def ask(budget, ledger, *, confidence=0.999, entry_id="e", class_="", now=0.0):
    """One request with one would-be hit, under terms of this moment."""
    ledger = observe_request(budget, ledger, now=now)
    terms = review(budget, ledger, now=now).terms
    return admit(
        budget, ledger, terms, confidence=confidence, entry_id=entry_id, class_=class_, now=now
    )


def label(budget, ledger, *, wrong, times, class_="", confidence=0.9995, now=0.0):
    """As many labelled hits of entries that are all different."""
    for _ in range(times):
        entry_id = f"{class_}{ledger.requests}"
        ledger, admission = ask(
            budget, ledger, confidence=confidence, entry_id=entry_id, class_=class_, now=now
        )
        ledger = record(budget, ledger, admission, wrong=wrong, now=now)
    return ledger


# ── Calibrated traffic ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seeds", [range(7), range(7, 14), range(14, 20)], ids=str)
@pytest.mark.parametrize("rate", [0.005, 0.01, 0.02, 0.03])
def test_with_honest_confidences_the_errors_stay_within_the_budget(rate, seeds):
    """In every one of 20 runs, serving far more than a bar that is safe without an account."""
    budget = Budget(max_error_rate=rate, block_seconds=300, blocks=4)
    runs = [simulate(budget, seed=seed, requests=2_000) for seed in seeds]
    assert [run.error_rate for run in runs if run.error_rate > rate] == []
    assert all(run.modes == [] for run in runs)
    served = sum(int(run.served.sum()) for run in runs)
    by_fixed_bar = sum(int((run.confidences >= 1 - rate).sum()) for run in runs)
    assert served > 1.3 * by_fixed_bar


def test_the_bar_comes_near_the_best_one_that_could_be_chosen_afterwards():
    budget = Budget(max_error_rate=0.02, block_seconds=1000, blocks=4)
    run = simulate(budget, requests=8_000)
    spent = np.cumsum(np.sort(1 - run.confidences))
    assert run.served.sum() > 0.85 * np.searchsorted(spent, 0.02 * 8_000)


def test_without_any_label_the_calibration_decides():
    budget = Budget(max_error_rate=0.01, shadow_share=0, block_seconds=1000, blocks=4)
    run = simulate(budget, requests=6_000)
    assert run.error_rate <= 0.01
    assert run.served.mean() > 0.3
    assert run.modes == []


@pytest.mark.parametrize("risk", [0.004, 0.02, 0.2])
def test_hits_that_are_all_alike_are_rationed_and_not_shut_out(risk):
    """A bar is above or below them all: then the account serves as many as it can pay for."""
    budget = Budget(max_error_rate=0.01, block_seconds=1000, blocks=4)
    run = simulate(
        budget,
        requests=5_000,
        draw=lambda generator, size: np.full(size, risk),
    )
    possible = min(0.6, 0.01 / risk)
    assert 0.5 * possible < run.served.mean() <= 1.05 * possible
    assert run.ledger.spent <= allowance(0.01 * 5_000, 0.95)


# ── Calibration that is off ─────────────────────────────────────────────────────────────────────


def test_three_times_the_predicted_errors_are_learnt_from_labels():
    budget = Budget(max_error_rate=0.02, shadow_share=0.2, block_seconds=8_000, blocks=2)
    blind = Budget(max_error_rate=0.02, shadow_share=0.0, block_seconds=8_000, blocks=2)
    run = simulate(budget, requests=8_000, factor=3.0)
    unlabelled = simulate(blind, requests=8_000, factor=3.0)
    assert run.wrong[4_000:].mean() <= 1.15 * 0.02
    assert unlabelled.wrong[4_000:].mean() > 1.4 * run.wrong[4_000:].mean()
    assert run.served[4_000:].mean() > 0.25


@pytest.mark.parametrize("seed", range(3))
def test_a_fault_closes_the_namespace_and_its_end_opens_it_again(seed):
    budget = Budget(max_error_rate=0.02, shadow_share=0.2, block_seconds=500, blocks=4)

    def factor(t):
        return 30.0 if 2_000 <= t < 4_000 else 1.0

    run = simulate(budget, seed=seed, requests=8_000, factor=factor)
    assert [mode for _, mode in run.modes] == [Mode.EXACT_ONLY, Mode.OPEN]
    (closed, _), (reopened, _) = run.modes
    assert 2_000 < closed < 2_800
    assert 4_000 < reopened < 6_500
    assert not run.served[closed + 1 : reopened].any()
    assert run.served[reopened + 500 :].mean() > 0.3
    assert run.wrong[reopened:].mean() <= 0.02


def test_a_lasting_fault_keeps_it_closed_or_lets_through_what_is_still_safe():
    budget = Budget(max_error_rate=0.02, shadow_share=0.2, block_seconds=1_000, blocks=6)
    run = simulate(budget, requests=6_000, factor=100.0)
    assert run.modes[0][1] is Mode.EXACT_ONLY
    assert run.wrong[2_000:].mean() <= 0.02
    assert len(run.modes) <= 3


# ── Falling back ────────────────────────────────────────────────────────────────────────────────


def test_a_lack_of_labels_is_no_reason_to_close():
    """The upper bound is far above the budget, the lower one is not."""
    budget = Budget(max_error_rate=0.01, shadow_share=1.0)
    ledger = label(budget, opened(budget, requests=100)[0], wrong=False, times=5)
    result = review(budget, ledger, now=0)
    assert result.terms.error_rate.upper > 0.01
    assert result.terms.mode is Mode.OPEN
    assert result.transition is None


def closed_ledger(budget, worker="worker"):
    ledger, _ = opened(budget, requests=100, worker=worker)
    for _ in range(12):
        ledger = label(budget, ledger, wrong=True, times=1)
        result = review(budget, ledger, now=0)
        if result.transition is not None:
            return result
    raise AssertionError("it never closed")


def test_a_transition_says_what_it_was_about():
    result = closed_ledger(Budget(max_error_rate=0.01, shadow_share=1.0))
    assert result.transition is not None
    assert (result.transition.before, result.transition.after) == (Mode.OPEN, Mode.EXACT_ONLY)
    assert result.transition.error_rate.lower > 0.01
    assert result.terms.mode is Mode.EXACT_ONLY


def test_closed_would_be_hits_are_compared_and_not_served():
    budget = Budget(max_error_rate=0.01, shadow_share=0.0, exact_only_share=0.5)
    ledger = closed_ledger(replace(budget, shadow_share=1.0)).ledger
    _, admission = ask(budget, ledger, confidence=0.9999, entry_id="new")
    assert (admission.serve, admission.passes) == (False, True)
    assert admission.verdict is Verdict.EXACT_ONLY
    assert shadow_due(admission, 0.49)
    assert not shadow_due(admission, 0.5)


def test_reopening_takes_labels_and_not_only_time():
    budget = Budget(max_error_rate=0.01, shadow_share=1.0)
    ledger = closed_ledger(budget).ledger
    silent = ledger
    for _ in range(900):  # hits that pass, none of them labelled
        silent, _ = ask(budget, silent, confidence=0.9999, entry_id=str(silent.requests))
    assert review(budget, silent, now=0).terms.mode is Mode.EXACT_ONLY
    labelled = label(budget, ledger, wrong=False, times=900, confidence=0.9999)
    assert review(budget, labelled, now=0).transition is not None
    assert review(budget, labelled, now=0).terms.mode is Mode.OPEN


def test_reports_alone_can_close():
    budget = Budget(max_error_rate=0.01, shadow_share=0.0)
    ledger, _ = opened(budget, requests=100)
    for entry in range(10):
        ledger, _ = ask(budget, ledger, entry_id=str(entry))
        ledger = report_wrong(budget, ledger, str(entry), now=0)
    assert review(budget, ledger, now=0).terms.mode is Mode.EXACT_ONLY


def test_what_another_worker_found_holds_before_the_next_review():
    budget = Budget(max_error_rate=0.01, shadow_share=1.0)
    ledger, terms = opened(budget, requests=100, worker="other")
    merged = merge(ledger, closed_ledger(budget).ledger)
    _, admission = admit(budget, merged, terms, confidence=0.9999, entry_id="e", now=0)
    assert admission.verdict is Verdict.EXACT_ONLY


def test_a_label_from_before_the_turn_is_no_evidence_for_the_way_back():
    budget = Budget(max_error_rate=0.01, shadow_share=1.0)
    _, admission = ask(budget, opened(budget, requests=100)[0], confidence=0.9999)
    ledger = closed_ledger(budget).ledger
    ledger = record(budget, ledger, admission, wrong=False, now=0)
    assert review(budget, ledger, now=0).terms.error_rate.estimate is None


# ── One decision ────────────────────────────────────────────────────────────────────────────────


def test_the_very_first_question_may_be_answered():
    _, admission = ask(Budget(max_error_rate=0.01), Ledger("worker"), confidence=0.996)
    assert admission.serve
    assert admission.verdict is Verdict.WITHIN_BUDGET


def test_an_unknown_entry_of_an_unknown_class_takes_the_global_estimate():
    budget = Budget(max_error_rate=0.01, shadow_share=1.0)
    ledger = label(budget, opened(budget, requests=3_000)[0], wrong=True, times=6, class_="a")
    ratio = review(budget, ledger, now=0).terms.ratio
    _, admission = ask(budget, ledger, confidence=0.999, entry_id="cold", class_="b")
    assert ratio > 2
    assert admission.serve
    assert admission.risk == pytest.approx(0.001 * ratio, rel=0.01)


def test_a_class_with_errors_pays_more_than_one_without():
    budget = Budget(max_error_rate=0.02, shadow_share=1.0, strength=0.5)
    ledger = label(budget, opened(budget, requests=3_000)[0], wrong=True, times=5, class_="bad")
    ledger = label(budget, ledger, wrong=False, times=300, class_="good", confidence=0.997)
    _, bad = ask(budget, ledger, entry_id="x", class_="bad")
    _, good = ask(budget, ledger, entry_id="y", class_="good")
    assert bad.risk > 2 * good.risk
    assert bad.bar > good.bar


def test_an_entry_with_a_wrong_label_pays_more_than_its_class():
    budget = Budget(max_error_rate=0.02, shadow_share=1.0)
    ledger, admission = ask(budget, opened(budget, requests=500)[0], entry_id="odd")
    ledger = record(budget, ledger, admission, wrong=True, now=0)
    _, odd = ask(budget, ledger, entry_id="odd")
    _, other = ask(budget, ledger, entry_id="other")
    assert odd.risk > 2 * other.risk


def test_a_reported_entry_is_refused_until_it_is_cleared():
    budget = Budget(max_error_rate=0.02)
    ledger, _ = ask(budget, opened(budget, requests=100)[0])
    ledger = report_wrong(budget, ledger, "e", now=5)
    ledger, refused = ask(budget, ledger, confidence=1.0, now=6)
    assert (refused.verdict, refused.serve) == (Verdict.REPORTED_WRONG, False)
    assert not shadow_due(refused, 0.0)
    cleared = clear(ledger, "e", now=7)
    assert ask(budget, cleared, now=8)[1].serve
    again = report_wrong(budget, cleared, "e", now=7)
    assert ask(budget, again, now=8)[1].verdict is Verdict.REPORTED_WRONG


def test_a_report_is_counted_once():
    budget = Budget(max_error_rate=0.02)
    ledger, _ = opened(budget, requests=10)
    ledger = report_wrong(budget, ledger, "e", now=1)
    assert report_wrong(budget, ledger, "e", now=2) is ledger


def test_clearing_what_nobody_complained_about_changes_nothing():
    ledger = Ledger("worker")
    assert clear(ledger, "unknown", now=1) is ledger


def test_a_hit_below_the_bar_is_neither_served_nor_counted():
    budget = Budget(max_error_rate=0.01, shadow_share=1.0)
    ledger, admission = ask(budget, opened(budget)[0], confidence=0.5)
    assert (admission.verdict, admission.passes) == (Verdict.BELOW_BAR, False)
    assert record(budget, ledger, admission, wrong=True, now=0) is ledger


def test_no_budget_buys_an_answer_that_is_likely_wrong():
    budget = Budget(max_error_rate=0.5, least_confidence=0.9)
    ledger, _ = opened(budget, requests=1_000)
    assert ask(budget, ledger, confidence=0.901)[1].serve
    assert ask(budget, ledger, confidence=0.899)[1].verdict is Verdict.BELOW_BAR


@pytest.mark.parametrize("confidence", [float("nan"), float("inf"), -1.0, 0.0])
def test_a_confidence_that_says_nothing_serves_nothing(confidence):
    budget = Budget(max_error_rate=0.01)
    _, admission = ask(budget, opened(budget, requests=50)[0], confidence=confidence)
    assert not admission.serve
    assert admission.risk == 1


def test_no_confidence_is_free():
    """Something is spent even on certainty, so that an error among the certain can be learnt."""
    ledger, admission = ask(Budget(max_error_rate=0.01), Ledger("worker"), confidence=1.0)
    assert admission.serve
    assert 0 < ledger.spent < 0.001


def test_old_evidence_is_forgotten():
    budget = Budget(max_error_rate=0.02, shadow_share=1.0, block_seconds=10, blocks=3)
    ledger = label(budget, opened(budget, requests=3_000)[0], wrong=True, times=4)
    assert review(budget, ledger, now=29).terms.ratio > 1.5
    assert review(budget, ledger, now=30).terms.ratio == 1
    later = observe_request(budget, ledger, now=30)
    assert len(later.own.tallies) == 1
    assert later.requests == ledger.requests + 1


def test_a_judge_with_a_share_of_its_own_is_weighted_by_it():
    """Nine right answers looked at one in ten, one wrong one looked at for sure: one in 91."""
    budget = Budget(max_error_rate=0.5, shadow_share=1.0)
    ledger, _ = opened(budget, requests=9)
    for drawn, wrong in [(0.1, False)] * 9 + [(1.0, True)]:
        ledger, admission = ask(budget, ledger, entry_id=str(ledger.requests))
        ledger = record(budget, ledger, admission, wrong=wrong, share=drawn, now=0)
    rate = review(budget, ledger, now=0).terms.error_rate
    assert rate.estimate == pytest.approx(10 / 19 / 91)
    assert rate.lower < rate.estimate < rate.upper


def test_the_summary_adds_up():
    budget = Budget(max_error_rate=0.05, shadow_share=1.0)
    ledger = label(budget, opened(budget, requests=90)[0], wrong=False, times=9)
    ledger = label(budget, ledger, wrong=True, times=1)
    ledger = report_wrong(budget, ledger, "x", now=0)
    found = summary(budget, ledger, review(budget, ledger, now=0).terms, now=0)
    assert (found.requests, found.hits, found.passed) == (100, 10, 10)
    assert (found.labels, found.wrong_labels, found.reports) == (10, 1, 1)
    assert found.error_rate.estimate == pytest.approx(0.01)
    assert 0 <= found.error_rate.lower < 0.01 < found.error_rate.upper <= 0.1
    assert found.mode is Mode.OPEN
    assert 0.8 < found.bar < 1


# ── Bounds ──────────────────────────────────────────────────────────────────────────────────────


def test_the_bounds_hold_at_every_moment_at_once():
    """Of 400 runs of 2,000 steps at most about one in twenty ever leaves its interval."""
    generator = np.random.default_rng(5)
    chances = generator.uniform(0, 0.1, 2_000)
    expected = np.cumsum(chances)
    counts = np.cumsum(generator.random((400, 2_000)) < chances, axis=1)
    highest = counts.max()
    lower = np.array([least_expected(n, 0.95) for n in range(highest + 1)])
    upper = np.array([most_expected(n, 0.95) for n in range(highest + 1)])
    left = (expected < lower[counts]) | (expected > upper[counts])
    assert left.any(axis=1).mean() <= 0.06


def test_an_interval_contains_its_count_and_narrows():
    for count in (1, 10, 100, 10_000):
        assert least_expected(count, 0.95) < count < most_expected(count, 0.95)
    assert least_expected(0, 0.95) == 0
    assert most_expected(0, 0.95) == pytest.approx(4.74, abs=0.01)
    assert most_expected(10_000, 0.95) < 1.05 * 10_000
    assert most_expected(0, 0.99) > most_expected(0, 0.95)


def test_the_allowance_is_half_at_first_and_nearly_all_later():
    assert allowance(0, 0.95) == 0
    assert allowance(3, 0.95) == 1.5
    assert 0.7 < allowance(100, 0.95) / 100 < 0.75
    assert allowance(10_000, 0.95) > 0.95 * 10_000
    rates = [allowance(errors, 0.95) / errors for errors in range(1, 300)]
    assert rates == sorted(rates)  # so that terms that are old are never too generous


# ── Settings and state ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("max_error_rate", 0),
        ("max_error_rate", 0.6),
        ("max_error_rate", float("nan")),
        ("max_error_rate", "1%"),
        ("max_error_rate", True),
        ("least_confidence", 1.0),
        ("confidence_level", 1.0),
        ("confidence_level", 0.2),
        ("shadow_share", -0.1),
        ("shadow_share", 1.1),
        ("exact_only_share", 0),
        ("strength", 0),
        ("block_seconds", 0),
        ("blocks", 0),
        ("blocks", 2.5),
    ],
)
def test_a_wrong_setting_is_named_with_what_it_accepts(setting, value):
    with pytest.raises(ConfigurationError, match=rf"^{setting} must be a (whole )?number"):
        Budget(**{"max_error_rate": 0.01, setting: value})


def test_the_state_survives_json():
    budget = Budget(max_error_rate=0.02, shadow_share=0.5, block_seconds=100, blocks=4)
    ledger = simulate(budget, requests=500).ledger
    ledger = report_wrong(budget, ledger, "é\ud800", class_="naïve", now=500)
    assert from_json(to_json(ledger), worker="worker") == ledger
    assert to_json(from_json(to_json(ledger), worker="other")) == to_json(ledger)


def _damaged(change):
    budget = Budget(max_error_rate=0.02, shadow_share=1.0)
    document = json.loads(to_json(label(budget, Ledger("worker"), wrong=False, times=2)))
    change(document, document["shares"]["worker"])
    return json.dumps(document)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"version":2,"shares":{}}',
        b"\xff",
        '{"version":1,"shares":{"w":{}}}',
        "[" * 100_000,
        _damaged(lambda document, share: share.update(requests=-1)),
        _damaged(lambda document, share: share.update(requests=True)),
        _damaged(lambda document, share: share.update(spent=float("inf"))),
        _damaged(lambda document, share: share.update(spent="much")),
        _damaged(lambda document, share: share.update(entries=[[1, 2, 3, 4, 5, 6]])),
        _damaged(lambda document, share: share.update(entries=[[]])),
        _damaged(lambda document, share: share["tallies"][0].update(risk=[0])),
        _damaged(lambda document, share: share["tallies"][0].update(classes=[[99, 1, 1, 1, 1]])),
        _damaged(lambda document, share: share["tallies"][0].pop("hits")),
    ],
)
def test_a_damaged_state_is_one_clear_error(text):
    with pytest.raises(ConfigurationError, match="stored error budget cannot be read"):
        from_json(text, worker="worker")


def test_the_state_stays_small():
    """Whatever callers use as classes and entries, and however many workers come and go."""
    budget = Budget(max_error_rate=0.5, shadow_share=1.0, block_seconds=10, blocks=2)
    ledger = Ledger("worker")
    for n in range(600):
        ledger, admission = ask(
            budget, ledger, confidence=0.99, entry_id=f"e{n}", class_=f"c{n}", now=n
        )
        ledger = record(budget, ledger, admission, wrong=False, now=n)
    assert len(ledger.own.entries) == ENTRIES
    assert len(ledger.own.tallies) == 2
    assert all(len(tally.classes) <= CLASSES for tally in ledger.own.tallies.values())
    for n in range(40):
        ledger = merge(ledger, observe_request(budget, Ledger(f"w{n}"), now=n))
    assert len(ledger.shares) == WORKERS
    assert "worker" in ledger.shares
    assert len(to_json(ledger)) < 64_000


def test_a_refused_entry_is_forgotten_last():
    budget = Budget(max_error_rate=0.02)
    ledger = report_wrong(budget, Ledger("worker"), "bad", now=1)
    for n in range(ENTRIES + 10):
        ledger, admission = ask(budget, ledger, confidence=0.9999, entry_id=f"e{n}", now=2)
        ledger = record(budget, ledger, admission, wrong=False, now=2)
    assert ledger.entry("bad").blocked
    assert len(ledger.own.entries) <= ENTRIES


def test_workers_share_what_they_learn_and_what_they_clear():
    budget = Budget(max_error_rate=0.02, shadow_share=1.0)
    ours, admission = ask(budget, opened(budget, requests=50)[0])
    ours = record(budget, ours, admission, wrong=True, now=1)
    ours = report_wrong(budget, ours, "e", now=2)
    theirs = merge(Ledger("other"), ours)
    assert ask(budget, theirs, now=3)[1].verdict is Verdict.REPORTED_WRONG
    theirs = clear(theirs, "e", now=4)
    ours = merge(ours, theirs)
    assert not ours.entry("e").blocked
    # What was held against it before is not held against it again by the next label.
    ours, admission = ask(budget, ours, now=5)
    assert admission.risk < 0.003
    ours = record(budget, ours, admission, wrong=False, now=5)
    assert ours.entry("e").wrong == 0
