"""Answers that nobody is sure of, in a whole cache of either colour."""

from __future__ import annotations

import asyncio
import contextvars
import math
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from langchain_semcache import (
    AsyncSemcache,
    ConfigurationError,
    Reason,
    Request,
    Response,
    Semcache,
)
from langchain_semcache.clock import ManualClock
from langchain_semcache.engine import evaluating
from langchain_semcache.engine.commands import Amend, Failure
from langchain_semcache.errors import IndexUnavailable
from langchain_semcache.events import AnswerEvaluated, BackendFailed, EntriesRemoved, StoreSkipped
from langchain_semcache.eviction import Assessment, Bounds, Signals, Sureness, Unscored
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.records import Entry, Fate, Removal
from langchain_semcache.testing.fakes import ScriptedEncoder

QUESTION = "What is the capital of France?"
HOUR, NOW = 3600.0, 1_000.0
DIMENSION = 256
SECONDS = 30.0
"""Long enough for any machine: a test that waits so long fails."""


def told(*tops: tuple[float, ...]) -> dict[str, object]:
    """Log probabilities as OpenAI tells them; the first of each is what was written."""
    return {
        "content": [
            {
                "token": "t0",
                "logprob": math.log(top[0]),
                "top_logprobs": [
                    {"token": f"t{place}", "logprob": math.log(p)} for place, p in enumerate(top)
                ],
            }
            for top in tops
        ]
    }


SURE = told((0.98, 0.01, 0.01))
TORN = told(tuple([0.1] * 9 + [0.1]))  # ten even alternatives: ln 10 = 2.303 nats
SUSPICIOUS = told((0.5, 0.5))  # even, and 0.69 nats


class Model:
    """An evaluator that says what it is told to, in order, and remembers what it was shown."""

    def __init__(self, *replies: object) -> None:
        self.replies = list(replies)
        self.shown: list[tuple[tuple[tuple[str, str], ...], str]] = []
        self.before: Callable[[], object] = lambda: None

    @property
    def identity(self) -> str:
        return "model"

    def score(self, conversation, answer):
        self.shown.append((tuple(conversation), answer))
        self.before()
        reply = self.replies.pop(0) if self.replies else 5
        if isinstance(reply, Exception):
            raise reply
        return reply


class Sink:
    def __init__(self) -> None:
        self.events = []

    def emit(self, event):
        self.events.append(event)

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


class Place:
    """A cache with its clock and what it told, asked in one of both colours."""

    def __init__(self, colour: str, model: Model | None, **settings: object) -> None:
        self.clock, self.sink, self.model = ManualClock(), Sink(), model
        section = {"enabled": True, "share": 1, "doubtful_share": 1} | settings.pop("section", {})
        self.encoder = ScriptedEncoder(dimension=DIMENSION)
        self.index = settings.pop("index", None) or MemoryIndex(self.encoder.dimension)
        self.cache = Semcache.open(
            ":memory:",
            encoder=self.encoder,
            index=self.index,
            evaluator=model,
            clock=self.clock,
            sinks=[self.sink],
            **({"ttl": HOUR, "confidence_eviction": section} | settings),
        )
        self.colour = colour

    def store(self, text="Paris.", logprobs=None, question=QUESTION, **terms):
        request = Request(messages=question, model="m")
        response = Response.from_text(text, logprobs=logprobs)
        if self.colour == "async":
            return asyncio.run(
                AsyncSemcache(self.cache.core).store(request, lambda: response, **terms)
            )
        return self.cache.store(request, response, **terms)

    def settled(self):
        """Wait until every model that had to be asked was asked."""
        assert self.cache.core.policy.evaluations.settle(SECONDS)
        return self

    @property
    def entry(self):
        (entry,) = self.cache.entries()
        return entry

    @property
    def lives(self):
        """Seconds that the only entry lives in all."""
        entry = self.entry
        return None if entry.expires_at is None else entry.expires_at - entry.created_at

    @property
    def known(self):
        return Assessment.from_json(self.entry.assessment)


@pytest.fixture(params=["sync", "async"])
def colour(request):
    return request.param


@pytest.fixture
def place(colour):
    made = []

    def make(model=None, **settings):
        made.append(Place(colour, model, **settings))
        return made[-1]

    yield make
    for one in made:
        one.cache.close()


def test_a_sure_answer_lives_as_long_as_any(place):
    one = place()
    result = one.store(logprobs=SURE)
    assert (result.stored, one.lives) == (True, HOUR)
    assert one.known.signals.entropy.upper < 0.5
    assert "mean entropy" in result.detail


