"""The decision, fed by hand: every test sends values in and reads values out."""

from __future__ import annotations

import math
import uuid
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.context import summarise
from langchain_semcache.engine import flow, storing
from langchain_semcache.engine.commands import (
    Announce,
    Answer,
    Command,
    Embed,
    Failure,
    Fetch,
    Flow,
    Hold,
    Put,
    Remove,
    Search,
    Verify,
    Withdraw,
)
from langchain_semcache.engine.policy import Policy
from langchain_semcache.engine.refining import refine
from langchain_semcache.errors import IndexUnavailable, VerifierUnavailable
from langchain_semcache.guards import Refusal
from langchain_semcache.records import (
    Candidate,
    Entry,
    Query,
    Reason,
    Response,
    Scope,
    Selection,
)
from langchain_semcache.responses import DeltaCodec
from langchain_semcache.threshold.confidence import Calibration

NOW = 1_000.0
SCOPE = Scope(digest="s", namespace="n", tenant="t", model="m")
QUERY = Query(text="how do I pay?", fingerprint="f", partition="p")
VECTOR = np.ones(2, dtype=np.float32)
CODEC = DeltaCodec()
POLICY = Policy(
    similarity_threshold=0.9,
    neighbours=3,
    guard=lambda question, stored: None,
    codec=CODEC,
    now=lambda: NOW,
)


def an_entry(name: str = "e", text: str = "by card", **fields: object) -> Entry:
    base = Entry(
        id=name,
        scope="s",
        partition="p",
        fingerprint="g",
        namespace="n",
        tenant="t",
        model="m",
        question=f"question of {name}",
        payload=CODEC.encode(Response.from_text(text)),
        created_at=NOW - 60,
    )
    return replace(base, **fields)


def play(steps: Flow[object], *answers: Answer) -> tuple[object, list[Command]]:
    """The flow's result and the commands it gave, when it is answered like this."""
    commands: list[Command] = [next(steps)]
    try:
        for answer in answers:
            commands.append(steps.send(answer))
    except StopIteration as done:
        return done.value, commands
    raise AssertionError(f"the flow wants more after {commands[-1]}")


def test_an_exact_entry_is_served_without_embedding_anything():
    decision, commands = play(flow.lookup(SCOPE, QUERY, POLICY), an_entry())
    assert [type(command) for command in commands] == [Fetch]
    assert decision.hit
    assert decision.reason is Reason.EXACT
    assert decision.response.text == "by card"
    assert (decision.similarity, decision.confidence) == (1.0, 1.0)
    assert decision.age == timedelta(seconds=60)


def test_the_best_candidate_from_the_threshold_on_is_served():
    close = Candidate(an_entry("close"), 0.9)
    steps = flow.lookup(SCOPE, QUERY, POLICY)
    decision, commands = play(steps, None, VECTOR, [close], [close])
    assert [type(command) for command in commands] == [Fetch, Embed, Search, Search]
    assert (commands[1], commands[2]) == (Embed(QUERY.text), Search("p", VECTOR, 1))
    assert decision.hit
    assert decision.reason is Reason.SEMANTIC
    assert decision.similarity == 0.9
    assert decision.question == "question of close"


@pytest.mark.parametrize("similarity", [0.8999999, 0.0, float("nan")])
def test_a_candidate_below_the_threshold_is_not_served(similarity):
    candidate = Candidate(an_entry(), similarity)
    decision, _ = play(flow.lookup(SCOPE, QUERY, POLICY), None, VECTOR, [candidate])
    assert not decision.hit
    assert decision.reason is Reason.BELOW_THRESHOLD
    assert decision.response is None


LIKELY = Calibration(
    encoder="e", verifier="v", floor=0.5, bar=0.8, least=0.6, weights={"opinion": 1.0, "bias": 0.0}
)
CARS = ("Volvo", "Tesla", "Toyota")
WEIGHING = replace(POLICY, similarity_threshold=0.5, calibration=LIKELY, verifies=True)


