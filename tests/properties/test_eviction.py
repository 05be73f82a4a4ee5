"""Eviction on any trace: an oracle for LRU, the optimum above all, and bounds that hold."""

import sys
from collections import OrderedDict
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.eviction import LRU, POLICIES, Books, Kept, Limits

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from _freshness_evict import belady, hit_rate

traces = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=120)
operations = st.lists(
    st.tuples(
        st.sampled_from(["store", "touch", "forget"]),
        st.sampled_from("abcdefghij"),
        st.sampled_from("xy"),
        st.integers(1, 40),
    ),
    max_size=80,
)


@given(trace=traces, capacity=st.integers(1, 6))
def test_lru_is_what_an_ordered_dictionary_does(trace, capacity):
    kept, policy, oracle = set(), LRU(), OrderedDict()
    for name in trace:
        oracle[name] = None
        oracle.move_to_end(name)
        if name in kept:
            policy.touched(name)
        else:
            policy.stored(name, 1.0)
            kept.add(name)
        if len(oracle) > capacity:
            oracle.popitem(last=False)
            victim = next(policy.worst_first())
            policy.forgotten(victim)
            kept.remove(victim)
        assert kept == set(oracle)


@given(trace=traces, capacity=st.integers(2, 6), name=st.sampled_from(sorted(POLICIES)))
def test_nobody_is_better_than_who_knows_the_future(trace, capacity, name):
    assert belady(trace, capacity, 0) >= hit_rate(POLICIES[name](), trace, capacity, 0)


@given(steps=operations, name=st.sampled_from(sorted(POLICIES)))
def test_bounds_hold_and_only_who_is_there_is_asked_to_go(steps, name):
    limits = Limits(max_entries=5, max_bytes=100, tenant_max_entries=4, tenant_max_bytes=70)
    books = Books(POLICIES[name](), limits)
    there = {}
    for action, one, tenant, size in steps:
        if action == "store":
            there[one] = (tenant, size)
            books.stored(one, Kept(tenant=tenant, size=size, expires_at=None, value=float(size)))
            while (victim := books.next_victim(one)) is not None:
                assert victim in there
                assert victim != one
                books.forgotten(victim)
                del there[victim]
        elif action == "touch":
            books.touched(one)
        else:
            books.forgotten(one)
            there.pop(one, None)
        assert set(books.kept) == set(there)
        assert books.size == sum(size for _, size in there.values()) <= 100
        assert len(there) <= 5
        for each in "xy":
            sizes = [size for of, size in there.values() if of == each]
            assert len(sizes) <= 4
            assert sum(sizes) <= 70
