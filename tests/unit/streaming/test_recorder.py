"""What a recorder says of a stream at its end."""

from __future__ import annotations

import pytest

from langchain_semcache.clock import ManualClock
from langchain_semcache.responses.admission import COMPLETE, REFUSED
from langchain_semcache.streaming import CALLS, CallPiece, Ending, Piece, Recorder


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def recorder(clock):
    return Recorder(clock.monotonic, most=20, complete=COMPLETE, refused=REFUSED)


@pytest.mark.parametrize(
    ("reason", "ending"),
    [
        ("stop", Ending.WHOLE),
        ("END_TURN", Ending.WHOLE),
        ("tool_calls", Ending.WHOLE),
        ("length", Ending.CUT_OFF),
        ("something new", Ending.CUT_OFF),
        ("content_filter", Ending.FILTERED),
        (None, Ending.UNSAID),
    ],
)
def test_the_finish_reason_decides(recorder, reason, ending):
    recorder.add(Piece(text="hello"))
    recorder.add(Piece(finish_reason=reason))
    assert recorder.end() is ending


def test_a_refusal_is_filtered_whatever_its_finish_reason(recorder):
    recorder.add(Piece(text="I", refused=True))
    recorder.add(Piece(finish_reason="stop"))
    assert recorder.end() is Ending.FILTERED


def test_what_ended_it_first_counts(recorder):
    recorder.add(Piece(text="hello"))
    assert recorder.cancel() is Ending.CANCELLED
    assert recorder.end() is Ending.CANCELLED
    recorder.add(Piece(text="later"))
    assert recorder.size == 5


def test_a_failure_is_one(recorder):
    recorder.add(Piece(text="hello", finish_reason="stop"))
    assert recorder.fail() is Ending.FAILED


def test_what_is_too_large_is_no_longer_recorded(recorder):
    recorder.add(Piece(text="x" * 20))
    assert recorder.recording
    recorder.add(Piece(text="x"))
    assert not recorder.recording
    recorder.add(Piece(finish_reason="stop"))
    assert recorder.end() is Ending.TOO_LARGE
    assert recorder.shape(pauses=True).parts == ()


def test_everything_that_a_stream_says_of_itself_is_kept(recorder, clock):
    """Role, reasoning, calls by their index, usage, finish reason, and when it all came."""
    recorder.add(Piece(role="assistant"))
    clock.advance(0.25)
    recorder.add(Piece(reasoning="hm", text="ok"))
    clock.advance(0.5)
    recorder.add(Piece(calls=(CallPiece(1, "c1", "b", "{"), CallPiece(0, "c0", "a", ""))))
    clock.advance(0.125)
    recorder.add(Piece(calls=(CallPiece(0, "", "", "{}"), CallPiece(1, "", "", "}"))))
    recorder.add(Piece(usage={"total_tokens": 8}, finish_reason="tool_calls"))
    assert recorder.end() is Ending.WHOLE
    assert recorder.role == "assistant"
    assert recorder.calls == {0: ("a", "c0"), 1: ("b", "c1")}
    assert recorder.usage == {"total_tokens": 8}
    assert recorder.shape(pauses=True).parts == (
        (1, 2, 250),
        (0, 2, 0),
        (CALLS + 1, 1, 500),
        (CALLS, 2, 125),
        (CALLS + 1, 1, 0),
    )
    assert {pause for *_, pause in recorder.shape(pauses=False).parts} == {0}
