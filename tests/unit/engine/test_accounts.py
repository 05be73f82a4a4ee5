"""The error budget end to end: would-be hits are admitted, compared, and remembered."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from langchain_semcache import ConfigurationError, Reason, Request, Response, Semcache
from langchain_semcache.clock import ManualClock
from langchain_semcache.events import BudgetTurned
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.records import BOOKS, Selection
from langchain_semcache.testing.fakes import ScriptedEncoder
from langchain_semcache.threshold import Mode
from langchain_semcache.threshold.confidence import Calibration

DIMENSION = 64
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDINGS = [f"asked {a}{b}x" for a in LETTERS for b in LETTERS]
SIDE_BY_SIDE = dict.fromkeys(WORDINGS, 0.95) | {"asked": 1.0}
DEFAULTS = {"max_error_rate": 0.2, "shadow_share": 0.0, "ttl": None}
ONE, TWO, THREE, LAST = (*WORDINGS[:3], WORDINGS[-1])


class Seen:
    def __init__(self):
        self.events = []

    def emit(self, event):
        self.events.append(event)

    def turns(self):
        return [event.exact_only for event in self.events if isinstance(event, BudgetTurned)]


def until(true, seconds=10.0):
    """Whether it comes true in time: what happens on another thread is waited for."""
    give_up_at = time.monotonic() + seconds
    while not true() and time.monotonic() < give_up_at:
        time.sleep(0.01)
    return true()


def ask(text):
    return Request(messages=text, model="m")


@pytest.fixture
def budgeted(tmp_path):
    """A cache with a budget, whose calibration says the same of everything that is near."""
    opened = []

    def open_(index=None, *, log_odds=3.5, clock=None, sinks=(), **settings):
        file = tmp_path / "calibration.json"
        weights = {"bias": log_odds}
        calibration = Calibration(
            encoder="scripted", verifier=None, floor=0.5, bar=0.9, least=0.8, weights=weights
        )
        file.write_text(calibration.to_json(), "utf-8")
        cache = Semcache.open(
            ":memory:",
            encoder=ScriptedEncoder(SIDE_BY_SIDE, dimension=DIMENSION),
            index=index,
            clock=clock or ManualClock(),
            sinks=sinks,
            strict=True,
            **DEFAULTS | {"calibration": str(file)} | settings,
        )
        opened.append(cache)
        return cache

    yield open_
    for cache in opened:
        cache.close()


def turned_off(cache, clock):
    """Let every comparison come out wrong until the cache falls back."""
    cache.store(ask("asked"), Response.from_text("by card"))
    for wording in WORDINGS[:-1]:
        clock.advance(1)
        cache.lookup(ask(wording))
        if cache.stats().budget.mode is Mode.EXACT_ONLY:
            return
        cache.store(ask(wording), Response.from_text("never at all"), tags=["fresh"])
        cache.invalidate(tags=["fresh"])
    raise AssertionError("the cache never fell back")


def test_within_the_budget_a_near_answer_is_served_with_its_confidence(budgeted):
    cache = budgeted()
    cache.store(ask("asked"), Response.from_text("by card"))
    decision = cache.lookup(ask(ONE))
    assert (decision.hit, decision.reason) == (True, Reason.SEMANTIC)
    assert decision.confidence == pytest.approx(0.9707, abs=1e-4)
    assert cache.stats().budget.requests == 1


def test_a_budget_too_small_for_the_risk_misses_and_says_so(budgeted):
    cache = budgeted(max_error_rate=0.001)
    cache.store(ask("asked"), Response.from_text("by card"))
    decision = cache.lookup(ask(ONE))
    assert not decision.hit
    assert decision.reason in {Reason.LOW_CONFIDENCE, Reason.BUDGET_SPENT}
    assert "confidence needed" in decision.detail


def test_a_shadow_check_asks_the_model_and_books_what_it_said(budgeted):
    cache = budgeted(shadow_share=1.0)
    cache.store(ask("asked"), Response.from_text("by card"))
    assert cache.lookup(ask(ONE)).reason is Reason.SHADOW_CHECK
    cache.store(ask(ONE), Response.from_text("By card."))
    assert cache.lookup(ask(TWO)).reason is Reason.SHADOW_CHECK
    cache.store(ask(TWO), Response.from_text("never at all"))
    budget = cache.stats().budget
    assert (budget.labels, budget.wrong_labels) == (2, 1)


def test_an_exact_hit_needs_no_budget(budgeted):
    cache = budgeted(max_error_rate=0.001, shadow_share=1.0)
    cache.store(ask("asked"), Response.from_text("by card"))
    assert cache.lookup(ask("asked")).reason is Reason.EXACT


def test_a_namespace_that_errs_falls_back_is_announced_and_stays_so_after_a_restart(budgeted):
    clock, index, seen = ManualClock(), MemoryIndex(DIMENSION), Seen()
    blind = {"log_odds": 12.0, "max_error_rate": 0.05, "shadow_share": 1.0}
    cache = budgeted(index, clock=clock, sinks=[seen], **blind)
    turned_off(cache, clock)
    assert seen.turns() == [True]
    cache.close()
    again = budgeted(index, clock=clock, **blind)
    assert again.stats().budget.mode is Mode.EXACT_ONLY
    assert again.lookup(ask(LAST)).reason is Reason.BUDGET_SPENT


def test_what_a_user_reports_is_not_served_again(budgeted):
    cache = budgeted()
    kept = cache.store(ask("asked"), Response.from_text("by card"))
    assert cache.lookup(ask(ONE)).hit
    assert cache.report(kept.entry_id, wrong=True)
    cache.store(ask("asked"), Response.from_text("by card"))
    decision = cache.lookup(ask(TWO))
    assert (decision.hit, decision.reason) == (False, Reason.REPORTED_WRONG)
    cache.report(kept.entry_id, wrong=False)
    assert cache.lookup(ask(THREE)).hit


def test_the_books_are_no_entries_of_anybody(budgeted):
    index = MemoryIndex(DIMENSION)
    cache = budgeted(index)
    cache.store(ask("asked"), Response.from_text("by card"))
    cache.lookup(ask("asked"))
    cache.close()
    assert len(list(index.scan(Selection(namespace=BOOKS)))) == 1
    again = budgeted(index)
    assert again.stats().entries == 1
    assert again.clear() == 1
    assert len(list(index.scan(Selection(namespace=BOOKS)))) == 1


def test_damaged_books_begin_anew_with_one_warning(budgeted, caplog):
    index = MemoryIndex(DIMENSION)
    cache = budgeted(index)
    cache.lookup(ask(ONE))
    cache.close()
    (page,) = index.scan(Selection(namespace=BOOKS))
    index.put(replace(page, payload=b"{"), None)
    cache = budgeted(index)
    assert cache.stats().budget.requests == 0
    assert [record.levelname for record in caplog.records].count("WARNING") == 1
    assert "begins anew" in caplog.text


def test_a_budget_without_a_calibration_is_refused_with_the_way_out():
    with pytest.raises(ConfigurationError, match="semcache calibrate"):
        Semcache.open(":memory:", encoder="hash", max_error_rate=0.01)


def test_explain_costs_nothing_of_the_budget(budgeted):
    cache = budgeted()
    cache.store(ask("asked"), Response.from_text("by card"))
    assert cache.explain(ask(ONE)).hit
    assert cache.stats().budget.requests == 0


def test_what_users_say_is_kept_as_pairs(budgeted):
    index = MemoryIndex(DIMENSION)
    cache = budgeted(index)
    kept = cache.store(ask("asked"), Response.from_text("by card"))
    assert not cache.report("nobody", wrong=False)
    assert cache.lookup(ask(ONE)).hit
    cache.report(kept.entry_id, wrong=False)
    assert cache.lookup(ask(TWO)).hit
    cache.report(kept.entry_id, wrong=True)
    told = {(said.question, said.stored, said.right) for said in cache.feedback()}
    assert told == {(ONE, "asked", True), (TWO, "asked", False)}
    assert cache.clear() == 0
    assert len(list(budgeted(index).feedback())) == 2


def test_a_namespace_that_only_requests_name_is_remembered_too(budgeted):
    index = MemoryIndex(DIMENSION)
    elsewhere = {"namespace": "shop"}
    cache = budgeted(index)
    for _ in range(3):
        cache.lookup(Request(messages=ONE, model="m", **elsewhere))
    cache.close()
    again = budgeted(index)
    again.lookup(Request(messages=ONE, model="m", **elsewhere))
    accounts = again.core.workplace.accounts
    assert until(lambda: accounts.summary("shop").requests == 4)


def test_a_verdict_that_took_all_the_time_is_no_error(budgeted):
    clock = ManualClock()

    class Slow:
        identity = "slow"

        def judge(self, question, stored):
            clock.advance(60)
            return [0.99] * len(stored)

    cache = budgeted(clock=clock, verifier=Slow(), calibration="auto")
    cache.store(ask("asked"), Response.from_text("by card"))
    assert cache.lookup(ask(ONE)).reason in {Reason.SEMANTIC, Reason.DEADLINE}


def test_a_complaint_reaches_the_budget_of_the_namespace_the_answer_is_in(budgeted):
    def elsewhere(text):
        return Request(messages=text, model="m", namespace="shop")

    cache = budgeted()
    kept = cache.store(elsewhere("asked"), Response.from_text("by card"))
    assert cache.lookup(elsewhere(ONE)).hit
    cache.report(kept.entry_id, wrong=True)
    cache.store(elsewhere("asked"), Response.from_text("by card"))
    assert cache.lookup(elsewhere(TWO)).reason is Reason.REPORTED_WRONG


def test_whoever_only_looks_writes_nothing(budgeted):
    index = MemoryIndex(DIMENSION)
    cache = budgeted(index)
    cache.explain(ask(ONE))
    cache.stats()
    cache.close()
    assert not list(index.scan(Selection(namespace=BOOKS)))
