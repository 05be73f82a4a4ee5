"""`.stream()` and its kin: what LangChain leaves out, and what `cached_streams` adds."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import (
    FakeListChatModel,
    GenericFakeChatModel,
)
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

from langchain_semcache import SemanticCache
from langchain_semcache.langchain import cached_streams
from tests.adapters.langchain.conftest import PARAPHRASE, QUESTION
from tests.adapters.langchain.models import (
    USAGE,
    OpenAIStub,
    ScriptedModel,
    StreamingModel,
    done,
)

WAYS = ["invoke", "ainvoke", "stream", "astream"]
CALLS = [
    {"name": "a", "args": {"a": 1}, "id": "c1", "type": "tool_call"},
    {"name": "b", "args": {"b": "ü"}, "id": "c2", "type": "tool_call"},
]


async def _ask(model: Any, way: str, question: Any = QUESTION, config: Any = None) -> AIMessage:
    """The whole reply, however it is asked for."""
    if way == "invoke":
        return model.invoke(question, config)  # type: ignore[no-any-return]
    if way == "ainvoke":
        return await model.ainvoke(question, config)  # type: ignore[no-any-return]
    if way == "stream":
        chunks = list(model.stream(question, config))
    else:
        chunks = [chunk async for chunk in model.astream(question, config)]
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    return whole  # type: ignore[no-any-return]


def test_langchain_itself_never_asks_a_cache_for_a_stream(
    cache: SemanticCache, streaming: StreamingModel
) -> None:
    """B35: the limit that `cached_streams` is there for."""
    list(streaming.stream(QUESTION))
    list(streaming.stream(QUESTION))
    assert streaming.calls == 2
    assert cache.stats().misses == 0


@pytest.mark.parametrize("write", WAYS)
@pytest.mark.parametrize("read", WAYS)
async def test_one_entry_serves_every_way_of_asking(make_cache: Any, write: str, read: str) -> None:
    """B35: streams and whole replies, in both colours; by meaning too."""
    cache = make_cache()
    model = cached_streams(
        StreamingModel().told(done("one two three", usage_metadata=USAGE)), cache
    )
    first = await _ask(model, write)
    second = await _ask(model, read)
    third = await _ask(model, read, PARAPHRASE)
    assert model.calls == 1
    assert first.content == second.content == third.content == "one two three"
    assert first.usage_metadata == USAGE
    for hit in (second, third):
        assert hit.usage_metadata is not None
        assert {**hit.usage_metadata} == {**USAGE, "total_cost": 0}
        assert hit.response_metadata["finish_reason"] == "stop"
    assert second.response_metadata["semcache"]["reason"] == "exact"
    assert third.response_metadata["semcache"]["reason"] == "semantic"
    assert (cache.stats().hits, cache.stats().misses) == (2, 1)


REPLIES = [
    done("plain words"),
    done("one"),
    done("  spaces \n\n and\tlines  "),
    done("中文 没有 空格", usage_metadata=USAGE),
    done("", tool_calls=CALLS),
    done("Let me look.", tool_calls=CALLS[:1]),
    done([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "so"}]),
    done("x", additional_kwargs={"reasoning_content": "because"}),
    done("word " * 3_000 + "end"),
]


@pytest.mark.parametrize("reply", REPLIES, ids=range(len(REPLIES)))
@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_a_replayed_stream_adds_up_to_the_reply(
    make_cache: Any, reply: AIMessage, way: str
) -> None:
    """B35: text, calls, blocks, usage and metadata; the last chunk is marked, and only that."""
    model = cached_streams(StreamingModel().told(reply), make_cache())
    first = await _ask(model, way)
    if way == "stream":
        chunks = list(model.stream(QUESTION))
    else:
        chunks = [chunk async for chunk in model.astream(QUESTION)]
    assert model.calls == 1
    assert [chunk.chunk_position for chunk in chunks] == [None] * (len(chunks) - 1) + ["last"]
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert whole.text == first.text == reply.text
    assert whole.tool_calls == first.tool_calls == reply.tool_calls
    assert whole.additional_kwargs == reply.additional_kwargs
    assert [json.loads(call["args"] or "") for call in whole.tool_call_chunks] == [
        call["args"] for call in reply.tool_calls
    ]
    if isinstance(reply.content, list):
        assert whole.content_blocks == first.content_blocks
    elif len(reply.text.split()) > 1:
        assert 1 < len([chunk for chunk in chunks if chunk.content]) < 300
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_broken_call_is_not_replayed_as_a_stream(make_cache: Any) -> None:
    """B29, B35: chunks would turn it into a call with half its arguments; the model is asked."""
    broken = {"name": "x", "args": "{no", "id": "c", "error": None, "type": "invalid_tool_call"}
    model = cached_streams(StreamingModel(), make_cache())
    model.told(done("x", tool_calls=CALLS[:1], invalid_tool_calls=[broken]), "full answer")
    assert model.invoke(QUESTION).invalid_tool_calls == model.invoke(QUESTION).invalid_tool_calls
    assert "".join(chunk.text for chunk in model.stream(QUESTION)) == "full answer"
    assert model.invoke(QUESTION).content == "full answer"
    assert model.calls == 2


class Heard(BaseCallbackHandler):
    """Writes down what a handler is told."""

    def __init__(self) -> None:
        self.tokens: list[Any] = []
        self.ends = self.errors = self.starts = 0

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self.starts += 1

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        self.tokens.append(token)

    def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        self.ends += 1

    def on_llm_error(self, *args: Any, **kwargs: Any) -> None:
        self.errors += 1


class AsyncHeard(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.tokens: list[Any] = []

    async def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        self.tokens.append(token)


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_a_handler_hears_each_token_once(make_cache: Any, way: str) -> None:
    """B35: on a hit as on a miss: start, every token, end."""
    model = cached_streams(StreamingModel().told("one two three"), make_cache())
    for _ in range(2):
        heard = Heard()
        chunks: list[Any] = []
        if way == "stream":
            chunks += model.stream(QUESTION, {"callbacks": [heard]})
        else:
            other = AsyncHeard()
            chunks += [c async for c in model.astream(QUESTION, {"callbacks": [heard, other]})]
            assert other.tokens == heard.tokens
        assert heard.tokens == [chunk.content for chunk in chunks]
        assert "".join(heard.tokens) == "one two three"
        assert (heard.starts, heard.ends, heard.errors) == (1, 1, 0)
    assert model.calls == 1


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_model_that_streams_inside_invoke_asks_the_cache_once(
    make_cache: Any, openai: OpenAIStub, way: str
) -> None:
    """B35: `streaming=True`: one lookup and one store a call, tokens on the miss."""
    cache = make_cache()
    model = cached_streams(_chat(openai, streaming=True), cache)
    heard = Heard()
    first = await _ask(model, way, config={"callbacks": [heard]})
    assert "".join(heard.tokens).strip() == "hello there friend"
    second = await _ask(model, way)
    assert first.content == second.content
    assert openai.calls == 1
    assert cache.stats().misses == cache.stats().hits == 1
    assert cache.stats().stores_by_reason == {"stored": 1}


async def test_events_of_a_hit_are_those_of_a_stream(make_cache: Any) -> None:
    """B35: `astream_events` shows chunks on a hit."""
    model = cached_streams(StreamingModel().told("one two three"), make_cache())
    shown = []
    for _ in range(2):
        events = [event async for event in model.astream_events(QUESTION, version="v2")]
        kinds = [event["event"] for event in events]
        assert (kinds[0], kinds[-1]) == ("on_chat_model_start", "on_chat_model_end")
        chunks = [e["data"]["chunk"] for e in events if e["event"] == "on_chat_model_stream"]
        shown.append("".join(chunk.content for chunk in chunks))
    assert shown == ["one two three"] * 2
    assert model.calls == 1


def _chat(openai: OpenAIStub, **fields: Any) -> ChatOpenAI:
    settings: dict[str, Any] = {"model": "stub", "api_key": "sk-x", "max_retries": 0}
    return ChatOpenAI(base_url=openai.url, **settings | fields)


@pytest.mark.parametrize("write", WAYS)
@pytest.mark.parametrize("read", ["stream", "ainvoke"])
async def test_a_real_client_shares_streams_and_replies(
    make_cache: Any, openai: OpenAIStub, write: str, read: str
) -> None:
    """B35: ChatOpenAI over real HTTP, usage included."""
    cache = make_cache()
    model = cached_streams(_chat(openai, stream_usage=True), cache)
    first = await _ask(model, write)
    second = await _ask(model, read)
    assert openai.calls == 1
    assert second.text.strip() == first.text.strip() == "hello there friend"
    assert second.usage_metadata is not None
    assert second.usage_metadata["total_tokens"] == 8
    assert second.response_metadata["finish_reason"] == "stop"


def test_a_stream_that_was_cut_is_not_kept(make_cache: Any, openai: OpenAIStub) -> None:
    """B19: OpenAI names an end; a stream without one is no whole reply."""
    openai.finish_reason = None
    model = cached_streams(_chat(openai), make_cache())
    list(model.stream(QUESTION))
    openai.finish_reason = "stop"
    list(model.stream(QUESTION))
    list(model.stream(QUESTION))
    assert openai.calls == 2


def test_a_consumer_that_stops_early_leaves_nothing(make_cache: Any) -> None:
    """B19, B35: two words of three are no answer."""
    cache = make_cache()
    model = cached_streams(StreamingModel().told("one two three", "full answer"), cache)
    stream = model.stream(QUESTION)
    assert [next(stream).content, next(stream).content] == ["one ", "two "]
    stream.close()  # type: ignore[attr-defined]  # a generator, declared as an iterator
    assert cache.stats().entries == 0
    assert model.invoke(QUESTION).content == "full answer"


async def test_an_async_consumer_that_stops_early_leaves_nothing(make_cache: Any) -> None:
    """B19, B35: the other colour."""
    cache = make_cache()
    model = cached_streams(StreamingModel().told("one two three", "full answer"), cache)
    stream = model.astream(QUESTION)
    assert (await anext(stream)).content == "one "
    await stream.aclose()  # type: ignore[attr-defined]  # a generator, declared as an iterator
    assert cache.stats().entries == 0
    assert (await model.ainvoke(QUESTION)).content == "full answer"


async def test_a_hit_may_be_left_early(make_cache: Any) -> None:
    """B35: and is there for the next one."""
    model = cached_streams(StreamingModel().told("one two three"), make_cache())
    model.invoke(QUESTION)
    stream = model.astream(QUESTION)
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]  # a generator, declared as an iterator
    assert (await _ask(model, "stream")).content == "one two three"
    assert model.calls == 1


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_an_error_in_mid_stream_is_raised_and_nothing_kept(make_cache: Any, way: str) -> None:
    """B19: the model's own exception, the words before it, and no entry."""
    cache = make_cache()
    error = ConnectionError("lost")
    model = cached_streams(StreamingModel().told(error, "full answer"), cache)
    heard = Heard()
    with pytest.raises(ConnectionError) as raised:
        await _ask(model, way, config={"callbacks": [heard]})
    assert raised.value is error
    assert heard.tokens == ["cut "]
    assert heard.errors == 1
    assert cache.stats().entries == 0
    assert (await _ask(model, way)).content == "full answer"


