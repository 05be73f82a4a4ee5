"""The cache inside LangChain agents: real agents, scripted models."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from langchain_semcache import ConfigurationError, SemanticCache
from langchain_semcache.clock import ManualClock
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.langchain import tenant
from langchain_semcache.langchain.middleware import SemanticCacheMiddleware
from langchain_semcache.records import Selection
from langchain_semcache.responses import EnvelopeCodec
from langchain_semcache.testing.fakes import Fault, FlakyIndex, ScriptedEncoder
from tests.adapters.langchain.conftest import PARAPHRASE, QUESTION, SCRIPT
from tests.adapters.langchain.models import USAGE, OpenAIStub, ScriptedModel, done
from tests.adapters.langchain.test_serialization import OBJECT_LOOK_ALIKE, PAYLOADS


@tool
def look(city: str) -> str:
    """Looks at the weather."""
    return f"12 C in {city}"


@tool
def listen(city: str) -> str:
    """Listens to the weather."""
    return city


def _call(name: str, call_id: str = "c1", **args: Any) -> AIMessage:
    call = {"name": name, "args": args, "id": call_id}
    return done("", tool_calls=[call], response_metadata={"finish_reason": "tool_calls"})


def _asked(text: str = QUESTION) -> Any:
    return {"messages": [HumanMessage(text)]}


@pytest.fixture
def agent(make_cache: Any, model: ScriptedModel) -> Callable[..., Any]:
    """Agents over one store."""

    def make(use: Any = model, **options: Any) -> Any:
        own = {name: options.pop(name) for name in ("tenant", "ttl", "tags") if name in options}
        cache = options.pop("cache", None) or make_cache()
        tools = options.pop("tools", [])
        middleware = [*options.pop("around", ()), SemanticCacheMiddleware(cache, **own)]
        return create_agent(use, tools, middleware=middleware, **options)

    return make


async def _run(agent: Any, way: str, text: str = QUESTION, **options: Any) -> Any:
    if way == "sync":
        return await asyncio.to_thread(agent.invoke, _asked(text), **options)
    return await agent.ainvoke(_asked(text), **options)


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("question", [QUESTION, PARAPHRASE])
async def test_an_agent_is_answered_from_the_cache(
    agent: Callable[..., Any], model: ScriptedModel, way: str, question: str
) -> None:
    """A hit is a fresh message with its facts, the tokens of then, and a cost of nothing."""
    model.told(done("Paris", usage_metadata=USAGE))
    paid = (await _run(agent(), way))["messages"][-1]
    hit = (await _run(agent(), way, question))["messages"][-1]
    assert model.calls == 1
    assert type(hit) is AIMessage
    assert hit.content == paid.content == "Paris"
    assert hit.id
    assert hit.id != paid.id
    assert paid.usage_metadata == USAGE
    assert hit.usage_metadata == {**USAGE, "total_cost": 0}
    assert "semcache" not in paid.response_metadata
    facts = hit.response_metadata["semcache"]
    assert facts["reason"] == ("exact" if question == QUESTION else "semantic")


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_tool_turns_are_matched_exactly_only(
    agent: Callable[..., Any], model: ScriptedModel, encoder: ScriptedEncoder, way: str
) -> None:
    """B03: the loop ends; both turns hit for the same question and neither is confused."""
    model.told(_call("look", city="Oslo"), "It is 12 C")
    for _ in range(2):
        state = await _run(agent(tools=[look]), way)
        assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai"]
        assert state["messages"][1].tool_calls[0]["id"] == state["messages"][2].tool_call_id
        assert state["messages"][-1].content == "It is 12 C"
    assert model.calls == 2
    assert encoder.texts == [QUESTION]
    # A paraphrase may share the first turn; the turn with the result in it it may not.
    await _run(agent(tools=[look]), way, PARAPHRASE)
    assert model.calls == 3


CHANGES: list[dict[str, Any]] = [
    {"system_prompt": "Answer as a pirate"},
    {"system_prompt": SystemMessage([{"type": "text", "text": "Answer as a lawyer"}])},
    {"tools": [look]},
    {"tools": [look, listen]},
    {"tools": [{"type": "web_search"}]},
    {"use": ScriptedModel(model_name="scripted-2")},
    {"use": ScriptedModel(temperature=0.9)},
    {"use": ScriptedModel(anything={"safety": "none"})},
    {"tenant": "acme"},
    {"name": "another_agent"},
]


def test_whatever_changes_an_answer_keeps_answers_apart(
    agent: Callable[..., Any], model: ScriptedModel
) -> None:
    """B01, B16, B17, B20: each of these misses what the others stored, and hits its own."""
    total: list[int] = []
    for _ in range(2):
        for change in ({}, *CHANGES):
            agent(**change).invoke(_asked())
        models = [model, *(change["use"] for change in CHANGES if "use" in change)]
        total.append(sum(each.calls for each in models))
    assert total == [len(CHANGES) + 1] * 2


class Settings(AgentMiddleware):
    """Changes the call on its way to the cache."""

    def __init__(self, **changes: Any) -> None:
        super().__init__()
        self._changes = changes

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(**self._changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"model_settings": {"temperature": 0.9}},
        {"model_settings": {"response_format": {"type": "json_object"}}},
        {"tool_choice": "none"},
        {"tool_choice": "look"},
    ],
)
def test_what_other_middleware_changes_counts(
    agent: Callable[..., Any], model: ScriptedModel, changes: dict[str, Any]
) -> None:
    """B16, B17: settings and the choice of tools."""
    agent(tools=[look]).invoke(_asked())
    for _ in range(2):
        agent(tools=[look], around=[Settings(**changes)]).invoke(_asked())
    assert model.calls == 2


def test_a_field_changed_on_the_model_is_seen(
    agent: Callable[..., Any], model: ScriptedModel
) -> None:
    """B18: here the live object is read."""
    made = agent()
    made.invoke(_asked())
    model.temperature = 0.9
    made.invoke(_asked())
    made.invoke(_asked())
    assert model.calls == 2


class Unserialisable(ScriptedModel):
    top_k: int = 1

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return False


class Silent(Unserialisable):
    """A model that does not use the hook by which models say who they are."""

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Unserialisable(), Unserialisable(temperature=0.9)),
        (Silent(), Silent(top_k=9)),
        (Silent(), Unserialisable()),
    ],
)
def test_models_without_a_serialised_form_are_told_apart(
    agent: Callable[..., Any], one: ScriptedModel, other: ScriptedModel
) -> None:
    """B16: by the hook, else by their fields, and by their class."""
    before = one.calls, other.calls
    for model in (one, other, one, other):
        agent(model).invoke(_asked())
    assert (one.calls - before[0], other.calls - before[1]) == (1, 1)


@dataclass
class Context:
    customer: str


def _customer(request: ModelRequest[Any]) -> str:
    return str(request.runtime.context.customer)


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_the_tenant_comes_from_the_runtime(
    agent: Callable[..., Any], model: ScriptedModel, way: str
) -> None:
    """B20: each customer has answers of its own."""
    made = agent(tenant=_customer, context_schema=Context)
    replies = [
        (await _run(made, way, context=Context(name)))["messages"][-1].content for name in "abab"
    ]
    assert replies == ["answer 1", "answer 2", "answer 1", "answer 2"]
    assert model.calls == 2


def test_a_block_names_the_tenant_before_anything_else(
    agent: Callable[..., Any], model: ScriptedModel
) -> None:
    """B20: `with tenant(...)` around the agent."""
    for name in "abab":
        with tenant(name):
            agent(tenant="c").invoke(_asked())
    assert model.calls == 2


@pytest.mark.parametrize("wrong", [lambda _: 1 / 0, lambda _: None, lambda _: 7])
def test_a_tenant_that_cannot_be_told_is_not_cached(
    agent: Callable[..., Any],
    model: ScriptedModel,
    make_cache: Any,
    warnings_of: Callable[[], list[str]],
    wrong: Any,
) -> None:
    """B20: nobody is served from somebody's bucket by mistake, and the model answers."""
    cache = make_cache()
    made = agent(tenant=wrong, cache=cache)
    for number in (1, 2):
        assert made.invoke(_asked())["messages"][-1].content == f"answer {number}"
    assert cache.stats().entries == 0
    assert len(warnings_of()) == 1


