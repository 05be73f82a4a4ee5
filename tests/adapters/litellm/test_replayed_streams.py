"""B36: how a stored reply is streamed by LiteLLM: all that it had, in pieces, at a pace."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

import litellm_hooks
from tests.services.litellm_stores import told, wait_for_stores
from tests.services.openai_api import Reply

litellm = pytest.importorskip("litellm", reason="needs the extra litellm")

LONG = "lorem ipsum dolor " * 6_000

REPLIES = {
    "text": Reply("one two three four"),
    "one token": Reply("yes"),
    "chinese": Reply("法国的首都是巴黎，人口超过二百万。"),
    "two calls": Reply(
        None, "tool_calls", (("look", '{"city": "Rome"}'), ("look", '{"city": "Köln"}'))
    ),
    "text and a call": Reply("Let me look.", "tool_calls", (("look", '{"city": "Rome"}'),)),
    "reasoning": Reply("so it is", reasoning="let me see about that"),
    "long": Reply(LONG),
}


@pytest.fixture
def cache():
    backend = litellm_hooks.install(":memory:", strict=True)
    yield backend.semcache
    litellm_hooks.uninstall()


def _chunks(url, question, colour, **options):
    call = {
        "model": "openai/gpt-4o",
        "api_key": "sk-1",
        "api_base": url,
        "messages": [{"role": "user", "content": question}],
        "stream": True,
    } | options

    before = told()

    async def later():
        stream = await litellm.acompletion(**call)
        chunks = [chunk async for chunk in stream]
        await asyncio.to_thread(wait_for_stores, before)
        return chunks

    if colour == "async":
        return asyncio.run(later())
    chunks = list(litellm.completion(**call))
    wait_for_stores(before)
    return chunks


def _whole(chunks):
    """What a client makes of the deltas."""
    text, reasoning, calls, ends, roles = "", "", {}, [], []
    for chunk in chunks:
        for choice in chunk.choices:
            delta = choice.delta
            text += delta.content or ""
            reasoning += getattr(delta, "reasoning_content", None) or ""
            roles += [delta.role] if delta.role else []
            ends += [choice.finish_reason] if choice.finish_reason else []
            for call in delta.tool_calls or []:
                name, arguments = calls.get(call.index, ("", ""))
                said = call.function.arguments or ""
                calls[call.index] = (name + (call.function.name or ""), arguments + said)
    return text, reasoning, calls, ends, roles


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("name", REPLIES)
def test_a_replayed_stream_has_all_that_the_original_had(upstream, colour, name):
    """Text, reasoning, calls by index, one role first, one finish reason, and usage if asked."""
    reply, question = REPLIES[name], f"Replay {name} for {colour}?"
    upstream.says[question] = reply
    usage = {"stream_options": {"include_usage": True}}
    first = _chunks(upstream.url, question, colour, **usage)
    before = upstream.calls
    second = _chunks(upstream.url, question, colour, **usage)
    assert upstream.calls == before
    text, reasoning, calls, ends, roles = _whole(second)
    assert (text, reasoning) == (reply.content or "", reply.reasoning)
    assert [json.loads(said) for _, said in calls.values()] == [
        json.loads(said) for _, said in reply.tool_calls
    ]
    assert sorted(calls) == list(range(len(reply.tool_calls)))
    assert [name for name, _ in calls.values()] == [name for name, _ in reply.tool_calls]
    assert ends == [reply.finish_reason]
    assert roles[:1] == ["assistant"]
    assert second[0].choices[0].delta.role == "assistant"
    assert [c.usage.total_tokens for c in second if getattr(c, "usage", None)] == [8]
    assert _whole(first)[:4] == (text, reasoning, calls, ends)
    pieces = [c for c in second if c.choices and c.choices[0].delta.content]
    assert len(pieces) > 1 or name in ("one token", "two calls")


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_reader_that_stops_early_leaves_the_entry_whole(upstream, colour):
    question = f"Stop early with {colour}?"
    upstream.says[question] = Reply("one two three four")
    _chunks(upstream.url, question, colour)
    call = {
        "model": "openai/gpt-4o",
        "api_key": "sk-1",
        "api_base": upstream.url,
        "messages": [{"role": "user", "content": question}],
        "stream": True,
    }

    async def later():
        stream = await litellm.acompletion(**call)
        await anext(stream)
        await stream.aclose()

    if colour == "async":
        asyncio.run(later())
    else:
        stream = litellm.completion(**call)
        next(stream)
        stream.close()
    before = upstream.calls
    assert _whole(_chunks(upstream.url, question, colour))[0] == "one two three four"
    assert upstream.calls == before


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_replay_can_be_paced(upstream, colour):
    """16 characters after the first word at 80 a second."""
    litellm_hooks.install(":memory:", strict=True, streams={"pace": 80.0})
    try:
        question = f"Paced {colour}?"
        upstream.says[question] = Reply("one two three four six")
        _chunks(upstream.url, question, colour)
        started = time.monotonic()
        assert _whole(_chunks(upstream.url, question, colour))[0] == "one two three four six"
        assert time.monotonic() - started > 0.2 + 0.1
    finally:
        litellm_hooks.uninstall()


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(("reason", "again"), [("length", 1), ("content_filter", 1), ("stop", 0)])
def test_only_a_whole_stream_is_kept(upstream, reason, again):
    question = f"Does it end with {reason}?"
    upstream.says[question] = Reply("one two three", reason)
    _chunks(upstream.url, question, "async")
    before = upstream.calls
    _chunks(upstream.url, question, "async")
    assert upstream.calls - before == again


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_an_answer_that_repeats_itself_is_replayed(upstream, colour):
    """LiteLLM takes equal chunks in a row for a model that has lost its way."""
    question, text = f"Say it often, {colour}.", "word " * 20_000
    upstream.says[question] = Reply(text)
    litellm.completion(
        model="openai/gpt-4o",
        api_key="sk-1",
        api_base=upstream.url,
        messages=[{"role": "user", "content": question}],
    )
    calls = upstream.calls
    chunks = _chunks(upstream.url, question, colour)
    assert "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == text
    assert upstream.calls == calls
