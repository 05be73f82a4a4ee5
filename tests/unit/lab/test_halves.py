"""`halves`: no question on both sides, labels even, always the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.lab.halves import halves
from langchain_semcache.lab.pairs import Pair

NAMES = st.integers(0, 40).map("question {}".format)
PAIRS = st.lists(st.builds(Pair, NAMES, NAMES, st.booleans()), max_size=80)


def _texts(pairs, places) -> set[str]:
    return {text for place in places for text in (pairs[place].question, pairs[place].stored)}


@given(PAIRS)
def test_no_question_is_on_both_sides(pairs) -> None:
    one, other = halves(pairs)
    assert not _texts(pairs, one) & _texts(pairs, other)
    assert not set(one) & set(other)
    assert halves(pairs) == (one, other)


def test_unlinked_pairs_are_spread_evenly_over_labels() -> None:
    pairs = [Pair(f"a{n}", f"b{n}", n % 5 == 0) for n in range(100)]
    one, other = halves(pairs)
    assert len(one) == len(other) == 50
    assert sum(pairs[place].same for place in one) == 10


def test_case_and_space_do_not_tell_questions_apart() -> None:
    pairs = [
        Pair("Where is it?", "Where's it?", True),
        Pair("where  is it? ", "Who is it?", False),
        *(Pair(f"a{n}", f"b{n}", True) for n in range(4)),
    ]
    one, other = halves(pairs)
    assert {0, 1} <= set(one) or {0, 1} <= set(other)


def test_one_large_group_is_cut_and_the_links_are_left_out() -> None:
    """A list of stored questions, each asked in many ways: everything hangs together."""
    pairs = [Pair(f"asked {n}", f"stored {m}", n == m) for n in range(20) for m in range(20)]
    one, other = halves(pairs)
    assert one
    assert other
    assert len(one) + len(other) < len(pairs)
    assert not _texts(pairs, one) & _texts(pairs, other)


def test_nothing_has_no_halves() -> None:
    assert halves([]) == ([], [])


def test_texts_that_are_no_unicode_are_no_trouble() -> None:
    pairs = [Pair("\ud83d", f"b{n}", True) for n in range(5)]
    one, other = halves(pairs)
    assert {*one, *other} <= set(range(5))
    assert one or other
