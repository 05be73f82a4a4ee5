"""The books: room, bounds of a namespace and of tenants, and what has expired."""

import pytest

from langchain_semcache.eviction import LRU, OVERHEAD_BYTES, Books, Kept, Limits, entry_bytes
from langchain_semcache.records import Entry


def kept(tenant="", size=10, expires_at=None):
    return Kept(tenant=tenant, size=size, expires_at=expires_at)


def books(**limits):
    return Books(LRU(), Limits(**limits))


def test_the_bound_on_entries_names_the_worst_and_never_the_newcomer():
    full = books(max_entries=1)
    full.stored("a", kept())
    assert full.next_victim("a") is None
    full.stored("b", kept())
    assert full.next_victim("b") == "a"
    assert full.next_victim("a") == "b"


def test_the_bound_on_bytes_follows_what_is_replaced():
    full = books(max_bytes=30)
    full.stored("a", kept(size=20))
    full.stored("a", kept(size=10))
    full.stored("b", kept(size=20))
    assert (full.size, full.next_victim("b")) == (30, None)
    full.stored("a", kept(size=11))
    assert full.next_victim("a") == "b"


@pytest.mark.parametrize("quota", [{"tenant_max_entries": 1}, {"tenant_max_bytes": 19}])
def test_a_tenant_makes_room_for_itself(quota):
    full = books(**quota)
    full.stored("a1", kept("a"))
    full.stored("b1", kept("b"))
    assert full.next_victim("b1") is None
    full.stored("b2", kept("b"))
    assert full.next_victim("b2") == "b1"
    full.forgotten("b1")
    assert full.next_victim("b2") is None


def test_what_has_expired_is_named_once_and_only_when_its_time_is_up():
    some = books(max_entries=9)
    some.stored("a", kept(expires_at=5.0))
    some.stored("b", kept(expires_at=6.0))
    some.stored("c", kept())
    some.stored("b", kept(expires_at=9.0))
    assert some.expired(4.9) == []
    assert some.expired(6.0) == ["a"]
    assert some.expired(9.0) == ["b"]


def test_an_entry_that_is_replaced_for_ever_leaves_no_trail():
    some = books(max_entries=9)
    for number in range(1_000):
        some.stored("a", kept(expires_at=float(number)))
    assert len(some._expiring) < 100
    assert some.expired(2_000.0) == ["a"]


def test_the_size_of_an_entry_is_what_it_is_defined_to_be():
    entry = Entry(
        id="i",
        scope="s",
        partition="p",
        fingerprint="f",
        namespace="n",
        tenant="t",
        model="m",
        question="多少",
        payload=b"12345",
        created_at=0.0,
        tags=("ab",),
        sources=(("c", "d"),),
    )
    assert entry_bytes(entry, 8) == 6 + 5 + 2 + 2 + 32 + OVERHEAD_BYTES
