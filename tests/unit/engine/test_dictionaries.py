"""Dictionaries are learned behind everybody's back, and nothing that fails there is heard of."""

from __future__ import annotations

import logging
import threading

from langchain_semcache.clock import ManualClock
from langchain_semcache.engine.dictionaries import (
    ALL_SAMPLE_BYTES,
    FIRST_ANSWERS,
    MOST_GROUPS,
    SAMPLE_BYTES,
    Dictionaries,
)
from langchain_semcache.engine.shelf import Shelf
from langchain_semcache.errors import IndexUnavailable
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.records import PARTS, Selection
from langchain_semcache.responses.parts import Owner

OWNER = Owner("default", "tenant")


def made(index: MemoryIndex, most_bytes: int = 16_384) -> Dictionaries:
    return Dictionaries(index=index, shelf=Shelf(), clock=ManualClock(), most_bytes=most_bytes)


def sentence(number: int) -> bytes:
    return f"Open settings {number}, choose backup {number * number}, and confirm.".encode() * 4


def teach(dictionaries: Dictionaries, answers: int = FIRST_ANSWERS, owner: Owner = OWNER) -> None:
    dictionaries.current(owner, "text")
    dictionaries.settle()
    for number in range(answers):
        dictionaries.saw(owner, "text", sentence(number))
    dictionaries.settle()


def test_one_answer_too_few_teaches_nothing() -> None:
    dictionaries = made(MemoryIndex(4))
    teach(dictionaries, FIRST_ANSWERS - 1)
    assert dictionaries.current(OWNER, "text") is None
    dictionaries.saw(OWNER, "text", sentence(-1))
    dictionaries.settle()
    learned = dictionaries.current(OWNER, "text")
    assert learned is not None
    assert learned.answers == FIRST_ANSWERS
    assert len(learned.trained) <= 16_384
    assert dictionaries.current(OWNER, "tools") is None
    assert dictionaries.current(Owner("default", "other"), "text") is None
    dictionaries.close()


def test_answers_with_nothing_in_common_teach_nothing_and_break_nothing() -> None:
    dictionaries = made(MemoryIndex(4))
    for number in range(2 * FIRST_ANSWERS):
        dictionaries.saw(OWNER, "text", bytes([number % 256]))
    dictionaries.close()
    assert dictionaries.current(OWNER, "text") is None


def test_large_answers_are_no_samples_and_memory_is_bounded() -> None:
    dictionaries = made(MemoryIndex(4))
    for number in range(MOST_GROUPS + 5):
        owner = Owner("default", str(number))
        dictionaries.saw(owner, "text", b"x" * SAMPLE_BYTES)
        dictionaries.saw(owner, "text", b"y")
    dictionaries.settle()
    assert len(dictionaries._groups) == MOST_GROUPS
    assert all(seen.sample_bytes == 1 for seen in dictionaries._groups.values())
    dictionaries.close()


def test_an_index_that_fails_is_one_warning_and_no_dictionary(caplog) -> None:
    class Broken(MemoryIndex):
        def scan(self, selection):
            raise IndexUnavailable("no scan")

        def put(self, entry, vector):
            raise IndexUnavailable("no put")

    dictionaries = made(Broken(4))
    with caplog.at_level(logging.WARNING):
        teach(dictionaries)
    assert dictionaries.current(OWNER, "text") is None
    assert caplog.text.count("dictionary could not be read or written") == 1
    dictionaries.close()


def test_what_is_forgotten_while_it_is_learned_is_not_kept() -> None:
    index = MemoryIndex(4)
    dictionaries = made(index)
    dictionaries.current(OWNER, "text")
    dictionaries.settle()
    for number in range(FIRST_ANSWERS):
        dictionaries.saw(OWNER, "text", sentence(number))
    dictionaries.forget_of("default", "tenant")
    dictionaries.settle()
    assert dictionaries.current(OWNER, "text") is None
    dictionaries.close()


def test_closing_waits_for_the_thread_and_starts_no_more() -> None:
    index = MemoryIndex(4)
    dictionaries = made(index)
    teach(dictionaries)
    dictionaries.close()
    dictionaries.close()
    names = [thread.name for thread in threading.enumerate()]
    assert "semcache-dictionaries" not in names
    for number in range(5 * FIRST_ANSWERS):
        dictionaries.saw(OWNER, "text", sentence(number))
    assert "semcache-dictionaries" not in [thread.name for thread in threading.enumerate()]
    assert len(list(index.scan(Selection(namespace=PARTS)))) == 1


def test_many_tenants_in_turn_each_keep_their_dictionary() -> None:
    dictionaries = made(MemoryIndex(4))
    owners = [Owner("default", str(number)) for number in range(40)]
    for number in range(FIRST_ANSWERS):
        for owner in owners:
            dictionaries.saw(owner, "text", sentence(number))
    dictionaries.settle()
    assert all(dictionaries.current(owner, "text") for owner in owners)
    dictionaries.close()


def test_large_answers_teach_when_no_more_of_them_are_remembered() -> None:
    dictionaries = made(MemoryIndex(4))
    for number in range(100):
        answer = b" ".join(sentence(100 * number + line) for line in range(120))
        dictionaries.saw(OWNER, "text", answer)
    dictionaries.settle()
    learned = dictionaries.current(OWNER, "text")
    assert learned is not None
    assert learned.answers < FIRST_ANSWERS
    dictionaries.close()


def test_all_samples_together_are_bounded() -> None:
    dictionaries = made(MemoryIndex(4))
    for number in range(30):
        for _ in range(15):
            dictionaries.saw(Owner("default", str(number)), "text", b"x" * 100_000)
    held = [seen.sample_bytes for seen in dictionaries._groups.values()]
    assert sum(held) <= ALL_SAMPLE_BYTES
    assert held[-1] == 1_500_000
    assert held[0] == 0
    dictionaries.close()


def test_what_went_while_it_was_learned_from_is_not_learned() -> None:
    started, go = threading.Event(), threading.Event()

    class Slow(MemoryIndex):
        def put(self, entry, vector):
            started.set()
            assert go.wait(10)
            super().put(entry, vector)

    dictionaries = made(Slow(4))
    dictionaries.current(OWNER, "text")
    dictionaries.settle()
    for number in range(FIRST_ANSWERS):
        dictionaries.saw(OWNER, "text", sentence(number))
    assert started.wait(10)
    dictionaries.unlearn("default")
    go.set()
    dictionaries.settle()
    assert dictionaries.current(OWNER, "text") is None
    dictionaries.close()
