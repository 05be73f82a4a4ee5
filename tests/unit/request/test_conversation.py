"""What was asked: messages of every shape, the history before a question, and its limits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    message_to_dict,
)

from langchain_semcache.records import Message, Part, PartKind, Reason, ToolCall
from langchain_semcache.request import (
    RequestSettings,
    was_told,
    with_exact_history,
)
from tests.unit.request.conftest import Resolve

BIG = "data:image/png;base64," + "A" * 2_000_000


def user(content: object) -> dict[str, object]:
    return {"role": "user", "content": content}


def assistant(content: object, **fields: object) -> dict[str, object]:
    return {"role": "assistant", "content": content, **fields}


def call(call_id: str, city: str) -> dict[str, object]:
    function = {"name": "get", "arguments": f'{{"city": "{city}", "unit": "C"}}'}
    return {"id": call_id, "type": "function", "function": function}


def text(value: str) -> dict[str, object]:
    return {"type": "text", "text": value}


def image(url: str, **fields: object) -> dict[str, object]:
    return {"type": "image_url", "image_url": {"url": url, **fields}}


@pytest.mark.parametrize(
    "messages",
    [
        "hi",
        ["hi"],
        [("human", "hi")],
        [user("hi")],
        [user([text("hi")])],
        [user(["hi"])],
        [user([{"type": "input_text", "text": "hi"}])],
        [user([{"text": "hi"}])],
        [user([text("hi"), text("")])],
        [user([{**text("hi"), "cache_control": {"type": "ephemeral"}, "id": "p1"}])],
        [{"type": "human", "content": "hi"}],
        [{"type": "HumanMessage", "content": "hi", "additional_kwargs": {}, "name": None}],
        [Message(role="user", parts=(Part(PartKind.TEXT, "hi"),))],
        [HumanMessage("hi", id="x")],
        [message_to_dict(HumanMessage("hi"))],
        [{"lc": 1, "type": "constructor", "id": ["HumanMessage"],
          "kwargs": {"type": "human", "content": "hi"}}],
        [SimpleNamespace(role="user", content="hi")],
        [{"role": "user", "content": "hi", "id": "m1", "refusal": None, "index": 0}],
    ],
)  # fmt: skip
def test_one_message_in_every_shape(ask: Resolve, messages: Any) -> None:
    """However it is written, it is one user message with one text."""
    assert ask(messages).query == ask("hi").query
    assert ask(messages).query.exact_only is None


@pytest.mark.parametrize(
    "lone",
    [
        {"role": "user", "content": "hi"},
        {"content": "hi", "role": "user"},
        HumanMessage("hi"),
        Message(role="user", parts=(Part(PartKind.TEXT, "hi"),)),
    ],
)
def test_a_message_may_stand_alone(ask: Resolve, lone: Any) -> None:
    """One message is a conversation of one message."""
    assert ask(lone) == ask([lone]) == ask("hi")


def test_volatile_parts_of_a_reply_do_not_count(ask: Resolve) -> None:
    """Ids, usage and metadata of an earlier reply are not what was asked."""
    plain = ask([user("q"), assistant("a"), user("next")])
    noisy: list[BaseMessage] = [
        HumanMessage("q", id="1"),
        AIMessage(
            "a",
            id="2",
            response_metadata={"system_fingerprint": "fp1"},
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
            additional_kwargs={"refusal": None},
        ),
        HumanMessage([text("next")], id="3"),
    ]
    assert ask(noisy).query == plain.query


PINNED: list[list[object]] = [
    [user("q"), user("a"), user("next")],
    [user("q"), {**assistant("a"), "name": "bot"}, user("next")],
    [{**user("q"), "name": "ann"}, assistant("a"), user("next")],
    [user("qa"), user("next")],
    [user("q"), assistant("a"), {"role": "system", "content": "s"}, user("next")],
    [user("q"), assistant("a", prefix=True), user("next")],
    [user("q"), assistant("a"), user("b"), user("next")],
]
COMPARED: list[list[object]] = [
    [user("q"), assistant("b"), user("next")],
    [user("q"), assistant("an"), user("ext")],
    [user("q"), assistant(["a", ""]), assistant("b"), user("next")],
    [user("next")],
]
CALLED = [user("q"), assistant("a", tool_calls=[call("1", "Oslo")]), user("next")]
EXACTLY = RequestSettings(compare_history=False)


@pytest.mark.parametrize("history", PINNED)
def test_what_changes_every_answer_is_another_partition(
    ask: Resolve, history: list[object]
) -> None:
    """Names, calls, instructions, unknown fields, and what stands right before the question."""
    plain = ask([user("q"), assistant("a"), user("next")]).query
    assert ask(history).query.partition != plain.partition
    assert ask(history).query.fingerprint != plain.fingerprint


@pytest.mark.parametrize("history", COMPARED)
def test_what_was_said_is_handed_on_to_be_compared(ask: Resolve, history: list[object]) -> None:
    """One partition for chats of any length: what a question refers to is looked at later."""
    plain = ask([user("q"), assistant("a"), user("next")]).query
    query = ask(history).query
    assert query.partition == plain.partition
    assert query.fingerprint != plain.fingerprint
    assert query.turns != plain.turns == (("user", "q"), ("assistant", "a"))
    assert query.exact_only is None


@pytest.mark.parametrize("history", [*PINNED, *COMPARED, CALLED])
def test_the_whole_chat_counts_where_that_is_asked_for(ask: Resolve, history: list[object]) -> None:
    """Content, role, name, calls and the borders between messages."""
    plain = ask([user("q"), assistant("a"), user("next")], settings=EXACTLY).query
    other = ask(history, settings=EXACTLY).query
    assert other.partition != plain.partition
    assert other.fingerprint != plain.fingerprint
    assert plain.turns == other.turns == ()


@pytest.mark.parametrize("followup", ["How old is that person?", "yes", "continue"])
def test_a_follow_up_brings_its_chat_along(ask: Resolve, followup: str) -> None:
    """What the same short question is compared with depends on what was said before it."""
    one = ask([user("Who runs Alpha?"), assistant("Ms A."), user(followup)]).query
    other = ask([user("Who runs Beta?"), assistant("Mr B."), user(followup)]).query
    again = ask([user("Who runs Alpha?"), assistant("Ms A."), user(followup)]).query
    assert one.partition == other.partition
    assert one.turns == (("user", "Who runs Alpha?"), ("assistant", "Ms A."))
    assert other.turns == (("user", "Who runs Beta?"), ("assistant", "Mr B."))
    assert one == again
    assert one.text == followup
    assert one.exact_only is None


STANDING = [
    "From now on answer in French",
    "Always reply with one word.",
    "Pretend you are a pirate",
    "You are a doctor",
    "Call me Bo",
    "Stop using emojis",
    "be concise",
    "Explain everything for a five year old.",
    "Summarise what I send you.",
    "以后都用英文回答",
    "从现在开始用英语",
    "假装你是一只猫",
    "记住，我叫小明",
    "请记得回答要简短",
]


@pytest.mark.parametrize("said", STANDING)
@pytest.mark.parametrize("later", [[], [user("Is tea healthy?"), assistant("Yes.")]])
def test_who_laid_down_how_to_answer_keeps_a_chat_to_oneself(
    ask: Resolve, said: str, later: list[object]
) -> None:
    """An instruction that stands changes every answer after it, whatever that is about."""
    question = user("What is tea?")
    query = ask([user(said), assistant("Fine."), *later, question]).query
    assert query.turns == ()
    assert query.exact_only is None
    plain = ask([user("Hello"), assistant("Fine."), *later, question]).query
    alone = ask([question]).query
    assert len({query.partition, plain.partition, alone.partition}) == 2
    assert plain.partition == alone.partition
    assert ask(
        [user(said), assistant("Fine."), *later, user("What is tea, then?")]
    ).query.partition == (query.partition)


def test_only_the_user_lays_down_how_to_answer(ask: Resolve) -> None:
    """What an assistant says of its own manners is talk."""
    query = ask([user("Hi"), assistant("I always answer in English."), user("What is tea?")]).query
    assert query.turns == (("user", "Hi"), ("assistant", "I always answer in English."))


def test_what_stands_right_before_the_question_is_a_part_of_it(ask: Resolve) -> None:
    """Several messages of a user in a row: the last is compared, the others have to be equal."""
    said = [user("Who runs Alpha?"), assistant("Ms A.")]
    one = ask([*said, user("I mean the bakery."), user("Where is it?")]).query
    other = ask([*said, user("I mean the bank."), user("Where is it?")]).query
    again = ask([user("Hi"), assistant("Hi."), user("I mean the bakery."), user("Where is it?")])
    assert one.turns == other.turns == (("user", "Who runs Alpha?"), ("assistant", "Ms A."))
    assert one.partition != other.partition
    assert one.partition == again.query.partition


def test_a_name_keeps_the_chat_exact(ask: Resolve) -> None:
    """Several people at one table: who asked what matters to the answer."""

    def named(name: str) -> Any:
        return ask([{**user("Hi"), "name": name}, assistant("Hi."), user("What is tea?")]).query

    assert named("ann").turns == named("bo").turns == ()
    assert named("ann").partition != named("bo").partition


TOLD = [
    "I use Windows.",
    "Hi, I'm on Debian",
    "i am vegan",
    "We run a small bakery in Delft",
    "My phone is a Nimbus 4",
    "I'm using Python 3.8",
    "Thanks, and I have a cat",
    "我是素食者",
    "我用的是苹果电脑",
    "我对花生过敏",
    "A plum costs 10 cents.",
    "Document: plums are blue.",
    "Here is my essay. It has three parts.",
    "The meeting was moved to June. Thanks!",
    "资料：苹果一斤十元，每天早上八点开门。",
    "Plums.\n" + "They grow on trees and are eaten by birds. " * 2,
    "word " * 100,
]
ASKED = [
    "I'm looking for a hotel",
    "What if I have a cold?",
    "Can I use a card?",
    "Tell me what I have to do",
    "I watched Jaws last night",
    "Who runs Alpha?",
    "Hi! Is there a museum in Delft?",
    "ok, when does it open",
    "There was a museum in Delft, right?",
    "梨园剧场10:30-18:30开门吗？",
    "介绍一下长城",
]


@pytest.mark.parametrize("said", TOLD)
def test_what_users_tell_of_themselves_or_of_the_matter_is_seen(ask: Resolve, said: str) -> None:
    query = ask([user(said), assistant("Fine."), user("How do I take a screenshot?")]).query
    assert was_told(query)


@pytest.mark.parametrize("said", ASKED)
def test_what_they_ask_is_none_of_it(ask: Resolve, said: str) -> None:
    query = ask([user(said), assistant("Fine."), user("How do I take a screenshot?")]).query
    assert not was_told(query)


def test_an_exact_history_is_compared_with_itself_only(ask: Resolve) -> None:
    """Borders and roles count; what it is asked in does not."""
    chats = [
        [user("a"), assistant("b"), user("q")],
        [user("ab"), assistant(""), user("q")],
        [user("a"), assistant("b"), user("other")],
        [user("q")],
    ]
    one, other, again, alone = (with_exact_history(ask(chat).query) for chat in chats)
    assert one.partition == again.partition
    assert len({one.partition, other.partition, alone.partition, ask("q").query.partition}) == 4
    assert one.turns == ()


def test_several_user_messages_in_a_row(ask: Resolve) -> None:
    """The last is the question, the others are history."""
    query = ask([user("Here is the report."), user("Summarise it")]).query
    assert query.text == "Summarise it"
    assert query.partition != ask([user("Here is a report."), user("Summarise it")]).query.partition


def loop(call_id: str = "c1", city: str = "Oslo", result: str = "12 C") -> list[object]:
    return [
        user("Weather?"),
        assistant(None, tool_calls=[call(call_id, city)]),
        {"role": "tool", "tool_call_id": call_id, "content": result},
    ]


def test_a_tool_turn_is_exact_only(ask: Resolve) -> None:
    """Each step of an agent is its own request; other arguments or results are another one."""
    first, second = ask(loop()[:1]).query, ask(loop()).query
    assert second.exact_only is Reason.TOOL_HISTORY
    assert first.fingerprint != second.fingerprint
    assert ask(loop(result="-3 C")).query.fingerprint != second.fingerprint
    assert ask(loop(city="Rome")).query.fingerprint != second.fingerprint
    assert ask([*loop(), user("thanks")]).query.exact_only is Reason.TOOL_HISTORY


def test_call_ids_are_numbered_and_remembered(ask: Resolve) -> None:
    """Other ids in the same places are the same request; the raw ones come out for the reply."""
    one, other = ask(loop("c1")).query, ask(loop("zzz")).query
    assert one.fingerprint == other.fingerprint
    assert (one.call_ids, other.call_ids) == (("c1",), ("zzz",))


def test_calls_of_every_shape_are_one_request(ask: Resolve) -> None:
    """OpenAI, LangChain and Anthropic write the same call in different ways."""
    arguments = {"unit": "C", "city": "Oslo"}
    langchain: list[object] = [
        HumanMessage("Weather?"),
        AIMessage("", tool_calls=[{"name": "get", "args": arguments, "id": "r1"}]),
        ToolMessage("12 C", tool_call_id="r1"),
    ]
    record = [
        user("Weather?"),
        Message(role="assistant", tool_calls=(ToolCall("get", '{"city":"Oslo","unit":"C"}', "k"),)),
        {"role": "tool", "tool_call_id": "k", "content": "12 C"},
    ]
    block = [
        user("Weather?"),
        assistant([{"type": "tool_use", "id": "t", "name": "get", "input": arguments}]),
        {"role": "tool", "tool_call_id": "t", "content": "12 C"},
    ]
    items = [
        user("Weather?"),
        {"type": "function_call", "call_id": "i", "id": "fc", "name": "get",
         "arguments": '{"city":"Oslo","unit":"C"}'},
        {"type": "function_call_output", "call_id": "i", "output": "12 C"},
    ]  # fmt: skip
    expected = ask(loop()).query.fingerprint
    for messages in (langchain, record, block, items):
        assert ask(messages).query.fingerprint == expected


def test_a_block_and_a_list_of_the_same_call_count_once(ask: Resolve) -> None:
    """Some messages carry a call twice."""
    block = {"type": "tool_use", "id": "t", "name": "get", "input": {"a": 1}}
    twice = AIMessage([block], tool_calls=[{"name": "get", "args": {"a": 1}, "id": "t"}])
    once = ask([user("q"), assistant([block])]).query
    assert ask([HumanMessage("q"), twice]).query.fingerprint == once.fingerprint


def streamed(city: str) -> dict[str, object]:
    text = f'{{"city":"{city}"}}'
    return {"type": "tool_use", "id": "1", "name": "get", "input": {}, "partial_json": text}


def listed(city: str) -> dict[str, object]:
    return {"name": "get", "args": {"city": city}, "id": "1"}


def bare(city: str) -> dict[str, object]:
    return {"type": "tool_use", "id": "1", "name": "get", "input": {"city": city}}


EMPTY: dict[str, object] = {"type": "tool_use", "id": "1", "name": "get", "input": {}}


@pytest.mark.parametrize(
    "written",
    [
        lambda city: AIMessage([streamed(city)], tool_calls=[listed(city)]),
        lambda city: assistant([streamed(city)], tool_calls=[listed(city)]),
        lambda city: assistant([streamed(city)]),
        lambda city: assistant([EMPTY], tool_calls=[listed(city)]),
        lambda city: assistant([bare(city)], tool_calls=[{**listed(city), "args": {}}]),
        lambda city: assistant("", additional_kwargs={"tool_calls": [listed(city)]}),
        lambda city: assistant("", tool_calls=[listed(city)], invalid_tool_calls=[listed(city)]),
    ],
)
def test_arguments_count_wherever_they_are_written(ask: Resolve, written: Any) -> None:
    """A streamed block, a list beside it, or both: it is one call, with its arguments."""
    oslo, rome = (ask([user("q"), written(city)]).query for city in ("Oslo", "Rome"))
    assert oslo.fingerprint != rome.fingerprint
    assert oslo.fingerprint == ask([user("q"), assistant([bare("Oslo")])]).query.fingerprint


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            assistant([bare("Oslo")], tool_calls=[listed("Rome")]),
            assistant([bare("Oslo")], tool_calls=[listed("Oslo")]),
        ),
        (
            assistant([{**streamed("Rome"), "input": {"city": "Oslo"}}]),
            assistant([bare("Oslo")]),
        ),
        (
            assistant("", tool_calls=[{"name": "f", "args": {"a": None}, "id": "1"}]),
            assistant("", tool_calls=[{"name": "f", "args": {}, "id": "1"}]),
        ),
        (
            assistant("", tool_calls=[listed("Oslo")], function_call={"name": "f"}),
            assistant("", tool_calls=[listed("Oslo")]),
        ),
    ],
)
def test_calls_that_contradict_each_other_count_both(ask: Resolve, one: Any, other: Any) -> None:
    """Which of them a client sends is its own affair; null is no absence either."""
    assert ask([user("q"), one]).query.fingerprint != ask([user("q"), other]).query.fingerprint


def test_calls_that_could_not_be_read_count(ask: Resolve) -> None:
    """They go back to the model as they were written, under an id that does not matter."""

    def fingerprint(args: str, name: str = "get", call_id: str = "1") -> str:
        invalid = {"name": name, "args": args, "id": call_id, "error": "e"}
        query = ask([user("q"), assistant("", invalid_tool_calls=[invalid]), user("next")]).query
        assert query.exact_only is Reason.TOOL_HISTORY
        return query.fingerprint

    plain = fingerprint('{"city": "Os')
    assert plain == fingerprint('{"city": "Os', call_id="2")
    assert plain != fingerprint('{"city": "Ro')
    assert plain != fingerprint('{"city": "Os', name="set")
    assert plain != ask([user("q"), assistant(""), user("next")]).query.fingerprint


def test_what_a_service_notes_beside_its_text_is_volatile(ask: Resolve) -> None:
    """Citations in a reply are notes; on a document they are a switch."""
    noted = {**text("a"), "citations": [{"url": "u"}], "annotations": [], "logprobs": [1]}
    history = [user("q"), assistant([noted]), user("next")]
    assert ask(history).query == ask([user("q"), assistant("a"), user("next")]).query
    document = {"type": "document", "source": {"type": "text", "data": "AA"}}
    switched = {**document, "citations": {"enabled": True}}
    one, other = ask([user([document, text("q")])]), ask([user([switched, text("q")])])
    assert one.query.fingerprint != other.query.fingerprint
    assert one.query.partition != other.query.partition
    own = ask([user([{**text("q"), "citations": {"enabled": True}}])]).query
    assert own.fingerprint != ask("q").query.fingerprint


class Raising:
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


class Undumped:
    def model_dump(self) -> object:
        raise RuntimeError


@pytest.mark.parametrize(
    ("messages", "cacheable"),
    [
        ([user([{"type": ["x"]}])], None),
        ([user([{"type": {"x": 1}, "text": "q"}])], None),
        ([user([text("q"), Undumped()])], Reason.UNIDENTIFIABLE),
        ([user([text("q"), Raising()])], Reason.UNIDENTIFIABLE),
        ([Raising(), user("q")], Reason.UNIDENTIFIABLE),
        ([user("q"), assistant("", tool_calls=[Undumped()]), user("r")], Reason.UNIDENTIFIABLE),
        ([{"role": "user", "content": "q", "more": Raising()}], Reason.UNIDENTIFIABLE),
        ([user([{**text("q"), "more": Raising()}])], Reason.UNIDENTIFIABLE),
    ],
)
def test_odd_content_is_never_an_error(
    ask: Resolve, messages: Any, cacheable: Reason | None
) -> None:
    """Whatever foreign code raises, the call goes on; nothing is compared by meaning."""
    resolved = ask(messages)
    assert resolved.cacheable is cacheable
    if cacheable is None:
        assert resolved.query.exact_only is Reason.UNKNOWN_CONTENT


def test_tool_results_as_blocks(ask: Resolve) -> None:
    """A user message of tool results is a tool turn."""
    result = {"type": "tool_result", "tool_use_id": "t", "content": "12 C"}
    query = ask([user("q"), user([result])]).query
    assert query.exact_only is Reason.TOOL_HISTORY
    assert query.call_ids == ("t",)


MEDIA: list[list[dict[str, Any]]] = [
    [text("Describe"), image("data:image/png;base64,AAAA")],
    [text("Describe"), image("data:image/png;base64,BBBB")],
    [text("Describe"), image("http://h/a.png")],
    [text("Describe"), image("http://h/a.png", detail="low")],
    [image("http://h/a.png"), text("Describe")],
    [text("Describe"), {"type": "input_image", "image_url": "http://h/a.png"}],
    [text("Describe"), {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}],
    [text("Describe"), {"type": "file", "file": {"file_id": "f1"}}],
    [text("Describe"), {"type": "file", "file": {"file_id": "f2"}}],
    [text("Describe"), {"type": "image", "source": {"type": "base64", "data": "AA"}}],
    [text("Describe"), {"type": "image", "source_type": "id", "id": "file-1"}],
    [text("Describe"), {"type": "image", "source_type": "id", "id": "file-2"}],
    [text("Describe"), {"type": "document", "source": {"type": "text", "data": "AA"}}],
    [text("Describe"), image(BIG)],
    [text("Describe"), image(BIG + "B")],
]


def test_other_media_are_another_request(ask: Resolve) -> None:
    """Each of them differs from each other one and from the text alone."""
    queries = [ask([user(content)]).query for content in MEDIA]
    assert all(query.exact_only is Reason.MEDIA for query in queries)
    assert all(query.text == "Describe" for query in queries)
    for name in ("partition", "fingerprint"):
        assert len({getattr(query, name) for query in queries}) == len(MEDIA)
    assert ask("Describe").query.fingerprint not in {query.fingerprint for query in queries}
    assert len(repr(queries)) < 10_000


def test_an_id_made_up_for_a_block_is_volatile(ask: Resolve) -> None:
    """A block that names its picture by URL may get another id each time."""
    blocks = [{"type": "image", "url": "http://h/a", "id": f"lc_{n}"} for n in range(2)]
    assert ask([user(blocks[:1])]).query == ask([user(blocks[1:])]).query


def test_odd_calls_and_names_are_no_error(ask: Resolve) -> None:
    """What no client should send has an identity all the same."""
    for calls in ({"name": "f"}, "f", [7], [{}]):
        assert ask([user("q"), assistant("", tool_calls=calls)]).query.exact_only is not None
    assert ask("q", parameters={1: 2}).scope == ask("q", parameters={"1": 2}).scope
    nested = "[" * 100_000
    assert ask("q", parameters={"tools": nested}).cacheable is None


def test_an_image_url_may_be_short(ask: Resolve) -> None:
    """A bare URL is the URL in a mapping."""
    short = [user([{"type": "image_url", "image_url": "http://h/a.png"}])]
    assert ask(short).query == ask([user([image("http://h/a.png")])]).query


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([user([text("q"), {"type": "hologram", "x": 1}])], Reason.UNKNOWN_CONTENT),
        ([user([text("q"), 7])], Reason.UNKNOWN_CONTENT),
        ([user([{**text("q"), "mood": "sad"}])], Reason.UNKNOWN_CONTENT),
        ([{"type": "mystery", "x": 1}, user("q")], Reason.UNKNOWN_CONTENT),
        ([7, user("q")], Reason.UNKNOWN_CONTENT),
        ([user("q"), assistant("Once upon")], Reason.NOT_A_QUESTION),
        ([{"role": "system", "content": "s"}], Reason.NOT_A_QUESTION),
        ([user("")], Reason.EMPTY_QUESTION),
        ([user(None)], Reason.EMPTY_QUESTION),
        ([user("  \n ")], Reason.EMPTY_QUESTION),
        ("", Reason.EMPTY_QUESTION),
        ([user("q"), assistant(None, function_call={"name": "f", "arguments": ""}), user("r")],
         Reason.TOOL_HISTORY),
        ([user("q"), {"role": "function", "name": "f", "content": "1"}], Reason.TOOL_HISTORY),
        ([user("q"), assistant("a", audio={"id": "a1"}), user("r")], Reason.MEDIA),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_by_meaning_says_why(
    ask: Resolve, messages: Any, reason: Reason
) -> None:
    """Such a request has an exact identity, and a reason why there is no more."""
    resolved = ask(messages)
    assert resolved.query.exact_only is reason
    assert resolved.cacheable is None
    assert ask(messages) == resolved


def test_thoughts_in_the_history_count_but_do_not_hinder(ask: Resolve) -> None:
    """Reasoning is known; its signature is volatile."""

    def with_thought(thought: str, signature: str) -> Any:
        block = {"type": "thinking", "thinking": thought, "signature": signature}
        return ask([user("q"), assistant([block, text("a")]), user("next")]).query

    assert with_thought("hm", "s1") == with_thought("hm", "s2")
    assert with_thought("hm", "s1").partition != with_thought("ah", "s1").partition
    assert with_thought("hm", "s1").exact_only is None


def test_roles_of_every_vocabulary(ask: Resolve) -> None:
    """human, ai and developer are user, assistant and system."""
    one = ask([{"role": "developer", "content": "s"}, ("human", "q"), ("ai", "a"), ("user", "n")])
    other = ask([SystemMessage("s"), HumanMessage("q"), AIMessage("a"), HumanMessage("n")])
    assert one == other


def test_no_messages_at_all(ask: Resolve) -> None:
    """A call that carries none is not cached."""
    assert ask([]).cacheable is Reason.EMPTY_QUESTION


@pytest.mark.parametrize(
    "question", ["中文问题", "naïve café", "emoji 👩‍👩‍👧‍👦", 'a\n\t"quoted" \\ back', "\\u0041"]
)
def test_the_characters_themselves_are_embedded(ask: Resolve, question: str) -> None:
    """No escape ever stands for a character."""
    assert ask(question).query.text == question


def test_composed_and_decomposed_are_one(ask: Resolve) -> None:
    """NFC and NFD of a text are the same request, in messages and in the model's name."""
    assert ask("cafe\u0301", model="e\u0301") == ask("caf\u00e9", model="\u00e9")


