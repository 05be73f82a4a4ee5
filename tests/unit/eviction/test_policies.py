"""Policies on traces short enough to follow by hand."""

import pytest

from langchain_semcache.eviction import LFU, LRU, POLICIES, Heat, Sketch, TinyLFU
from langchain_semcache.eviction._reuse import CLASSES, SpansOfReuse, class_of
from langchain_semcache.eviction._sketch import digest


def filled(policy, names):
    for name in names:
        policy.stored(name, 1.0)
    return policy


def run(policy, uses, capacity):
    """The hits of a trace, and what is kept at its end."""
    kept, hits = set(), 0
    for name in uses:
        if name in kept:
            policy.touched(name)
            hits += 1
            continue
        policy.stored(name, 1.0)
        kept.add(name)
        if len(kept) > capacity:
            victim = next(one for one in policy.worst_first() if one != name)
            policy.forgotten(victim)
            kept.remove(victim)
    return hits, kept


def test_lru_lets_go_what_was_used_longest_ago():
    policy = filled(LRU(), "abc")
    policy.touched("a")
    assert list(policy.worst_first()) == ["b", "c", "a"]


def test_lfu_lets_go_what_was_used_least_and_then_longest_ago():
    policy = filled(LFU(), "abc")
    policy.touched("a")
    policy.touched("a")
    policy.touched("c")
    assert list(policy.worst_first()) == ["b", "c", "a"]


def test_lfu_forgets_old_fame():
    policy = filled(LFU(), ["old"])
    for _ in range(60):
        policy.touched("old")
    policy.stored("new", 1.0)
    for _ in range(400):
        policy.touched("new")
    assert next(policy.worst_first()) == "old"


def test_tinylfu_lets_a_flood_of_newcomers_pass_by_what_is_wanted():
    wanted = [f"w{number}" for number in range(8)]
    flood = [f"f{number}" for number in range(200)]
    _, kept = run(TinyLFU(), wanted * 5 + flood, capacity=12)
    assert set(wanted) <= kept
    _, kept = run(LRU(), wanted * 5 + flood, capacity=12)
    assert not set(wanted) & kept


def test_heat_is_lru_until_it_has_seen_enough():
    policy = filled(Heat(), "abc")
    policy.touched("a")
    assert list(policy.worst_first()) == ["b", "c", "a"]


def test_heat_learns_that_a_loop_is_not_to_be_followed():
    """A loop larger than the cache gives LRU nothing; who keeps a part of it has that part."""
    loop = [str(number) for number in range(300)] * 100
    lru, _ = run(LRU(), loop, capacity=100)
    learned, _ = run(Heat(), loop, capacity=100)
    assert lru == 0
    assert learned > 0.15 * len(loop)


def test_heat_prefers_what_a_hit_is_worth_more_of():
    policy = Heat()
    run(policy, [str(number % 40) for number in range(5_000)], capacity=40)
    for name in ("cheap", "dear"):
        policy.stored(name, 1.0 if name == "cheap" else 50.0)
    order = list(policy.worst_first())
    assert order.index("cheap") < order.index("dear")


@pytest.mark.parametrize("name", POLICIES)
def test_what_was_forgotten_is_named_no_more(name):
    policy = filled(POLICIES[name](), [str(number) for number in range(50)])
    for number in range(0, 50, 3):
        policy.forgotten(str(number))
    policy.forgotten("never there")
    policy.touched("never there")
    left = {str(number) for number in range(50) if number % 3}
    order = list(policy.worst_first())
    assert len(order) == len(left)
    assert set(order) == left


def test_a_sketch_counts_never_too_low():
    sketch = Sketch(10)
    for number in range(100):
        for _ in range(number % 5 + 1):
            sketch.add(digest(str(number)))
    assert all(sketch.count(digest(str(number))) >= number % 5 + 1 for number in range(100))
    assert sketch.count(digest("never seen")) <= 1


def test_a_sketch_halves_its_counts_when_it_has_seen_as_much_as_it_holds():
    sketch = Sketch(6)
    for _ in range(63):
        sketch.add(digest("a"))
    assert sketch.count(digest("a")) == 63
    sketch.add(digest("a"))
    assert sketch.count(digest("a")) == 32


def test_a_sketch_is_the_same_in_every_process():
    assert digest("a") == 0x27C35E6E9373877F29E562464E46497E


def test_classes_go_on_in_doublings():
    assert [class_of(uses) for uses in (1, 2, 3, 4, 5, 7, 8, 15, 16)] == [0, 1, 2, 3, 4, 4, 5, 5, 6]
    assert class_of(10_000) == CLASSES - 1


def test_what_comes_again_soon_is_worth_more_than_what_comes_late_or_never():
    import numpy as np

    spans = SpansOfReuse()
    for _ in range(100):
        spans.reused(2, 10)
        spans.reused(1, 1_000)
        spans.gave_up(0, 1_000)
    spans.fit(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    never, late, soon = spans.worth(np.array([0, 1, 2], dtype=np.int8), np.array([0, 0, 0]))
    assert never == 0
    assert soon > 10 * late > 0
    # And when its time has passed, nothing more is expected of it.
    assert spans.worth(np.array([2], dtype=np.int8), np.array([5_000]))[0] == 0
