"""Which class an answer is of, and what has the last word on it."""

from __future__ import annotations

import pytest

from langchain_semcache import guards
from langchain_semcache.ttl import Choice, Facts, Rule, Seen, choose

RULES = Choice(
    rules=(
        Rule("frequent", tag="docs-*"),
        Rule("time_sensitive", source="prices/*", model="gpt-*"),
        Rule("frequent", kind="han *"),
        Rule("rare", time_words=True, model="tiny"),
    )
)
OFTEN = Seen(hits=99, lookups=100)


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (Facts(), "rare"),
        (Facts(time_words=True), "time_sensitive"),
        (Facts(tags=("kb", "docs-api")), "frequent"),
        (Facts(tags=("docs",)), "rare"),
        (Facts(sources=("prices/eu",), model="gpt-5"), "time_sensitive"),
        (Facts(sources=("prices/eu",), model="qwen"), "rare"),
        (Facts(kind="han how"), "frequent"),
        (Facts(kind=guards.kind("How do I pay?")), "rare"),
        (Facts(time_words=True, model="tiny"), "rare"),
        (Facts(wanted="frequent", time_words=True), "frequent"),
        (Facts(wanted="rare", tags=("docs-api",)), "rare"),
    ],
)
def test_by_what_is_known_beforehand(facts: Facts, name: str) -> None:
    assert choose(facts, Seen(), RULES).name == name


@pytest.mark.parametrize(
    ("facts", "seen", "name", "because"),
    [
        (Facts(), OFTEN, "frequent", "hit rate"),
        (Facts(), Seen(hits=19, lookups=19), "rare", "default"),
        (Facts(), Seen(hits=20, lookups=20), "frequent", "hit rate"),
        (Facts(), Seen(hits=95, lookups=100), "rare", "default"),
        (Facts(), Seen(hits=96, lookups=100), "frequent", "hit rate"),
        (Facts(time_words=True), OFTEN, "time_sensitive", "time words"),
        (Facts(), Seen(hits=99, lookups=100, changed=1.9), "time_sensitive", "its answer changes"),
        (Facts(), Seen(hits=99, lookups=100, changed=1.2), "frequent", "hit rate"),
        (Facts(), Seen(updates=0.9), "time_sensitive", "its source is updated"),
        (Facts(), Seen(updates=0.4), "rare", "default"),
    ],
)
def test_evidence_moves_it(facts: Facts, seen: Seen, name: str, because: str) -> None:
    chosen = choose(facts, seen, Choice())
    assert (chosen.name, chosen.because) == (name, because)


@pytest.mark.parametrize("facts", [Facts(wanted="frequent"), Facts(tags=("docs-api",))])
def test_evidence_does_not_overrule_the_user(facts: Facts) -> None:
    assert choose(facts, Seen(changed=9, updates=9), RULES).name == "frequent"
