"""What comes back is what was said: every part of a reply, and nothing that a store made up."""

from __future__ import annotations

import base64
import json
import logging
import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import zstandard
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, Generation, GenerationChunk
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import BaseModel, Field

from langchain_semcache import SemanticCache
from langchain_semcache.records import Entry, Selection
from tests.adapters.langchain.conftest import PARAPHRASE, QUESTION
from tests.adapters.langchain.models import USAGE, OpenAIStub, ScriptedModel, done

CALLS = [
    {"name": "a", "args": {"a": 1}, "id": "c1", "type": "tool_call"},
    {"name": "b", "args": {"b": "ü"}, "id": "c2", "type": "tool_call"},
]
BROKEN = {"name": "x", "args": "{", "id": "c3", "error": "no JSON", "type": "invalid_tool_call"}
SECRET_LOOK_ALIKE = {"lc": 1, "type": "secret", "id": ["HOME"]}
OBJECT_LOOK_ALIKE = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "HumanMessage"],
    "kwargs": {"content": "x", "type": "human"},
}


def _plain(message: AIMessage) -> dict[str, Any]:
    """A message without what a run or a hit adds to it."""
    fields = message.model_dump()
    fields["response_metadata"].pop("semcache", None)
    fields.pop("id")
    if fields["usage_metadata"]:
        fields["usage_metadata"].pop("total_cost", None)
    return fields | {"usage_metadata": {**USAGE} if fields["usage_metadata"] else None}


MESSAGES = [
    done("plain"),
    done("naïve 中文 👩‍👩‍👧‍👦 \x00 \\u4e2d"),
    done([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "so"}]),
    done("", tool_calls=CALLS),
    done("x", tool_calls=CALLS[:1], invalid_tool_calls=[BROKEN]),
    done("x", additional_kwargs={"k": {"nested": [1, None, True]}, "audio": {"id": "a"}}),
    done("x", usage_metadata=USAGE),
    done("x", name="bob"),
    done("x", response_metadata={"finish_reason": "stop", "logprobs": {"content": [-0.5]}}),
    done("x", additional_kwargs={"a": SECRET_LOOK_ALIKE, "b": OBJECT_LOOK_ALIKE}),
    done("", tool_calls=[{"name": "t", "args": {"a": SECRET_LOOK_ALIKE}, "id": "1"}]),
    done("", tool_calls=[{"name": "t", "args": {"b": OBJECT_LOOK_ALIKE}, "id": "1"}]),
    done([{"type": "text", "text": "x", "extra": SECRET_LOOK_ALIKE}, OBJECT_LOOK_ALIKE]),
]  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
@pytest.mark.parametrize("question", [QUESTION, PARAPHRASE])
def test_every_part_of_a_reply_comes_back(
    cache: SemanticCache, model: ScriptedModel, message: AIMessage, question: str
) -> None:
    """B29, B31, B34: equal value and class, exactly and by meaning; look-alikes stay plain data."""
    first = model.told(message).invoke(QUESTION)
    second = model.invoke(question)
    assert model.calls == 1
    assert type(second) is AIMessage
    assert _plain(second) == _plain(first) == _plain(message)


GENERATIONS: list[list[Generation]] = [
    [Generation(text="t", generation_info={"finish_reason": "stop", "logprobs": [-0.1]})],
    [GenerationChunk(text="t", generation_info=None)],
    [Generation(text="one"), Generation(text="two")],
    [ChatGeneration(message=done("one")), ChatGeneration(message=done("two"))],
    [ChatGeneration(message=AIMessageChunk("c"), generation_info={"finish_reason": "stop"})],
    [ChatGenerationChunk(message=AIMessageChunk("c"))],
]