class Reading(BaseModel):
    """A reading."""

    city: str
    day: date


class Other(BaseModel):
    """Another thing."""

    value: int


READING = Reading(city="Rome", day=date(2030, 1, 2))


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(
    "strategy",
    [ToolStrategy(Reading), ToolStrategy(Reading | Other), AutoStrategy(Reading), Reading],
)
async def test_a_structured_answer_is_read_anew_by_the_callers_schema(
    agent: Callable[..., Any], model: ScriptedModel, way: str, strategy: Any
) -> None:
    """B30: same value and same type, and the messages that go with it."""
    model.told(_call("Reading", city="Rome", day="2030-01-02"))
    states = [await _run(agent(response_format=strategy), way) for _ in range(3)]
    assert model.calls == 1
    for state in states:
        assert type(state["structured_response"]) is Reading
        assert state["structured_response"] == READING
        assert [m.type for m in state["messages"]] == ["human", "ai", "tool"]
        assert state["messages"][1].tool_calls[0]["id"] == state["messages"][2].tool_call_id
    assert len({message.id for state in states for message in state["messages"]}) == 9


def test_a_providers_own_structured_answer_is_read_anew(
    agent: Callable[..., Any], openai: OpenAIStub
) -> None:
    """B30: over real HTTP."""
    openai.reply = {"role": "assistant", "content": READING.model_dump_json()}
    chat = ChatOpenAI(model="stub", base_url=openai.url, api_key="sk-x", max_retries=0)
    for _ in range(2):
        state = agent(chat, response_format=ProviderStrategy(Reading)).invoke(_asked())
        assert state["structured_response"] == READING
    assert openai.calls == 1


