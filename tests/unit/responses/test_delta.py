"""Whatever an answer is written against, it comes back byte for byte, or not at all."""

from __future__ import annotations

import json

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.records import Response
from langchain_semcache.responses import DeltaCodec, EnvelopeCodec, raw_size, references
from langchain_semcache.responses.codec import to_raw
from langchain_semcache.responses.delta import MAX_SHARED_BYTES, Packed
from langchain_semcache.responses.parts import (
    Owner,
    from_entry,
    new_dictionary,
    part_id,
    to_entry,
)
from langchain_semcache.responses.training import train

CODEC = DeltaCodec()
OWNER = Owner("default", "tenant")
WORDS = (
    "open settings choose restore backup invoice account please sorry however first then "
    "second finally click the button and wait for a moment 请 稍等 😀 \ud83d"
).split()
TOOL = {"name": "find_order", "arguments": {"order_id": 4471, "with_lines": True, "locale": "de"}}


def spoken(seed: int, words: int = 150) -> Response:
    return Response.from_text(
        " ".join(WORDS[(seed * 7 + n * n + n // (seed % 5 + 1)) % len(WORDS)] for n in range(words))
    )


def called(seed: int) -> Response:
    body = {"calls": [TOOL | {"id": f"call_{seed}_{n}"} for n in range(3)], "content": None}
    return Response(body=body, kind="tools/1", text="", has_tool_calls=True)


def dictionary(seed: int = 0, owner: Owner = OWNER):
    samples = [to_raw(spoken(n)) for n in range(seed, seed + 150)]
    samples += [to_raw(called(n)) for n in range(seed, seed + 150)]
    return new_dictionary(owner, train(samples, most_bytes=16_384), answers=300)


DICTIONARY = dictionary()

bodies = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None, exclude_categories=())),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)  # fmt: skip
odd = st.builds(
    Response, body=bodies, kind=st.text(), text=st.text(), refused=st.booleans(),
    finish_reasons=st.lists(st.none() | st.text()).map(tuple), has_tool_calls=st.booleans(),
)  # fmt: skip
usual = st.builds(spoken, st.integers(0, 500), st.integers(0, 3_000))
tools = st.builds(called, st.integers(0, 500))
responses = odd | usual | tools


@settings(max_examples=200, deadline=None)
@given(responses, responses, st.booleans())
def test_every_way_of_writing_comes_back_byte_for_byte(response, neighbour, helped):
    learned = DICTIONARY if helped else None
    raw = to_raw(response)
    base = CODEC.base(OWNER, to_raw(neighbour), learned)
    parts = {base.address: base} | ({learned.address: learned} if learned else {})
    against = CODEC.against(raw, base, learned)
    itself = CODEC.record(to_raw(neighbour), Packed(b"", base, whole=True))
    assert CODEC.raw("e", itself, parts) == to_raw(neighbour)
    for way in (CODEC.alone(raw, learned), against):
        payload = CODEC.record(raw, way)
        assert CODEC.raw("e", payload, parts) == raw
        assert CODEC.decode("e", payload, parts) == response
        assert raw_size(payload) == len(raw)
        assert set(references(payload)) <= set(parts)
    smallest = CODEC.encode(response, learned, [base])
    assert len(smallest) <= len(EnvelopeCodec().encode(response)) + 2
    assert CODEC.decode("e", smallest, parts) == response


def test_what_was_written_before_is_still_read_and_still_written():
    response = spoken(1)
    plain = EnvelopeCodec().encode(response)
    assert CODEC.decode("e", plain) == response
    assert CODEC.encode(response) == plain
    assert references(plain) == ()


def test_a_base_makes_a_like_answer_small_and_itself_nearly_nothing():
    one, other = spoken(3), Response.from_text(spoken(3).text + " And that is all.")
    base = CODEC.base(OWNER, to_raw(one), None)
    against = CODEC.record(to_raw(other), CODEC.against(to_raw(other), base, None))
    assert len(against) < 70 < len(CODEC.encode(other)) / 3
    assert len(CODEC.record(to_raw(one), Packed(b"", base, whole=True))) < 30


def test_a_dictionary_knows_the_keys_of_tool_calls():
    response = called(9_999)
    assert len(CODEC.encode(response, DICTIONARY)) < 0.5 * len(CODEC.encode(response))