@pytest.mark.parametrize("stored", GENERATIONS, ids=range(len(GENERATIONS)))
def test_generations_of_langchains_own_classes_come_back(
    cache: SemanticCache, stored: list[Generation]
) -> None:
    """B29: as many as there were, of the class they had, with their infos."""
    cache.update("p", "m", stored)
    found = cache.lookup("p", "m")
    assert isinstance(found, list)
    for before, after in zip(stored, found, strict=True):
        assert type(after) is type(before)
        assert after.text == before.text
        assert after.generation_info == before.generation_info
        if isinstance(before, ChatGeneration) and isinstance(after, ChatGeneration):
            assert type(after.message) is type(before.message)
            assert after.message.content == before.message.content


@pytest.mark.parametrize("odd", [b"bytes \xff", object(), float("nan"), float("-inf")])
def test_a_reply_that_json_cannot_hold_is_returned_and_not_stored(
    cache: SemanticCache, model: ScriptedModel, warnings_of: Callable[[], list[str]], odd: Any
) -> None:
    """B29: the caller gets it as it is."""
    model.told(*[done("x", additional_kwargs={"odd": odd}) for _ in range(2)])
    for _ in range(2):
        assert model.invoke(QUESTION).additional_kwargs["odd"] is not None
    assert model.calls == 2
    assert warnings_of() == []


class OwnMessage(AIMessage):
    """A user's message class."""


class OwnGeneration(Generation):
    """A user's generation class."""


@pytest.mark.parametrize(
    "reply",
    [
        [ChatGeneration(message=OwnMessage("x"))],
        [OwnGeneration(text="x")],
        [ChatGeneration(message=HumanMessage("x"))],
    ],
)
def test_a_reply_of_another_class_is_returned_and_not_stored(
    cache: SemanticCache, reply: list[Generation], warnings_of: Callable[[], list[str]]
) -> None:
    """B29: what could not come back as it was is not kept, and that is no trouble."""
    cache.update("p", "m", reply)
    assert cache.lookup("p", "m") is None
    assert warnings_of() == []


def test_a_completion_models_text_comes_back(cache: SemanticCache) -> None:
    """B29: completion models get their text back, for a paraphrase too."""
    llm = FakeListLLM(responses=["one", "two"])
    assert llm.invoke(QUESTION) == "one"
    assert llm.invoke(QUESTION) == "one"
    assert llm.invoke(PARAPHRASE) == "one"


