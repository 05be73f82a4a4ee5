"""The policy that goes by what somebody else expects."""

from __future__ import annotations

from itertools import islice

from langchain_semcache.eviction import Predicted

NEWCOMER = 1.0


def policy(uses, **values):
    found = Predicted(lambda entry_id: uses.get(entry_id, NEWCOMER))
    for entry_id, value in values.items():
        found.stored(entry_id, value)
    return found


def test_what_is_expected_least_goes_first():
    found = policy({"a": 3.0, "b": 1.0, "c": 2.0}, a=1.0, b=1.0, c=1.0)
    assert list(found.worst_first()) == ["b", "c", "a"]


def test_what_each_is_worth_counts():
    found = policy({"a": 3.0, "b": 1.0, "c": 2.0}, a=1.0, b=10.0, c=1.0)
    assert list(found.worst_first()) == ["c", "a", "b"]


def test_what_is_new_counts_as_others_that_were_new():
    names = dict.fromkeys(["new", "hot", "newer", "cold", "usual"], 1.0)
    found = policy({"hot": 9.0, "cold": 0.1, "usual": 2.0}, **names)
    assert list(found.worst_first()) == ["cold", "new", "newer", "usual", "hot"]


def test_where_nothing_is_known_at_all_the_longest_unused_goes_first():
    found = policy({}, a=1.0, b=1.0, c=1.0)
    found.touched("a")
    assert list(found.worst_first()) == ["b", "c", "a"]


def test_a_flood_of_new_ones_does_not_take_what_is_hot():
    uses = {f"hot-{number}": 50.0 for number in range(20)} | {f"cold-{n}": 0.01 for n in range(80)}
    found = policy(uses, **dict.fromkeys(uses, 1.0))
    there = set(uses)
    for number in range(500):
        found.stored(f"new-{number}", 1.0)
        there.add(f"new-{number}")
        victim = next(one for one in found.worst_first() if one != f"new-{number}")
        found.forgotten(victim)
        there.discard(victim)
    assert {f"hot-{number}" for number in range(20)} <= there
    assert len(there) == 100


def test_the_order_follows_what_is_expected_by_and_by():
    uses = {str(number): float(number) for number in range(1_000)}
    found = policy(uses, **dict.fromkeys(uses, 1.0))
    assert list(islice(found.worst_first(), 2)) == ["0", "1"]
    uses.update({str(number): 1_000.0 - number for number in range(1_000)})
    assert next(found.worst_first()) == "0"
    for number in range(100):
        found.forgotten(str(number))
    assert next(found.worst_first()) == "999"


def test_what_is_gone_is_named_no_more():
    found = policy({"a": 1.0, "b": 2.0}, a=1.0, b=1.0)
    found.forgotten("a")
    found.forgotten("nobody")
    found.touched("nobody")
    assert list(found.worst_first()) == ["b"]
