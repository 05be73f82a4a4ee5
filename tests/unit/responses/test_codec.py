from __future__ import annotations

import json
import pickle

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.records import Response
from langchain_semcache.responses import EnvelopeCodec
from langchain_semcache.responses import codec as codec_module

CODEC = EnvelopeCodec()

bodies = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)
responses = st.builds(
    Response,
    body=bodies,
    kind=st.text(),
    text=st.text(),
    finish_reasons=st.lists(st.none() | st.text()).map(tuple),
    refused=st.booleans(),
    has_tool_calls=st.booleans(),
)


@given(responses)
def test_what_was_stored_comes_back(response):
    assert CODEC.decode("e", CODEC.encode(response)) == response


@given(st.binary(max_size=200))
def test_foreign_bytes_are_corrupt_and_nothing_else(payload):
    with pytest.raises(CorruptEntry, match="entry e cannot be read"):
        CODEC.decode("e", payload)


def packed(value: object) -> bytes:
    return zstandard.ZstdCompressor().compress(json.dumps(value).encode())


GOOD = {
    "v": 1,
    "kind": "text",
    "body": "hi",
    "text": None,
    "finish": ["stop"],
    "refused": False,
    "calls": False,
}


def test_the_envelope_is_what_the_reference_says():
    assert CODEC.decode("e", packed(GOOD)) == Response.from_text("hi")
    stored = zstandard.ZstdDecompressor().decompress(CODEC.encode(Response.from_text("hi")))
    assert json.loads(stored) == GOOD


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        "text",
        {},
        GOOD | {"v": 2},
        GOOD | {"extra": 1},
        GOOD | {"kind": 3},
        GOOD | {"text": 3},
        GOOD | {"body": {}, "text": None},
        GOOD | {"finish": "stop"},
        GOOD | {"finish": [1]},
        {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {}},
    ],
)
def test_a_record_in_another_form_is_corrupt(record):
    with pytest.raises(CorruptEntry):
        CODEC.decode("e", packed(record))


class Bait:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


def test_a_pickle_is_never_run():
    for payload in (
        pickle.dumps(Bait()),
        zstandard.ZstdCompressor().compress(pickle.dumps(Bait())),
    ):
        with pytest.raises(CorruptEntry):
            CODEC.decode("e", payload)


def test_a_bomb_is_refused_before_it_unfolds(monkeypatch):
    monkeypatch.setattr(codec_module, "MAX_BYTES", 1_000)
    with pytest.raises(CorruptEntry, match="more than 1000 bytes"):
        CODEC.decode("e", packed(GOOD | {"body": "x" * 5_000}))


def test_deep_nesting_is_corrupt_and_no_crash():
    with pytest.raises(CorruptEntry):
        CODEC.decode("e", zstandard.ZstdCompressor().compress(b"[" * 200_000))


def test_text_is_kept_once():
    text = "".join(chr(0x4E00 + n) for n in range(2_000))
    assert len(CODEC.encode(Response.from_text(text))) < 2 * len(
        zstandard.ZstdCompressor().compress(text.encode())
    )


def nested(levels: int) -> object:
    body: object = "x"
    for _ in range(levels):
        body = [body]
    return body


def test_what_is_written_can_be_read_and_what_is_too_deep_is_not_written():
    response = Response(body=nested(codec_module.MAX_DEPTH - 1), text="x")
    assert CODEC.decode("e", CODEC.encode(response)) == response
    for levels in (codec_module.MAX_DEPTH, 50_000):
        with pytest.raises(ValueError, match="nested deeper"):
            CODEC.encode(Response(body=nested(levels), text="x"))


def test_what_would_be_refused_as_too_large_is_not_written(monkeypatch):
    monkeypatch.setattr(codec_module, "MAX_BYTES", 1_000)
    with pytest.raises(ValueError, match="more than would be read"):
        CODEC.encode(Response.from_text("x" * 1_000))