@tool
def look(city: str) -> str:
    """Looks."""
    return city


class Reading(BaseModel):
    """A reading."""

    value: int


def test_tools_and_schemas_can_be_bound(make_cache: Any, openai: OpenAIStub) -> None:
    """B35: the copy is of the model's own class; what is bound counts."""
    model = cached_streams(_chat(openai), make_cache())
    assert isinstance(model, ChatOpenAI)
    function = {"name": "look", "arguments": '{"city": "Rome"}'}
    openai.reply = {
        "content": None,
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }
    openai.finish_reason = "tool_calls"
    bound = model.bind_tools([look])
    for _ in range(2):
        whole: Any = None
        for chunk in bound.stream(QUESTION):
            whole = chunk if whole is None else whole + chunk
        assert [(c["name"], c["args"]) for c in whole.tool_calls] == [("look", {"city": "Rome"})]
    assert openai.calls == 1
    openai.reply, openai.finish_reason = {"role": "assistant", "content": '{"value": 7}'}, "stop"
    structured = model.with_structured_output(Reading, method="json_mode")
    for _ in range(2):
        assert list(structured.stream(QUESTION))[-1] == Reading(value=7)
        assert structured.invoke(QUESTION) == Reading(value=7)
    assert openai.calls == 2


@pytest.mark.parametrize("make", [ScriptedModel, lambda: ScriptedModel(disable_streaming=True)])
async def test_a_model_that_cannot_stream_answers_through_invoke(
    make_cache: Any, make: Any
) -> None:
    """B35: `stream` of such a model is one chunk, from the cache too."""
    model = cached_streams(make(), make_cache())
    assert len({(await _ask(model, way)).content for way in WAYS}) == 1
    assert model.calls == 1


