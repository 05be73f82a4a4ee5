"""Lifetimes that come from rules, seen from a LangChain application."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.globals import set_llm_cache

from langchain_semcache.clock import ManualClock
from tests.adapters.langchain.conftest import PARAPHRASE, QUESTION
from tests.adapters.langchain.models import ScriptedModel


@pytest.mark.parametrize("question", [QUESTION, PARAPHRASE])
def test_an_answer_ends_at_the_second_of_its_class(
    make_cache: Any, clock: ManualClock, question: str
) -> None:
    """X08, by rules: the long tail lives for three minutes."""
    set_llm_cache(make_cache(freshness={"policy": "rules"}))
    model = ScriptedModel()
    model.invoke(QUESTION)
    clock.advance(179)
    model.invoke(question)
    assert model.calls == 1
    clock.advance(1)
    model.invoke(question)
    assert model.calls == 2


@pytest.mark.parametrize(("sliding", "calls"), [(False, 2), (True, 1)])
async def test_a_hit_prolongs_a_life_only_where_that_is_asked_for(
    make_cache: Any, clock: ManualClock, sliding: bool, calls: int
) -> None:
    """X08: asked for every minute."""
    set_llm_cache(make_cache(freshness={"policy": "rules", "sliding": sliding}))
    model = ScriptedModel()
    for _ in range(5):
        await model.ainvoke(QUESTION)
        clock.advance(60)
    assert model.calls == calls


def test_what_is_asked_for_often_lives_longer(make_cache: Any, clock: ManualClock) -> None:
    set_llm_cache(make_cache(freshness={"policy": "rules"}))
    model = ScriptedModel()
    for _ in range(21):
        model.invoke(QUESTION)
    clock.advance(3_599)
    model.invoke(QUESTION)
    assert model.calls == 1
    clock.advance(1)
    model.invoke(QUESTION)
    assert model.calls == 2


def test_a_tenant_has_a_tier(make_cache: Any, clock: ManualClock) -> None:
    rules = {"policy": "rules", "tenants": {"acme": {"tier": "iron"}}}
    set_llm_cache(make_cache(freshness=rules, tenant="acme"))
    model = ScriptedModel()
    model.invoke(QUESTION)
    clock.advance(180 * 0.4)
    model.invoke(QUESTION)
    assert model.calls == 2


def test_a_shadow_never_answers(make_cache: Any, clock: ManualClock) -> None:
    classes = {name: {"first": 86_400} for name in ("rare", "time_sensitive")}
    shadow = {"name": "long", "rules": {"classes": classes}}
    cache = make_cache(freshness={"policy": "rules", "shadows": [shadow]})
    set_llm_cache(cache)
    model = ScriptedModel()
    for _ in range(4):
        model.invoke(QUESTION)
        clock.advance(400)
    assert model.calls == 4
    (report,) = cache.semcache.stats().shadows
    assert (report.live_hit_rate.value, report.hit_rate.value) == (0, 0.75)
