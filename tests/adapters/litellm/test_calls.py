"""Through a real proxy: what hits, what is kept apart, and what a client gets either way."""

from __future__ import annotations

import json
from contextlib import nullcontext, suppress

import openai
import pytest

from tests.adapters.litellm.conftest import sse
from tests.services.openai_api import Reply

FRANCE = "What is the capital of France?"
REWORDED = "Tell me the capital of France"


def test_the_same_and_a_reworded_question_are_answered_once(ask):
    """B21: and who is asked for the answer can be seen."""
    first = ask(FRANCE)
    assert (first.calls, first.reason) == (1, "no_candidate")
    again, reworded = ask(FRANCE), ask(REWORDED)
    assert (again.calls, again.reason, again.text) == (0, "exact", first.text)
    assert (reworded.calls, reworded.reason, reworded.text) == (0, "semantic", first.text)
    assert reworded.headers["x-litellm-cache-key"] == again.headers["x-litellm-cache-key"]
    assert 0.5 < float(reworded.headers["x-litellm-semantic-similarity"]) < 1.0
    assert 0.5 < float(reworded.headers["x-semcache-confidence"]) <= 1.0
    assert float(reworded.headers["x-semcache-age"]) >= 0.0
    other = ask("What is the capital of Spain?")
    assert (other.calls, other.hit) == (1, False)


REPLIES = {
    "text": Reply("Paris is the capital of France."),
    "one token": Reply("Paris"),
    "long": Reply(" ".join(f"{n:050}" for n in range(2_000))),
    "tools": Reply(
        None, "tool_calls", (("look_up", '{"city": "Paris"}'), ("look_up", '{"city": "Lyon"}'))
    ),
    "reasoning": Reply("Paris.", reasoning="France has a capital."),
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]


@pytest.mark.parametrize("written", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("read", [False, True], ids=["to plain", "to stream"])
@pytest.mark.parametrize("kind", REPLIES)
def test_streams_and_plain_calls_share_one_entry(ask, upstream, kind, written, read):
    """B36: all four ways round, whatever the reply holds."""
    question, reply = f"Tell me about {kind}, please.", REPLIES[kind]
    upstream.says[question] = reply
    options = {"tools": TOOLS} if kind == "tools" else {}
    assert ask(question, stream=written, **options).calls == 1
    hit = (
        ask(question, stream=read, stream_options={"include_usage": True}, **options)
        if read
        else ask(question, **options)
    )
    assert (hit.calls, hit.reason) == (0, "exact")
    assert hit.text == (reply.content or "")
    if not read:
        message = hit.raw.choices[0].message
        assert hit.raw.choices[0].finish_reason == reply.finish_reason
        calls = [(c.function.name, c.function.arguments) for c in message.tool_calls or ()]
        assert calls == list(reply.tool_calls)
        assert (getattr(message, "reasoning_content", None) or "") == reply.reasoning
        assert hit.raw.usage.total_tokens == 8
        return
    choices = [chunk.choices[0] for chunk in hit.chunks if chunk.choices]
    assert choices[0].delta.role == "assistant"
    endings = [choice.finish_reason for choice in choices if choice.finish_reason]
    assert endings == [reply.finish_reason]
    assert hit.chunks[-1].usage.total_tokens == 8
    joined: dict[int, list[str]] = {}
    for choice in choices:
        for call in choice.delta.tool_calls or ():
            joined.setdefault(call.index, []).append(call.function.arguments or "")
    assert [json.loads("".join(said)) for said in joined.values()] == [
        json.loads(arguments) for _, arguments in reply.tool_calls
    ]
    reasoned = "".join(getattr(c.delta, "reasoning_content", None) or "" for c in choices)
    assert reasoned == reply.reasoning


def test_a_replayed_stream_ends_as_streams_do(ask, proxy):
    body = {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "How does a stream end?"}],
        "cache": {"namespace": ask.namespace},
    }
    ask("How does a stream end?")
    lines = sse(proxy, body)
    assert lines[-1] == "data: [DONE]"
    assert all(line.startswith("data: ") for line in lines)


def test_a_client_that_stops_reading_leaves_nothing_behind(ask, upstream):
    question = "Who stops reading this?"
    upstream.says[question] = Reply(" ".join(str(n) for n in range(2_000)))
    stream = ask.client().chat.completions.create(
        model="gpt-4o",
        messages=[{"role": "user", "content": question}],
        stream=True,
        extra_body={"cache": {"namespace": ask.namespace}},
    )
    next(iter(stream))
    stream.close()
    whole = ask(question)
    assert whole.text.endswith("1999")