def test_the_record_of_one_base_is_never_read_with_another():
    one, other = (CODEC.base(OWNER, to_raw(spoken(n)), None) for n in (1, 2))
    raw = to_raw(spoken(4))
    payload = CODEC.record(raw, CODEC.against(raw, one, None))
    for parts in ({}, {other.address: other}, {one.address: other}, {one.address: DICTIONARY}):
        with pytest.raises(CorruptEntry):
            CODEC.raw("e", payload, parts)


def test_a_base_is_read_with_its_own_dictionary_only():
    later = dictionary(1_000)
    base = CODEC.base(OWNER, to_raw(spoken(1)), DICTIONARY)
    raw = to_raw(spoken(2))
    assert CODEC.against(raw, base, later) is None
    assert CODEC.against(raw, base, None) is None
    payload = CODEC.record(raw, CODEC.against(raw, base, DICTIONARY))
    assert CODEC.raw("e", payload, {base.address: base, DICTIONARY.address: DICTIONARY}) == raw
    with pytest.raises(CorruptEntry, match="dictionary of its base"):
        CODEC.raw("e", payload, {base.address: base})


def test_a_base_that_another_zstd_began_is_not_continued():
    base = CODEC.base(OWNER, to_raw(spoken(1)), None)
    params = zstandard.ZstdCompressionParameters.from_level(
        19, write_content_size=False, format=zstandard.FORMAT_ZSTD1_MAGICLESS
    )
    frame = zstandard.ZstdCompressor(compression_params=params).compressobj()
    head = frame.compress(to_raw(spoken(1))) + frame.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    foreign = type(base)(base.address, base.content, None, base.raw_bytes, head)
    assert head != base.head
    assert CODEC.against(to_raw(spoken(2)), foreign, None) is None


def test_answers_too_large_for_the_window_lean_on_nothing():
    large = b'"' + b"x" * MAX_SHARED_BYTES + b'"'
    assert CODEC.alone(large, DICTIONARY).leans_on is None
    assert CODEC.base(OWNER, large, None) is None
    base = CODEC.base(OWNER, to_raw(spoken(1)), None)
    assert CODEC.against(large, base, None) is None


@given(st.binary(max_size=80))
def test_foreign_bytes_are_corrupt_and_nothing_else(tail):
    for payload in (tail, b"\xd1" + tail, b"\xd1\x12" + tail, b"\xd1\x1f" + tail):
        references(payload)
        raw_size(payload)
        with pytest.raises(CorruptEntry):
            CODEC.raw("e", payload)


@given(st.data())
def test_a_damaged_record_is_corrupt_or_says_what_was_stored(data):
    base = CODEC.base(OWNER, to_raw(spoken(1)), DICTIONARY)
    raw = to_raw(spoken(2))
    payload = bytearray(CODEC.record(raw, CODEC.against(raw, base, DICTIONARY)))
    place = data.draw(st.integers(0, len(payload) - 1))
    payload[place] ^= data.draw(st.integers(1, 255))
    try:
        found = CODEC.raw("e", bytes(payload), {base.address: base, DICTIONARY.address: DICTIONARY})
    except CorruptEntry:
        return
    assert found == raw


def test_a_bomb_is_refused_before_it_unfolds():
    payload = b"\xd1\x11" + bytes(16) + bytes(4) + b"\xff\xff\xff\xff\x7f" + b"x"
    with pytest.raises(CorruptEntry, match="decodes to more than"):
        CODEC.raw("e", payload)


@pytest.mark.parametrize("learned", [None, DICTIONARY])
def test_a_part_comes_back_from_its_record(learned):
    base = CODEC.base(OWNER, to_raw(spoken(1)), learned)
    for part in (DICTIONARY, base):
        entry = to_entry(part, OWNER, kind="text", now=5.0)
        assert entry.id == part_id(part.address)
        assert from_entry(entry, OWNER) == part


@pytest.mark.parametrize("owner", [Owner("default", "other"), Owner("other", "tenant")])
def test_a_part_is_nobody_elses(owner):
    entry = to_entry(CODEC.base(OWNER, to_raw(spoken(1)), None), OWNER, kind="text", now=5.0)
    with pytest.raises(CorruptEntry, match="not what its name says"):
        from_entry(entry, owner)


def test_a_record_is_what_the_reference_says():
    raw = to_raw(spoken(1))
    payload = CODEC.record(raw, CODEC.alone(raw, DICTIONARY))
    assert payload[:2] == b"\xd1\x11"
    assert payload[2:18] == DICTIONARY.address
    assert json.loads(CODEC.raw("e", payload, {DICTIONARY.address: DICTIONARY}).decode(
        "utf-8", "surrogatepass"
    ))["v"] == 1  # fmt: skip
