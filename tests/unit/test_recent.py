"""What was made of the last few texts: bounded, the least used goes first, safe after a fork."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from langchain_semcache.recent import Recent


def kept(recent, texts):
    return [text for text in texts if text in recent.among(texts)]


def test_what_was_used_longest_ago_goes_when_there_is_more_than_fits():
    recent = Recent(3)
    for number, text in enumerate("abcde"):
        recent.put(text, number)
        assert len(recent.among("abcde")) == min(number + 1, 3)
    assert recent.among("abcde") == {"c": 2, "d": 3, "e": 4}


def test_to_be_asked_for_is_to_be_used():
    recent = Recent(3)
    for text in "abc":
        recent.put(text, text)
    assert recent.get("a") == "a"
    recent.put("d", "d")
    assert kept(recent, "abcd") == ["a", "c", "d"]


def test_a_value_put_again_is_the_newest_and_takes_no_second_place():
    recent = Recent(3)
    for text in "abc":
        recent.put(text, 0)
    recent.put("a", 7)
    recent.put("d", 1)
    assert recent.among("abcd") == {"a": 7, "c": 0, "d": 1}


def test_weights_count_and_not_texts():
    recent = Recent(10, len)
    recent.put("a", "xxxx")
    recent.put("b", "xxxx")
    recent.put("a", "x")
    recent.put("c", "xxxxx")
    assert kept(recent, "abc") == ["a", "b", "c"]
    recent.put("d", "x" * 8)
    assert kept(recent, "abcd") == ["d"]


def test_what_is_heavier_than_everything_together_is_not_kept():
    recent = Recent(3, len)
    recent.put("a", "xxxx")
    assert recent.get("a") is None
    recent.put("b", "xxx")
    assert recent.get("b") == "xxx"


def test_threads_leave_neither_holes_nor_more_than_fits():
    recent = Recent(50, len)

    def work(seed):
        for number in range(2_000):
            text = str((number * 7 + seed) % 90)
            recent.put(text, text)
            assert recent.get(text) in (text, None)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [None] * 4
    assert 40 <= sum(map(len, recent.among(map(str, range(90))).values())) <= 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_lock_that_is_held_while_forking_does_not_hold_the_child():
    recent = Recent(3)
    recent.put("a", 1)
    with recent._shelf.get()._lock:
        child = os.fork()
        if child == 0:
            recent.put("b", 2)
            os._exit(0 if recent.get("b") == 2 else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