def test_what_a_caller_does_to_a_reply_stays_with_the_caller(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B29: the store shares no object with anybody."""
    model.told(done("kept", tool_calls=CALLS, additional_kwargs={"k": []}))
    for _ in range(3):
        reply = model.invoke(QUESTION)
        assert (reply.content, len(reply.tool_calls), reply.additional_kwargs["k"]) == (
            "kept",
            2,
            [],
        )
        reply.content = "spoilt"
        reply.tool_calls.clear()
        reply.additional_kwargs["k"].append(1)


class Unit(Enum):
    CELSIUS = "celsius"


class Place(BaseModel):
    city: str


class Temperature(BaseModel):
    """A temperature."""

    value: Decimal
    unit: Unit
    place: Place
    at: datetime
    note: str | None = Field(None, description="anything else")


READING = Temperature(
    value=Decimal("21.50"),
    unit=Unit.CELSIUS,
    place=Place(city="Rome"),
    at=datetime(2030, 1, 2, tzinfo=UTC),
)


def _as_text(openai: OpenAIStub) -> None:
    openai.reply = {"role": "assistant", "content": READING.model_dump_json()}


def _as_call(openai: OpenAIStub) -> None:
    function = {"name": "Temperature", "arguments": READING.model_dump_json()}
    call = {"id": "c1", "type": "function", "function": function}
    openai.reply = {"role": "assistant", "content": None, "tool_calls": [call]}
    openai.finish_reason = "tool_calls"


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize(
    ("method", "answers"),
    [("json_schema", _as_text), ("json_mode", _as_text), ("function_calling", _as_call)],
)
def test_structured_output_is_the_same_on_a_hit(
    cache: SemanticCache, openai: OpenAIStub, method: Any, answers: Any, raw: bool
) -> None:
    """B30: same value and same type, nested models, enums, dates and decimals included."""
    answers(openai)
    chat = ChatOpenAI(model="stub", base_url=openai.url, api_key="sk-x", max_retries=0)
    asked = chat.with_structured_output(Temperature, method=method, include_raw=raw)
    for _ in range(3):
        found: Any = asked.invoke(QUESTION)
        if raw:
            assert found["parsing_error"] is None
            found = found["parsed"]
        assert type(found) is Temperature
        assert found == READING
    assert openai.calls == 1


def test_a_parsed_object_beside_the_text_is_no_trouble(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B30: providers leave a live object in additional_kwargs."""
    model.told(done(READING.model_dump_json(), additional_kwargs={"parsed": READING}))
    model.invoke(QUESTION)
    assert json.loads(str(model.invoke(QUESTION).content))["place"] == {"city": "Rome"}
    assert model.calls == 1


def test_a_changed_schema_misses(cache: SemanticCache, openai: OpenAIStub) -> None:
    """B30: an answer to a schema that had another field is not an answer to this one."""
    _as_text(openai)
    chat = ChatOpenAI(model="stub", base_url=openai.url, api_key="sk-x", max_retries=0)
    for schema in (Temperature, Temperature.model_json_schema() | {"required": ["value"]}):
        chat.with_structured_output(schema, method="json_schema").invoke(QUESTION)
    assert openai.calls == 2


def test_calls_come_back_in_order_and_can_be_answered(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B31: names, arguments, order and ids."""
    model.told(done("", tool_calls=CALLS))
    model.invoke(QUESTION)
    reply = model.invoke(QUESTION)
    assert [(c["name"], c["args"], c["id"]) for c in reply.tool_calls] == [
        ("a", {"a": 1}, "c1"),
        ("b", {"b": "ü"}, "c2"),
    ]
    results = [ToolMessage("r", tool_call_id=call["id"]) for call in reply.tool_calls]
    assert model.invoke([HumanMessage(QUESTION), reply, *results]).content == "answer 2"


def test_a_graph_appends_a_repeated_answer(cache: SemanticCache, model: ScriptedModel) -> None:
    """B31: a stored id would make `add_messages` replace the earlier answer."""
    graph = StateGraph(MessagesState)
    # The node forgets the past, so that the second turn hits the first one's entry.
    graph.add_node("say", lambda state: {"messages": [model.invoke(state["messages"][-1:])]})
    graph.add_edge(START, "say")
    app = graph.compile()
    state: Any = {"messages": []}
    for turn in range(1, 4):
        state = app.invoke({"messages": [*state["messages"], HumanMessage("ping")]})
        assert len(state["messages"]) == 2 * turn
        assert state["messages"][-1].type == "ai"
    assert model.calls == 1
    assert len({message.id for message in state["messages"]}) == 6


def test_calls_of_a_graphs_hits_are_matched_by_their_results(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B31: two entries, then the first one again: results follow the calls that they answer.

    Ids of calls are kept, so an entry that hits twice in one thread repeats them; the message
    itself has an id of its own each time, and each call is followed by its own result.
    """

    @tool
    def weigh(thing: str) -> str:
        """Weighs a thing."""
        return f"weight of {thing}"

    def say(state: MessagesState) -> Any:
        # It forgets the past, so that a later turn hits an earlier one's entry.
        return {"messages": [model.invoke(state["messages"][-1:])]}

    graph = StateGraph(MessagesState)
    graph.add_node("say", say)
    graph.add_node("tools", ToolNode([weigh]))
    graph.add_edge(START, "say")
    graph.add_edge("say", "tools")
    app = graph.compile()

    def reply(thing: str, call_id: str) -> AIMessage:
        return done("", tool_calls=[{"name": "weigh", "args": {"thing": thing}, "id": call_id}])

    model.told(reply("egg", "c1"), reply("ham", "c2"))
    for text in ("weigh the egg", "weigh the ham"):
        model.invoke(text)
    state: Any = {"messages": []}
    for text in ("weigh the egg", "weigh the ham", "weigh the egg"):
        state = app.invoke({"messages": [*state["messages"], HumanMessage(text)]})
    assert model.calls == 2
    said = state["messages"]
    assert [message.type for message in said] == ["human", "ai", "tool"] * 3
    assert [message.tool_calls[0]["id"] for message in said[1::3]] == ["c1", "c2", "c1"]
    assert [message.tool_call_id for message in said[2::3]] == ["c1", "c2", "c1"]
    assert [message.content for message in said[2::3]] == [
        "weight of egg",
        "weight of ham",
        "weight of egg",
    ]
    assert len({message.id for message in said}) == 9


# ── a store that somebody else has written to ────────────────────────────────────────────────────


class _Bomb:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return (Path.touch, (self.marker,))


def _envelope(body: Any, kind: str = "langchain.generations/1", **changes: Any) -> bytes:
    fields = {"v": 1, "kind": kind, "body": body, "text": "t", "finish": [], "refused": False}
    text = json.dumps(fields | {"calls": False} | changes)
    return zstandard.ZstdCompressor(write_checksum=True).compress(text.encode())


def _generation(message: Any) -> bytes:
    return _envelope(
        {"generations": [{"class": "ChatGeneration", "message": message, "info": None}]}
    )


PAYLOADS: dict[str, Callable[[Path], bytes]] = {
    "pickle": lambda marker: pickle.dumps(_Bomb(marker)),
    "pickle, compressed": lambda marker: zstandard.compress(pickle.dumps(_Bomb(marker))),
    "pickle, base64": lambda marker: base64.b64encode(pickle.dumps(_Bomb(marker))),
    "pickle, latin-1 in the body": lambda marker: _envelope(
        pickle.dumps(_Bomb(marker)).decode("latin-1")
    ),
    "code": lambda marker: _envelope(f"__import__('pathlib').Path({str(marker)!r}).touch()"),
    "code as text": lambda marker: f"__import__('pathlib').Path({str(marker)!r}).touch()".encode(),
    "nothing": lambda _: b"",
    "half JSON": lambda _: b'{"v": 1, "kind": "lang',
    "half JSON, compressed": lambda _: zstandard.compress(b'{"v": 1, "kind": "lang'),
    "half a frame": lambda _: _generation({"class": "AIMessage", "fields": {"content": "x"}})[:-9],
    "null": lambda _: zstandard.compress(b"null"),
    "another version": lambda _: _envelope({}, v=999),
    "another kind": lambda _: _envelope({}, kind="somebody.else/1"),
    "no generations": lambda _: _envelope({"generations": []}),
    "lc envelope on top": lambda _: zstandard.compress(json.dumps(OBJECT_LOOK_ALIKE).encode()),
    "lc envelope as body": lambda _: _envelope(OBJECT_LOOK_ALIKE),
    "lc envelope as message": lambda _: _generation(OBJECT_LOOK_ALIKE),
    "lc secret as message": lambda _: _generation(SECRET_LOOK_ALIKE),
    "a class of ours that is no message": lambda _: _generation({"class": "Path", "fields": {}}),
    "a dotted class": lambda _: _generation({"class": "os.system", "fields": {"content": "x"}}),
    "a chat model": lambda _: _generation({"class": "ChatOpenAI", "fields": {"model": "x"}}),
    "a human message": lambda _: _generation({"class": "HumanMessage", "fields": {"content": "x"}}),
    "a number for a text": lambda _: _generation({"class": "AIMessage", "fields": {"content": 1}}),
    "fields that are none": lambda _: _generation({"class": "AIMessage", "fields": [1]}),
    "a bomb of zeros": lambda _: zstandard.compress(bytes(80_000_000)),
}  # fmt: skip


def _poison(cache: SemanticCache, payload: bytes) -> None:
    """Write straight into the store, past every check."""
    index = cache.semcache.core.workplace.index
    entries: list[Entry] = list(index.scan(Selection()))
    for entry in entries:
        index.put(replace(entry, payload=payload), None)


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        *(("memory", kind) for kind in PAYLOADS),
        *(("edge", kind) for kind in ("pickle", "half JSON", "lc envelope as message")),
    ],
)
def test_a_poisoned_record_is_a_miss(
    make_cache: Any, tmp_path: Path, where: str, kind: str, warnings_of: Callable[[], list[str]]
) -> None:
    """B29, B33, B34: nothing runs, nothing is shown, one warning, and the next reply heals it."""
    marker = tmp_path / "marker"
    cache = make_cache(":memory:" if where == "memory" else tmp_path / "store")
    set_llm_cache(cache)
    model = ScriptedModel()
    model.invoke(QUESTION)
    _poison(cache, PAYLOADS[kind](marker))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        replies = [model.invoke(QUESTION).content for _ in range(3)]
    assert replies == ["answer 2"] * 3
    assert not marker.exists()
    assert len(warnings_of()) == 1


