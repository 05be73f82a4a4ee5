"""What an encoder may return."""

import numpy as np
import pytest

from langchain_semcache.encoders import check_vectors
from langchain_semcache.errors import EncoderUnavailable

UNIT = np.eye(2, 3, dtype=np.float32)


def test_good_vectors_pass_through_unchanged():
    assert check_vectors(UNIT, count=2, dimension=3) is UNIT


def test_lists_and_other_floats_are_converted():
    checked = check_vectors([[0.6, 0.8], [1, 0]], count=2, dimension=2)
    assert checked.dtype == np.float32
    half = check_vectors(UNIT.astype(np.float16), count=2, dimension=3)
    assert half.dtype == np.float32


@pytest.mark.parametrize(
    ("vectors", "count", "dimension", "says"),
    [
        (UNIT, 1, 3, r"shape \[2, 3\] for 1 texts"),
        (UNIT[0], 1, 3, r"shape \[3\]"),
        ([], 1, 3, r"shape \[0\] for 1 texts"),
        (UNIT, 2, 4, "dimension 3, expected 4"),
        (np.full((1, 3), np.nan), 1, 3, "NaN"),
        (np.full((1, 3), np.inf), 1, 3, "NaN or infinite"),
        (np.zeros((1, 3)), 1, 3, "length 0, expected 1"),
        (UNIT * 2, 2, 3, "length 2, expected 1"),
        (None, 1, 3, "shape|no array"),
        ("vectors", 1, 3, "str that is no array"),
        ([[1, 0], [1]], 2, 2, "list that is no array"),
    ],
)
def test_what_is_wrong_is_named(vectors, count, dimension, says):
    with pytest.raises(EncoderUnavailable, match=says):
        check_vectors(vectors, count=count, dimension=dimension)


def test_no_text_is_no_row():
    empty = np.empty((0, 3), dtype=np.float32)
    assert check_vectors(empty, count=0, dimension=3).shape == (0, 3)
