"""Lifetimes that come from rules, through a whole cache on a clock that tests move."""

from __future__ import annotations

import asyncio
import math
import time
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
from langchain_semcache.client.sweeping import Sweeper
from langchain_semcache.clock import ManualClock
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.records import Selection
from langchain_semcache.testing.fakes import ScriptedEncoder

ASKED, ALIKE, NEAR = "How do I reset it?", "how can I reset it", "How do I reset that one?"
TODAY = "What is the weather today?"
SCRIPT = {ASKED: 1.0, ALIKE: 0.99, NEAR: 0.97, TODAY: [0.0, 1.0]}
DIMENSION = 64
DAY = 86_400


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def index():
    return MemoryIndex(DIMENSION)


@pytest.fixture
def open_(clock, index):
    made = []

    def opened(kind=Semcache, **rules):
        cache = kind.open(
            ":memory:",
            index=index,
            encoder=ScriptedEncoder(SCRIPT),
            verifier="none",
            clock=clock,
            strict=True,
            similarity_threshold=0.9,
            freshness={"policy": "rules", **rules},
            ttl=400,
        )
        if kind is Semcache:
            made.append(cache)
        return cache

    yield opened
    for cache in made:
        cache.close()


def store(cache, text=ASKED, answer="Hold the button.", *, request=None, **terms):
    return cache.store(
        Request(messages=text, **(request or {})), Response.from_text(answer), **terms
    )


def ask(cache, text=ASKED, **fields):
    return cache.lookup(Request(messages=text, **fields))


@pytest.mark.parametrize(
    ("question", "seconds", "name"), [(ASKED, 180, "rare"), (TODAY, 300, "time_sensitive")]
)
def test_a_class_ends_at_its_second(open_, clock, question, seconds, name):
    cache = open_()
    stored = store(cache, question)
    assert (stored.life.ttl_class, stored.life.seconds) == (name, seconds)
    clock.advance(seconds - 0.5)
    hit = ask(cache, question)
    assert hit.hit
    assert hit.life.ttl_class == name
    assert hit.expires_at == clock.now() + 0.5
    clock.advance(0.5)
    over = ask(cache, question)
    assert (over.hit, over.reason) == (False, Reason.EXPIRED)
    assert f"= {seconds} s" in over.detail


def test_a_lifetime_counts_from_writing_and_from_the_last_hit_only_when_asked(open_, clock):
    cache = open_()
    store(cache)
    for _ in range(3):
        clock.advance(59)
        assert ask(cache).hit
    clock.advance(3)
    assert not ask(cache).hit


def test_a_sliding_lifetime_counts_from_the_last_hit_up_to_its_limit(open_, clock):
    cache = open_(sliding=True, most=600)
    store(cache)
    for _ in range(5):
        clock.advance(119)
        assert ask(cache).hit
    clock.advance(5)
    assert not ask(cache).hit
    clock.advance(-5)
    assert ask(cache).hit


@pytest.mark.parametrize("sliding", [False, True])
def test_a_clock_that_runs_back_neither_ends_nor_revives(open_, clock, sliding):
    cache = open_(sliding=sliding)
    store(cache)
    clock.advance(-DAY)
    hit = ask(cache)
    assert hit.hit
    assert hit.age == timedelta(0)
    clock.advance(DAY + 180)
    assert not ask(cache).hit


def test_the_user_names_a_class(open_, clock):
    cache = open_()
    assert store(cache, ttl="frequent").life.seconds == 3600
    clock.advance(3599)
    assert ask(cache).hit
    with pytest.raises(ConfigurationError, match=r"no class is called 'weekly'.*frequent, rare"):
        store(cache, ttl="weekly")


def test_a_class_by_name_needs_rules(clock):
    with (
        Semcache.open(":memory:", encoder=ScriptedEncoder(), clock=clock) as cache,
        pytest.raises(ConfigurationError, match=r"freshness\.policy"),
    ):
        store(cache, ttl="frequent")


def test_a_lifetime_of_its_own_is_kept(open_, clock):
    cache = open_()
    assert store(cache, ttl=7200).life is None
    clock.advance(7199)
    hit = ask(cache)
    assert hit.hit
    assert hit.life is None
    clock.advance(1)
    assert not ask(cache).hit


