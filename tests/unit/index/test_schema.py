import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.index import schema
from langchain_semcache.records import Entry, Selection

GOLDEN = Path(__file__).with_name("payload_v2.json")

ENTRY = Entry(
    id="5f0c3a52-6a2e-4c0e-9d8f-2f4f6f1f0a11",
    scope="scope",
    partition="partition",
    fingerprint="fingerprint",
    namespace="space",
    tenant="tenant",
    model="gpt-4o-mini",
    question="What is the capital of France? 🦜",
    payload=b"\x00\xffParis",
    created_at=1_700_000_000.1234567,
    expires_at=1_700_003_600.5,
    tags=("geo", "kb"),
    sources=(("faq.md", "sha256:1"), ("terms.md", "sha256:2")),
    context='[1,1,[],"",[],[],"said","chat"]',
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
times = st.floats(0, 1e11)
entries = st.builds(
    Entry,
    id=texts,
    scope=texts,
    partition=texts,
    fingerprint=texts,
    namespace=texts,
    tenant=texts,
    model=texts,
    question=texts,
    payload=st.binary(max_size=50),
    created_at=times,
    expires_at=st.none() | times,
    tags=st.lists(texts, max_size=3).map(tuple),
    sources=st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
    context=texts,
    assessment=texts,
)


def test_the_stored_form_is_the_documented_one():
    """A change here is a new format version, and old stores must be refused or read."""
    golden = json.loads(GOLDEN.read_text("utf-8"))
    assert schema.to_payload(ENTRY) == golden
    assert schema.from_payload(golden) == ENTRY
    # For filters only: records without it are older, and are read.
    del golden[schema.FIELD_SOURCES]
    assert schema.from_payload(golden) == ENTRY
    assert golden["format"] == schema.FORMAT == 2
    # Only where there is something to say: others are as they were before there was the field.
    assert schema.FIELD_ASSESSMENT not in golden
    assessed = replace(ENTRY, assessment='{"v":1}')
    written = schema.to_payload(assessed)
    assert written == {**schema.to_payload(ENTRY), schema.FIELD_ASSESSMENT: '{"v":1}'}
    assert schema.from_payload(written) == assessed


@given(entries)
def test_every_entry_survives_json(entry):
    payload = json.loads(json.dumps(schema.to_payload(entry)))
    assert schema.from_payload(payload) == entry


def test_an_entry_that_never_expires_has_a_far_future_in_the_index():
    payload = schema.to_payload(replace(ENTRY, expires_at=None))
    assert payload[schema.FIELD_EXPIRES_AT] == schema.NEVER
    assert schema.from_payload(payload).expires_at is None


FOR_FILTERS = {schema.FIELD_CREATED_AT, schema.FIELD_EXPIRES_AT, schema.FIELD_SOURCES}
READ_BACK = sorted(set(schema.to_payload(ENTRY)) - FOR_FILTERS)


@pytest.mark.parametrize("field", READ_BACK)
@pytest.mark.parametrize("damage", ["missing", "other kind", "null"])
def test_a_damaged_record_is_corrupt_and_says_which(field, damage):
    payload = dict(schema.to_payload(ENTRY))
    if damage == "missing":
        del payload[field]
    else:
        payload[field] = {"a": 1} if damage == "other kind" else None
    with pytest.raises(CorruptEntry) as caught:
        schema.from_payload(payload, entry_id=ENTRY.id)
    assert ENTRY.id in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (schema.FIELD_FORMAT, 1),
        (schema.FIELD_RESPONSE, "no base64!"),
        (schema.FIELD_RESPONSE, "abc"),
        (schema.FIELD_TIMES, ["soon", ""]),
        (schema.FIELD_TIMES, ["1.0"]),
        (schema.FIELD_TAGS, "red"),
        (schema.FIELD_TAGS, [1]),
        (schema.FIELD_SOURCE_DIGESTS, []),
        (schema.FIELD_ASSESSMENT, 1),
    ],
)
def test_an_unreadable_value_is_corrupt(field, value):
    with pytest.raises(CorruptEntry):
        schema.from_payload({**schema.to_payload(ENTRY), field: value})


@pytest.mark.parametrize("payload", [None, {}])
def test_no_payload_is_corrupt(payload):
    with pytest.raises(CorruptEntry, match="entry x"):
        schema.from_payload(payload, entry_id="x")


def test_point_ids_are_stable_and_a_uuid_stands_for_itself():
    assert schema.point_id(ENTRY.id) == ENTRY.id
    assert schema.point_id(ENTRY.id.upper()) != ENTRY.id
    assert schema.point_id("some id") == "f4a51ea8-efb2-21f5-cd40-842a91bc6c85"
    assert schema.point_id("some id") != schema.point_id("some id ")


def test_conditions_name_every_field_of_a_selection():
    selection = Selection(
        ids=(ENTRY.id,),
        namespace="",
        tenant="t",
        model="m",
        scope="s",
        tags=("a", "b"),
        source="f",
        created_before=1.0,
        expired_at=2.0,
    )
    assert schema.conditions(selection) == (
        schema.HasPoint((ENTRY.id,)),
        schema.Matches("namespace", ""),
        schema.Matches("tenant", "t"),
        schema.Matches("model", "m"),
        schema.Matches("scope", "s"),
        schema.Matches("source_ids", "f"),
        schema.Matches("tags", "a"),
        schema.Matches("tags", "b"),
        schema.Below("created_at", 1.0, inclusive=False),
        schema.Below("expires_at", 2.0, inclusive=True),
    )
    assert schema.conditions(Selection()) == ()


def test_every_field_that_a_filter_names_is_indexed():
    selection = Selection(
        namespace="", tenant="", model="", scope="", tags=("",), source="", created_before=1.0,
        expired_at=1.0,
    )  # fmt: skip
    named = [*schema.conditions(selection), *schema.live("p", 1.0)]
    assert {condition.field for condition in named} == set(schema.INDEXES)


@pytest.mark.parametrize(
    ("score", "expected"), [(0.5, 0.5), (1.0000001, 1.0), (-0.3, 0.0), (0.0, 0.0)]
)
def test_similarity_is_clamped(score, expected):
    assert schema.similarity(score) == expected