@pytest.mark.parametrize("logprobs", [TORN, SUSPICIOUS, {"content": [{"logprob": -1.0}]}])
def test_a_doubtful_answer_lives_shorter_and_its_entry_says_why(place, logprobs):
    one = place()
    result = one.store(logprobs=logprobs)
    assert result.stored
    assert one.lives == HOUR / 2
    assert one.known.trace == ("confidence", 0.5)
    assert result.detail.endswith("lifetime x 0.5")
    one.clock.advance(HOUR / 2)
    assert not one.cache.lookup(Request(messages=QUESTION, model="m")).hit


@pytest.mark.parametrize(
    "logprobs", [None, {"content": None}, {}, "nonsense", [], {"content": [1]}]
)
def test_an_answer_of_which_nothing_is_told_is_stored_as_ever(place, logprobs):
    one = place()
    assert one.store(logprobs=logprobs).stored
    told_something = logprobs == {"content": [1]}  # one token, of which nothing is known
    assert one.lives == (HOUR / 2 if told_something else HOUR)
    assert one.entry.assessment == "" or told_something


def test_it_is_off_unless_it_is_asked_for(place):
    one = place(section={"enabled": False})
    assert one.store(logprobs=TORN).stored
    assert (one.lives, one.entry.assessment) == (HOUR, "")


def test_a_factor_of_zero_refuses_doubtful_answers_and_that_is_an_event(place):
    one = place(section={"ttl_factor": 0})
    result = one.store(logprobs=TORN)
    assert (result.stored, result.reason) == (False, Reason.UNSURE_REPLY)
    assert result.detail == "mean entropy 2.30 nats, top-k difference 0.00 nats"
    assert [event.result.reason for event in one.sink.of(StoreSkipped)] == [Reason.UNSURE_REPLY]
    assert one.cache.stats().stores_by_reason == {"unsure_reply": 1}
    assert list(one.cache.entries()) == []


def test_what_would_never_expire_is_given_an_end(place):
    one = place(ttl=None, section={"endless_ttl": 1000})
    one.store(logprobs=TORN)
    assert one.lives == 500


def test_the_lifetime_that_a_caller_asks_for_is_shortened_too(place):
    one = place()
    one.store(logprobs=TORN, ttl=100)
    assert one.lives == 50


def test_a_severe_answer_that_its_model_thinks_little_of_is_removed(place):
    one = place(Model(1))
    assert one.store("Lyon.", logprobs=TORN).stored
    one.settled()
    assert list(one.cache.entries()) == []
    assert one.model.shown == [((("user", QUESTION),), "Lyon.")]
    (event,) = one.sink.of(AnswerEvaluated)
    assert (event.score, event.fate) == (1, Fate.REMOVED)
    assert one.sink.of(EntriesRemoved) == [EntriesRemoved(1, Removal.UNSURE)]
    stats = one.cache.stats()
    assert (stats.evaluator, stats.evaluated) == ("model", {"removed": 1})


def test_the_same_answer_is_not_let_in_again_and_not_asked_about_again(place):
    one = place(Model(1))
    one.store("Lyon.", logprobs=TORN)
    one.settled()
    again = one.store("Lyon.", logprobs=TORN)
    assert (again.stored, again.reason) == (False, Reason.UNSURE_REPLY)
    assert "scored 1 of 5" in again.detail
    assert one.store("Paris.", logprobs=TORN).stored
    one.settled()
    assert len(one.model.shown) == 2


@pytest.mark.parametrize(
    ("logprobs", "score", "factor", "fate"),
    [
        (None, 5, 1.0, Fate.KEPT),
        (None, 3, 0.5, Fate.SHORTENED),
        (None, 0, 0.5, Fate.SHORTENED),
        (SURE, 4, 1.0, Fate.KEPT),
        (SURE, 2, 0.5, Fate.SHORTENED),
        (SUSPICIOUS, 5, 0.5, Fate.KEPT),
        (SUSPICIOUS, 0, 0.25, Fate.SHORTENED),
        (TORN, 4, 0.5, Fate.KEPT),
        (TORN, 3, 0.25, Fate.SHORTENED),
    ],
)
def test_what_the_model_says_is_felt_by_the_entry_and_kept_with_it(
    place, logprobs, score, factor, fate
):
    one = place(Model(score))
    one.store(logprobs=logprobs)
    one.settled()
    assert one.lives == HOUR * factor
    assert (one.known.score, one.known.factor) == (score, factor)
    assert [event.fate for event in one.sink.of(AnswerEvaluated)] == [fate]
    assert one.cache.lookup(Request(messages=QUESTION, model="m")).hit


