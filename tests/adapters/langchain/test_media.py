"""Pictures, sounds, files and odd shapes of content."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_semcache import Request, Response, SemanticCache
from langchain_semcache.records import Selection
from langchain_semcache.testing.fakes import ScriptedEncoder
from tests.adapters.langchain.models import ScriptedModel

TEXT = {"type": "text", "text": "Describe"}
BIG = "data:image/png;base64," + "A" * 2_000_000


def _image(url: str, **fields: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **fields}}


CONTENTS: list[Any] = [
    "Describe",
    [TEXT, _image("data:image/png;base64,AAAA")],
    [TEXT, _image("data:image/png;base64,BBBB")],
    [TEXT, _image("http://host.example/a.png")],
    [TEXT, _image("http://host.example/b.png")],
    [TEXT, _image("http://host.example/a.png", detail="low")],
    [_image("http://host.example/a.png"), TEXT],
    [TEXT, {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}],
    [TEXT, {"type": "input_audio", "input_audio": {"data": "BBBB", "format": "wav"}}],
    [TEXT, {"type": "file", "file": {"filename": "f.pdf", "file_data": "AAAA"}}],
    [TEXT, {"type": "file", "file": {"filename": "f.pdf", "file_data": "BBBB"}}],
    [TEXT, {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": "AAAA"}],
    [TEXT, {"type": "image", "source": {"type": "base64", "data": "AAAA"}}],
    [TEXT, {"type": "image", "source": {"type": "base64", "data": "BBBB"}}],
    [TEXT, _image(BIG)],
    [TEXT, _image(BIG + "B")],
]


def test_another_picture_is_another_request(
    cache: SemanticCache, model: ScriptedModel, encoder: ScriptedEncoder
) -> None:
    """B14: every pair misses, each one hits again, and no base64 reaches encoder or store."""
    replies = [model.invoke([HumanMessage(content)]).content for content in CONTENTS]
    assert len(set(replies)) == len(CONTENTS)
    assert [model.invoke([HumanMessage(content)]).content for content in CONTENTS] == replies
    assert model.calls == len(CONTENTS)
    assert encoder.texts == ["Describe"]
    entries = list(cache.semcache.core.workplace.index.scan(Selection()))
    assert max(len(repr(entry)) for entry in entries) < 5_000


def test_a_picture_earlier_in_the_conversation_counts(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B14: what was shown before is part of what is asked."""
    for data in ("AAAA", "BBBB"):
        shown = HumanMessage([TEXT, _image(f"data:image/png;base64,{data}")])
        model.invoke([shown, AIMessage("A thing."), HumanMessage("What colour?")])
    assert model.calls == 2


ODD: list[Any] = [
    None,
    "",
    [],
    ["a", {"type": "text", "text": "b"}],
    [{"type": "tool_use", "id": "t", "name": "n", "input": {}}],
    [{"type": "tool_result", "tool_use_id": "t", "content": "r"}],
    [{"type": "thinking", "thinking": "hm", "signature": "s"}],
    [{"type": "something_new", "value": {"x": 1}}],
    [{"no": "type"}],
    [{"type": "text"}],
    [{"type": "text", "text": None}],
    [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}],
    [1, 2.5, None, True],
    {"a": "mapping"},
]


@pytest.mark.parametrize("content", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("role", ["user", "assistant", "tool", "a_new_role", None])
def test_odd_content_is_never_an_error(
    cache: SemanticCache, content: Any, role: str | None
) -> None:
    """B15: through the core: whatever the shape, it is served exactly or not at all."""
    messages = [{"role": "user", "content": "hi"}, {"role": role, "content": content}]
    request = Request(messages=messages, model="m")
    cache.semcache.store(request, Response.from_text("answer"))
    found = cache.semcache.lookup(request)
    assert found.hit
    assert found.response == Response.from_text("answer")


def test_odd_contents_are_told_apart(cache: SemanticCache) -> None:
    """B15: none of them stands for another one; only the empty ones are alike."""
    core = cache.semcache.core
    requests = [Request(messages=[{"role": "user", "content": content}]) for content in ODD]
    digests = {core.resolve(request).query.fingerprint for request in requests}
    assert len(digests) >= len(ODD) - 4


def test_unknown_parts_are_matched_exactly_only(
    cache: SemanticCache, model: ScriptedModel, encoder: ScriptedEncoder
) -> None:
    """B15: what we cannot read is not compared by meaning."""
    for content in itertools.repeat([TEXT, {"type": "something_new", "v": 1}], 2):
        model.invoke([HumanMessage(content)])
    assert model.calls == 1
    assert encoder.texts == []


def test_message_objects_and_mappings_are_one_request(cache: SemanticCache) -> None:
    """B15: objects of any class that look like messages."""
    shapes: list[Any] = [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        SimpleNamespace(role="user", content="hi"),
        HumanMessage("hi"),
        {"type": "human", "content": "hi"},
    ]
    cache.semcache.store(Request(messages="hi"), Response.from_text("answer"))
    for shape in shapes:
        assert cache.semcache.lookup(Request(messages=[shape])).hit, shape


def test_a_call_without_messages_is_skipped(cache: SemanticCache) -> None:
    """B15: embedding calls and the like have nothing that could be asked."""
    request = Request(messages=[], model="m")
    assert not cache.semcache.store(request, Response.from_text("answer")).stored
    assert not cache.semcache.lookup(request).hit


@pytest.mark.parametrize(
    "prompt", ["", "[]", "[{", '[{"lc"', '[{"lc": 2}]', "null", "{}", "\ud83d"]
)
@pytest.mark.parametrize("llm_string", ["", "[]", "{", "{}---", "[('a', ", "a" * 10, "[('a',1)]x"])
def test_strings_that_langchain_never_wrote_are_no_trouble(
    cache: SemanticCache, prompt: str, llm_string: str
) -> None:
    """B15: whatever the two strings are, nothing is raised and nothing confused."""
    from langchain_core.outputs import Generation

    cache.update(prompt, llm_string, [Generation(text="x")])
    cache.lookup(prompt, llm_string)
    assert cache.lookup(prompt + "other", llm_string) is None
    assert cache.lookup(prompt, llm_string + "other") is None