def test_the_edges_of_a_question_are_not_embedded(ask: Resolve) -> None:
    """White space counts for the exact match, not for the meaning."""
    one, other = ask(" hi\n").query, ask("hi").query
    assert one.text == other.text
    assert one.partition == other.partition
    assert one.fingerprint != other.fingerprint


def test_of_several_texts_the_last_is_the_question(ask: Resolve) -> None:
    """What stands before it in other parts is context, and has to be identical."""
    one = ask([user([text("Price 10"), text("What is the price?")])]).query
    other = ask([user([text("Price 12"), text("What is the price?")])]).query
    assert one.text == other.text == "What is the price?"
    assert one.partition != other.partition


class Counter:
    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.calls = 0

    def __call__(self, text: str) -> int:
        self.calls += 1
        return self.tokens


def test_a_short_question_is_not_counted(ask: Resolve) -> None:
    """The exact path costs no tokenizer."""
    counter = Counter(9999)
    assert ask("a" * 200, max_tokens=256, count_tokens=counter).query.exact_only is None
    assert ask("字" * 80, max_tokens=256, count_tokens=counter).query.exact_only is None
    assert counter.calls == 0


@pytest.mark.parametrize(("tokens", "reason"), [(257, Reason.BEYOND_WINDOW), (256, None)])
def test_a_question_that_would_be_cut_is_exact_only(
    ask: Resolve, tokens: int, reason: Reason | None
) -> None:
    """Only the encoder's own count decides, where it is close."""
    counter = Counter(tokens)
    assert ask("字" * 100, max_tokens=256, count_tokens=counter).query.exact_only is reason
    assert counter.calls == 1


def test_characters_that_expand_are_counted(ask: Resolve) -> None:
    """One ligature may become eighteen letters before it is cut into tokens."""
    counter = Counter(257)
    query = ask("\ufdfa" * 20, max_tokens=256, count_tokens=counter).query
    assert query.exact_only is Reason.BEYOND_WINDOW


@pytest.mark.parametrize("end", ["Write a poem about the sea", "Write SQL that drops users"])
def test_long_texts_are_matched_exactly(ask: Resolve, end: str) -> None:
    """A task at the end of 4 000 characters is told apart by the fingerprint alone."""
    prefix = "Lorem ipsum dolor. " * 220
    query = ask(prefix + end).query
    assert query.exact_only is Reason.BEYOND_WINDOW
    assert query.fingerprint != ask(prefix + "Write something").query.fingerprint


def test_no_length_at_all_means_exact_matches_only(ask: Resolve) -> None:
    """The setting that turns comparison by meaning off."""
    query = ask("What is tea?", settings=RequestSettings(max_question_bytes=0)).query
    assert query.exact_only is Reason.BEYOND_WINDOW
