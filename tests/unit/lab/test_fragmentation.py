"""`fragmentation`: three stores by hand, against a slow model, and on the same traffic."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.lab.fragmentation import (
    ANSWERS,
    TOKENS,
    Costs,
    Layout,
    Lookup,
    Outcome,
    segments,
    simulate,
)
from langchain_semcache.lab.traffic import Arrival, demo_traffic

A, B, C = "a" * 16, "b" * 16, "c" * 16
FREE = Costs(overhead=0, token_bytes=0, rate=1.0)
KEY = len(TOKENS.key(A, 0))


def watched(arrivals, layout, memory, costs=FREE) -> tuple[Outcome, list[Lookup]]:
    seen: list[Lookup] = []
    return simulate(arrivals, layout, memory, costs, watch=seen.append), seen


def test_keys_are_those_of_the_sketch() -> None:
    assert TOKENS.key("0123456789abcdef", 17) == "tkn:0123456789abcdef:012345:17"
    assert segments(8).key(A, 2) == f"seg:{A}:aaaaaa:2"
    assert ANSWERS.key(A, 0) == f"ans:{A}:aaaaaa"


@pytest.mark.parametrize(
    ("layout", "pieces", "ends"),
    [(TOKENS, 5, [1, 2, 3, 4, 5]), (segments(2), 3, [2, 4, 5]), (ANSWERS, 1, [5])],
)
def test_an_answer_is_cut_into_pieces(layout: Layout, pieces: int, ends: list[int]) -> None:
    assert layout.pieces(5) == pieces
    assert [layout.end(piece, 5) for piece in range(pieces)] == ends


def test_an_entry_costs_what_a_store_needs_its_key_and_its_value() -> None:
    costs, arrival = Costs(overhead=64, token_bytes=4), Arrival(0, A, 10)
    assert costs.entry(TOKENS, arrival, 3) == 64 + len(f"tkn:{A}:aaaaaa:3") + 4
    assert costs.entry(segments(8), arrival, 1) == 64 + len(f"seg:{A}:aaaaaa:1") + 2 * 4
    assert costs.entry(ANSWERS, arrival, 0) == 64 + len(f"ans:{A}:aaaaaa") + 40
    assert costs.footprint(ANSWERS, [arrival, arrival]) == costs.entry(ANSWERS, arrival, 0)
    assert costs.footprint(TOKENS, [arrival]) == 10 * costs.entry(TOKENS, arrival, 0)


def test_the_first_token_is_the_first_to_go() -> None:
    """Room for four tokens. B's last two push out A's first two, and A's third is of no use."""
    arrivals = [Arrival(0, A, 3), Arrival(10, B, 3), Arrival(20, A, 3)]
    outcome, seen = watched(arrivals, TOKENS, 4 * KEY)
    assert [(one.found, one.stranded) for one in seen] == [(0, 0), (0, 0), (0, 1)]
    assert (outcome.hits, outcome.partials, outcome.run) == (0, 1, 0)
    # Writing A's first token again costs A's third, which was there.
    assert (outcome.inserts, outcome.evictions, outcome.entries) == (9, 5, 4)
    assert outcome.evictions_per_insert == 5 / 9


def test_what_was_read_stays_longer() -> None:
    arrivals = [Arrival(0, A, 2), Arrival(10, B, 2), Arrival(20, A, 2), Arrival(21, C, 2)]
    arrivals += [Arrival(30, A, 2), Arrival(31, B, 2)]
    _, seen = watched(arrivals, TOKENS, 4 * KEY)
    assert [one.hit for one in seen] == [False, False, True, False, True, False]


def test_who_asks_meanwhile_finds_what_there_is() -> None:
    """A token a second: after 2.5 seconds two are there, and the model is asked from the third."""
    outcome, seen = watched([Arrival(0, A, 4), Arrival(2.5, A, 4)], TOKENS, math.inf)
    assert (seen[1].found, seen[1].run, seen[1].partial) == (2, 2, True)
    assert (outcome.mean_run, outcome.streams, outcome.partial_rate) == (2.0, 2, 0.5)
    assert outcome.inserts == outcome.entries == 4
    _, seen = watched([Arrival(0, A, 4), Arrival(3.9, A, 4), Arrival(4, A, 4)], ANSWERS, math.inf)
    assert [one.found for one in seen] == [0, 0, 1]


