"""Who may share an answer: what counts into the scope, and what must never cross it."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field, create_model

from langchain_semcache import Request, Response, SchemaMismatch, SemanticCache
from langchain_semcache.langchain import tenant
from langchain_semcache.tenancy import current_tenant
from langchain_semcache.testing.fakes import ScriptedEncoder
from tests.adapters.langchain.conftest import PARAPHRASE, QUESTION
from tests.adapters.langchain.models import CompletionModel, ScriptedModel, done

H, S, A = HumanMessage, SystemMessage, AIMessage
LONG = "You work for a shop. " * 60


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([S("Answer as a pirate"), H(QUESTION)], [S("Answer as a lawyer"), H(QUESTION)]),
        ([S("Answer as a pirate"), H(QUESTION)], [S("Answer as a lawyer"), H(PARAPHRASE)]),
        ([S("Answer as a pirate"), H(QUESTION)], [H(QUESTION)]),
        ([S("Be a poet. "), H("Summarise")], [H("Be a poet. Summarise")]),
        ([S("Be a poet. "), H("Summarise")], [H("Be a poet. "), S("Summarise")]),
        (
            [S(LONG + "never reveal prices"), H(QUESTION)],
            [S(LONG + "always reveal prices"), H(QUESTION)],
        ),
    ],
)
def test_a_reply_stays_with_its_system_prompt(
    cache: SemanticCache, model: ScriptedModel, first: list[Any], second: list[Any]
) -> None:
    """B01: another system prompt is another scope, however alike the texts are."""
    model.invoke(first)
    model.invoke(second)
    assert model.calls == 2


def test_a_paraphrase_under_the_same_system_prompt_hits(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B01, B21: isolation leaves meaning to be compared where it may be."""
    first = model.invoke([S(LONG), H(QUESTION)])
    assert model.invoke([S(LONG), H(PARAPHRASE)]).content == first.content
    assert model.calls == 1


@pytest.mark.parametrize("turn", ["How old is that person?", "yes", "continue", "and the second?"])
def test_a_follow_up_is_not_answered_from_another_conversation(
    cache: SemanticCache, model: ScriptedModel, turn: str
) -> None:
    """B02: the last message alone is not the question."""
    alpha = [H("Who runs Alpha?"), A("Ms A."), H(turn)]
    beta = [H("Who runs Beta?"), A("Mr B."), H(turn)]
    first = model.invoke(alpha)
    model.invoke(beta)
    model.invoke([H(turn)])
    assert model.calls == 3
    assert model.invoke(alpha).content == first.content
    assert model.calls == 3


def _called(city: str, call_id: str = "c1") -> AIMessage:
    return A("", tool_calls=[{"name": "get", "args": {"city": city}, "id": call_id}])


def test_an_agents_turns_are_matched_exactly_only(
    cache: SemanticCache, model: ScriptedModel, encoder: ScriptedEncoder
) -> None:
    """B03: with tool calls or results in the history no similarity is looked at."""
    call = done("", tool_calls=_called("Oslo").tool_calls)
    model.told(call, "It is 12 C", "It is -3 C", "In Rome it is 12 C")
    first = [H("Weather in Oslo?")]
    second = [*first, _called("Oslo"), ToolMessage("12 C", tool_call_id="c1")]
    colder = [*first, _called("Oslo"), ToolMessage("-3 C", tool_call_id="c1")]
    rome = [*first, _called("Rome"), ToolMessage("12 C", tool_call_id="c1")]
    other_id = [*first, _called("Oslo", "c9"), ToolMessage("12 C", tool_call_id="c9")]
    assert model.invoke(first).tool_calls
    embedded = len(encoder.texts)
    assert model.invoke(second).content == "It is 12 C"
    assert model.invoke(colder).content == "It is -3 C"
    assert model.invoke(rome).content == "In Rome it is 12 C"
    assert model.invoke(other_id).content == "It is 12 C"
    assert model.calls == 4
    assert len(encoder.texts) == embedded


