"""How a stream was cut, written and read; and where a text is cut anew."""

from __future__ import annotations

import json
import unicodedata
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.streaming import Shape, ShapeUnreadable, words

PARTS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 5_000), st.integers(0, 100_000)), max_size=60
)


@given(PARTS)
def test_a_record_comes_back_as_it_was(parts):
    """Also through JSON, as it is stored."""
    shape = Shape(tuple(parts))
    assert Shape.from_json(json.loads(json.dumps(shape.to_json()))) == shape


@given(st.text() | st.text(alphabet="a \n\t中文é\u0301👩\u200d🚀🇫🇷🇩\U0001f3fd"))
def test_words_join_to_the_text(text):
    pieces = words(text)
    assert "".join(pieces) == text
    assert "".join(words(text, most=3)) == text
    assert len(words(text, most=3)) <= 3
    assert all(pieces)


@given(st.text(alphabet="a中e\u0301\u200d👩🏽🚀🇫🇷 \ud83d\ude00", max_size=40))
def test_no_piece_ends_inside_a_character(text):
    """Marks, joiners, skin tones, flags and surrogate pairs stay with what they belong to."""
    pieces = words(text)
    for before, after in pairwise(pieces):
        if before[-1].isspace():
            continue
        assert not unicodedata.category(after[0]).startswith("M")
        assert "\u200d" not in (before[-1], after[0])
        assert not "\U0001f3fb" <= after[0] <= "\U0001f3ff"
        assert not ("\ud800" <= before[-1] <= "\udbff" and "\udc00" <= after[0] <= "\udfff")
        assert not ("\U0001f1e6" <= before[-1] <= "\U0001f1ff" and "🇦" <= after[0] <= "🇿")


def test_words_are_words_and_chinese_comes_in_small_pieces():
    assert words("one two  three\n\nfour ") == ["one ", "two  ", "three\n\n", "four "]
    assert words("法国的首都是巴黎，人口两百万。") == ["法国的首", "都是巴黎", "，人口两", "百万。"]
    assert len(words("x" * 100)) == 4
    assert words("") == []


@pytest.mark.parametrize(
    "record",
    [
        None,
        "text",
        {},
        {"v": 2, "tracks": "01", "sizes": "5"},
        {"v": 1, "tracks": "01", "sizes": "55"},
        {"v": 1, "tracks": "0", "sizes": ""},
        {"v": 1, "tracks": "01", "sizes": "a"},
        {"v": 1, "tracks": "01", "sizes": "?"},
        {"v": 1, "tracks": "01", "sizes": "5", "pauses": "11"},
        {"v": 1, "tracks": 7, "sizes": "5"},
    ],
)
def test_what_no_recorder_wrote_is_refused(record):
    with pytest.raises(ShapeUnreadable):
        Shape.from_json(record)


def test_a_record_is_small():
    """One character for most sizes and pauses, which a compressor halves again."""
    shape = Shape(tuple((0, 2 + n % 7, 18 + n % 11) for n in range(500)))
    written = json.dumps(shape.to_json()).encode()
    assert len(written) < 1_100
    assert len(zlib.compress(written)) < 350