def test_a_score_that_is_known_counts_when_the_answer_is_stored_again(place):
    one = place(Model(3))
    one.store()
    one.settled()
    one.clock.advance(10)
    assert one.store().stored
    one.settled()
    assert (one.lives, one.known.score, len(one.model.shown)) == (HOUR / 2, 3, 1)


@pytest.mark.parametrize("reply", [None, 6, -1])
def test_a_reply_that_is_no_score_removes_the_answer(place, reply):
    one = place(Model(reply))
    one.store(logprobs=SURE)
    one.settled()
    assert list(one.cache.entries()) == []
    (event,) = one.sink.of(AnswerEvaluated)
    assert (event.score, event.fate) == (None, Fate.REMOVED)


@pytest.mark.parametrize("trouble", [TimeoutError("x"), RuntimeError("x"), "4", 4.0, True])
def test_a_model_that_fails_says_nothing_about_the_answer(place, trouble):
    one = place(Model(trouble))
    one.store()
    one.settled()
    assert (one.lives, one.known.score) == (HOUR, Unscored.NOT_ASKED)
    (failure,) = one.sink.of(BackendFailed)
    assert (failure.port, failure.reason) == ("evaluator", Reason.EVALUATOR_UNAVAILABLE)
    assert one.cache.stats().failures == {"evaluator": 1}


def test_a_model_that_fails_again_and_again_is_left_alone_for_a_while(place):
    one = place(Model(*[RuntimeError("down")] * 3), breaker_failures=3)
    for number in range(5):
        one.store(question=f"What is the capital of country number {number} in the atlas?")
        one.settled()
    assert len(one.model.shown) == 3
    assert one.cache.core.policy.evaluations.dropped == 2
    one.clock.advance(60)
    one.store(question="What is the capital of country number 9 in the atlas?")
    one.settled()
    assert len(one.model.shown) == 4


def test_nobody_waits_for_a_model(place):
    release = threading.Event()
    one = place(Model(0))
    one.model.before = lambda: release.wait(SECONDS)
    one.store(logprobs=TORN)
    assert one.cache.lookup(Request(messages=QUESTION, model="m")).hit
    release.set()
    one.settled()
    assert not one.cache.lookup(Request(messages=QUESTION, model="m")).hit


def test_an_answer_that_came_meanwhile_is_not_the_one_that_was_asked_about(place):
    """The newer answer is neither removed nor shortened."""
    one = place(Model(0, 5))

    def replace_it():
        one.model.before = lambda: None
        one.clock.advance(1)
        request = Request(messages=QUESTION, model="m")
        contextvars.Context().run(one.cache.store, request, Response.from_text("Paris."))

    one.model.before = replace_it
    one.store("Lyon.", logprobs=TORN)
    one.settled()
    assert one.cache.read(one.entry).text == "Paris."
    assert one.lives == HOUR
    assert [event.fate for event in one.sink.of(AnswerEvaluated)] == [Fate.GONE, Fate.KEPT]


def test_an_entry_that_is_gone_stays_gone(place):
    one = place(Model(5))
    one.model.before = one.cache.clear
    one.store()
    one.settled()
    assert list(one.cache.entries()) == []
    assert [event.fate for event in one.sink.of(AnswerEvaluated)] == [Fate.GONE]


def test_only_a_share_is_asked_about_the_same_ones_every_time(place):
    def asked(**section):
        one = place(Model(), section=section)
        for number in range(200):
            one.store(question=f"What is written on page {number} of the handbook?")
            one.settled()
        return {shown for shown, _ in one.model.shown}

    some = asked(share=0.2)
    assert 15 <= len(some) <= 70
    assert asked(share=0.2) == some
    assert asked(share=0) == set()


def test_the_doubtful_have_a_share_of_their_own(place):
    one = place(Model(), section={"share": 0, "doubtful_share": 1})
    one.store(logprobs=SURE)
    one.store("Lyon, or perhaps Paris.", logprobs=TORN)
    one.settled()
    assert [answer for _, answer in one.model.shown] == ["Lyon, or perhaps Paris."]


def chat(*turns):
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(turns)]


def test_of_a_chat_the_model_is_shown_all(place):
    one = place(Model())
    turns = ("What does the blue lamp cost?", "The blue lamp costs 40 euros.", "And the red one?")
    one.store("35 euros.", question=chat(*turns))
    one.settled()
    (shown, answer) = one.model.shown[0]
    assert shown == (("user", turns[0]), ("assistant", turns[1]), ("user", turns[2]))
    assert answer == "35 euros."


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