class OnlySync(ScriptedModel):
    """Streams in one colour only; LangChain runs it on a thread for the other."""

    def _stream(self, messages: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        yield from StreamingModel._chunks(self, messages)  # type: ignore[arg-type]


async def test_a_model_that_streams_in_one_colour_is_asked_once(make_cache: Any) -> None:
    """B35: one lookup and one store, whoever does the work."""
    cache = make_cache()
    model = cached_streams(OnlySync(), cache)
    assert len({(await _ask(model, way)).content for way in ("astream", *WAYS)}) == 1
    assert model.calls == 1
    assert (cache.stats().misses, cache.stats().hits) == (1, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FakeListChatModel(responses=["hello world"]),
        lambda: GenericFakeChatModel(messages=iter([AIMessage("hello world")] * 9)),
    ],
)
async def test_models_that_langchain_ships_are_served(make_cache: Any, make: Any) -> None:
    """B35: also where the provider names no end and there is no serialised form."""
    model: BaseChatModel = cached_streams(make(), make_cache())
    texts = {(await _ask(model, way)).text for way in ("stream", "astream", "stream")}
    assert texts == {"hello world"}


def test_blocks_in_langchains_own_form_come_back_in_it(make_cache: Any) -> None:
    """B35: `output_version="v1"`: written by a stream, read whole, and the reverse."""
    reply = done([{"type": "text", "text": "so"}])
    for write, read in (("stream", "invoke"), ("invoke", "stream")):
        cache = make_cache(namespace=write)
        model = cached_streams(StreamingModel(output_version="v1").told(reply), cache)
        replies = []
        for way in (write, read):
            if way == "invoke":
                replies.append(model.invoke(QUESTION))
            else:
                whole: Any = None
                for chunk in model.stream(QUESTION):
                    whole = chunk if whole is None else whole + chunk
                replies.append(whole)
        assert model.calls == 1
        texts = [[b["text"] for b in r.content if b["type"] == "text"] for r in replies]
        assert texts == [["so"]] * 2