def test_two_schemas_of_one_name_do_not_share(
    agent: Callable[..., Any], model: ScriptedModel
) -> None:
    """B17, B30: the fields count, and each caller gets its own class."""

    def schema(field: type) -> Any:
        class Thing(BaseModel):
            value: field  # type: ignore[valid-type]

        return Thing

    one, two = schema(int), schema(str)
    model.told(_call("Thing", value=7), _call("Thing", value="seven"))
    for _ in range(2):
        for wanted, value in ((one, 7), (two, "seven")):
            found = agent(response_format=ToolStrategy(wanted)).invoke(_asked())
            assert type(found["structured_response"]) is wanted
            assert found["structured_response"].value == value
    assert model.calls == 2


def test_an_answer_that_does_not_fit_the_schema_is_not_kept(
    agent: Callable[..., Any], model: ScriptedModel
) -> None:
    """B19: the agent tells the model, which tries again; only the right answer stays."""
    wrong, right = _call("Reading", city="Rome"), _call("Reading", city="Rome", day="2030-01-02")
    model.told(wrong, right, right)
    state = agent(response_format=ToolStrategy(Reading)).invoke(_asked())
    assert state["structured_response"] == READING
    assert model.calls == 2
    assert (
        agent(response_format=ToolStrategy(Reading)).invoke(_asked())["structured_response"]
        == READING
    )
    assert model.calls == 3


@pytest.mark.parametrize(
    "reply",
    [
        done("half", response_metadata={"finish_reason": "length"}),
        done("no", additional_kwargs={"refusal": "no"}),
        done(" "),
    ],
)
def test_a_reply_that_is_no_whole_answer_is_not_kept(
    agent: Callable[..., Any], model: ScriptedModel, reply: AIMessage
) -> None:
    """B19: the same rules as everywhere."""
    model.told(reply, "full answer")
    agent().invoke(_asked())
    assert agent().invoke(_asked())["messages"][-1].content == "full answer"


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_the_models_exception_arrives_as_it_is(
    agent: Callable[..., Any], model: ScriptedModel, way: str
) -> None:
    """B19: the very object, its cause untouched, and the next call asks again."""
    cause = KeyError("the cause")
    error = RuntimeError("429")
    error.__cause__ = cause
    model.told(error)
    with pytest.raises(RuntimeError) as raised:
        await _run(agent(), way)
    assert raised.value is error
    assert error.__cause__ is cause
    assert (await _run(agent(), way))["messages"][-1].content == "answer 2"


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("fault", [ConnectionError("gone"), Fault.HANG], ids=str)
async def test_a_broken_store_costs_only_hits(
    agent: Callable[..., Any], model: ScriptedModel, make_cache: Any, way: str, fault: Any
) -> None:
    """B39: every call is answered, and it recovers."""
    clock = ManualClock()
    index = FlakyIndex(MemoryIndex(64), fault)
    cache = make_cache(index=index, clock=clock, deadline_seconds=0.1)
    made = agent(cache=cache)
    started = time.perf_counter()
    for number in range(1, 21):
        assert (await _run(made, way))["messages"][-1].content == f"answer {number}"
    assert time.perf_counter() - started < 5
    index.fault = None
    index.released.set()
    clock.advance(60)
    for _ in range(2):
        await _run(made, way)
    assert model.calls == 21