@pytest.mark.parametrize(
    ("question", "text", "terms"),
    [
        ("What is it?", "A lamp.", {}),  # of a chat that nobody shows
        ("Where is my order?", "On its way.", {}),
        ([{"role": "user", "content": [{"type": "text", "text": QUESTION}, IMAGE]}], "A.", {}),
        (QUESTION, "x" * evaluating.LONGEST, {}),
        (QUESTION, "In 14 days.", {"sources": {"terms.md": "1"}}),
    ],
)
def test_what_the_model_cannot_be_shown_it_is_not_asked_about(place, question, text, terms):
    one = place(Model(0))
    assert one.store(text, question=question, **terms).stored
    one.settled()
    assert one.model.shown == []


def test_a_full_queue_leaves_answers_as_they_are(place, monkeypatch):
    monkeypatch.setattr(evaluating, "QUEUED", 2)
    release, entered = threading.Event(), threading.Event()
    one = place(Model())
    one.model.before = lambda: (entered.set(), release.wait(SECONDS))
    for number in range(5):
        one.store(question=f"What is the capital of country number {number} in the atlas?")
        assert entered.wait(SECONDS)
    assert one.cache.core.policy.evaluations.dropped == 2
    release.set()
    one.settled()
    assert len(one.model.shown) == 3


def test_closing_waits_for_no_model_and_applies_nothing_afterwards(place):
    release, entered = threading.Event(), threading.Event()
    one = place(Model(0))
    one.model.before = lambda: (entered.set(), release.wait(SECONDS))
    one.store(logprobs=TORN)
    assert entered.wait(SECONDS)
    one.cache.close()
    release.set()
    one.settled()
    assert len(list(one.index.scan(evaluating.Selection()))) == 1
    assert one.sink.of(AnswerEvaluated) == []


def test_a_model_behind_the_same_cache_is_asked_past_it(place):
    """Otherwise it would be told another answer's score, and be asked about its own scores."""
    one = place(Model(5))
    prompt = Request(messages="Rate this answer about the capital of France.", model="m")
    seen = []

    def through_the_cache():
        colour = AsyncSemcache(one.cache.core)
        for round_ in range(2):
            seen.append(one.cache.lookup(prompt).reason)
            seen.append(one.cache.store(prompt, Response.from_text(f"{round_}")).reason)
            seen.append(asyncio.run(colour.lookup(prompt)).reason)
            seen.append(asyncio.run(colour.store(prompt, Response.from_text("5"))).reason)

    one.model.before = through_the_cache
    one.store()
    one.settled()
    assert set(seen) == {Reason.BYPASSED}
    assert len(one.model.shown) == 1
    assert one.cache.lookup(prompt).reason is not Reason.BYPASSED


class PutOnly:
    """An index that has the port's five methods and no further power."""

    def __init__(self, inner):
        self.fetch, self.search = inner.fetch, inner.search
        self.put, self.remove, self.scan = inner.put, inner.remove, inner.scan


def test_an_index_that_amends_nothing_still_lets_answers_go(place):
    one = place(Model(3, 0), index=PutOnly(MemoryIndex(DIMENSION)))
    one.store()
    one.settled()
    assert (one.lives, one.entry.assessment) == (HOUR, "")
    one.clock.advance(1)
    one.store("Lyon.", logprobs=TORN)
    one.settled()
    assert list(one.cache.entries()) == []


def test_the_books_of_a_bounded_cache_know_of_the_new_end(place):
    one = place(Model(3), max_entries=2)
    one.store()
    one.settled()
    assert one.lives == HOUR / 2
    books = one.cache.core.workplace.capacity._books["default"]
    assert [kept.expires_at for kept in books.kept.values()] == [one.entry.expires_at]
    one.clock.advance(HOUR / 2)
    for name in ("Berlin", "Rome"):
        one.store(question=f"Which country is {name} the capital of?")
        one.settled()
    assert {entry.question for entry in one.cache.entries()} == {
        f"Which country is {name} the capital of?" for name in ("Berlin", "Rome")
    }