def test_other_rules_change_the_life_of_what_is_stored(open_, clock):
    store(open_())
    clock.advance(1_000)
    assert not ask(open_()).hit
    longer = open_(classes={"rare": {"first": 3600}})
    assert ask(longer).hit
    assert ask(open_(classes={"rare": {"first": 3600}}, most=900)).reason is Reason.EXPIRED
    clock.advance(7 * DAY)
    assert not ask(open_(classes={"rare": {"first": None}}, most=None)).hit


def test_without_rules_what_was_stored_with_them_lives_as_everything_else(open_, clock):
    store(open_(classes={"rare": {"first": 7200}}))
    clock.advance(399)
    fixed = open_(policy="fixed")
    hit = ask(fixed)
    assert (hit.hit, str(hit.life)) == (True, "fixed (no rules): 400 s = 400 s")
    clock.advance(1)
    assert ask(fixed).reason is Reason.EXPIRED


@pytest.mark.parametrize("policy", ["rules", "fixed"])
def test_doubt_gives_an_end_to_what_has_none(clock, policy):
    undecided = {"token": "a", "logprob": math.log(0.5), "top_logprobs": []}
    with Semcache.open(
        ":memory:",
        encoder=ScriptedEncoder(),
        verifier="none",
        clock=clock,
        ttl=None,
        freshness={
            "policy": policy,
            "most": None,
            "classes": {"rare": {"first": None}},
            "shadows": [{"name": "other", "rules": {}}],
        },
        confidence_eviction={"enabled": True, "endless_ttl": 1_000},
    ) as cache:
        answer = Response.from_text("Hold it.", logprobs={"content": [undecided]})
        assert cache.store(Request(messages=ASKED), answer).life.seconds == 500


@pytest.mark.parametrize("policy", ["rules", "fixed"])
def test_doubt_about_an_answer_is_a_step_like_any_other(clock, policy):
    undecided = {"token": "a", "logprob": math.log(0.5), "top_logprobs": []}
    with Semcache.open(
        ":memory:",
        encoder=ScriptedEncoder(),
        verifier="none",
        clock=clock,
        strict=True,
        ttl=180,
        freshness={"policy": policy, "shadows": [{"name": "other", "rules": {}}]},
        confidence_eviction={"enabled": True},
    ) as cache:
        answer = Response.from_text("Hold it.", logprobs={"content": [undecided]})
        stored = cache.store(Request(messages=ASKED), answer)
        assert [(step.name, step.factor) for step in stored.life.steps] == [("confidence", 0.5)]
        clock.advance(89)
        assert ask(cache).hit
        clock.advance(1)
        assert ask(cache).reason is Reason.EXPIRED


def test_rules_by_tag_and_source_and_tenant(open_, clock):
    cache = open_(
        classes={"archive": {"first": None}},
        rules=[{"use": "archive", "tag": "law-*"}, {"use": "time_sensitive", "source": "prices"}],
        tenants={"acme": {"tier": "iron", "least": 100}, "zen": {"most": 60}},
        most=None,
    )
    assert store(cache, tags=["law-2026"]).life.seconds == math.inf
    assert store(cache, sources={"prices": "v1"}).life.seconds == 300
    assert store(cache, request={"tenant": "acme"}).life.seconds == 100
    assert store(cache, request={"tenant": "zen"}).life.seconds == 60
    clock.advance(61)
    assert not ask(cache, tenant="zen").hit
    assert ask(cache, tenant="acme").hit


def test_a_class_of_zero_stores_nothing(open_):
    cache = open_(classes={"rare": {"first": 0}})
    assert store(cache).reason is Reason.TTL_ZERO
    assert not list(cache.entries())


def test_an_expired_best_match_leaves_room_for_a_living_second(open_, clock):
    """X08, by rules: what is over crowds nobody out, however much of it there is."""
    cache = open_()
    for number in range(5):
        store(cache, f"{ASKED}{'?' * number}", request={"parameters": {"n": 1}})
    store(cache)
    clock.advance(200)
    store(cache, NEAR, answer="Hold the other.")
    found = ask(cache, ALIKE)
    assert found.hit
    assert found.response.text == "Hold the other."
    assert Reason.EXPIRED in {verdict.reason for verdict in found.verdicts}