def test_a_stream_that_breaks_off_is_not_stored(ask, upstream):
    question = "What breaks in the middle?"
    upstream.says[question] = Reply("one two three four five", cut_after=3)
    with suppress(openai.APIError):  # releases from 1.110 on say themselves that it broke off
        ask(question, stream=True)
    upstream.says[question] = Reply("one two three four five")
    whole = ask(question)
    assert (whole.calls, whole.text) == (1, "one two three four five")


@pytest.mark.parametrize(
    "bad",
    [
        Reply("half an ans", "length"),
        Reply("", "content_filter"),
        Reply(""),
        Reply("  \n "),
        Reply(None, refusal="I cannot help with that."),
        Reply("?", choices=0),
        Reply("busy", status=429),
        Reply("down", status=500),
    ],
    ids=["length", "filter", "empty", "blank", "refusal", "no choices", "429", "500"],
)
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_what_is_no_whole_answer_is_asked_again(ask, upstream, bad, stream):
    """B19."""
    if stream and bad.choices == 0:
        pytest.skip("a stream has no such form")
    question = "Is this a whole answer?"
    upstream.says[question] = bad
    with pytest.raises(openai.APIError) if bad.status != 200 else nullcontext():
        ask(question, stream=stream)
    upstream.says[question] = Reply("full answer")
    again = ask(question)
    assert (again.calls, again.text) == (1, "full answer")
    assert ask(question).calls == 0


def schema(*names: str) -> dict:
    return {
        "type": "json_schema",
        "json_schema": {
            "name": "x",
            "schema": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in names},
            },
        },
    }


DIFFERENT = [
    {"model": "gpt-4o-mini"},
    {"temperature": 0},
    {"temperature": 1},
    {"top_p": 0.5},
    {"max_tokens": 16},
    {"stop": ["x"]},
    {"seed": 1},
    {"n": 2},
    {"presence_penalty": 1},
    {"frequency_penalty": 1},
    {"logit_bias": {"1": 5}},
    {"logprobs": True},
    {"reasoning_effort": "low", "body": {"allowed_openai_params": ["reasoning_effort"]}},
    {"body": {"top_k": 5}},
    {"body": {"safety_settings": [{"category": "x", "threshold": "none"}]}},
    {"body": {"prompt_variables": {"name": "x"}}},
    {"tools": TOOLS},
    {"tools": TOOLS, "tool_choice": "none"},
    {"tools": TOOLS, "tool_choice": "required"},
    {"tools": TOOLS, "parallel_tool_calls": False},
    {"tools": [*TOOLS, {**TOOLS[0], "function": {**TOOLS[0]["function"], "name": "other"}}]},
    {"response_format": {"type": "json_object"}},
    {"response_format": schema("a")},
    {"response_format": schema("a", "b")},
]


def test_everything_that_changes_an_answer_has_answers_of_its_own(ask):
    """B16 and B17: one change at a time, all of them different from one another."""
    calls = [ask(FRANCE, **options).calls for options in ({}, *DIFFERENT)]
    assert calls == [1] * len(calls)
    assert [ask(FRANCE, **options).calls for options in ({}, *DIFFERENT)] == [0] * len(calls)
    assert not ask(REWORDED, temperature=0.5).hit


def test_what_changes_no_answer_shares_one(ask):
    """B27: the order of keys, who is asked how often, and how long it may take."""
    turned = [{"function": dict(reversed(TOOLS[0]["function"].items())), "type": "function"}]
    assert ask(FRANCE, tools=TOOLS).calls == 1
    for options in (
        {"tools": turned},
        {"tools": TOOLS, "timeout": 30},
        {"tools": TOOLS, "extra_headers": {"x-request-id": "7"}},
        {"tools": TOOLS, "body": {"metadata": {"trace": "1"}}},
    ):
        assert ask(FRANCE, **options).calls == 0, options


def test_the_number_of_choices_and_logprobs_come_back(ask, upstream):
    question = "Two answers, with their odds?"
    upstream.says[question] = Reply("yes it is", choices=2, logprobs=True)
    ask(question, n=2, logprobs=True)
    hit = ask(question, n=2, logprobs=True)
    assert hit.calls == 0
    assert [choice.message.content for choice in hit.raw.choices] == ["yes it is"] * 2
    assert hit.raw.choices[1].logprobs.content[0].token == "yes"


