"""Equal requests stay equal: across runs, rotations, orders of keys and ways of saying a thing."""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import zstandard
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from langchain_semcache import SemanticCache
from langchain_semcache.records import Selection
from langchain_semcache.responses import EnvelopeCodec
from tests.adapters.langchain.conftest import QUESTION
from tests.adapters.langchain.models import OpenAIStub, ScriptedModel, StreamingModel

H, A, S = HumanMessage, AIMessage, SystemMessage
SECRETS = ("sk-secret", "rotating-token-t1", "Bearer-hidden", "cookie-hidden")


def _turn(**fields: Any) -> list[Any]:
    return [H("q"), A(**({"content": "a"} | fields)), H("next")]


@pytest.mark.parametrize(
    "other",
    [
        _turn(id="run-2", response_metadata={"system_fingerprint": "fp2"}),
        _turn(usage_metadata={"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}),
        _turn(name=None),
        _turn(additional_kwargs={}),
        _turn(additional_kwargs={"refusal": None}),
        _turn(content=[{"type": "text", "text": "a"}]),
        [H("q", id="h1"), A("a"), H("next", id="h2")],
    ],
)
def test_what_a_run_leaves_on_its_messages_does_not_count(
    cache: SemanticCache, model: ScriptedModel, other: list[Any]
) -> None:
    """B25: ids, fingerprints, usage and empty fields are no part of a conversation."""
    model.invoke(_turn(id="run-1", response_metadata={"system_fingerprint": "fp1"}))
    model.invoke(other)
    assert model.calls == 1


@pytest.mark.parametrize(
    "other",
    [
        _turn(content="b"),
        _turn(name="bob"),
        _turn(tool_calls=[{"name": "t", "args": {}, "id": "1"}]),
        [H("q"), H("a"), H("next")],
        [H("q"), S("a"), H("next")],
        [H("q", name="bob"), A("a"), H("next")],
    ],
)
def test_what_was_said_and_by_whom_counts(
    cache: SemanticCache, model: ScriptedModel, other: list[Any]
) -> None:
    """B25: other content, role, name or tool calls miss."""
    model.invoke(_turn())
    model.invoke(other)
    assert model.calls == 2


def test_fresh_call_ids_do_not_change_a_conversation(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B25: providers make up another id for each call."""
    for call_id in ("call_1", "call_2"):
        call = {"name": "get", "args": {"x": 1}, "id": call_id}
        model.invoke([H("q"), A("", tool_calls=[call]), ToolMessage("r", tool_call_id=call_id)])
    assert model.calls == 1


class Weather(BaseModel):
    city: str
    celsius: float


class Handle:
    """An object whose repr holds its address."""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"api_key": "rotating-token-t1"}, {"api_key": "rotating-token-t2"}),
        (
            {"default_headers": {"Authorization": "Bearer one", "X-Request-Id": "1"}},
            {"default_headers": {"Authorization": "Bearer two", "X-Request-Id": "2"}},
        ),
        ({"default_headers": {"api-key": "t1"}}, {"default_headers": {"api-key": "t2"}}),
    ],
)
def test_rotating_a_credential_changes_nothing(
    cache: SemanticCache, before: dict[str, Any], after: dict[str, Any]
) -> None:
    """B26: a new token is no new question."""
    ScriptedModel(**before).invoke(QUESTION)
    other = ScriptedModel(**after)
    other.invoke(QUESTION)
    assert other.calls == 0


def test_what_only_looks_like_a_credential_counts_and_is_not_kept(cache: SemanticCache) -> None:
    """Inside another parameter a "token" may be part of the question; its digest is in the key."""
    for value in ("rotating-token-t1", "rotating-token-t2"):
        model = ScriptedModel(anything={"token": value})
        model.invoke(QUESTION)
        assert model.calls == 1
    assert "rotating-token" not in repr(list(cache.semcache.entries()))


@pytest.mark.parametrize("value", [{1, 2}, b"x", Decimal("1.5"), Weather, {"w": lambda: 1}])
def test_a_field_whose_value_langchain_leaves_out_is_not_cached(
    cache: SemanticCache, value: Any
) -> None:
    """B16, B26: two values that look the same to a cache must not share an answer."""
    model = ScriptedModel(anything=value)
    model.invoke(QUESTION)
    model.invoke(QUESTION)
    assert model.calls == 2
    assert cache.stats().lookups_by_reason == {"unidentifiable": 2}


def test_an_object_in_a_field_is_no_part_of_the_key(cache: SemanticCache) -> None:
    """B26: LangChain spells it with its address, which is another one in each process."""
    ScriptedModel(anything=Handle()).invoke(QUESTION)
    other = ScriptedModel(anything=Handle())
    other.invoke(QUESTION)
    assert other.calls == 0


def test_secrets_are_neither_stored_nor_logged(
    make_cache: Any, openai: OpenAIStub, caplog: pytest.LogCaptureFixture
) -> None:
    """B26: nothing that authenticates a call is found at rest or in the log, in any encoding."""
    caplog.set_level(logging.DEBUG)
    cache = make_cache(tenant="tenant-in-clear")
    headers = {"Authorization": "Bearer-hidden", "Cookie": "cookie-hidden"}
    models = [
        ScriptedModel(cache=cache, api_key="rotating-token-t1", default_headers=headers),
        StreamingModel(cache=cache, api_key="sk-secret", anything={"access_token": "sk-secret"}),
        ChatOpenAI(
            model="stub", base_url=openai.url, api_key="sk-secret", cache=cache, max_retries=0,
            default_headers=headers,
        ),
    ]  # fmt: skip
    for model in models:
        model.invoke(QUESTION)
        model.invoke(QUESTION)
    entries = list(cache.semcache.core.workplace.index.scan(Selection()))
    assert len(entries) == len(models)
    decoded = [EnvelopeCodec().decode(entry.id, entry.payload) for entry in entries]
    at_rest = repr([(entry, response) for entry, response in zip(entries, decoded, strict=True)])
    logged = "\n".join(
        record.getMessage() for record in caplog.records if "semcache" in record.name
    )
    for secret in (*SECRETS, "tenant-in-clear"):
        assert secret not in at_rest
        assert secret not in logged


def _at_rest(directory: Path) -> bytes:
    """Every byte below a directory, and what base64 and zstd hide in it."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    # Files are made longer than what is in them; the empty part is left out.
    raw = b"\n".join(part for path in files for part in path.read_bytes().split(bytes(64)) if part)
    opened = [raw]
    for run in re.findall(rb"[A-Za-z0-9+/]{40,}={0,2}", raw):
        for start in range(4):
            piece = run[start:]
            whole = base64.b64decode(piece[: len(piece) // 4 * 4])
            opened.append(whole)
            for at in (found.start() for found in re.finditer(rb"\x28\xb5\x2f\xfd", whole)):
                with contextlib.suppress(zstandard.ZstdError):
                    opened.append(
                        zstandard.ZstdDecompressor().decompressobj().decompress(whole[at:])
                    )
    return b"\n".join(opened)


def test_no_secret_is_in_the_files_of_a_directory(make_cache: Any, tmp_path: Path) -> None:
    """B26: byte by byte, while it is open and after it was closed."""
    cache = make_cache(tmp_path / "store", tenant="tenant-in-clear", strict=True)
    headers = {"Authorization": "Bearer-hidden", "Cookie": "cookie-hidden"}
    models = [
        ScriptedModel(cache=cache, api_key="rotating-token-t1", default_headers=headers),
        StreamingModel(cache=cache, api_key="sk-secret", anything={"access_token": "sk-secret"}),
    ]
    for number, model in enumerate(models):
        model.told(f"the reply {number}")
        model.invoke([S(f"The rules {number}"), H(QUESTION)])
    assert cache.stats().entries == len(models)
    while_open = _at_rest(tmp_path / "store")
    cache.close()
    for held in (while_open, _at_rest(tmp_path / "store")):
        # What has to be there is found, so that what is not found is not there.
        assert b"the reply 0" in held
        assert b"the reply 1" in held
        for secret in (*SECRETS, "tenant-in-clear"):
            assert secret.encode() not in held
            assert secret.encode("utf-16-le") not in held


TOOL = {
    "type": "function",
    "function": {"name": "a", "parameters": {"properties": {"x": {"type": "integer"}, "y": {}}}},
}
SHUFFLED = {
    "function": {"parameters": {"properties": {"y": {}, "x": {"type": "integer"}}}, "name": "a"},
    "type": "function",
}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"tools": [TOOL]}, {"tools": [SHUFFLED]}),
        ({"response_format": TOOL}, {"response_format": SHUFFLED}),
        ({"response_format": json.dumps(TOOL)}, {"response_format": json.dumps(SHUFFLED)}),
        ({"x": 1}, {"x": 1.0}),
        ({"x": (1, 2)}, {"x": [1, 2]}),
        ({"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}}),
        ({"x": None}, {}),
        ({"stop": None}, {}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_order_and_spelling_do_not_count(
    cache: SemanticCache, model: ScriptedModel, one: dict[str, Any], other: dict[str, Any]
) -> None:
    """B27: one value in two spellings is one key."""
    model.invoke(QUESTION, **one)
    model.invoke(QUESTION, **other)
    assert model.calls == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"x": 1}, {"x": True}),
        ({"x": 1}, {"x": "1"}),
        ({"x": [1, 2]}, {"x": [2, 1]}),
        ({"tools": [TOOL, {"type": "b"}]}, {"tools": [{"type": "b"}, TOOL]}),
        ({"x": {}}, {}),
    ],
)
def test_real_changes_count(
    cache: SemanticCache, model: ScriptedModel, one: dict[str, Any], other: dict[str, Any]
) -> None:
    """B27: other types, and another order of a list, are other requests."""
    model.invoke(QUESTION, **one)
    model.invoke(QUESTION, **other)
    assert model.calls == 2


def test_a_schema_class_is_the_same_every_time(cache: SemanticCache, model: ScriptedModel) -> None:
    """B27: a Pydantic class given as a response format hits again."""
    model.invoke(QUESTION, response_format=Weather)
    model.invoke(QUESTION, response_format=Weather)
    assert model.calls == 1


def test_a_schema_changed_during_the_call_is_stored_under_what_was_asked(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B27: the key is made once, before the call."""
    schema = {"type": "json_schema", "strict": True}
    model.before(lambda: schema.pop("strict", None))
    model.invoke(QUESTION, response_format=schema)
    assert schema == {"type": "json_schema"}
    model.invoke(QUESTION, response_format={"type": "json_schema", "strict": True})
    assert model.calls == 1


@pytest.mark.parametrize("content", ["x", [{"type": "text", "text": "x"}], ["x"]])
def test_one_text_in_any_shape_is_one_question(
    cache: SemanticCache, model: ScriptedModel, content: Any
) -> None:
    """B15, B25: a string and its one text part are the same request."""
    model.invoke("x")
    model.invoke([HumanMessage(content)])
    assert model.calls == 1


PROCESS = """
import sys
from langchain_semcache.request import Canonicaliser
from langchain_semcache.langchain.wire import request_of
from langchain_semcache.engine.flow import entry_id
from langchain_semcache.request import RequestSettings, resolve
from langchain_core.load import dumps
from langchain_core.messages import HumanMessage
from tests.adapters.langchain.models import ScriptedModel

from tests.adapters.langchain.test_key_stability import Handle

headers = {"X-B": "1", "X-A": "2"}
model = ScriptedModel(api_key="sk-" + sys.argv[1], anything=Handle(), default_headers=headers)
labels = [frozenset("xyz"), {"p", "q", "r"}]
options = {"tools": [{"b": 1, "a": {"d": 1, "c": 2}}], "labels": labels}
text = model._get_llm_string(stop=None, **options)
found = resolve(request_of(dumps([HumanMessage("q")]), text, "t"), settings=RequestSettings(),
    encoder_identity="e", count_tokens=len, max_tokens=99)
print(entry_id(found.scope, found.query), found.cacheable)
"""


def test_keys_are_the_same_in_every_process() -> None:
    """B26: hash seeds, addresses and tokens of a process leave no trace in a key."""
    root = Path(__file__).parents[3]
    printed = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        done = subprocess.run(
            [sys.executable, "-c", PROCESS, seed], env=environment, capture_output=True, check=True,
            text=True, timeout=120,
        )  # fmt: skip
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    assert printed[0].endswith(" None\n")