def test_many_that_are_over_do_not_hide_the_living(clock):
    texts = [f"How do I reset number{chr(97 + n)}?" for n in range(12)]
    script = {ALIKE: 1.0, NEAR: 0.95, **dict.fromkeys(texts, 0.99)}
    with Semcache.open(
        ":memory:",
        encoder=ScriptedEncoder(script),
        verifier="none",
        clock=clock,
        strict=True,
        similarity_threshold=0.9,
        freshness={"policy": "rules"},
    ) as cache:
        for text in texts:
            store(cache, text)
        clock.advance(200)
        store(cache, NEAR)
        assert ask(cache, ALIKE).question == NEAR


def test_evidence_makes_an_answer_frequent(open_, clock):
    cache = open_()
    store(cache)
    for _ in range(20):
        assert ask(cache).hit
    lives = ask(cache).life
    assert (lives.ttl_class, lives.because, lives.seconds) == ("frequent", "hit rate", 3600)
    clock.advance(3599)
    assert ask(cache).hit
    clock.advance(1)
    assert not ask(cache).hit


def test_misses_beside_an_answer_shorten_its_life(open_):
    cache = open_()
    store(cache)
    for _ in range(3):
        assert not ask(cache, NEAR + " Number 7").hit
    assert ask(cache).life.seconds == 180
    script = {ASKED: 1.0, "How do I reset 7 of it?": 0.98}
    with Semcache.open(
        ":memory:",
        encoder=ScriptedEncoder(script),
        verifier="none",
        strict=True,
        similarity_threshold=0.9,
        freshness={"policy": "rules"},
    ) as near:
        store(near)
        for _ in range(3):
            miss = ask(near, "How do I reset 7 of it?")
            assert miss.reason is Reason.NUMBERS_DIFFER
        assert ask(near).life.seconds == pytest.approx(180 * 0.75)
        assert ask(near).life.seconds == 180


def test_an_update_of_its_source_makes_an_answer_time_sensitive(open_, clock):
    cache = open_()
    store(cache, sources={"faq.md": "v1"})
    assert cache.source_changed("faq.md", "v2", dry_run=True) == 1
    assert ask(cache).life.ttl_class == "rare"
    assert cache.source_changed("faq.md", "v2") == 1
    lives = store(cache, sources={"faq.md": "v2"}).life
    assert (lives.ttl_class, lives.because) == ("time_sensitive", "its source is updated")
    assert lives.seconds == pytest.approx(300 * 0.92)
    assert store(cache, ALIKE, sources={"other.md": "v1"}).life.ttl_class == "rare"
    clock.advance(14 * DAY)
    assert store(cache, sources={"faq.md": "v2"}).life.ttl_class == "rare"


def test_a_report_that_says_nothing_new_is_no_update(open_):
    cache = open_()
    store(cache, sources={"faq.md": "v1"})
    for _ in range(30):
        assert cache.source_changed("faq.md", "v1") == 0
    assert ask(cache).life.ttl_class == "rare"


def test_a_question_far_away_is_no_request_for_an_answer(open_, clock):
    cache = open_(stale_cost=20, surge="off")
    before = store(cache).life.seconds
    for number in range(20):
        clock.advance(1)
        assert ask(cache, f"Something else {number}?").reason is Reason.BELOW_THRESHOLD
    assert ask(cache).life.seconds == pytest.approx(before, rel=0.2)


@pytest.mark.parametrize("most", [None, 7 * DAY])
def test_a_class_without_end_learns_like_any_other(open_, clock, most):
    cache = open_(stale_cost=20, most=most, otherwise="manual", classes={"manual": {"first": None}})
    seconds = store(cache).life.seconds
    assert 0 < seconds <= 7 * DAY
    clock.advance(seconds)
    assert not ask(cache).hit


def test_sliding_ends_at_most_as_it_is_now(open_, clock):
    store(open_(sliding=True, otherwise="frequent"))
    shorter = open_(sliding=True, otherwise="frequent", most=3600)
    clock.advance(1800)
    assert ask(shorter).hit
    clock.advance(1800)
    assert ask(shorter).reason is Reason.EXPIRED