def test_of_the_candidates_that_stand_the_surest_is_served():
    near, sure = Candidate(an_entry("near"), 0.97), Candidate(an_entry("sure"), 0.8)
    steps = flow.lookup(SCOPE, QUERY, WEIGHING)
    decision, commands = play(steps, None, VECTOR, [near], [near, sure], [0.6, 0.95])
    assert commands[-1] == Verify(QUERY.text, ("question of near", "question of sure"))
    assert (decision.hit, decision.entry_id) == (True, "sure")
    assert decision.confidence == pytest.approx(0.95)
    assert [verdict.reason for verdict in decision.verdicts] == [
        Reason.LOW_CONFIDENCE,
        Reason.SEMANTIC,
    ]


def test_under_a_budget_the_one_it_reckons_with_least_for_is_served():
    near, sure = Candidate(an_entry("near"), 0.97), Candidate(an_entry("sure"), 0.8)
    by_distance = replace(LIKELY, distance=0.8)
    policy = replace(WEIGHING, calibration=by_distance, budgeted=True)
    decision, commands = play(
        flow.lookup(SCOPE, QUERY, policy), None, VECTOR, [near], [near, sure], [0.9, 0.95], None
    )
    assert (decision.entry_id, commands[-1].entry_id) == ("near", "near")
    assert decision.confidence == pytest.approx(0.9)
    # As a share of how far the other one is, and four that are missing are as far as can be.
    apart = 0.03 / (1 - 0.8 / 5)
    assert commands[-1].confidence == pytest.approx(1 - 0.1**0.2 * apart**0.8)


LED = replace(LIKELY, weights={"opinion": 1.0, "lead": 8.0, "bias": -1.0})


def test_what_stands_out_from_its_crowd_is_surer_than_one_of_many():
    crowd = [Candidate(an_entry(f"other {n}"), 0.6) for n in range(5)]
    near = Candidate(an_entry("near"), 0.9)
    one_of_many = [replace(one, similarity=0.89) for one in crowd]
    policy = replace(WEIGHING, calibration=LED)
    for others, confident in ((crowd, True), (one_of_many, False)):
        steps = flow.lookup(SCOPE, QUERY, policy)
        decision, commands = play(steps, None, VECTOR, [near], [near, *others], [0.7, 0.5, 0.5])
        assert commands[-2] == Search("p", VECTOR, 6)
        assert decision.hit is confident
        assert len(decision.verdicts) == 3  # the others only surround them
        assert decision.verdicts[0].around == tuple(one.similarity for one in others)


def test_follow_ups_have_no_crowd():
    """Every "how much is it?" is as near, whatever it is about; the chat says which is meant."""
    chats = [summarise([("user", f"I like the {car}.")], "How much is it?") for car in CARS]
    stored = [
        replace(an_entry(car), context=c.to_json()) for car, c in zip(CARS, chats, strict=True)
    ]
    near = [Candidate(replace(entry, question="How much is it?"), 0.99) for entry in stored]
    asked = replace(QUERY, text="How much is it?", turns=(("user", "I like the Volvo."),))
    policy = replace(WEIGHING, calibration=LED)
    steps = flow.lookup(SCOPE, asked, policy)
    decision, _ = play(steps, None, VECTOR, near[:1], near, [0.99])
    by_entry = {verdict.candidate.entry.id: verdict for verdict in decision.verdicts}
    assert by_entry["Volvo"].around == ()
    assert decision.entry_id == "Volvo"


PALACE = (("user", "Tell me of Wawel Castle."), ("assistant", "Wawel Castle is in Kraków."))


def test_of_a_follow_up_the_part_that_asks_is_embedded_and_verified():
    """On both sides; and that both ask for the age of one castle speaks for the answer."""
    policy = replace(
        WEIGHING,
        refine=lambda query: refine(query, split=None),
        calibration=replace(LIKELY, weights={"opinion": 1.0, "same_attribute": 2.0, "bias": 0.0}),
    )
    query = replace(QUERY, text="Oh great, thanks! And how old is it?", turns=PALACE)
    asked = "So how old is it then?"
    stored = an_entry(question=asked, context=summarise(PALACE, asked).to_json())
    near = Candidate(stored, 0.97)
    decision, commands = play(
        flow.lookup(SCOPE, query, policy), None, VECTOR, [near], [near], [0.5]
    )
    assert commands[1] == Embed("how old is it?")
    assert commands[-1] == Verify("how old is it?", ("how old is it?",))
    assert decision.verdicts[0].same_attribute
    assert decision.confidence == pytest.approx(1 / (1 + math.exp(-2)))
    assert decision.question == asked