def test_an_evaluator_that_nobody_would_ask_is_an_error():
    with pytest.raises(ConfigurationError, match=r"confidence_eviction\.enabled is false"):
        Semcache.open(":memory:", encoder=ScriptedEncoder(), evaluator=Model())


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ({"sure_entropy": 2.2}, "must not fall"),
        ({"severe_entropy": 2.0}, "must not fall"),
        ({"good_score": 2}, "bad_score must be below good_score"),
        ({"good_score": 6}, "good_score"),
        ({"bad_score": True}, "bad_score must be a whole number"),
        ({"ttl_factor": 1.5}, "ttl_factor"),
        ({"ttl_factor": -0.1}, "ttl_factor"),
        ({"share": 2}, "share"),
        ({"share": "0.1"}, "share"),
        ({"suspicious_difference": float("nan")}, "suspicious_difference"),
        ({"endless_ttl": 0}, "endless_ttl"),
        ({"endless_ttl": None}, "endless_ttl"),
        ({"endless_ttl": -1}, "negative"),
        ({"vocabulary_size": 1}, "vocabulary_size"),
        ({"enabled": 1}, "enabled must be true or false"),
        ({"treshold": 1}, "treshold is not a setting"),
    ],
)
def test_a_wrong_setting_is_one_clear_error(section, problem):
    with pytest.raises(ConfigurationError, match=problem):
        Semcache.open(":memory:", confidence_eviction=section)


def test_the_settings_are_the_rules():
    section = {"enabled": True, "endless_ttl": timedelta(hours=2), "ttl_factor": 0.25, "share": 0.5}
    with Semcache.open(":memory:", encoder=ScriptedEncoder(), confidence_eviction=section) as cache:
        rules = cache.config.confidence_eviction.rules
    assert (rules.endless_ttl, rules.ttl_factor, rules.share) == (timedelta(hours=2), 0.25, 0.5)
    assert (rules.thresholds.suspicious_entropy, rules.thresholds.suspicious_difference) == (
        2.1,
        0.3,
    )


def play(steps, *answers):
    """The flow's result and the commands it gave, when it is answered like this."""
    commands = [next(steps)]
    try:
        for answer in answers:
            commands.append(steps.send(answer))
    except StopIteration as done:
        return done.value, commands
    raise AssertionError(f"the flow wants more after {commands[-1]}")


def applied(score, *answers, amends=True):
    rules = Sureness()
    return play(evaluating.apply("e", NOW, score, rules, amends=amends), *answers)


DOUBTED = Assessment(signals=Signals(Bounds(2.5, 2.5)), factor=0.5)


def an_entry(**fields):
    base = Entry(
        id="e",
        scope="s",
        partition="p",
        fingerprint="f",
        namespace="n",
        tenant="t",
        model="m",
        question=QUESTION,
        payload=b"answer",
        created_at=NOW,
        expires_at=NOW + 50,
        assessment=DOUBTED.to_json(),
    )
    return replace(base, **fields)


def test_what_was_rewritten_meanwhile_is_read_again_and_then_amended():
    """It leans on another part by now, and is the same answer."""
    rewritten = an_entry(payload=b"written otherwise")
    fate, commands = applied(3, an_entry(), 0, rewritten, 1)
    assert fate is Fate.SHORTENED
    first, second = (command.entry for command in commands if isinstance(command, Amend))
    assert (first.payload, second.payload) == (b"answer", b"written otherwise")
    assert (second.expires_at, second.created_at) == (NOW + 25, NOW)
    assert Assessment.from_json(second.assessment) == replace(DOUBTED, score=3, factor=0.25)


def test_whoever_is_rewritten_all_the_time_is_left_alone_in_the_end():
    fate, commands = applied(3, *[an_entry(), 0] * 3)
    assert fate is Fate.GONE
    assert len(commands) == 6


DOWN = Failure(Reason.INDEX_UNAVAILABLE, IndexUnavailable("down"))


@pytest.mark.parametrize(
    ("score", "answers"),
    [
        (3, [None]),
        (3, [an_entry(created_at=NOW + 1)]),
        (3, [DOWN]),
        (0, [DOWN]),
        (0, [an_entry(), 0]),
        (0, [an_entry(), DOWN]),
        (3, [an_entry(), DOWN] * 3),
    ],
)
def test_where_nothing_could_be_done_nothing_is_claimed(score, answers):
    assert applied(score, *answers)[0] is Fate.GONE


def test_only_an_answer_of_that_age_is_removed():
    fate, commands = applied(Unscored.UNREADABLE, an_entry(), 1)
    assert fate is Fate.REMOVED
    meant = commands[-1].selection
    assert meant.ids == ("e",)
    assert NOW < meant.created_before <= NOW + 0.01


def test_an_entry_whose_assessment_cannot_be_read_is_assessed_anew():
    fate, commands = applied(3, an_entry(assessment="from elsewhere", expires_at=None), 1)
    assert fate is Fate.SHORTENED
    week = timedelta(days=7).total_seconds()
    assert commands[-1].entry.expires_at == NOW + week / 2