def test_a_cache_that_was_closed_is_no_trouble(
    agent: Callable[..., Any], model: ScriptedModel, make_cache: Any
) -> None:
    """B39: the model answers."""
    cache = make_cache(encoder=ScriptedEncoder(SCRIPT), index=None)
    made = agent(cache=cache)
    cache.close()
    for number in (1, 2):
        assert made.invoke(_asked())["messages"][-1].content in {f"answer {number}", "answer 1"}


@pytest.mark.parametrize("kind", ["pickle", "half JSON", "another kind", "lc envelope as body"])
def test_a_poisoned_record_is_a_miss_and_heals(
    agent: Callable[..., Any], model: ScriptedModel, make_cache: Any, tmp_path: Any, kind: str
) -> None:
    """B33, B34: nothing runs and nothing is shown."""
    from tests.adapters.langchain.test_serialization import _poison

    cache = make_cache()
    made = agent(cache=cache)
    made.invoke(_asked())
    _poison(cache, PAYLOADS[kind](tmp_path / "marker"))
    replies = [made.invoke(_asked())["messages"][-1].content for _ in range(3)]
    assert replies == ["answer 2"] * 3
    assert not (tmp_path / "marker").exists()


def test_look_alikes_stay_data(agent: Callable[..., Any], model: ScriptedModel) -> None:
    """B34: what looks like a serialised object comes back as the mapping it was."""
    model.told(done("x", additional_kwargs={"a": OBJECT_LOOK_ALIKE}))
    for _ in range(2):
        message = agent().invoke(_asked())["messages"][-1]
        assert message.additional_kwargs == {"a": OBJECT_LOOK_ALIKE}


async def test_identical_calls_at_once_ask_the_model_once(
    agent: Callable[..., Any], model: ScriptedModel
) -> None:
    """X01: twenty agents, one call, twenty replies of their own."""
    started, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        started.set()
        go_on.wait(10)

    model.before(hold)
    made = agent()
    herd = [asyncio.create_task(made.ainvoke(_asked())) for _ in range(20)]
    await asyncio.to_thread(started.wait, 10)
    await asyncio.sleep(0.2)
    go_on.set()
    replies = [state["messages"][-1] for state in await asyncio.gather(*herd)]
    assert model.calls == 1
    assert {reply.content for reply in replies} == {"answer 1"}
    assert len({reply.id for reply in replies}) == 20
    assert len({id(reply) for reply in replies}) == 20


def test_identical_calls_of_threads_ask_the_model_once(
    agent: Callable[..., Any], model: ScriptedModel
) -> None:
    """X01: the same for threads; an error of the model is everybody's."""
    everybody, go_on = threading.Barrier(8), threading.Event()
    model.before(lambda: go_on.wait(10))
    made = agent()

    def ask() -> Any:
        everybody.wait(10)
        return made.invoke(_asked())["messages"][-1].content

    with ThreadPoolExecutor(8) as pool:
        herd = [pool.submit(ask) for _ in range(8)]
        time.sleep(0.2)
        go_on.set()
        assert {each.result(20) for each in herd} == {"answer 1"}
    assert model.calls == 1


async def test_two_of_them_in_one_agent_do_not_wait_for_each_other(
    make_cache: Any, model: ScriptedModel
) -> None:
    """X01: one inside the other, over one store."""
    cache = make_cache()

    class Outer(SemanticCacheMiddleware):
        pass

    both = [Outer(cache), SemanticCacheMiddleware(cache)]
    made = create_agent(model, [], middleware=both)
    for _ in range(2):
        state = await asyncio.wait_for(made.ainvoke(_asked()), 20)
        assert state["messages"][-1].content == "answer 1"
        assert made.invoke(_asked())["messages"][-1].content == "answer 1"
    assert model.calls == 1