def test_a_segment_is_written_when_its_last_token_is_there() -> None:
    arrivals = [Arrival(0, A, 5), Arrival(1.9, A, 5), Arrival(2, A, 5), Arrival(5, A, 5)]
    _, seen = watched(arrivals, segments(2), math.inf)
    assert [(one.found, one.run) for one in seen] == [(0, 0), (0, 0), (1, 2), (3, 5)]


def test_what_is_larger_than_the_store_is_not_kept() -> None:
    costs = Costs(overhead=0, token_bytes=10, rate=1.0)
    arrivals = [Arrival(0, A, 1), Arrival(10, B, 100), Arrival(200, A, 1)]
    outcome, seen = watched(arrivals, ANSWERS, 100, costs)
    assert [one.hit for one in seen] == [False, False, True]
    assert outcome.evictions == 0


def test_ids_that_no_other_request_has_find_nothing_ever() -> None:
    """As the sketch has it, to the letter: a key with the id of the request is read once."""
    arrivals = [Arrival(n, f"{n:016x}", 3) for n in range(50)]
    assert simulate(arrivals, TOKENS, math.inf, FREE).hit_rate == 0.0


def test_at_equal_memory_tokens_lose_what_whole_answers_keep() -> None:
    arrivals = demo_traffic().arrivals
    rates = {
        layout.name: simulate(arrivals, layout, 50_000, Costs()).hit_rate
        for layout in (TOKENS, segments(), ANSWERS)
    }
    assert rates["tokens"] < 0.1
    assert 0.6 < rates["segments"] < rates["answers"]


def naive(arrivals, layout: Layout, memory: float, costs: Costs) -> list[tuple[int, int, int]]:
    """The same in words: a list of keys, the latest use last, and a list of all that is due."""
    kept: list[str] = []
    size: dict[str, int] = {}
    due: list[tuple[float, int, int, str, int]] = []
    told = []
    evictions = 0
    for number, arrival in enumerate([*arrivals, None]):
        now = math.inf if arrival is None else arrival.at
        for item in sorted(item for item in due if item[0] <= now):
            _, _, _, key, bytes_ = item
            due.remove(item)
            if bytes_ > memory:
                continue
            if key in kept:
                kept.remove(key)
            while sum(size[one] for one in kept) + bytes_ > memory:
                kept.pop(0)
                evictions += 1
            kept.append(key)
            size[key] = bytes_
        if arrival is None:
            break
        keys = [layout.key(arrival.prompt, n) for n in range(layout.pieces(arrival.tokens))]
        found = 0
        while found < len(keys) and keys[found] in kept:
            kept.remove(keys[found])
            kept.append(keys[found])
            found += 1
        told.append((found, sum(key in kept for key in keys[found:]), evictions))
        run = layout.end(found - 1, arrival.tokens) if found else 0
        for piece in range(found, len(keys)):
            at = arrival.at + (layout.end(piece, arrival.tokens) - run) / costs.rate
            bytes_ = costs.entry(layout, arrival, piece)
            due.append((at, number, piece, keys[piece], bytes_))
    return [*told, (len(kept), 0, evictions)]


traffics = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([(A, 1), (B, 4), (C, 7)])), max_size=12
).map(
    lambda rows: [
        Arrival(sum(gap for gap, _ in rows[: n + 1]) / 2, *rows[n][1]) for n in range(len(rows))
    ]
)


@given(
    traffics,
    st.sampled_from([TOKENS, segments(2), segments(3), ANSWERS]),
    st.integers(0, 800) | st.just(math.inf),
    st.sampled_from([1.0, 2.0, 16.0]),
)
def test_it_does_what_the_slow_model_does(arrivals, layout, memory, rate) -> None:
    costs = Costs(overhead=10, rate=rate)
    outcome, seen = watched(arrivals, layout, memory, costs)
    *told, (entries, _, evictions) = naive(arrivals, layout, memory, costs)
    assert [(one.found, one.stranded) for one in seen] == [told_[:2] for told_ in told]
    assert (outcome.entries, outcome.evictions) == (entries, evictions)
    assert outcome.inserts == entries + evictions
    assert outcome.requests == len(arrivals)
    assert outcome.hits == sum(one.hit for one in seen)
    assert outcome.partials == sum(one.partial for one in seen)