def picture(url: str, **more: str) -> list[dict]:
    parts = [
        {"type": "text", "text": "Describe this."},
        {"type": "image_url", "image_url": {"url": url, **more}},
    ]
    return [{"role": "user", "content": parts}]


def test_another_picture_has_another_answer(ask):
    """B14: also of 2 MB, whatever its place in the message."""
    data = "data:image/png;base64," + "A" * 2_000_000
    conversations = [
        picture("http://x/a.png"),
        picture("http://x/b.png"),
        picture("http://x/a.png", detail="low"),
        picture(data + "A"),
        picture(data + "B"),
        [{"role": "user", "content": list(reversed(picture("http://x/a.png")[0]["content"]))}],
        [{"role": "user", "content": "Describe this."}],
    ]
    assert [ask(said).calls for said in conversations] == [1] * len(conversations)
    assert [ask(said).reason for said in conversations] == ["exact"] * len(conversations)


def test_every_shape_of_content_is_read(ask):
    """B15."""
    called = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
        ],
    }
    told = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}
    shapes = [
        [{"role": "user", "content": [{"type": "text", "text": "How is the weather?"}]}],
        [{"role": "user", "content": "How is the weather?"}, called, told],
        [{"role": "assistant", "content": ""}, {"role": "user", "content": "Anything to say?"}],
    ]
    for said in shapes:
        assert ask(said).calls == 1
        assert ask(said).calls == 0
    assert ask("How is the weather?").calls == 0


def test_embeddings_and_text_completions_pass_through(ask, upstream):
    client = ask.client()
    upstream.says["Once upon"] = Reply("a time")
    for _ in range(2):
        before = upstream.calls
        client.embeddings.create(model="text-embedding-3-small", input="the same")
        client.completions.create(model="instruct", prompt="Once upon")
        assert upstream.calls == before + 2


@pytest.mark.parametrize("written", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("read", [False, True], ids=["to plain", "to stream"])
def test_the_responses_api_is_answered_too(ask, written, read):
    question = "Who wrote the first part of Faust?"
    first = ask(question, api="responses", stream=written)
    assert first.calls == 1
    hit = ask(question, api="responses", stream=read)
    assert (hit.calls, hit.reason, hit.text) == (0, "exact", first.text)
    if read:
        assert hit.chunks[-1].type == "response.completed"
        assert hit.chunks[-1].response.output_text == first.text
    assert not ask(question, api="responses", instructions="In French.").hit
    assert not ask(question).hit, "another API has other answers"


def test_a_response_that_is_not_completed_is_asked_again(ask, upstream):
    question = "Is this response complete?"
    upstream.says[question] = Reply("half", "length")
    ask(question, api="responses")
    upstream.says[question] = Reply("whole")
    assert ask(question, api="responses").text == "whole"


def test_a_stream_of_two_choices_is_not_given_to_one_who_wants_two_answers(ask, upstream):
    """LiteLLM makes one choice of it, with both texts."""
    question = "Two answers in a stream?"
    upstream.says[question] = Reply("yes it is")
    ask(question, n=2, stream=True)
    upstream.says[question] = Reply("yes it is", choices=2)
    plain = ask(question, n=2)
    assert plain.calls == 1
    assert len(plain.raw.choices) == 2


def test_a_conversation_that_the_provider_holds_moves_on(ask):
    assert [
        ask("continue", api="responses", conversation="conv_1", settle=False).calls
        for _ in range(2)
    ] == [1, 1]


def test_several_models_in_one_call_leave_nothing_under_either_name(ask, upstream):
    question = "Which of two models says this?"
    both = {"model": "gpt-4o,gpt-4o-mini"}
    ask.client().post(
        "/chat/completions",
        cast_to=object,
        body={"messages": [{"role": "user", "content": question}], **both},
    )
    for model in ("gpt-4o", "gpt-4o-mini"):
        assert ask(question, model=model, cache={"namespace": ""}).calls == 1


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_the_provider_is_told_nothing_of_ours(ask, upstream, api):
    ask("What does the provider see?", api=api, body={"metadata": {"mine": "1"}})
    assert "semcache" not in json.dumps(upstream.bodies[-1])
    assert "hash-of" not in json.dumps(upstream.bodies[-1])
