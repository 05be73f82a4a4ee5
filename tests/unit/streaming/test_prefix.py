"""Going on with another stream: only where it says what was handed out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.streaming import CallPiece, Handed, NotTheSame, Piece


def _handed(*pieces):
    handed = Handed()
    for piece in pieces:
        handed.note(piece)
    handed.begin_again()
    return handed


@given(st.text(min_size=1, max_size=60), st.data())
def test_what_was_handed_out_and_what_is_new_make_the_text(text, data):
    """However both streams are cut."""
    cut = data.draw(st.integers(0, len(text)))
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=len(text), max_size=len(text)))
    handed = _handed(*(Piece(text=letter) for letter in text[:cut]))
    new, start = "", 0
    for size in sizes:
        piece = Piece(text=text[start : start + size])
        start += size
        if piece.text and handed.repeating:
            count = handed.repeated(piece)
            new += piece.text[len(piece.text) - count :]
        else:
            new += piece.text
    assert text[:cut] + new == text
    assert not handed.repeating


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Piece(text="one"), Piece(text="two")),
        (Piece(text="one"), Piece(reasoning="one")),
        (Piece(calls=(CallPiece(0, "c", "a", "{"),)), Piece(calls=(CallPiece(0, "d", "b", "{"),))),
        (Piece(calls=(CallPiece(0, "c", "a"),)), Piece(calls=(CallPiece(0, "c", "a", "{"),))),
        (Piece(other="[1]"), Piece(other="[2]")),
        (Piece(text="on"), Piece(text="one", reasoning="hm")),
    ],
)
def test_another_answer_is_noticed(before, after):
    handed = _handed(before)
    with pytest.raises(NotTheSame):
        handed.repeated(after)


def test_ids_of_calls_are_drawn_anew_and_do_not_count():
    handed = _handed(Piece(calls=(CallPiece(0, "c", "a", "{"),)))
    assert handed.repeated(Piece(calls=(CallPiece(0, "other", "a", "{"),))) == 0
    assert not handed.repeating


def test_who_was_given_nothing_takes_any_answer():
    handed = _handed(Piece(role="assistant"))
    assert not handed.repeating
