"""`docs/reference/storage-format.md` says what is stored: its tables and examples are compared."""

import json
import re
from pathlib import Path

import pytest
from langchain.agents.middleware import ModelRequest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage

from langchain_semcache import Decision, Reason, Response
from langchain_semcache.index import _server_schema, schema
from langchain_semcache.langchain import agent_calls, generations
from langchain_semcache.responses import EnvelopeCodec
from langchain_semcache.testing.index_values import make_entry

PAGE = (Path(__file__).parents[3] / "docs/reference/storage-format.md").read_text("utf-8")


def section(title):
    """The text under a heading, up to the next one."""
    return re.split(r"(?m)^#+ ", PAGE.partition(f"{title}\n")[2], maxsplit=1)[0]


def names(rows):
    return re.findall(r"`(\w+)`", rows)


def first_cells(text):
    return [name for cell in re.findall(r"(?m)^\|([^|]*)\|", text) for name in names(cell)]


def example(title):
    """The body shown under a heading, as a hit that holds it."""
    kind = title.strip("# `")
    (body,) = re.findall(r"(?s)```json\n(.*?)```", section(title))
    response = Response(body=json.loads(body), kind=kind, text="A memory.")
    return Decision(hit=True, reason=Reason.EXACT, response=response, entry_id="e")


def test_every_payload_field_and_index_is_on_the_page():
    fields, indexes = section("## The point").split("These fields have a payload index:")
    assert set(first_cells(fields)) == {
        "q",
        *schema.to_payload(make_entry(1, assessment="{}", life="rules")),
    }
    rows = re.findall(r"(?m)^\| (keyword, the tenant key|keyword|float) \| (.*) \|$", indexes)
    kinds = {"keyword, the tenant key": "partition", "keyword": "keyword", "float": "float"}
    listed = {name: kinds[kind] for kind, cell in rows for name in names(cell)}
    assert listed == {field: kind.value for field, kind in schema.INDEXES.items()}


def test_the_envelope_is_the_one_on_the_page():
    codec = EnvelopeCodec()
    written = codec._zstd.decompressor.decompress(codec.encode(Response.from_text("A memory.")))
    assert set(first_cells(section("## The envelope"))) == set(json.loads(written))


def test_the_collection_is_the_one_on_the_page():
    told = section("## The collection")
    assert f"`{json.dumps({_server_schema.MARK: schema.FORMAT})}`" in told
    (params,) = _server_schema.vectors(4).values()
    assert f"| distance | `{params.distance.value}` |" in told
    assert f"one named `{schema.VECTOR}`" in told
    graphs = params.hnsw_config
    assert f"`m` {graphs.m}, `payload_m` {graphs.payload_m}" in section("## The point")


def test_the_generations_on_the_page_are_read_and_written():
    decision = example("### `langchain.generations/1`")
    assert decision.response.kind == generations.KIND
    (read,) = generations.to_generations(decision)
    assert read.text == "A memory."
    (written,) = generations.to_response([read]).body["generations"]
    (shown,) = decision.response.body["generations"]
    assert written.keys() == shown.keys()
    assert written["message"].keys() == shown["message"].keys()
    assert written["message"]["fields"].keys() > shown["message"]["fields"].keys()
    for name in (*generations.MESSAGES, *generations._PLAIN, *generations._CHAT):
        assert f"`{name}`" in section("### `langchain.generations/1`")


def test_the_agent_reply_on_the_page_is_read_and_written():
    decision = example("### `langchain.agent/1`")
    assert decision.response.kind == agent_calls.KIND
    request = ModelRequest(model=FakeListChatModel(responses=[]), messages=[])
    read = agent_calls.from_decision(request, decision)
    assert [(type(message), message.content) for message in read.result] == [
        (AIMessage, "A memory.")
    ]
    (written,) = agent_calls.to_agent_response(request, read).body["messages"]
    (shown,) = decision.response.body["messages"]
    assert written.keys() == shown.keys()


@pytest.mark.parametrize("kind", ["text", generations.KIND, agent_calls.KIND])
def test_every_kind_has_a_section(kind):
    assert f"### `{kind}`\n" in PAGE