def test_only_what_no_guard_refuses_is_shown_to_the_verifier():
    def guard(question, stored):
        return Refusal(Reason.NUMBERS_DIFFER, "1 ≠ 2") if stored.endswith("first") else None

    policy = replace(WEIGHING, guard=guard)
    first, second = Candidate(an_entry("first"), 0.99), Candidate(an_entry("second"), 0.7)
    steps = flow.lookup(SCOPE, QUERY, policy)
    decision, commands = play(steps, None, VECTOR, [first], [first, second], [0.3])
    assert commands[-1] == Verify(QUERY.text, ("question of second",))
    assert (decision.hit, decision.reason) == (False, Reason.NUMBERS_DIFFER)


def test_a_verifier_that_fails_refuses_what_it_should_have_judged():
    candidate = Candidate(an_entry(), 0.99)
    down = Failure(Reason.VERIFIER_UNAVAILABLE, VerifierUnavailable("down"))
    steps = flow.lookup(SCOPE, QUERY, WEIGHING)
    decision, _ = play(steps, None, VECTOR, [candidate], [candidate], down)
    assert (decision.hit, decision.reason) == (False, Reason.VERIFIER_UNAVAILABLE)


def test_a_calibration_without_a_verifier_asks_none():
    alone = replace(LIKELY, verifier=None, weights={"similarity": 10.0, "bias": -8.0})
    policy = replace(WEIGHING, calibration=alone, verifies=False)
    candidate = Candidate(an_entry(), 0.99)
    decision, _ = play(flow.lookup(SCOPE, QUERY, policy), None, VECTOR, [candidate], [candidate])
    assert decision.hit
    assert decision.confidence == pytest.approx(1 / (1 + math.exp(-1.9)))


def test_an_empty_neighbourhood_is_said_to_be_empty():
    decision, _ = play(flow.lookup(SCOPE, QUERY, POLICY), None, VECTOR, [])
    assert (decision.hit, decision.reason) == (False, Reason.NO_CANDIDATE)


def test_a_refused_candidate_makes_way_for_the_next():
    def guard(question, stored):
        return Refusal(Reason.NUMBERS_DIFFER, "1 ≠ 2") if stored.endswith("first") else None

    policy = replace(POLICY, guard=guard)
    first, second = Candidate(an_entry("first"), 0.99), Candidate(an_entry("second"), 0.95)
    steps = flow.lookup(SCOPE, QUERY, policy)
    decision, commands = play(steps, None, VECTOR, [first], [first, second])
    assert (commands[2], commands[3]) == (Search("p", VECTOR, 1), Search("p", VECTOR, 3))
    assert decision.hit
    assert decision.entry_id == "second"
    assert [verdict.reason for verdict in decision.verdicts] == [
        Reason.NUMBERS_DIFFER,
        Reason.SEMANTIC,
    ]


def test_a_miss_is_explained_by_its_best_candidate():
    policy = replace(POLICY, guard=lambda *_: Refusal(Reason.POLARITY_DIFFERS, "not"))
    best, other = Candidate(an_entry("best"), 0.99), Candidate(an_entry("other"), 0.5)
    steps = flow.lookup(SCOPE, QUERY, policy)
    decision, _ = play(steps, None, VECTOR, [best], [best, other])
    assert (decision.reason, decision.detail) == (Reason.POLARITY_DIFFERS, "not")
    assert (decision.similarity, decision.entry_id) == (0.99, "best")


def test_what_cannot_be_compared_by_meaning_takes_the_exact_path_only():
    query = replace(QUERY, exact_only=Reason.MEDIA)
    decision, commands = play(flow.lookup(SCOPE, query, POLICY), None)
    assert [type(command) for command in commands] == [Fetch]
    assert (decision.reason, decision.exact_only) == (Reason.MEDIA, Reason.MEDIA)


