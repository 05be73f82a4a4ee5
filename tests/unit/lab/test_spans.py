"""`spans`: what a request did, with the attributes that make it readable in a viewer."""

from __future__ import annotations

import pytest

from langchain_semcache.lab.fragmentation import ANSWERS, TOKENS, Costs, Lookup
from langchain_semcache.lab.spans import GET_SECONDS, MOST_GETS, spans
from langchain_semcache.lab.traffic import Arrival

PROMPT = "0123456789abcdef"
COSTS = Costs(rate=10.0)


def seen(found: int, tokens: int = 5, stranded: int = 0) -> Lookup:
    return Lookup(7, Arrival(100.0, PROMPT, tokens), TOKENS, found, stranded)


def test_a_request_that_found_two_tokens_of_five() -> None:
    request = spans(seen(2, stranded=1), COSTS)
    assert request.name == "llm.request"
    assert request.attributes["req_id"] == "000007"
    assert request.attributes["model_name"] == "simulated"
    assert request.attributes["cache.stranded"] == 1
    *gets, fallback = request.children
    assert [get.name for get in gets] == ["cache.token.get"] * 3
    assert [get.attributes["cache_key"] for get in gets] == [
        f"tkn:{PROMPT}:012345:{n}" for n in range(3)
    ]
    assert [get.attributes["hit_ratio"] for get in gets] == [1.0, 1.0, pytest.approx(2 / 3)]
    assert fallback.name == "llm.generate.fallback"
    assert fallback.attributes == {"token_index": 2, "latency_ms": 300.0}


def test_children_lie_within_their_request_one_after_the_other() -> None:
    request = spans(seen(2), COSTS)
    edges = [request.begin, *(edge for one in request.children for edge in (one.begin, one.end))]
    assert edges == pytest.approx(sorted(edges))
    assert request.begin == 100.0
    assert request.end == request.children[-1].end == pytest.approx(100.0 + 3 * GET_SECONDS + 0.3)


def test_a_hit_calls_no_model() -> None:
    request = spans(seen(5), COSTS)
    assert [one.name for one in request.children] == ["cache.token.get"] * 5
    assert request.end == pytest.approx(100.0 + 5 * GET_SECONDS)


def test_of_many_reads_the_first_and_the_last_are_shown() -> None:
    request = spans(seen(500, tokens=1000), COSTS)
    *gets, fallback = request.children
    assert len(gets) == MOST_GETS
    assert gets[-1].attributes["cache_key"] == f"tkn:{PROMPT}:012345:500"
    assert gets[-1].attributes["hit_ratio"] == pytest.approx(500 / 501)
    assert request.attributes["cache.reads"] == 501
    assert fallback.attributes["token_index"] == 500


def test_a_store_of_answers_reads_one_key() -> None:
    lookup = Lookup(0, Arrival(0.0, PROMPT, 5), ANSWERS, 0, 0)
    get, fallback = spans(lookup, COSTS).children
    assert get.attributes == {"cache_key": f"ans:{PROMPT}:012345", "hit_ratio": 0.0}
    assert fallback.attributes["token_index"] == 0
