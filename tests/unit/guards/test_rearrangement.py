"""Statements with the same words: what has changed places, and what has only moved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.guards import rearrangement_han
from langchain_semcache.guards._moves import kept, numbered, one_block
from langchain_semcache.guards._reading import read
from langchain_semcache.guards.rearrangement import placed
from langchain_semcache.records import Reason
from tests.unit.guards.conftest import assert_passes, assert_refused, pairs

MOVED = """
The cat chased the dog around the old garden | The dog chased the cat around the old garden
In 1990 the firm moved from Leeds to York with old staff | In 1990 the firm moved from York to Leeds with old staff
The bridge was designed by Ann Reed and built by Carl Voss | The bridge was designed by Carl Voss and built by Ann Reed
The red house has a green door and a small yard | The green house has a red door and a small yard
She lived in Oslo, worked in Bergen and died in Rome | She lived in Bergen, worked in Oslo and died in Rome
His brother Tom taught music before Anna moved abroad | His brother Anna taught music before Tom moved abroad
这座大桥由王工设计，后来由李工负责施工建造 | 这座大桥由李工设计，后来由王工负责施工建造
该公司总部位于杭州，研发中心设在成都高新区 | 该公司总部位于成都，研发中心设在杭州高新区
"""  # noqa: E501

KEPT = """
In 1990 the firm moved from Leeds to York with its staff | The firm moved from Leeds to York with its staff in 1990
On 5 March the new museum opened in Bergen | The new museum opened in Bergen on March 5
The band has Tom, Eva and Kim as its singers today | The band has Kim, Tom and Eva as its singers today
The old tower was painted by Ann Reed in spring | In spring the old tower was painted by Ann Reed
该公司总部位于杭州，研发中心设在成都高新区 | 该公司的总部位于杭州，研发中心设在成都高新区。
这家餐厅的主厨最擅长做红烧鱼和糖醋排骨两道菜 | 这家餐厅的主厨最擅长做糖醋排骨和红烧鱼两道菜
"""  # noqa: E501


@pytest.mark.parametrize(("question", "stored"), pairs(MOVED))
def test_words_that_changed_places_are_refused(question: str, stored: str) -> None:
    """The same words, and somebody else did it, or elsewhere."""
    assert_refused(question, stored, Reason.WORD_ORDER_DIFFERS)


@pytest.mark.parametrize(("question", "stored"), pairs(KEPT))
def test_a_moved_clause_or_a_list_in_another_order_passes(question: str, stored: str) -> None:
    """A phrase that takes its preposition along says the same anywhere."""
    assert_passes(question, stored)


@given(st.lists(st.sampled_from("abc"), max_size=12))
def test_numbered_items_are_all_different(items: list[str]) -> None:
    """And are the items, in their order."""
    found = numbered(items)
    assert len(set(found)) == len(items)
    assert [item for item, _ in found] == items


@given(st.permutations(range(9)))
def test_what_is_kept_rises(places: list[int]) -> None:
    """The kept places are in order, and nothing has moved when all are."""
    values = [places[index] for index in sorted(kept(places))]
    assert values == sorted(values)
    assert (len(values) == len(places)) == (places == sorted(places))


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8))
def test_one_block_that_was_moved_is_seen(first: int, second: int, third: int) -> None:
    """Two neighbouring blocks exchanged are one block moved."""
    start, middle, end = sorted((first, second, third))
    row = list(range(9))
    assert one_block(row[:start] + row[middle:end] + row[start:middle] + row[end:])


def test_two_blocks_are_not_one() -> None:
    """X m Y against Y m X is no moved block."""
    assert not one_block([2, 1, 0])
    assert not one_block([0, 3, 2, 1, 4])
    assert one_block([])


def test_dates_are_one_word_and_lists_are_sorted() -> None:
    """So that neither counts as a move."""
    assert [p.word for p in placed(read("on 5 March"))] == ["3/5"]
    assert placed(read("on March 5")) == placed(read("on 5 March"))
    assert placed(read("tea, milk and rum")) == placed(read("rum, tea and milk"))


def test_pairs_of_chinese_characters_leave_little_words_out() -> None:
    """Latin words and numbers are kept whole."""
    assert [word for word, _ in rearrangement_han.pairs(read("苹果的iPhone在2007年"))] == [
        "苹果",
        "iphone",
        "2007",
    ]