def test_a_corrupt_exact_record_is_a_miss_that_says_so_and_a_candidate_may_still_serve():
    corrupt = an_entry(payload=b"nonsense")
    decision, _ = play(flow.lookup(SCOPE, QUERY, POLICY), corrupt, VECTOR, [])
    assert (decision.hit, decision.reason) == (False, Reason.CORRUPT_ENTRY)
    good = Candidate(an_entry("good"), 0.97)
    decision, _ = play(flow.lookup(SCOPE, QUERY, POLICY), corrupt, VECTOR, [good], [good])
    assert decision.entry_id == "good"


def test_a_corrupt_candidate_is_passed_over():
    corrupt = Candidate(an_entry("bad", payload=b"\x00"), 0.99)
    good = Candidate(an_entry("good"), 0.95)
    found = [corrupt, good]
    steps = flow.lookup(SCOPE, QUERY, POLICY)
    decision, _ = play(steps, None, VECTOR, found[:1], found)
    assert decision.entry_id == "good"
    steps = flow.lookup(SCOPE, QUERY, POLICY)
    decision, _ = play(steps, None, VECTOR, [corrupt], [corrupt])
    assert decision.reason is Reason.CORRUPT_ENTRY


INDEX_DOWN = Failure(Reason.INDEX_UNAVAILABLE, IndexUnavailable("down"))
ENCODER_DOWN = Failure(Reason.ENCODER_UNAVAILABLE, RuntimeError("down"))


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([INDEX_DOWN], Reason.INDEX_UNAVAILABLE),
        ([None, ENCODER_DOWN], Reason.ENCODER_UNAVAILABLE),
        ([None, VECTOR, INDEX_DOWN], Reason.INDEX_UNAVAILABLE),
    ],
)
def test_a_backend_that_fails_is_a_miss_with_its_reason(answers, reason):
    decision, commands = play(flow.lookup(SCOPE, QUERY, POLICY), *answers)
    assert len(commands) == len(answers)
    assert (decision.hit, decision.reason) == (False, reason)


def test_explain_judges_every_candidate_and_hands_out_no_answer():
    far = Candidate(an_entry("far"), 0.3)
    near = Candidate(an_entry("near"), 0.95)
    decision, _ = play(flow.explain(SCOPE, QUERY, POLICY), an_entry(), VECTOR, [near], [near, far])
    assert decision.hit
    assert decision.response is None
    assert [verdict.reason for verdict in decision.verdicts] == [
        Reason.SEMANTIC,
        Reason.BELOW_THRESHOLD,
    ]


def test_a_clock_that_was_set_back_gives_no_negative_age():
    decision, _ = play(flow.lookup(SCOPE, QUERY, POLICY), an_entry(created_at=NOW + 5))
    assert decision.age == timedelta(0)


REPLY = Response.from_text("by card")
DAY = timedelta(days=1)


def test_a_reply_is_stored_under_the_id_that_lookup_fetches():
    _, asked = play(flow.lookup(SCOPE, QUERY, POLICY), an_entry())
    result, commands = play(
        storing.store(SCOPE, QUERY, REPLY, POLICY, storing.Terms(ttl=DAY)), VECTOR, None
    )
    put = commands[1]
    assert isinstance(put, Put)
    assert asked == [Fetch(put.entry.id)]
    assert (put.entry.created_at, put.entry.expires_at) == (NOW, NOW + 86_400)
    assert CODEC.decode("e", put.entry.payload) == REPLY
    assert put.vector is VECTOR
    assert (result.stored, result.reason, result.entry_id) == (True, Reason.STORED, put.entry.id)


def test_ids_differ_by_scope_and_by_fingerprint():
    ids = {
        flow.entry_id(replace(SCOPE, digest=scope), replace(QUERY, fingerprint=fingerprint))
        for scope in "ab"
        for fingerprint in "xy"
    }
    assert len(ids) == 4


@given(st.text(), st.text())
def test_an_id_is_the_uuid5_of_scope_and_fingerprint(scope, fingerprint):
    made = flow.entry_id(replace(SCOPE, digest=scope), replace(QUERY, fingerprint=fingerprint))
    assert made == str(uuid.uuid5(flow.ENTRY_NAMESPACE, f"{scope}:{fingerprint}"))