def test_a_reply_that_names_a_call_id_is_not_shared(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B03 d: with another id the words would be wrong."""
    model.told("call_77 returned 12 C", "call_88 returned 12 C")
    for call_id in ("call_77", "call_88"):
        turn = [H("Weather?"), _called("Oslo", call_id), ToolMessage("12 C", tool_call_id=call_id)]
        assert call_id in model.invoke(turn).content


MODEL_CHANGES = [
    {"model_name": "scripted-2"},
    {"temperature": 1.0},
    {"temperature": 0.0},
    {"max_tokens": 16},
    {"base_url": "http://other.example/v1"},
    {"default_headers": {"anthropic-beta": "long-context"}},
    {"anything": {"safety_settings": "none"}},
]


@pytest.mark.parametrize("change", MODEL_CHANGES, ids=lambda change: next(iter(change)))
@pytest.mark.parametrize("question", [QUESTION, PARAPHRASE])
def test_another_model_or_setting_is_another_scope(
    cache: SemanticCache, change: dict[str, Any], question: str
) -> None:
    """B16: whatever may change an answer keeps answers apart."""
    first, second = ScriptedModel(temperature=0.2), ScriptedModel(**{"temperature": 0.2} | change)
    first.invoke(QUESTION)
    second.invoke(question)
    assert (first.calls, second.calls) == (1, 1)


CALL_OPTIONS: list[dict[str, Any]] = [
    {"stop": ["\n"]},
    {"seed": 7},
    {"n": 2},
    {"top_p": 0.5},
    {"top_k": 5},
    {"presence_penalty": 1.0},
    {"frequency_penalty": 1.0},
    {"logit_bias": {"50256": -100}},
    {"logprobs": True},
    {"max_tokens": 16},
    {"reasoning_effort": "high"},
    {"extra_body": {"k": 1}},
    {"safety_settings": {"harm": "none"}},
    {"an_option_nobody_knows": "x"},
    {"user": "somebody"},
]


@pytest.mark.parametrize("options", CALL_OPTIONS, ids=lambda options: next(iter(options)))
def test_an_option_of_the_call_is_part_of_the_scope(
    cache: SemanticCache, model: ScriptedModel, options: dict[str, Any]
) -> None:
    """B16, B18: options given to the call or bound to the model count, known or not."""
    model.invoke(QUESTION)
    model.invoke(QUESTION, **options)
    model.bind(**options).invoke(PARAPHRASE)
    assert model.calls == 2
    model.invoke(QUESTION, **options)
    assert model.calls == 2


@pytest.mark.parametrize("change", [{"timeout": 3.0}, {"max_retries": 9}, {"api_key": "another"}])
def test_what_only_says_how_a_call_is_made_does_not_count(
    cache: SemanticCache, change: dict[str, Any]
) -> None:
    """B16: timeouts, retries and credentials leave the answer as it is."""
    ScriptedModel().invoke(QUESTION)
    other = ScriptedModel(**change)
    other.invoke(QUESTION)
    assert other.calls == 0


def test_the_settings_of_a_call_do_not_count(cache: SemanticCache, model: ScriptedModel) -> None:
    """B16: metadata, tags and run names are for whoever watches."""
    model.invoke(QUESTION)
    model.invoke(QUESTION, {"metadata": {"request": "r2"}, "tags": ["t"], "run_name": "n"})
    assert model.calls == 1


@pytest.mark.parametrize(
    "change", [{"temperature": 0.9}, {"model_name": "other"}], ids=lambda change: next(iter(change))
)
def test_a_field_changed_on_the_model_object_is_not_seen(
    cache: SemanticCache, model: ScriptedModel, change: dict[str, Any]
) -> None:
    """B18: a known limit: LangChain tells a cache what the model was when it was first used."""
    model.invoke(QUESTION)
    for name, value in change.items():
        setattr(model, name, value)
    model.invoke(QUESTION)
    # A copy takes along what LangChain remembers of the original.
    model.model_copy(update=change).invoke(QUESTION)
    assert model.calls == 1
    bound = model.bind(**change).invoke(QUESTION)
    assert model.calls == 2
    # Another object is asked as what it is: like the binding, and unlike the changed one.
    assert ScriptedModel(**change).invoke(QUESTION).content == bound.content == "answer 2"


def _ways_to_limit(llm: CompletionModel) -> list[str]:
    return [
        llm.invoke("q", max_tokens=5),
        llm.invoke("q", max_tokens=500),
        llm.bind(max_tokens=7).invoke("q"),
        llm.generate(["q"], max_tokens=9).generations[0][0].text,
    ]


def test_an_option_of_a_completion_models_call_is_not_seen(cache: SemanticCache) -> None:
    """B18: a known limit: LangChain tells a cache nothing of them but `stop`."""
    llm = CompletionModel()
    assert llm.invoke("q") == "one"
    assert _ways_to_limit(llm) == ["one"] * 4
    assert llm.invoke("q", stop=["."]) == "two"


async def test_an_option_of_a_completion_models_call_is_not_seen_by_async_code(
    cache: SemanticCache,
) -> None:
    """B18: the other colour."""
    llm = CompletionModel()
    assert await llm.ainvoke("q") == "one"
    assert await llm.ainvoke("q", max_tokens=5) == "one"
    assert await llm.bind(max_tokens=7).ainvoke("q") == "one"


def test_a_completion_models_own_settings_are_seen(cache: SemanticCache) -> None:
    """B18: the way around: another object for each setting, or one that is never cached."""
    assert CompletionModel(max_tokens=5).invoke("q") == "one"
    assert CompletionModel(max_tokens=500, i=1).invoke("q") == "two"
    assert CompletionModel(max_tokens=5, i=2).invoke("q") == "one"
    assert CompletionModel(max_tokens=500, i=2).invoke("q") == "two"
    changed = CompletionModel(max_tokens=5, i=3)
    assert changed.invoke("q") == "one"
    changed.max_tokens = 50
    assert changed.invoke("q") == "four"
    uncached = CompletionModel(cache=False)
    assert _ways_to_limit(uncached) == ["one", "two", "three", "four"]


def test_a_cache_of_its_own_tells_no_options_apart(cache: SemanticCache, make_cache: Any) -> None:
    """B18: it separates two models, and still not two calls of one."""
    own = CompletionModel(cache=make_cache(namespace="own"))
    assert [own.invoke("q", max_tokens=5), own.invoke("q", max_tokens=500)] == ["one", "one"]
    assert CompletionModel(i=3).invoke("q") == "four"


SAMPLING: list[dict[str, Any]] = [
    {},
    {"max_tokens": 16},
    {"max_tokens": 4000},
    {"stop": ["a"]},
    {"stop": ["b"]},
    {"stop": ["a", "b"]},
    {"seed": 7},
    {"seed": 8},
    {"seed": 0},
    {"temperature": 0},
    {"temperature": 1},
    {"temperature": 0.5},
]


@pytest.mark.parametrize("question", [QUESTION, PARAPHRASE])
def test_every_two_values_of_an_option_keep_replies_apart(
    cache: SemanticCache, model: ScriptedModel, question: str
) -> None:
    """B16: each value stored; none gets another's answer, and each gets its own again."""
    first = [model.invoke(QUESTION, **options).content for options in SAMPLING]
    assert len(set(first)) == model.calls == len(SAMPLING)
    assert [model.invoke(question, **options).content for options in SAMPLING] == first
    assert model.calls == len(SAMPLING)


def test_every_two_values_of_a_field_keep_replies_apart(cache: SemanticCache) -> None:
    """B16: the same for what the object was made with; absent, zero and one are three."""
    fields: list[dict[str, Any]] = [
        {},
        {"temperature": 0.0},
        {"temperature": 1.0},
        {"max_tokens": 16},
        {"max_tokens": 4000},
    ]
    for number, values in enumerate(fields):
        ScriptedModel(**values).told(f"of {number}").invoke(QUESTION)
    for number, values in enumerate(fields):
        again = ScriptedModel(**values)
        assert again.invoke(PARAPHRASE).content == f"of {number}"
        assert again.calls == 0


@tool
def look(city: str) -> str:
    """Looks at the weather."""
    return city


@tool
def listen(city: str) -> str:
    """Listens to the weather."""
    return city


@tool("look")
def look_closer(city: str) -> str:
    """Looks at the weather more closely."""
    return city


ONE = {"type": "json_schema", "json_schema": {"name": "X", "schema": {"properties": {"a": {}}}}}
TWO = {
    "type": "json_schema",
    "json_schema": {"name": "X", "schema": {"properties": {"a": {}, "b": {}}}},
}
BINDINGS = [
    {},
    {"tools": [look]},
    {"tools": [look, listen]},
    {"tools": [look_closer]},
    {"tools": [look], "tool_choice": "auto"},
    {"tools": [look], "tool_choice": "none"},
    {"tools": [look], "tool_choice": "required"},
    {"tools": [look], "tool_choice": {"type": "function", "function": {"name": "look"}}},
    {"tools": [look], "parallel_tool_calls": False},
    {"tools": [look], "parallel_tool_calls": True},
    {"response_format": {"type": "text"}},
    {"response_format": {"type": "json_object"}},
    {"response_format": ONE},
    {"response_format": TWO},
]


def test_tools_and_formats_keep_replies_apart(cache: SemanticCache, model: ScriptedModel) -> None:
    """B17: every pair of these misses; each one hits again."""

    def ask(binding: dict[str, Any]) -> str:
        options = dict(binding)
        tools = options.pop("tools", None)
        bound = model.bind_tools(tools, **options) if tools else model.bind(**options)
        return bound.invoke(QUESTION).content

    first = [ask(binding) for binding in BINDINGS]
    assert len(set(first)) == model.calls == len(BINDINGS)
    assert [ask(binding) for binding in BINDINGS] == first
    assert model.calls == len(BINDINGS)


def test_a_tool_call_is_never_served_where_tools_are_forbidden(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B17: however often the call was stored; forbidden in the binding or in the call."""
    call = done("", tool_calls=[{"name": "look", "args": {"city": "Oslo"}, "id": "c1"}])
    allowed = [model.bind_tools([look]), model.bind_tools([look], tool_choice="auto")]
    model.told(call, call)
    for bound in allowed:
        assert bound.invoke(QUESTION).tool_calls
        assert bound.invoke(PARAPHRASE).tool_calls
    assert model.calls == 2
    for question in (QUESTION, PARAPHRASE):
        assert not model.bind_tools([look], tool_choice="none").invoke(question).tool_calls
        assert not allowed[0].invoke(question, tool_choice="none").tool_calls
        assert not model.invoke(question).tool_calls
    assert allowed[0].invoke(QUESTION).tool_calls == call.tool_calls


def test_two_schemas_of_one_class_name_do_not_share(cache: SemanticCache, openai: Any) -> None:
    """B17: LangChain names the class only; the fields behind the name count."""

    def ask(field: str) -> Any:
        class Answer(BaseModel):
            value: str = Field(description=field)

        openai.reply = {"role": "assistant", "content": json.dumps({"value": field})}
        chat = ChatOpenAI(model="stub", base_url=openai.url, api_key="sk-secret", max_retries=0)
        return chat.with_structured_output(Answer, method="json_schema").invoke(QUESTION).value

    assert ask("first") == "first"
    assert ask("second") == "second"
    assert openai.calls == 2


def test_two_living_schemas_of_one_class_name_are_not_cached(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B17: where a name leaves a doubt, the model answers."""
    one = create_model("Doubtful", a=(int, ...), __module__=__name__)
    two = create_model("Doubtful", b=(int, ...), __module__=__name__)
    model.invoke(QUESTION, response_format=one)
    model.invoke(QUESTION, response_format=two)
    model.invoke(QUESTION, response_format=one)
    assert model.calls == 3
    assert cache.stats().entries == 0


def _tenants(make_cache: Any) -> tuple[SemanticCache, SemanticCache, SemanticCache]:
    return make_cache(tenant="a"), make_cache(tenant="b"), make_cache()


def test_tenants_of_one_store_do_not_share(make_cache: Any) -> None:
    """B20, B22: each tenant, and nobody in particular, has a bucket of its own."""
    a, b, nobody = _tenants(make_cache)
    models = [ScriptedModel(cache=cache).told(name) for cache, name in ((a, "a1"), (b, "b1"))]
    models.append(ScriptedModel(cache=nobody).told("n1"))
    assert [model.invoke("q").content for model in models] == ["a1", "b1", "n1"]
    assert [model.invoke("q").content for model in models] == ["a1", "b1", "n1"]
    assert [model.calls for model in models] == [1, 1, 1]
    assert a.stats().entries == 3


def test_paraphrases_stay_inside_a_tenant(make_cache: Any) -> None:
    """B20, B21: both in one run: a hit for the same tenant, a miss for the other one."""
    a, b, _ = _tenants(make_cache)
    mine, theirs = ScriptedModel(cache=a), ScriptedModel(cache=b)
    mine.invoke(QUESTION)
    mine.invoke(PARAPHRASE)
    theirs.invoke(PARAPHRASE)
    assert (mine.calls, theirs.calls) == (1, 1)


def test_removing_a_tenants_entries_leaves_the_others(make_cache: Any) -> None:
    """B20: clearing tenant a leaves b."""
    a, b, _ = _tenants(make_cache)
    for cache in (a, b):
        ScriptedModel(cache=cache).invoke(QUESTION)
    assert a.semcache.invalidate(tenant="a") == 1
    again, other = ScriptedModel(cache=a), ScriptedModel(cache=b)
    again.invoke(QUESTION)
    other.invoke(QUESTION)
    assert (again.calls, other.calls) == (1, 0)


def test_a_caller_cannot_name_another_tenant(make_cache: Any) -> None:
    """B20: options, metadata and settings of the call are no way into another bucket."""
    a, b, _ = _tenants(make_cache)
    ScriptedModel(cache=a).invoke(QUESTION)
    intruder = ScriptedModel(cache=b)
    intruder.invoke(QUESTION, tenant="a", namespace="default", scope="a")
    intruder.invoke(QUESTION, {"metadata": {"tenant": "a"}, "configurable": {"tenant": "a"}})
    assert intruder.calls == 2


def test_the_tenant_of_a_block_follows_its_tasks_and_threads(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B20: a context variable carries the tenant to where LangChain does the work."""

    async def serve(name: str) -> str:
        with tenant(name):
            reply = await model.ainvoke(QUESTION)
            in_thread = await asyncio.to_thread(model.invoke, QUESTION)
            assert in_thread.content == reply.content
            return str(reply.content)

    async def main() -> list[str]:
        return await asyncio.gather(*(serve(name) for name in "abc"))

    answers = asyncio.run(main())
    assert len(set(answers)) == cache.stats().entries == 3
    assert asyncio.run(main()) == answers


def test_a_tenant_ends_with_its_block(cache: SemanticCache, model: ScriptedModel) -> None:
    """B20: nothing of the tenant is left in the thread, and none in a thread made by hand."""
    with tenant("a"):
        assert current_tenant() == "a"
        model.invoke(QUESTION)
    assert current_tenant() == ""
    model.invoke(QUESTION)
    assert model.calls == 2
    thread = threading.Thread(target=contextvars.Context().run, args=(model.invoke, QUESTION))
    thread.start()
    thread.join()
    assert model.calls == 2
    assert model.invoke(QUESTION).content == "answer 2"


def test_a_tenant_ends_with_its_block_when_that_fails() -> None:
    """B20: an exception leaves nothing behind either."""
    with pytest.raises(RuntimeError, match="inside"), tenant("a"):
        raise RuntimeError("inside")
    assert current_tenant() == ""


def test_blocks_of_tenants_nest() -> None:
    """B20: the innermost counts, and the outer one is back after it, however it ended."""
    with tenant("outer"):
        with tenant("inner"):
            assert current_tenant() == "inner"
        assert current_tenant() == "outer"
        with pytest.raises(RuntimeError, match="inside"), tenant("inner"):
            raise RuntimeError("inside")
        assert current_tenant() == "outer"
        with tenant(""):
            assert current_tenant() == ""
        assert current_tenant() == "outer"
    assert current_tenant() == ""


def test_namespaces_of_one_store_do_not_share(make_cache: Any) -> None:
    """B20, B22: and one key written twice is one entry, the newest value wins."""
    one, two = make_cache(namespace="one"), make_cache(namespace="two")
    models = [ScriptedModel(cache=cache) for cache in (one, two)]
    for model in models:
        model.invoke(QUESTION)
        model.invoke(QUESTION)
    assert [model.calls for model in models] == [1, 1]
    assert one.stats().entries == two.stats().entries == 1


def test_one_key_is_one_entry_and_the_newest_value_wins(make_cache: Any) -> None:
    """B22: through the core, with scopes that differ in one thing each."""
    cache = make_cache().semcache
    question = {"role": "user", "content": "q"}
    requests = [
        Request(messages=[question], model="m", tenant="a"),
        Request(messages=[question], model="m", tenant="b"),
        Request(messages=[question], model="other", tenant="a"),
        Request(messages=[{"role": "system", "content": "s"}, question], model="m", tenant="a"),
        Request(messages=[question], model="m", tenant="a", parameters={"tools": [{"name": "t"}]}),
    ]
    for round_ in ("old", "new"):
        for number, request in enumerate(requests):
            cache.store(request, Response.from_text(f"{round_} {number}"))
    answers = [cache.lookup(request).response for request in requests]
    assert [answer and answer.text for answer in answers] == [f"new {n}" for n in range(5)]
    assert cache.stats().entries == 5


def test_isolation_does_not_forbid_paraphrases(cache: SemanticCache, model: ScriptedModel) -> None:
    """B21: same model, parameters and tenant: the question may be worded differently."""
    first = model.invoke(QUESTION)
    second = model.invoke(PARAPHRASE)
    assert second.content == first.content
    assert second.response_metadata["semcache"]["reason"] == "semantic"
    assert second.response_metadata["semcache"]["similarity"] == pytest.approx(0.99, abs=1e-5)


def test_another_encoder_sees_nothing_of_the_first(make_cache: Any) -> None:
    """B24: equal dimension, other vectors: what one stored the other does not compare with."""
    first = ScriptedEncoder({QUESTION: 1.0, PARAPHRASE: 0.99}, identity="one")
    second = ScriptedEncoder({QUESTION: 1.0, PARAPHRASE: 0.99}, identity="two")
    ScriptedModel(cache=make_cache(encoder=first)).invoke(QUESTION)
    model = ScriptedModel(cache=make_cache(encoder=second))
    model.invoke(PARAPHRASE)
    assert model.calls == 1
    assert make_cache(encoder=second).stats().entries == 2


def test_another_encoder_on_a_directory_sees_nothing_of_the_first(
    make_cache: Any, tmp_path: Path
) -> None:
    """B24: the same after a restart on a real directory; the first encoder's entries stay its."""
    texts = {QUESTION: 1.0, PARAPHRASE: 0.99, "third": 0.98}

    def reopened(identity: str) -> SemanticCache:
        cache: SemanticCache = make_cache(
            tmp_path / "store", encoder=ScriptedEncoder(texts, identity=identity), strict=True
        )
        return cache

    first = reopened("one")
    model = ScriptedModel(cache=first).told("of the first")
    model.invoke(QUESTION)
    first.close()

    second = reopened("two")
    other = ScriptedModel(cache=second).told("of the second")
    assert other.invoke(PARAPHRASE).content == "of the second"
    assert other.invoke("third").content == "of the second"
    assert other.calls == 1
    second.close()

    again = ScriptedModel(cache=reopened("one"))
    assert again.invoke("third").content == "of the first"
    assert again.calls == 0


def test_a_store_of_another_dimension_is_refused_at_the_start(
    make_cache: Any, tmp_path: Path
) -> None:
    """B24: one line with both numbers, and not on a user's request; the store is left as it was."""
    made = make_cache(tmp_path / "store", encoder=ScriptedEncoder(dimension=4))
    ScriptedModel(cache=made).invoke(QUESTION)
    made.close()
    with pytest.raises(SchemaMismatch, match=r"4.*8"):
        make_cache(tmp_path / "store", encoder=ScriptedEncoder(dimension=8))
    model = ScriptedModel(
        cache=make_cache(tmp_path / "store", encoder=ScriptedEncoder(dimension=4))
    )
    model.invoke(QUESTION)
    assert model.calls == 0
