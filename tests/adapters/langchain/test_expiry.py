"""How long an answer stays, how many there are, and how they go."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from langchain_core.globals import set_llm_cache
from langchain_core.outputs import Generation

from langchain_semcache import ConfigurationError, Request, Response, SemanticCache
from langchain_semcache.clock import ManualClock
from langchain_semcache.testing.fakes import ScriptedEncoder
from tests.adapters.langchain.conftest import PARAPHRASE, QUESTION
from tests.adapters.langchain.models import ScriptedModel


@pytest.mark.parametrize("question", [QUESTION, PARAPHRASE])
def test_an_answer_ends_at_its_second(make_cache: Any, clock: ManualClock, question: str) -> None:
    """X08: alive before, gone at exactly the end and after, exactly and by meaning."""
    set_llm_cache(make_cache(ttl=1))
    model = ScriptedModel()
    model.invoke(QUESTION)
    clock.advance(0.5)
    model.invoke(question)
    assert model.calls == 1
    clock.advance(0.5)
    model.invoke(question)
    assert model.calls == 2


@pytest.mark.parametrize("question", [QUESTION, PARAPHRASE])
def test_an_answer_stays_away_after_its_end(
    make_cache: Any, clock: ManualClock, question: str
) -> None:
    """X08: first asked for half a second too late."""
    set_llm_cache(make_cache(ttl=1))
    model = ScriptedModel()
    model.invoke(QUESTION)
    clock.advance(1.5)
    model.invoke(question)
    assert model.calls == 2
    model.invoke(question)
    assert model.calls == 2


def test_a_hit_does_not_prolong_a_life(make_cache: Any, clock: ManualClock) -> None:
    """X08: asked for all the time, it still ends."""
    set_llm_cache(make_cache(ttl=timedelta(seconds=10)))
    model = ScriptedModel()
    for _ in range(10):
        model.invoke(QUESTION)
        clock.advance(1)
    assert model.calls == 1
    model.invoke(QUESTION)
    assert model.calls == 2


def test_a_clock_that_steps_back_prolongs_lives_by_its_step(
    make_cache: Any, clock: ManualClock
) -> None:
    """X08: an end is a point of the wall clock, and an age is never negative."""
    set_llm_cache(make_cache(ttl=60))
    model = ScriptedModel()
    model.invoke(QUESTION)
    clock.advance(-3600)
    assert model.invoke(QUESTION).response_metadata["semcache"]["age_seconds"] == 0
    clock.advance(3600 + 59)
    assert model.invoke(QUESTION).response_metadata["semcache"]["age_seconds"] == 59
    assert model.calls == 1
    clock.advance(1)
    model.invoke(QUESTION)
    assert model.calls == 2


def test_a_clock_that_steps_back_revives_what_had_ended(
    make_cache: Any, clock: ManualClock
) -> None:
    """X08: until it is swept, an answer is served whenever the clock says it is still alive."""
    set_llm_cache(make_cache(ttl=60))
    model = ScriptedModel()
    model.invoke(QUESTION)
    clock.advance(60)
    clock.advance(-1)
    model.invoke(PARAPHRASE)
    assert model.calls == 1


def test_a_live_second_best_is_served(clock: ManualClock) -> None:
    """X08: an expired best match does not stand in the way."""
    encoder = ScriptedEncoder({"asked": 1.0, "best": 0.999, "second": 0.98})
    cache = SemanticCache(":memory:", encoder=encoder, clock=clock, similarity_threshold=0.95)
    core = cache.semcache
    core.store(Request(messages="best"), Response.from_text("best"), ttl=5)
    core.store(Request(messages="second"), Response.from_text("second"), ttl=50)
    found = core.lookup(Request(messages="asked"))
    assert found.response == Response.from_text("best")
    clock.advance(5)
    found = core.lookup(Request(messages="asked"))
    assert found.response == Response.from_text("second")
    cache.close()


def test_a_lifetime_of_zero_stores_nothing(make_cache: Any) -> None:
    """X08: zero never means for ever."""
    cache = make_cache(ttl=0)
    model = ScriptedModel(cache=cache)
    model.invoke(QUESTION)
    model.invoke(QUESTION)
    assert model.calls == 2
    assert cache.stats().entries == 0
    assert cache.stats().stores_by_reason == {"ttl_zero": 2}


def test_no_lifetime_is_for_ever(make_cache: Any, clock: ManualClock) -> None:
    """X08: None says so explicitly."""
    model = ScriptedModel(cache=make_cache(ttl=None))
    model.invoke(QUESTION)
    clock.advance(10 * 365 * 86400)
    model.invoke(QUESTION)
    assert model.calls == 1


@pytest.mark.parametrize("ttl", [-1, timedelta(seconds=-1), "1 day", float("nan"), True, [1]])
def test_a_lifetime_that_is_none_is_refused_at_construction(ttl: Any) -> None:
    """X08: one line that names the setting."""
    with pytest.raises(ConfigurationError, match="ttl"):
        SemanticCache(":memory:", encoder=ScriptedEncoder(), ttl=ttl)


def test_the_store_is_held_to_its_size(make_cache: Any, clock: ManualClock) -> None:
    """X08: what was asked for longest ago goes first, as long as nothing has been learned."""
    cache = make_cache(max_entries=3)
    model = ScriptedModel(cache=cache)
    for number in range(5):
        model.invoke(f"question number {number}")
        clock.advance(1)
    assert cache.stats().entries == 3
    model.invoke("question number 4")
    assert model.calls == 5
    model.invoke("question number 0")
    assert model.calls == 6


def test_what_is_asked_for_stays(make_cache: Any) -> None:
    """X08: a hit counts, and a namespace that was cleared begins anew."""
    cache = make_cache(max_entries=2)
    model = ScriptedModel(cache=cache)
    for number in (1, 2, 1, 3):
        model.invoke(f"question number {number}")
    assert model.calls == 3
    model.invoke("question number 1")
    assert model.calls == 3
    cache.clear()
    for number in (4, 5):
        model.invoke(f"question number {number}")
    assert cache.stats().entries == 2
    assert cache.stats().evicted == 1


def test_many_writes_of_one_key_are_one_entry(cache: SemanticCache) -> None:
    """X08: the newest value wins."""
    for number in range(1000):
        cache.update("p", "m", [Generation(text=str(number))])
    assert cache.stats().entries == 1
    found = cache.lookup("p", "m")
    assert found is not None
    assert found[0].text == "999"


def test_clearing_removes_the_own_namespace_only(make_cache: Any) -> None:
    """X09: and again, and on an empty one, and it works right afterwards."""
    mine, other = make_cache(namespace="mine"), make_cache(namespace="other")
    mine.clear()
    for cache in (mine, other):
        ScriptedModel(cache=cache).invoke(QUESTION)
    mine.clear(anything="LangChain passes on")
    mine.clear()
    assert (mine.stats().entries, other.stats().entries) == (0, 1)
    model = ScriptedModel(cache=mine)
    model.invoke(QUESTION)
    model.invoke(QUESTION)
    assert model.calls == 1


async def test_clearing_works_for_async_code(cache: SemanticCache) -> None:
    """X09: the other colour."""
    model = ScriptedModel()
    await model.ainvoke(QUESTION)
    await cache.aclear()
    await cache.aclear(anything=True)
    await model.ainvoke(QUESTION)
    await model.ainvoke(QUESTION)
    assert model.calls == 2


def test_clearing_a_directory_keeps_it_usable(make_cache: Any, tmp_path: Path) -> None:
    """X09: collection and index stay."""
    cache = make_cache(tmp_path / "store")
    model = ScriptedModel(cache=cache)
    for calls in (1, 2):
        model.invoke(QUESTION)
        model.invoke(PARAPHRASE)
        assert model.calls == calls
        cache.clear()
    assert cache.stats().entries == 0


def test_clearing_while_others_write_is_no_trouble(make_cache: Any) -> None:
    """X09: afterwards everything that is listed can be read."""
    cache = make_cache(strict=True)
    start = threading.Barrier(9)
    errors: list[BaseException] = []

    def write(thread: int) -> None:
        try:
            start.wait(10)
            for number in range(20):
                cache.update(f"p{number % 5}", f"m{thread}", [Generation(text=str(number))])
                cache.lookup(f"p{number % 5}", f"m{thread}")
        except BaseException as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    start.wait(10)
    for _ in range(10):
        cache.clear()
    for thread in threads:
        thread.join(30)
    assert errors == []
    assert len(list(cache.semcache.entries())) == cache.stats().entries
    cache.clear()
    assert cache.stats().entries == 0
