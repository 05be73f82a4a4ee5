from __future__ import annotations

import pytest

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.records import Response
from langchain_semcache.responses import Change, DeltaCodec, History, history_of
from langchain_semcache.responses.codec import to_raw
from langchain_semcache.responses.history import KEPT, MAX_COMPARED_BYTES

CODEC = DeltaCodec()
OLD = to_raw(Response.from_text("The standard plan costs 12 euros a month, paid once a year. " * 3))
NEW = to_raw(Response.from_text("The standard plan costs 14 euros a month, paid once a year. " * 3))


def test_the_answer_before_comes_back_byte_for_byte():
    told = History().followed(OLD, NEW, old_at=1.5, now=9.25)
    payload = CODEC.record(NEW, CODEC.alone(NEW, None), told)
    read = history_of("e", payload)
    assert read == told
    assert read.previous("e", NEW) == OLD
    assert read.previous_at == 1.5
    assert read.changes[0].at == 9.25
    assert CODEC.raw("e", payload) == NEW


def test_an_empty_answer_before_comes_back():
    told = History().followed(b"", NEW, old_at=1.0, now=2.0)
    assert History.from_bytes(told.to_bytes()).previous("e", NEW) == b""


def test_the_same_words_count_as_less_of_a_change_than_other_words():
    other = to_raw(Response.from_text(" ".join(f"{n * n:x}" for n in range(70))))
    same, alike, unlike = (
        History().followed(OLD, now, old_at=1.0, now=2.0).changes[0].share
        for now in (OLD, NEW, other)
    )
    assert same < alike < 0.3 < unlike


def test_only_the_last_changes_are_remembered():
    told = History()
    for number in range(KEPT + 3):
        told = told.followed(OLD, NEW, old_at=float(number), now=float(number + 1))
    assert [change.at for change in told.changes] == [4.0, 5.0, 6.0, 7.0]
    assert History.from_bytes(told.to_bytes()) == told


def test_a_way_back_that_is_long_is_not_kept_and_the_change_is():
    noise = bytes(range(256)) * 20
    other = bytes(reversed(bytes((n * n + n // 3) % 251 for n in range(9_000))))
    told = History().followed(other, noise, old_at=1.0, now=2.0)
    assert told.changes
    assert len(told.to_bytes()) < 5_000
    huge = History((Change(1.0, 0.5),)).followed(
        b"x" * MAX_COMPARED_BYTES, NEW, old_at=1.0, now=2.0
    )
    assert (len(huge.changes), huge.previous_at) == (2, None)
    assert huge.changes[-1] == Change(2.0, None)
    assert History.from_bytes(huge.to_bytes()) == huge


def test_a_change_is_nothing_for_the_same_and_all_for_nothing_in_common():
    def share(old: bytes, new: bytes) -> float | None:
        return History().followed(old, new, old_at=1.0, now=2.0).changes[-1].share

    text = b" ".join(b"%x" % (n * n * 7919) for n in range(200))
    other = b" ".join(b"%x" % (n * n * 104_729 + 11) for n in range(200))
    assert share(text, text) == 0
    assert share(text, text + b" and more") < 0.1
    assert 0.3 < share(text, text[: len(text) // 2] + other[: len(other) // 2]) < 0.7
    assert share(text, other) > 0.9


def test_a_way_back_from_another_answer_is_corrupt_or_empty_handed():
    told = History().followed(OLD, NEW, old_at=1.0, now=2.0)
    damaged = History(told.changes, 1.0, told.previous_bytes, b"no frame")
    with pytest.raises(CorruptEntry, match="history"):
        damaged.previous("e", NEW)
    payload = b"\xd1\x18" + bytes(4) + b"\x05" + b"\x03" + b"\x09ab" + b"rest"
    with pytest.raises(CorruptEntry, match="history"):
        history_of("e", payload)