@pytest.mark.parametrize("kind", ["pickle", "half JSON", "lc envelope as message"])
async def test_a_poisoned_record_is_a_miss_for_async_code(
    make_cache: Any, tmp_path: Path, kind: str, warnings_of: Callable[[], list[str]]
) -> None:
    """B33: the other colour is the same code."""
    set_llm_cache(cache := make_cache())
    model = ScriptedModel()
    await model.ainvoke(QUESTION)
    _poison(cache, PAYLOADS[kind](tmp_path / "marker"))
    assert (await model.ainvoke(QUESTION)).content == "answer 2"
    assert len(warnings_of()) == 1
    assert not (tmp_path / "marker").exists()


def test_no_environment_value_appears_in_a_reply(
    cache: SemanticCache, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B34: a record that looks like a secret is data."""
    monkeypatch.setenv("HOME", "value-of-the-environment")
    model.told(done("x", additional_kwargs={"a": SECRET_LOOK_ALIKE}))
    for _ in range(2):
        assert model.invoke(QUESTION).additional_kwargs == {"a": SECRET_LOOK_ALIKE}


@pytest.mark.parametrize("usage", [USAGE, None])
def test_a_hit_costs_nothing(
    cache: SemanticCache, model: ScriptedModel, usage: dict[str, int] | None
) -> None:
    """B40: tokens as they were, cost 0; the paid reply is not marked and the record not changed."""
    paid = model.told(done("x", usage_metadata=usage)).invoke(QUESTION)
    assert paid.usage_metadata == usage
    (before,) = cache.semcache.entries()
    for _ in range(2):
        hit = model.invoke(QUESTION)
        assert hit.usage_metadata == {**(usage or {}), "total_cost": 0}
    (after,) = cache.semcache.entries()
    assert after == before


def test_a_hit_says_that_it_is_one(cache: SemanticCache, model: ScriptedModel) -> None:
    """X11: facts in the response metadata of the hit, none in that of the model's own reply."""
    assert "semcache" not in model.invoke(QUESTION).response_metadata
    facts = model.invoke(QUESTION).response_metadata["semcache"]
    assert facts["hit"] is True
    assert facts["reason"] == "exact"
    assert cache.semcache.get(facts["entry_id"]) is not None
    assert cache.semcache.report(facts["entry_id"], wrong=True)
    model.invoke(QUESTION)
    assert model.calls == 2


def test_our_logger_stays_quiet_when_all_is_well(
    cache: SemanticCache, model: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    """B26: no prompt, no answer, no noise."""
    caplog.set_level(logging.DEBUG)
    model.invoke(QUESTION)
    model.invoke(QUESTION)
    assert [r for r in caplog.records if r.name.startswith("langchain_semcache")] == []
