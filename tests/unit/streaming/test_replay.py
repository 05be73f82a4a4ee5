"""Pieces, times, and the drivers that wait for them on a clock that is moved by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.clock import ManualClock
from langchain_semcache.responses.admission import COMPLETE, REFUSED
from langchain_semcache.streaming import (
    CALLS,
    REASONING,
    TEXT,
    CallPiece,
    Piece,
    Recorder,
    Shape,
    Timing,
    arrange,
    due,
    play,
    play_async,
)

TEXTS = [(REASONING, "hm so"), (TEXT, "one two"), (TEXT, " three"), (CALLS, '{"a": 1}')]


def _joined(parts, count):
    return ["".join(part.text for part in parts if part.source == n) for n in range(count)]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.text(max_size=30)), max_size=6),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 20), st.integers(0, 50)), max_size=12),
    st.sampled_from(["fast", "recorded", 10.0]),
)
def test_the_pieces_always_join_to_the_texts(texts, record, pace):
    """Whatever the record says, also of another answer."""
    shape = Shape(tuple(record))
    parts = arrange(texts, shape, pace)
    assert _joined(parts, len(texts)) == [text for _, text in texts]
    assert [part.source for part in parts] == sorted(part.source for part in parts)
    times = due(texts, parts, shape, pace)
    assert len(times) == len(parts)
    assert times == sorted(times)
    assert not times or times[0] == 0.0 or pace == "recorded"


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=20))
def test_recorded_cuts_come_back_as_they_were(pieces):
    clock = ManualClock()
    recorder = Recorder(clock.monotonic, most=10_000, complete=COMPLETE, refused=REFUSED)
    for n, piece in enumerate(pieces):
        clock.advance(n / 100)
        recorder.add(Piece(text=piece))
    shape = Shape.from_json(recorder.shape(pauses=True).to_json())
    texts = [(TEXT, "".join(pieces))]
    parts = arrange(texts, shape)
    assert [part.text for part in parts] == pieces
    came = [sum(range(1, n + 1)) / 100 for n in range(len(pieces))]
    assert due(texts, parts, shape, "recorded") == pytest.approx(came, abs=2e-3)


def test_one_chunk_may_have_held_the_end_of_one_text_and_the_beginning_of_the_next():
    shape = Shape(((TEXT, 4, 0), (TEXT, 6, 0), (TEXT, 3, 0)))
    parts = arrange(TEXTS[1:3], shape)
    assert [part.text for part in parts] == ["one ", "two", " th", "ree"]


def test_arguments_are_cut_as_recorded_or_not_at_all():
    recorder = Recorder(lambda: 0.0, most=100, complete=COMPLETE, refused=REFUSED)
    for text in ('{"a"', ": 1}"):
        recorder.add(Piece(calls=(CallPiece(arguments=text),)))
    cut = arrange(TEXTS[3:], recorder.shape(pauses=False))
    assert [part.text for part in cut] == ['{"a"', ": 1}"]
    assert [part.text for part in arrange(TEXTS[3:], None)] == ['{"a": 1}']


def test_a_rate_is_in_characters_a_second():
    parts = arrange([(TEXT, "one two three")], None, 10.0)
    times = due([(TEXT, "one two three")], parts, None, 10.0)
    assert times == pytest.approx([0.0, 0.4, 0.9])


def test_a_record_that_does_not_fit_gives_its_time():
    """Two seconds from first to last, shared out by length."""
    shape = Shape(((TEXT, 2, 5_000), (TEXT, 1, 2_000)))
    texts = [(TEXT, "one two three")]
    times = due(texts, arrange(texts, shape, "recorded"), shape, "recorded")
    assert times[0] == 0.0
    assert 1.0 < times[-1] <= 2.0


def test_a_long_text_that_is_not_paced_comes_in_fewer_pieces():
    texts = [(TEXT, "word " * 3_000)]
    assert len(arrange(texts, None)) <= 256
    assert len(arrange(texts, None, 100.0)) == 3_000


class Waits:
    """A clock that waiting moves."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.waited: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.clock.advance(seconds)

    async def wait_async(self, seconds: float) -> None:
        self.wait(seconds)

    @property
    def timing(self) -> Timing:
        return Timing(self.clock.monotonic, self.wait, self.wait_async)


async def _played(colour, waits, reader):
    read = []
    items, times = "abcd", [0.0, 0.5, 1.0, 1.0]
    if colour == "sync":
        for item in play(items, times, waits.timing):
            read.append(item)
            reader()
    else:
        async for item in play_async(items, times, waits.timing):
            read.append(item)
            reader()
    return "".join(read)


@pytest.mark.parametrize("colour", ["sync", "async"])
async def test_each_item_is_given_when_it_is_due(colour):
    waits = Waits()
    assert await _played(colour, waits, lambda: None) == "abcd"
    assert waits.waited == [0.5, 0.5]


@pytest.mark.parametrize("colour", ["sync", "async"])
async def test_a_slow_reader_is_not_made_to_wait_too(colour):
    waits = Waits()
    assert await _played(colour, waits, lambda: waits.clock.advance(2.0)) == "abcd"
    assert waits.waited == []


@pytest.mark.parametrize("colour", ["sync", "async"])
async def test_a_reader_that_stops_is_not_waited_for(colour):
    """Nothing runs between two items, so that nothing is left."""
    waits = Waits()
    if colour == "sync":
        stream = play("ab", [0.0, 9.0], waits.timing)
        assert next(stream) == "a"
        stream.close()
    else:
        later = play_async("ab", [0.0, 9.0], waits.timing)
        assert await anext(later) == "a"
        await later.aclose()
    assert waits.waited == []
