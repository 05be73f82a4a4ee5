from __future__ import annotations

import contextlib
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.langchain.pyrepr import MAX_CHARACTERS, Opaque, Unreadable, read_pairs

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.text()), inner)
    ),
    max_leaves=20,
)
OPTIONS = st.dictionaries(st.text(), VALUES, max_size=6)


def spelled(options: dict[str, Any]) -> str:
    """What LangChain hands to a cache."""
    return str(sorted(options.items(), key=lambda item: item[0]))


@given(OPTIONS)
def test_plain_options_come_back_as_they_were(options: dict[str, Any]) -> None:
    """Every literal, whatever quotes, brackets and angles its texts hold."""
    assert read_pairs(spelled(options)) == options


@given(st.text() | st.text(alphabet="[](){}'\"<>=,:-*\\ \nabf01._x@#"))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but `Unreadable` is ever raised."""
    with contextlib.suppress(Unreadable):
        assert isinstance(read_pairs(text), dict)


@given(OPTIONS, st.integers(min_value=0), st.text(alphabet=string.printable, max_size=8))
def test_a_spoilt_spelling_is_read_or_refused(options: dict[str, Any], at: int, junk: str) -> None:
    """Cut, or with something put in its middle."""
    text = spelled(options)
    cut = at % (len(text) + 1)
    for spoilt in (text[:cut], text[:cut] + junk + text[cut:], text[cut:]):
        with contextlib.suppress(Unreadable):
            read_pairs(spoilt)


class Thing:
    pass


@pytest.mark.parametrize(
    ("value", "spelling"),
    [
        (Thing, f"<class '{__name__}.Thing'>"),
        (len, "<built-in function len>"),
        (float("inf"), "inf"),
        (range(3), "range(0, 3)"),
        (Path("x"), "PosixPath('x')"),
    ],
)
def test_what_is_no_literal_keeps_its_spelling(value: object, spelling: str) -> None:
    """For whoever can make something of it."""
    assert read_pairs(spelled({"x": value, "y": [value]})) == {
        "x": Opaque(spelling),
        "y": [Opaque(spelling)],
    }


def test_addresses_are_removed() -> None:
    """They differ in each process."""
    one, other = (read_pairs(spelled({"x": Thing(), "f": lambda: 1})) for _ in range(2))
    assert one == other
    assert "0x" not in str(one)


@pytest.mark.parametrize("name", ["set", "frozenset"])
def test_the_order_of_a_set_is_settled(name: str) -> None:
    """A set is spelled in another order in each process."""
    left, right = ("{'a', 'b', 1}", "{1, 'b', 'a'}")
    if name == "frozenset":
        left, right = f"frozenset({left})", f"frozenset({right})"
    assert read_pairs(f"[('x', {left})]") == read_pairs(f"[('x', {right})]")
    assert read_pairs(f"[('x', {name}())]") == {"x": []}


def test_keys_of_two_types_stay_two_keys() -> None:
    """1 and "1" are different keys of one mapping."""
    assert read_pairs(spelled({"x": {1: "a", "1": "b"}})) == {"x": {1: "a", "1": "b"}}


def test_a_class_inside_a_text_is_text() -> None:
    """Angles count outside of strings only."""
    options = {"x": "<class 'a.B'>", "y": 'it\'s "<b>"', "z": "__semcache_opaque__(0)"}
    assert read_pairs(spelled(options)) == options


@pytest.mark.parametrize("code", ["__import__('pathlib').Path({0!r}).touch()", "open({0!r}, 'w')"])
@pytest.mark.parametrize(
    "frame", ["{}", "[('x', {})]", "[('x', [{}])]", "[('x', f'{{{}}}')]", "[({}, 1)]", "[{}]"]
)
def test_nothing_is_ever_run(tmp_path: Path, code: str, frame: str) -> None:
    """Code is a spelling like any other."""
    marker = tmp_path / "marker"
    with contextlib.suppress(Unreadable):
        read_pairs(frame.format(code.format(str(marker))))
    assert not marker.exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1",
        "()",
        "{}",
        "[1]",
        "[('x',)]",
        "[('x', 1, 2)]",
        "[(1, 2)]",
        "[('x', 1)",
        "[('x', 1)]; 1",
        "[('x', {**{}})]",
        "[" * 10_000,
        "(" * 100_000,
        "\x00",
        "x" * (MAX_CHARACTERS + 1),
    ],
    ids=lambda text: text[:12],
)
def test_another_form_is_refused(text: str) -> None:
    """In one way."""
    with pytest.raises(Unreadable):
        read_pairs(text)


def test_a_forged_mark_is_no_object() -> None:
    """Nobody can name something that was not there."""
    assert read_pairs("[('x', __semcache_opaque__(7))]") == {"x": Opaque("__semcache_opaque__(7)")}
