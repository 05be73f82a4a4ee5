"""The demo: a real chain, a real store, an honest count."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.globals import get_llm_cache, set_llm_cache

from langchain_semcache import Semcache, SemcacheConfig
from langchain_semcache.cli.demo_corpus import ANSWERS, STREAM, Kind
from langchain_semcache.cli.demo_model import DemoChatModel
from langchain_semcache.cli.demo_run import play
from langchain_semcache.cli.demo_summary import quantile, summarise

weights = pytest.mark.weights


def test_the_stream_is_long_bilingual_and_full_of_traps() -> None:
    kinds = Counter(ask.kind for ask in STREAM)
    assert len(STREAM) >= 60
    assert set(kinds) == set(Kind)
    assert sum(not ask.text.isascii() for ask in STREAM) >= 20
    assert sum(kinds[kind] for kind in Kind if kind.is_trap) >= 20


def test_every_question_has_one_right_answer_and_every_answer_is_used() -> None:
    assert {ask.intent for ask in STREAM} == set(ANSWERS)
    assert len(set(ANSWERS.values())) == len(ANSWERS)


def test_the_kinds_are_what_the_order_says() -> None:
    """Repeats were asked in these words before, rewordings in others; the rest is new."""
    words: set[str] = set()
    intents: set[str] = set()
    for ask in STREAM:
        assert (ask.text in words) is (ask.kind is Kind.REPEAT), ask
        assert (ask.intent in intents) is (ask.kind in {Kind.REPEAT, Kind.REWORDED}), ask
        words.add(ask.text)
        intents.add(ask.intent)


def test_the_model_bills_what_it_reads_and_writes() -> None:
    message = DemoChatModel(answers={"Hi?": "Hello there."}, delay_seconds=0).invoke("Hi?")
    assert message.text == "Hello there."
    assert message.usage_metadata == {"input_tokens": 2, "output_tokens": 3, "total_tokens": 5}


def test_the_first_run_misses_and_the_second_finds_everything() -> None:
    """With an encoder that knows no meaning: only the exact tier can be counted on."""
    with Semcache.open(SemcacheConfig(location=":memory:", encoder="hash")) as opened:
        index = opened.core.workplace.index
        first, second = (_played(index) for _ in range(2))
    assert first.found == 0
    assert second.found == first.calls
    assert second.calls == 0
    assert summarise(second, 10).hit_rate == 1.0
    assert not any(turn.overlooked for turn in second.turns)


def _played(index):
    from langchain_semcache.cli import demo_run

    class Sharing(demo_run.SemanticCache):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, index=index, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_run, "SemanticCache", Sharing)
        config = SemcacheConfig(location=":memory:", encoder="hash")
        return play(config, delay=0, fresh=False, watch=list)


def test_a_wrong_answer_is_counted_as_one() -> None:
    """At a threshold that lets everything through, guards alone cannot save the day."""
    config = SemcacheConfig(location=":memory:", encoder="hash", similarity_threshold=0.01)
    run = play(config, delay=0, fresh=False, watch=list)
    summary = summarise(run, 10)
    assert summary.wrong > 0
    assert summary.wrong == sum(turn.decision.hit and not turn.right for turn in run.turns)
    assert summary.hits + run.calls == summary.asked == len(STREAM)


def test_the_summary_adds_up() -> None:
    run = play(
        SemcacheConfig(location=":memory:", encoder="hash"), delay=0, fresh=False, watch=list
    )
    summary = summarise(run, 2.0)
    billed = sum(turn.tokens for turn in run.turns)
    assert summary.tokens_saved + summary.tokens_billed == billed
    assert summary.money_saved == pytest.approx(summary.tokens_saved * 2 / 1e6)
    assert summary.exact >= sum(ask.kind is Kind.REPEAT for ask in STREAM)
    assert run.failures == {}


def test_the_cache_of_the_application_is_put_back() -> None:
    mine = InMemoryCache()
    set_llm_cache(mine)

    def interrupted(turns):
        next(turns)
        assert get_llm_cache() is not mine
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(
            SemcacheConfig(location=":memory:", encoder="hash"),
            delay=0,
            fresh=False,
            watch=interrupted,
        )
    assert get_llm_cache() is mine


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 2.0), (0.95, 4.0), (1.0, 4.0), (0.25, 1.0), (0.01, 1.0)]
)
def test_a_quantile_is_a_time_that_was_measured(share: float, expected: float) -> None:
    assert quantile([4.0, 1.0, 3.0, 2.0], share) == expected
    assert quantile([], share) is None


@weights
def test_the_second_run_hits_what_the_first_stored_and_only_the_demos_entries_go(
    semcache, tmp_path
) -> None:
    config = SemcacheConfig(location=str(tmp_path / "store"))
    with Semcache.open(config) as cache:
        from langchain_semcache import Request, Response

        cache.store(Request(messages="Mine?"), Response.from_text("Yours."))
    here = ("demo", "--location", tmp_path / "store", "--delay", "0", "--json")
    first, second, third = (
        json.loads(semcache(*here, *more).stdout) for more in ((), (), ("--fresh",))
    )
    assert first["entries_found"] == third["entries_found"] == 0
    assert second["entries_found"] == first["model_calls"] > 40
    assert second["summary"]["hit_rate"] == 1.0
    assert first["summary"]["semantic"] >= 5
    assert first["summary"]["exact"] == third["summary"]["exact"]
    with Semcache.open(config) as cache:
        assert [entry.question for entry in cache.entries()] == ["Mine?"]


@weights
def test_piped_output_is_plain_and_the_second_run_says_that_the_cache_persisted(
    shell, tmp_path
) -> None:
    first = shell("demo", "--delay", "0", cwd=tmp_path)
    second = shell("demo", "--delay", "0", cwd=tmp_path)
    for ran in (first, second):
        assert ran.returncode == 0
        assert ran.stderr == ""
        assert "\x1b" not in ran.stdout
        assert "\r" not in ran.stdout
        assert "hit rate" in ran.stdout
    assert "The cache is empty." in first.stdout
    assert "Kept apart" in first.stdout
    assert "numbers_differ" in first.stdout
    assert "the cache persisted" in second.stdout
    assert "100.0%" in second.stdout
    assert tmp_path.joinpath(".semcache").is_dir()