def test_without_a_lifetime_an_entry_never_expires_and_with_zero_it_is_not_kept():
    _, commands = play(
        storing.store(SCOPE, QUERY, REPLY, POLICY, storing.Terms(ttl=None)), VECTOR, None
    )
    assert commands[1].entry.expires_at is None
    steps = storing.store(SCOPE, QUERY, REPLY, POLICY, storing.Terms(ttl=timedelta(0)))
    with pytest.raises(StopIteration) as done:
        next(steps)
    assert done.value.value.reason is Reason.TTL_ZERO


def test_a_reply_outlives_an_encoder_that_fails():
    result, commands = play(
        storing.store(SCOPE, QUERY, REPLY, POLICY, storing.Terms(ttl=DAY)), ENCODER_DOWN, None
    )
    assert commands[1].vector is None
    assert result.stored


def test_an_exact_only_request_is_stored_without_a_vector():
    query = replace(QUERY, exact_only=Reason.TOOL_HISTORY)
    _, commands = play(storing.store(SCOPE, query, REPLY, POLICY, storing.Terms(ttl=DAY)), None)
    assert [type(command) for command in commands] == [Put]
    assert commands[0].vector is None


def test_a_write_that_fails_is_reported_and_not_counted_as_stored():
    result, _ = play(
        storing.store(SCOPE, QUERY, REPLY, POLICY, storing.Terms(ttl=DAY)), VECTOR, INDEX_DOWN
    )
    assert (result.stored, result.reason) == (False, Reason.INDEX_UNAVAILABLE)


def test_a_reply_that_is_no_json_is_refused():
    odd = Response(body=float("nan"), text="x")
    with pytest.raises(StopIteration) as done:
        next(storing.store(SCOPE, QUERY, odd, POLICY, storing.Terms(ttl=DAY)))
    assert done.value.value.reason is Reason.UNSUPPORTED_REPLY


def test_the_store_is_held_to_its_size_or_swept():
    steps = storing.store(SCOPE, QUERY, REPLY, POLICY, storing.Terms(ttl=DAY, room=5))
    _, commands = play(steps, VECTOR, None, None, 0)
    announced, put, hold = commands[-3:]
    assert isinstance(put, Put)
    assert (announced, hold) == (Announce(put.entry), Hold(put.entry))
    steps = storing.store(SCOPE, QUERY, REPLY, POLICY, storing.Terms(ttl=DAY, sweep=True))
    _, commands = play(steps, VECTOR, None, 0)
    assert commands[-1] == Remove(Selection(expired_at=NOW))


def test_what_is_too_large_is_not_written():
    steps = storing.store(SCOPE, QUERY, REPLY, POLICY, storing.Terms(ttl=DAY, room=5))
    result, commands = play(steps, VECTOR, "900 bytes, and 800 may be kept in all")
    assert (result.stored, result.reason) == (False, Reason.TOO_LARGE)
    assert isinstance(commands[-1], Announce)


def test_nobody_waits_for_an_entry_that_was_not_written():
    steps = storing.store(SCOPE, QUERY, REPLY, POLICY, storing.Terms(ttl=DAY, room=5))
    result, commands = play(steps, VECTOR, None, INDEX_DOWN, None)
    assert not result.stored
    assert isinstance(commands[-1], Withdraw)


def test_whose_room_was_not_made_is_asked_of_the_index():
    steps = storing.store(SCOPE, QUERY, REPLY, POLICY, storing.Terms(ttl=DAY, room=5))
    result, commands = play(steps, VECTOR, None, None, INDEX_DOWN, None)
    assert result.stored
    assert commands[-1] == Withdraw(result.entry_id)


def test_an_administrative_removal_that_fails_is_an_error():
    with pytest.raises(IndexUnavailable, match="down"):
        play(flow.remove(Selection()), INDEX_DOWN)


def test_a_driver_that_answers_nonsense_is_told_so():
    with pytest.raises(TypeError, match="Fetch was answered with int"):
        play(flow.lookup(SCOPE, QUERY, POLICY), 3)