async def test_a_cancelled_agent_leaves_nothing_locked(
    agent: Callable[..., Any], make_cache: Any, model: ScriptedModel
) -> None:
    """B37: the next one asks again."""
    started, go_on = threading.Event(), threading.Event()
    model.before(started.set).before(lambda: go_on.wait(10))
    made = agent()
    task = asyncio.create_task(made.ainvoke(_asked()))
    await asyncio.to_thread(started.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    state = await asyncio.wait_for(made.ainvoke(_asked()), 10)
    assert state["messages"][-1].content


def test_a_conversation_grows_by_two_a_turn(
    agent: Callable[..., Any], model: ScriptedModel
) -> None:
    """B31: with a checkpointer, twice the same conversation from the cache."""
    made = agent(checkpointer=InMemorySaver())
    for thread in ("t1", "t2"):
        config = {"configurable": {"thread_id": thread}}
        for turn, text in enumerate(("one", "two", "three"), 1):
            state = made.invoke(_asked(text), config)
            assert len(state["messages"]) == 2 * turn
    assert model.calls == 3


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_each_message_is_shown_once_in_messages_mode(
    agent: Callable[..., Any], model: ScriptedModel, way: str
) -> None:
    """B35: on a hit as on a miss."""
    made = agent()
    for _ in range(2):
        if way == "sync":
            shown = [message for message, _ in made.stream(_asked(), stream_mode="messages")]
        else:
            stream = made.astream(_asked(), stream_mode="messages")
            shown = [message async for message, _ in stream]
        assert "".join(message.text for message in shown) == "answer 1"
        assert len({message.id for message in shown}) == 1
    assert model.calls == 1


def test_lifetime_and_tags_are_those_asked_for(
    agent: Callable[..., Any], model: ScriptedModel, make_cache: Any, clock: ManualClock
) -> None:
    """X08, X11: per agent."""
    cache = make_cache()
    made = agent(cache=cache, ttl=10, tags=["kb"])
    made.invoke(_asked())
    assert cache.semcache.invalidate(tags=["kb"], dry_run=True) == 1
    clock.advance(10)
    made.invoke(_asked())
    assert model.calls == 2
    with pytest.raises(ConfigurationError, match="ttl"):
        SemanticCacheMiddleware(cache, ttl=-1)


def test_secrets_of_the_model_are_not_stored(
    agent: Callable[..., Any], make_cache: Any, openai: OpenAIStub
) -> None:
    """B26: nor do they count."""
    cache = make_cache()
    for key in ("sk-secret-1", "sk-secret-2"):
        chat = ChatOpenAI(
            model="stub", base_url=openai.url, api_key=key, max_retries=0,
            default_headers={"Authorization": key},
        )  # fmt: skip
        agent(chat, cache=cache).invoke(_asked())
    assert openai.calls == 1
    (entry,) = cache.semcache.core.workplace.index.scan(Selection())
    assert "sk-secret" not in repr((entry, EnvelopeCodec().decode(entry.id, entry.payload)))


def test_results_that_could_not_come_back_are_not_kept(
    agent: Callable[..., Any],
    model: ScriptedModel,
    make_cache: Any,
    warnings_of: Callable[[], list[str]],
) -> None:
    """B29: a message of a class of its own, or an artifact that is no data."""

    class Own(AIMessage):
        pass

    class Inside(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            answer = handler(request)
            answer.result = [Own(answer.result[0].content), *self.more]
            return answer

        more: Any = ()

    cache = make_cache()
    inner = Inside()
    made = create_agent(model, [], middleware=[SemanticCacheMiddleware(cache), inner])
    assert type(made.invoke(_asked())["messages"][-1]) is Own
    inner.more = [ToolMessage("r", tool_call_id="c", artifact=object())]
    made.invoke(_asked())
    assert model.calls == 2
    assert cache.stats().entries == 0
    assert warnings_of() == []


def test_the_tenant_of_the_cache_is_taken_over(make_cache: Any, model: ScriptedModel) -> None:
    """B20: a `SemanticCache` with a tenant keeps it inside agents."""
    caches: list[SemanticCache] = [make_cache(tenant="a"), make_cache(tenant="b")]
    for cache in caches:
        create_agent(model, [], middleware=[SemanticCacheMiddleware(cache)]).invoke(_asked())
    assert model.calls == 2


WITHOUT_LANGCHAIN = """
import sys
sys.modules["langchain"] = None
from langchain_semcache import MissingExtra, SemanticCache
try:
    import langchain_semcache.langchain.middleware
except MissingExtra as error:
    print(error)
"""


def test_without_the_extra_its_name_is_told() -> None:
    """The message names what to install."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LANGCHAIN], env=environment, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    assert "langchain-semcache[langchain]" in done.stdout