@pytest.mark.parametrize("eviction", ["lru", "lfu", "heat", "cost"])
def test_a_full_cache_lets_go_first_of_what_is_over(clock, eviction):
    with Semcache.open(
        ":memory:",
        encoder=ScriptedEncoder(),
        verifier="none",
        clock=clock,
        strict=True,
        max_entries=2,
        eviction=eviction,
        freshness={"policy": "rules"},
    ) as cache:
        store(cache, "Alive?", ttl="frequent")
        store(cache, "Over?", ttl="rare")
        clock.advance(170)
        for _ in range(3):
            assert ask(cache, "Over?").hit
        clock.advance(30)
        store(cache, "New?", ttl="frequent")
        assert {entry.question for entry in cache.entries()} == {"Alive?", "New?"}


def test_an_answer_that_is_written_anew_is_not_taken_for_the_old_one(clock):
    with Semcache.open(
        ":memory:",
        encoder=ScriptedEncoder(),
        verifier="none",
        clock=clock,
        strict=True,
        max_entries=1,
        freshness={"policy": "rules"},
    ) as cache:
        store(cache)
        clock.advance(200)
        store(cache)
        assert ask(cache).hit


def test_one_cache_does_not_sweep_what_lives_by_other_rules(clock, index):
    settings = {"index": index, "verifier": "none", "clock": clock, "strict": True}
    longer = {"policy": "rules", "most": 60 * DAY, "classes": {"rare": {"first": 30 * DAY}}}
    with (
        Semcache.open(
            ":memory:", encoder=ScriptedEncoder(), namespace="b", freshness=longer, **settings
        ) as theirs,
        Semcache.open(
            ":memory:", encoder=ScriptedEncoder(), freshness={"policy": "rules"}, **settings
        ) as ours,
    ):
        store(theirs)
        store(ours)
        clock.advance(2 * DAY)
        assert Sweeper(ours.core).remove_what_is_over() == 1
        assert ask(theirs).hit


def test_an_answer_that_changes_becomes_time_sensitive(open_, clock):
    cache = open_()
    for number in range(3):
        lives = store(cache, answer=f"It costs {number} euros.").life
        clock.advance(200)
    assert (lives.ttl_class, lives.because) == ("time_sensitive", "its answer changes")


def test_lifetimes_follow_how_often_answers_change(open_, clock):
    cache = open_(stale_cost=20, most=30 * DAY)
    lives = store(cache).life
    for _ in range(8):
        clock.advance(lives.seconds + 3600)
        lives = store(cache).life
    assert lives.seconds > 20 * 180
    changing = [
        store(cache, TODAY, answer=f"It is {number} degrees.").life
        for number in range(8)
        if clock.advance(120) is None
    ]
    assert changing[-1].seconds < 180


@pytest.mark.parametrize("surge", ["shorten", "stretch"])
def test_a_surge_of_requests(open_, clock, surge):
    cache = open_(surge=surge, classes={name: {"first": 100_000} for name in ("rare", "frequent")})
    store(cache)
    for _ in range(90):
        clock.advance(20)
        ask(cache)
    usual = ask(cache).life.seconds
    for _ in range(600):
        clock.advance(0.1)
        ask(cache)
    during = ask(cache).life.seconds
    assert during < usual / 2 if surge == "shorten" else during > usual * 2


@pytest.mark.parametrize("bound", [{}, {"max_entries": 50}])
def test_what_is_over_is_removed_a_day_later_by_the_hour(clock, bound):
    """X08: counts stay bounded, also where nobody has set a bound."""
    with Semcache.open(
        ":memory:",
        encoder=ScriptedEncoder(dimension=256),
        verifier="none",
        clock=clock,
        strict=True,
        freshness={"policy": "rules"},
        **bound,
    ) as cache:
        for hour in range(60):
            store(cache, f"Question {hour}?")
            clock.advance(3600)
        until = time.monotonic() + 30
        while cache.stats(sizes=False).entries > 40:
            assert time.monotonic() < until
            time.sleep(0.01)
        kept = {entry.question for entry in cache.entries()}
        assert {f"Question {hour}?" for hour in range(40, 60)} <= kept


