from __future__ import annotations

import gc
import threading
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, create_model

from langchain_semcache.langchain.pyrepr import Opaque
from langchain_semcache.langchain.schemas import Unknown, identified, is_handle


class Top(BaseModel):
    value: int


def _spelled(kind: type) -> Opaque:
    return Opaque(repr(kind))


def test_a_living_class_gives_its_schema() -> None:
    assert identified(_spelled(Top)) == Top.model_json_schema()


def test_what_is_no_class_is_left_alone() -> None:
    for value in ({"type": "json_object"}, "text", None, 7):
        assert identified(value) == value


def test_a_local_class_is_found_too() -> None:
    class Local(BaseModel):
        value: str

    assert identified(_spelled(Local)) == Local.model_json_schema()


def test_equal_schemas_under_one_name_are_one() -> None:
    """A class that is made anew on each call still has an identity."""
    twins = [create_model("Twin", value=(int, ...), __module__=__name__) for _ in range(2)]
    assert identified(_spelled(twins[0])) == twins[1].model_json_schema()


def test_different_schemas_under_one_name_have_none() -> None:
    one = create_model("Doubt", a=(int, ...), __module__=__name__)
    two = create_model("Doubt", b=(int, ...), __module__=__name__)
    assert isinstance(identified(_spelled(one)), Unknown)
    assert isinstance(identified(_spelled(two)), Unknown)


def test_a_class_that_is_gone_has_none() -> None:
    gone = _spelled(create_model("Gone", a=(int, ...), __module__=__name__))
    gc.collect()
    assert isinstance(identified(gone), Unknown)


@pytest.mark.parametrize(
    "spelling",
    ["<class 'no.such.Thing'>", "<class 'builtins.dict'>", "<a.Persona object at 0x7f01>"],
)
def test_what_shows_no_value_has_no_identity(spelling: str) -> None:
    for value in (Opaque.of(spelling), [Opaque.of(spelling)], {"schema": (Opaque.of(spelling),)}):
        found = identified(value)
        while not isinstance(found, Unknown):
            (found,) = found.values() if isinstance(found, dict) else found


def test_an_object_that_shows_its_value_is_told_by_it() -> None:
    assert identified(Opaque.of("Decimal('1')")) == Opaque("Decimal('1')")
    assert identified(Opaque.of("<Colour.RED: 1>")) != identified(Opaque.of("<Colour.BLUE: 2>"))


def test_a_class_is_found_wherever_it_stands() -> None:
    schema = Top.model_json_schema()
    assert identified({"schema": [_spelled(Top)]}) == {"schema": [schema]}


class Client:
    pass


class Value(Client):
    def __repr__(self) -> str:
        return "Value(7)"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(Client, True), (Value, False), (Decimal, False), (set, False), (Top, False),
     (threading.Event, False)],
)  # fmt: skip
def test_a_class_that_shows_a_value_is_no_handle(kind: type, expected: bool) -> None:
    assert is_handle([*kind.__module__.split("."), kind.__name__]) is expected


@pytest.mark.parametrize("path", [None, [], [1], "x", ["no", "such", "Thing"], ["os", "path"]])
def test_what_cannot_be_found_is_no_handle(path: Any) -> None:
    assert not is_handle(path)
