"""Workers that leave their ledgers for each other agree in the end, in whatever order they meet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.threshold import (
    Budget,
    Ledger,
    admit,
    clear,
    from_json,
    merge,
    observe_request,
    record,
    report_wrong,
    review,
    to_json,
)

BUDGET = Budget(max_error_rate=0.05, shadow_share=1.0, block_seconds=3, blocks=2)

STEPS = st.tuples(
    st.sampled_from(["miss", "right", "wrong", "report", "clear", "meet", "review"]),
    st.sampled_from("abc"),  # who
    st.sampled_from("xyz"),  # which entry, which class, or whom to meet
    st.integers(0, 9),
    st.sampled_from([0.9, 0.99, 0.9999]),
)
HISTORIES = st.lists(STEPS, max_size=25)


def play(history):
    """Every state that any worker was ever in, the last three of them being where they ended."""
    workers = {name: Ledger(name) for name in "abc"}
    states = []
    for step, name, what, now, confidence in history:
        ledger = workers[name]
        if step in ("miss", "right", "wrong"):
            ledger = observe_request(BUDGET, ledger, now=now)
        if step in ("right", "wrong"):
            terms = review(BUDGET, ledger, now=now).terms
            ledger, admission = admit(
                BUDGET, ledger, terms, confidence=confidence, entry_id=what, class_=what, now=now
            )
            ledger = record(BUDGET, ledger, admission, wrong=step == "wrong", now=now)
        elif step == "report":
            ledger = report_wrong(BUDGET, ledger, what, class_=what, now=now)
        elif step == "clear":
            ledger = clear(ledger, what, now=now)
        elif step == "meet":
            ledger = merge(ledger, workers["abc"["xyz".index(what)]])
        elif step == "review":
            ledger = review(BUDGET, ledger, now=now).ledger
        workers[name] = ledger
        states.append(ledger)
    return [*states, *workers.values()]


@given(HISTORIES, st.data())
def test_merging_is_commutative_associative_and_idempotent(history, data):
    states = play(history)
    one, two, three = (data.draw(st.sampled_from(states)) for _ in range(3))
    assert merge(one, two).shares == merge(two, one).shares
    assert merge(merge(one, two), three).shares == merge(one, merge(two, three)).shares
    assert merge(one, one).shares == one.shares
    assert merge(merge(one, two), two).shares == merge(one, two).shares


@given(HISTORIES)
def test_a_meeting_loses_nothing_and_counts_nothing_twice(history):
    a, b, c = play(history)[-3:]
    merged = merge(merge(a, b), c)
    assert merged.requests == sum(each.own.requests for each in (a, b, c))
    assert merged.turn == max(each.turn for each in (a, b, c))
    assert merged.spent == sum(merged.shares[name].spent for name in sorted(merged.shares))


@given(HISTORIES)
def test_any_state_survives_json(history):
    for state in play(history)[-3:]:
        assert from_json(to_json(state), worker=state.worker) == state


@given(HISTORIES)
def test_an_open_namespace_never_overspends(history):
    """On its own a worker stays within what may be expected, whatever it is asked and told."""
    alone = [step for step in history if step[0] != "meet"]
    for state in play(alone)[-3:]:
        assert state.spent <= BUDGET.max_error_rate * state.requests + 1e-9