def test_a_fresh_answer_is_not_swept_for_the_old_one(open_, clock):
    cache = open_()
    store(cache)
    store(cache, NEAR)
    clock.advance(2 * DAY)
    store(cache)
    Sweeper(cache.core).remove_what_is_over()
    assert [entry.question for entry in cache.entries()] == [ASKED]
    assert ask(cache).hit


def test_what_was_learned_outlives_the_process(open_, clock):
    cache = open_()
    store(cache, sources={"faq.md": "v1"})
    for _ in range(20):
        ask(cache)
    cache.source_changed("other.md", "v8")
    cache.source_changed("other.md", "v9")
    cache.close()
    again = open_()
    assert ask(again).life.ttl_class == "frequent"
    assert store(again, sources={"other.md": "v9"}).life.because == "its source is updated"


def test_damaged_books_are_begun_anew(open_, clock, index, caplog):
    cache = open_()
    store(cache)
    for _ in range(20):
        ask(cache)
    cache.close()
    book = next(entry for entry in index.scan(Selection()) if entry.fingerprint == "lifetimes")
    index.put(replace(book, payload=b"nonsense"), None)
    assert ask(open_()).life.ttl_class == "rare"
    assert "begins anew" in caplog.text


def test_both_colours_agree(open_, clock):
    async def run():
        async with await open_(AsyncSemcache) as cache:
            request = Request(messages=ASKED)
            await cache.store(request, Response.from_text("Hold the button."))
            hit = await cache.lookup(request)
            clock.advance(180)
            return hit, await cache.lookup(request)

    hit, over = asyncio.run(run())
    assert hit.life.seconds == 180
    assert over.reason is Reason.EXPIRED


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"otherwise": "weekly"}, "no class is called 'weekly'"),
        ({"rules": [{"use": "weekly", "tag": "a"}]}, "no class is called 'weekly'"),
        ({"rules": [{"use": "rare"}]}, "names a tag, source, model, kind or time_words"),
        ({"tenants": {"acme": {"tier": "tin"}}}, "no tier is called 'tin'"),
        ({"least": 10, "most": 5}, "least is more than most"),
        ({"tenants": {"acme": {"most": 0.5}}}, "least of tenant 'acme' is more than most"),
        ({"classes": {"rare": {"first": -1}}}, "must not be negative"),
        ({"classes": {"rare": {"first": 9, "factor": 1.5}}}, "less than or equal to 1"),
        ({"stale_cost": 1}, "greater than 1"),
        ({"surge": "double"}, "shorten"),
        ({"polic": "rules"}, "freshness.polic is not a setting"),
    ],
)
def test_a_wrong_rule_is_one_line(settings, told):
    with pytest.raises(ConfigurationError, match="freshness") as error:
        Semcache.open(":memory:", encoder="hash", freshness=settings)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_named_lifetime_stays_within_a_limit_of_the_tenants_own(open_, clock):
    cache = open_(tenants={"trial": {"most": 60}})
    for tenant, lives in (("trial", False), ("paying", True)):
        request = Request(messages=ASKED, tenant=tenant)
        store(cache, request={"tenant": tenant}, ttl=DAY)
        clock.advance(61)
        assert cache.lookup(request).hit is lives


@pytest.mark.parametrize(
    ("tenant", "fits"),
    [({"most": 0}, False), ({"least": 0, "most": 0.5}, True), ({"least": 2, "most": 1}, False)],
)
def test_a_limit_of_0_is_a_limit(open_, tenant, fits):
    if fits:
        assert open_(tenants={"a": tenant}) is not None
        return
    with pytest.raises(ConfigurationError, match="least of tenant 'a' is more than most"):
        open_(tenants={"a": tenant})


def test_a_rule_by_the_kind_of_question_matches_what_is_asked(open_):
    cache = open_(rules=[{"use": "frequent", "kind": "other how"}])
    request = Request(messages="How do I pay?")
    assert store(cache, "How do I pay?").life.ttl_class == "frequent"
    assert store(cache, "Is it open?").life.ttl_class != "frequent"
    assert cache.lookup(request).hit
    with pytest.raises(ConfigurationError, match=r"no question is of kind 'latin how'.*other how"):
        open_(rules=[{"use": "frequent", "kind": "latin how"}])
