"""The canonical spelling of any value, and the digests made of it."""

from __future__ import annotations

import dataclasses
import json
import math
import unicodedata
from datetime import date
from enum import Enum
from fractions import Fraction
from pathlib import PurePosixPath
from typing import NoReturn
from uuid import UUID

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from langchain_semcache.request import Canonicaliser, canonical, digest

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


class Colour(Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


class Answer(BaseModel):
    text: str
    score: float = 0.5


class Wider(BaseModel):
    text: str
    score: float = 0.5
    source: str = ""


class Opaque:
    pass


class Spelled:
    def __repr__(self) -> str:
        return "Spelled(level=3)"


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError


class Guarded:
    """Raises whatever one asks it."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)


class Torn(dict[str, object]):
    def items(self) -> NoReturn:
        raise RuntimeError


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0, -0.0),
        ((1, 2), [1, 2]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: "x"}, {"1": "x"}),
        ({3, 1, 2}, {2, 3, 1}),
        ("e\u0301", "\u00e9"),
        ({"e\u0301": 1}, {"\u00e9": 1}),
        (Colour.RED, "red"),
        (np.float64(0.5), 0.5),
        (np.array([1, 2]), [1, 2]),
        (Point(1), Point(1, 0)),
    ],
)
def test_one_value_has_one_spelling(one: object, other: object) -> None:
    """Values that mean the same to a model are written alike."""
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        ("1", 1),
        (None, "null"),
        ({"a": 1, "b": None}, {"a": 1}),
        (SecretStr("a"), SecretStr("b")),
        (SecretStr("a"), "a"),
        ([1, [2]], [1, 2]),
        ([None], []),
        ({"a": "b"}, [["a", "b"]]),
        (math.nan, "nan"),
        (math.inf, -math.inf),
        (b"a", "a"),
        (b"a", b"b"),
        (Point(1), {"x": 1, "y": 0}),
        (Answer, Wider),
        (Answer(text="a"), Answer(text="b")),
        (date(2024, 1, 2), "2024-01-02"),
        (UUID(int=1), UUID(int=2)),
        (PurePosixPath("a"), PurePosixPath("b")),
        ({1: "x", "1": "y"}, {"1": "y"}),
        (json.loads(canonical(b"a")), b"a"),
        ({"$float": "nan"}, math.nan),
        ({"$escaped": {"$float": "nan"}}, {"$float": "nan"}),
    ],
)
def test_different_values_have_different_spellings(one: object, other: object) -> None:
    """Nothing that differs is written alike, tags of our own included."""
    assert canonical(one) != canonical(other)


def test_an_integer_too_long_to_print_is_still_told_apart() -> None:
    """Nothing a caller can pass makes the key fail."""
    assert canonical(10**6000) != canonical(10**6000 + 1)


def test_nan_is_spelled_the_same_every_time() -> None:
    """A NaN does not break the call: it gets a spelling of its own."""
    assert canonical(math.nan) == canonical(float("nan")) == '{"$float":"nan"}'


@given(JSON_VALUES)
def test_writing_twice_changes_nothing(value: object) -> None:
    """Canonical JSON, read and written again, is the same text, tags aside."""
    once = canonical(value)
    assume('"$' not in once)
    assert canonical(json.loads(once)) == once


def typed(value: object) -> object:
    """An independent notion of sameness: numbers by value, text by NFC."""
    if isinstance(value, bool) or value is None:
        return ("constant", str(value))
    if isinstance(value, (int, float)):
        return ("number", Fraction(value))
    if isinstance(value, str):
        return ("text", unicodedata.normalize("NFC", value))
    if isinstance(value, list):
        return ("list", [typed(item) for item in value])
    assert isinstance(value, dict)
    return {unicodedata.normalize("NFC", k): typed(v) for k, v in value.items()}


@given(JSON_VALUES, JSON_VALUES)
def test_equal_text_means_equal_value(one: object, other: object) -> None:
    """Two values share a text exactly when they are the same."""
    assert (canonical(one) == canonical(other)) == (typed(one) == typed(other))


@given(st.lists(st.text(max_size=6), max_size=4), st.lists(st.text(max_size=6), max_size=4))
def test_fields_of_a_digest_are_delimited(one: list[str], other: list[str]) -> None:
    """No text can pass from one field to the next."""
    assert (digest(*one) == digest(*other)) == (one == other)


def test_a_lone_surrogate_is_no_error() -> None:
    """Broken text has an identity too."""
    assert digest("\ud800") != digest("\udc00")


@pytest.mark.parametrize("value", [Opaque(), Opaque, lambda: 1, Broken(), object(), Torn(a=1)])
def test_what_has_no_identity_is_named_and_flagged(value: object) -> None:
    """The class is written, never an address, and the writer remembers it."""
    writer = Canonicaliser()
    assert "0x" not in writer.write({"k": [value]})
    assert len(writer.unidentifiable) == 1


@pytest.mark.parametrize("value", [Spelled(), Answer, Answer(text="a"), int, Point(1), range(3)])
def test_what_can_be_spelled_out_is_not_flagged(value: object) -> None:
    """Schemas, fields and complete reprs are identities."""
    writer = Canonicaliser()
    assert writer.write(value) == canonical(value)
    assert writer.unidentifiable == []


def test_foreign_code_may_raise() -> None:
    """An object that cannot even be asked for its class is unidentifiable."""
    writer = Canonicaliser()
    assert writer.write([Guarded()])
    assert len(writer.unidentifiable) == 1


def test_a_cycle_ends() -> None:
    """A structure that contains itself is unidentifiable, not an endless loop."""
    knot: list[object] = []
    knot.append(knot)
    writer = Canonicaliser()
    writer.write(knot)
    assert writer.unidentifiable


@pytest.mark.parametrize(
    "secret",
    [
        {"api_key": "sk-one"},
        {"X-Api-Key": "sk-one"},
        {"Authorization": "Bearer sk-one"},
        {"openai_api_key": SecretStr("sk-one")},
        {"anything": SecretStr("sk-one")},
        {"nested": {"azure_ad_token": "sk-one"}},
    ],
)
def test_secrets_count_and_are_not_written(secret: dict[str, object]) -> None:
    """What may be read by the model tells requests apart; its text goes nowhere."""
    text = Canonicaliser(hide_secrets=True).write({"a": 1, **secret})
    assert "sk-one" not in text
    assert text != Canonicaliser(hide_secrets=True).write({"a": 1})


@pytest.mark.parametrize("name", ["max_tokens", "eos_token", "stop_token", "tokens", "keyword"])
def test_what_only_sounds_like_a_secret_counts(name: str) -> None:
    """Token limits are not tokens."""
    writer = Canonicaliser(hide_secrets=True)
    assert writer.write({name: "x"}) != writer.write({name: "y"})


def test_the_schema_of_a_secret_field_counts() -> None:
    """A tool that takes a password is another tool than one that takes none."""
    writer = Canonicaliser(hide_secrets=True)
    assert writer.write({"properties": {"password": {"type": "string"}}}) != writer.write(
        {"properties": {}}
    )


def test_a_secret_is_never_written_even_when_kept() -> None:
    """A value that is typed as a secret leaves its digest, wherever it stands."""
    assert "sk-one" not in canonical([SecretStr("sk-one")])