def test_a_consumer_that_writes_into_chunks_does_not_reach_the_store(make_cache: Any) -> None:
    """B29: what is handed on is not what is kept."""
    model = cached_streams(StreamingModel().told("one two three"), make_cache())
    for chunk in model.stream(QUESTION):
        chunk.content = "spoilt"
    assert model.invoke(QUESTION).content == "one two three"


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_graph_shows_each_message_once(make_cache: Any, way: str) -> None:
    """B35, B31: LangGraph's messages mode: tokens add up to one message, on a hit as on a miss."""
    model = cached_streams(StreamingModel().told("one two three"), make_cache())
    graph = StateGraph(MessagesState)
    if way == "sync":
        graph.add_node("say", lambda state: {"messages": [model.invoke(state["messages"][-1:])]})
    else:

        async def say(state: Any) -> Any:
            return {"messages": [await model.ainvoke(state["messages"][-1:])]}

        graph.add_node("say", say)
    graph.add_edge(START, "say")
    app = graph.compile()
    asked: Any = {"messages": [HumanMessage(QUESTION)]}
    for _ in range(2):
        stream: AsyncIterator[Any] = app.astream(asked, stream_mode="messages")
        shown = (
            [message for message, _ in app.stream(asked, stream_mode="messages")]
            if way == "sync"
            else [message async for message, _ in stream]
        )
        assert len({message.id for message in shown}) == 1
        assert "".join(message.text for message in shown) == "one two three"
    assert model.calls == 1


def test_wrapping_twice_wraps_once(make_cache: Any) -> None:
    """B35: the second cache takes the place of the first."""
    one, two = make_cache(namespace="one"), make_cache(namespace="two")
    model = cached_streams(cached_streams(StreamingModel(), one), two)
    list(model.stream(QUESTION))
    list(model.stream(QUESTION))
    assert model.calls == 1
    assert (one.stats().entries, two.stats().entries) == (0, 1)


def test_the_original_model_is_left_alone(make_cache: Any, streaming: StreamingModel) -> None:
    """B35: it keeps its class and has no cache."""
    cached_streams(streaming, make_cache())
    assert type(streaming) is StreamingModel
    assert streaming.cache is None
    assert all(isinstance(chunk, AIMessageChunk) for chunk in streaming.stream(QUESTION))
