"""Which documents count, under which names, and where a run is not a simple chain."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_semcache import ConfigurationError, Reason, SemanticCache, content_hash, resting_on
from langchain_semcache.langchain.middleware import SemanticCacheMiddleware
from tests.adapters.langchain.conftest import PARAPHRASE, QUESTION
from tests.adapters.langchain.models import ScriptedModel, StreamingModel, done
from tests.adapters.langchain.rag import chain

TEXT = "Returns are free within thirty days.\nAfter that we charge five euros for each parcel."
LONG = " ".join(f"Paragraph {number} says something of its own." for number in range(60))


class Fixed(BaseRetriever):
    """Finds the same documents, whatever is asked."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return list(self.documents)


def found(*texts: str, **metadata: Any) -> Fixed:
    """A retriever of these texts, named by their place."""
    documents = [
        Document(id=f"{place}.md", page_content=text, metadata=metadata)
        for place, text in enumerate(texts)
    ]
    return Fixed(documents=documents)


def names(cache: SemanticCache) -> list[set[str]]:
    """The names of the sources of every entry, in the order of storing."""
    entries = sorted(cache.semcache.entries(), key=lambda entry: entry.created_at)
    return [{name for name, _ in entry.sources} for entry in entries]


# -- what is in the prompt --------------------------------------------------------------------


@pytest.mark.parametrize(
    "show",
    [
        lambda text: text,
        lambda text: "\n".join(f"    {line}  " for line in text.split("\n")),
        lambda text: json.dumps([{"content": text}]),
        lambda text: f"<doc>{text}</doc>",
        lambda text: text.replace("\n", "\r\n"),
    ],
)
def test_white_space_and_escapes_do_not_hide_a_document(
    cache: SemanticCache, model: ScriptedModel, show: Callable[[str], str]
) -> None:
    retriever = found(TEXT + "\nÜber „alles“ hinaus.") | RunnableLambda(
        lambda documents: [Document(show(documents[0].page_content))]
    )
    chain(retriever, model).invoke("Is it free?")
    assert names(cache) == [{"0.md"}]


@pytest.mark.parametrize(("start", "end"), [(0, 400), (300, 700), (-300, None)])
def test_a_document_that_was_cut_counts(
    cache: SemanticCache, model: ScriptedModel, start: int, end: int | None
) -> None:
    """Rather a dependant too many than an answer that outlives its source."""
    cut = RunnableLambda(lambda documents: [Document(documents[0].page_content[start:end])])
    chain(found(LONG) | cut, model).invoke("Is it free?")
    assert names(cache) == [{"0.md"}]


def test_what_another_document_explains_does_not_count(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """Chunks overlap, and documents have the same header: the second one is not shown."""
    header = "Internal knowledge base of the shop, version of spring. Do not hand out to customers."
    first = RunnableLambda(lambda documents: documents[:1])
    cards = f"{header} Gift cards do not expire."
    retriever = found(f"{header} {TEXT}", cards, f"{TEXT} And so on.")
    chain(retriever | first, model).invoke("Is it free?")
    assert names(cache) == [{"0.md"}]


def test_what_is_not_shown_or_empty_does_not_count(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    nothing = RunnableLambda(lambda documents: [Document("No context.")])
    chain(found(TEXT, "", "  ") | nothing, model).invoke("Is it free?")
    assert names(cache) == [set()]


# -- names and hashes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "pairs"),
    [
        (Document(id="7", page_content="t" * 70), {("7", "*")}),
        (Document("t" * 70, metadata={"source": "faq.md"}), {("faq.md", "*")}),
        (
            Document("t" * 70, metadata={"source": "faq.md", "source_hash": "sha256:f", "id": 12}),
            {("faq.md", "sha256:f"), ("12", "*")},
        ),
        (Document("t" * 70), {("*", "*")}),
        (Document("t" * 70, metadata={"source": None, "id": True}), {("*", "*")}),
    ],
)
def test_a_document_goes_by_every_name_it_has(
    cache: SemanticCache, model: ScriptedModel, document: Document, pairs: set[Any]
) -> None:
    chain(Fixed(documents=[document]), model).invoke("Is it free?")
    (entry,) = cache.semcache.entries()
    digest = content_hash("t" * 70)
    assert set(entry.sources) == {
        tuple(text.replace("*", digest) for text in pair) for pair in pairs
    }


def test_the_pieces_of_one_file(cache: SemanticCache, model: ScriptedModel) -> None:
    """A file in pieces: whoever used a piece that is no longer there goes, the others stay."""
    pieces = [f"Piece {n} of the handbook." for n in range(3)]
    hashed = [content_hash(piece) for piece in pieces]
    for used in ([0, 1], [0], [2]):
        documents = [Document(pieces[n], metadata={"source": "handbook.md"}) for n in used]
        chain(Fixed(documents=documents), model).invoke(f"What about {used}?")
    changed = cache.semcache.source_changed
    assert changed("handbook.md", hashed, dry_run=True) == 0
    assert changed("handbook.md", [hashed[0], hashed[2]], dry_run=True) == 1
    assert changed("handbook.md", hashed[0], dry_run=True) == 2
    assert changed("handbook.md", None) == 3


# -- part of the match ------------------------------------------------------------------------

BARE = "{context}\n{question}"


@pytest.mark.parametrize("template", [BARE, "Context: {context}\nQuestion: {question}\nAnswer:"])
def test_the_same_question_over_other_documents_is_a_miss(
    make_cache: Any, model: ScriptedModel, template: str
) -> None:
    cache = make_cache(encoder="hash", index=None, similarity_threshold=0.2)
    set_llm_cache(cache)
    for text in ("Shipping is fast here.", "Shipping is slow here."):
        chain(found(text), model, template).invoke("How is shipping?")
    assert model.calls == 2
    chain(found("Shipping is slow here."), model, template).invoke("How is shipping?")
    assert model.calls == 2


def test_a_reworded_question_over_the_same_documents_hits(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    for asked in (QUESTION, PARAPHRASE):
        chain(found(TEXT), model).invoke(asked)
    assert model.calls == 1


def test_meaning_is_compared_over_the_same_documents_only(
    make_cache: Any, model: ScriptedModel
) -> None:
    """Where the document cannot be told from the question, its text alone would be compared."""
    cache = make_cache(encoder="hash", index=None, similarity_threshold=0.2)
    set_llm_cache(cache)
    prompt = "Shipping is {how} here. How is shipping?"
    model.invoke(prompt.format(how="fast"))
    close = prompt.format(how="slow")
    assert cache.semcache.explain(cache.request(*_texts(model, close))).verdicts
    chain(found("Shipping is slow here."), model, "{context} {question}").invoke("How is shipping?")
    assert model.calls == 2


def _texts(model: ScriptedModel, text: str) -> tuple[str, str]:
    from langchain_core.load import dumps

    return dumps([HumanMessage(text)]), model._get_llm_string(stop=None)


# -- runs that are no simple chain ------------------------------------------------------------


def test_retrieved_by_hand_in_a_function(cache: SemanticCache, model: ScriptedModel) -> None:
    documents = found(TEXT).invoke("Is it free?")
    model.invoke(f"{documents[0].page_content}\n\nQuestion: Is it free?")
    assert names(cache) == [{"0.md"}]


def test_retrieved_by_hand_in_a_task_does_not_reach_another(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    async def one(place: int) -> None:
        retriever = Fixed(documents=[Document(id=f"{place}", page_content=TEXT)])
        (document,) = await retriever.ainvoke("")
        await asyncio.sleep(0)
        await model.ainvoke(f"{document.page_content}\n\nQuestion {place}: Is it free?")

    async def all_of_them() -> None:
        await asyncio.gather(*map(one, range(20)))

    asyncio.run(all_of_them())
    assert sorted(names(cache), key=str) == sorted([{f"{n}"} for n in range(20)], key=str)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch"])
def test_a_completion_model(cache: SemanticCache, way: str) -> None:
    asked = chain(found(TEXT), FakeListLLM(responses=["Yes."]))
    if way == "ainvoke":
        asyncio.run(asked.ainvoke("Is it free?"))
    elif way == "batch":
        asked.batch(["Is it free?", "Is it free of charge?"])
    else:
        asked.invoke("Is it free?")
    assert {*map(frozenset, names(cache))} == {frozenset({"0.md"})}


def test_the_first_call_of_a_chain_rests_on_nothing_that_comes_later(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """Rephrase, retrieve, answer."""
    rephrase = ChatPromptTemplate.from_template("Rephrase: {question}") | model | StrOutputParser()
    asked = {"question": RunnableLambda(lambda text: text)} | rephrase | chain(found(TEXT), model)
    asked.invoke("Is it free?")
    assert sorted(names(cache), key=len) == [set(), {"0.md"}]


@pytest.mark.parametrize("with_artifact", [False, True])
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream"])
def test_an_agent_with_a_retriever_tool(
    make_cache: Any, model: ScriptedModel, way: str, with_artifact: bool
) -> None:
    """Through the middleware: the second call sees what the tool has found."""
    cache = make_cache()
    form = "content_and_artifact" if with_artifact else "content"
    search = create_retriever_tool(found(TEXT), "search", "Searches.", response_format=form)
    call = {"name": "search", "args": {"query": "returns"}, "id": "c1"}
    model.told(done("", tool_calls=[call]), "Yes, it is free.")
    agent = create_agent(model, [search], middleware=[SemanticCacheMiddleware(cache)])
    asked = {"messages": [HumanMessage("Is it free?")]}
    if way == "invoke":
        agent.invoke(asked)
    elif way == "ainvoke":
        asyncio.run(agent.ainvoke(asked))
    else:
        list(agent.stream(asked))
    assert sorted(names(cache), key=len) == [set(), {"0.md"}]
    assert cache.semcache.source_changed("0.md", "sha256:new") == 1


def test_an_agent_whose_tool_calls_a_retriever_itself(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """Through `set_llm_cache`, without the middleware."""

    @tool
    def search(query: str) -> str:
        """Searches."""
        return "\n".join(one.page_content for one in found(TEXT, "Not shown.").invoke(query)[:1])

    call = {"name": "search", "args": {"query": "returns"}, "id": "c1"}
    model.told(done("", tool_calls=[call]), "Yes, it is free.")
    create_agent(model, [search]).invoke({"messages": [HumanMessage("Is it free?")]})
    assert sorted(names(cache), key=len) == [set(), {"0.md"}]


def test_a_later_turn_of_a_conversation_rests_on_what_an_earlier_one_found(
    make_cache: Any, model: ScriptedModel
) -> None:
    cache = make_cache()
    search = create_retriever_tool(found(TEXT), "search", "Searches.")
    call = {"name": "search", "args": {"query": "returns"}, "id": "c1"}
    model.told(done("", tool_calls=[call]), "Yes.", "Thirty days.")
    agent = create_agent(
        model,
        [search],
        middleware=[SemanticCacheMiddleware(cache)],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "conversation-1"}}
    for text in ("Is it free?", "For how long?"):
        agent.invoke({"messages": [HumanMessage(text)]}, config)
    assert sorted(names(cache), key=len) == [set(), {"0.md"}, {"0.md"}]


def test_a_stream_that_ends_after_another_began(make_cache: Any) -> None:
    """Two streams of one context, read in turn: each is stored with its own documents."""
    from langchain_semcache.langchain import cached_streams

    cache = make_cache()
    model = cached_streams(StreamingModel().told("a b c", "d e f"), cache)
    one = chain(found(TEXT), model).stream("Is it free?")
    other = chain(Fixed(documents=[Document(id="x", page_content="No gifts.")]), model).stream(
        "Eh?"
    )
    next(one), next(other)
    list(one), list(other)
    assert sorted(names(cache), key=str) == [{"0.md"}, {"x"}]


def test_nothing_is_left_of_a_run_that_is_over(cache: SemanticCache, model: ScriptedModel) -> None:
    from langchain_semcache.langchain.tracking import _tracker

    before = len(_tracker._runs)
    chain(found(TEXT), model).batch(["Is it free?", "Is it?"])
    with pytest.raises(ZeroDivisionError):
        (found(TEXT) | RunnableLambda(lambda _: 1 / 0)).invoke("Is it free?")
    assert len(_tracker._runs) == before


# -- prompts ----------------------------------------------------------------------------------


def _tags(cache: SemanticCache) -> list[tuple[str, ...]]:
    entries = sorted(cache.semcache.entries(), key=lambda entry: entry.created_at)
    return [entry.tags for entry in entries]


@pytest.mark.parametrize(
    ("metadata", "tags"),
    [
        ({"prompt_id": "support", "prompt_version": 3}, ("prompt:support", "prompt:support@3")),
        ({"prompt_id": "support"}, ("prompt:support",)),
        (
            {"lc_hub_owner": "acme", "lc_hub_repo": "rag", "lc_hub_commit_hash": "5013"},
            ("prompt:acme/rag", "prompt:acme/rag@5013"),
        ),
        (
            {"lc_hub_owner": "-", "lc_hub_repo": "rag", "lc_hub_commit_hash": "5013"},
            ("prompt:rag", "prompt:rag@5013"),
        ),
        ({"other": 1}, ()),
    ],
)
@pytest.mark.parametrize("where", ["template", "config"])
def test_the_prompt_that_was_asked_with_is_a_tag(
    cache: SemanticCache, model: ScriptedModel, metadata: dict[str, Any], tags: Any, where: str
) -> None:
    prompt = ChatPromptTemplate.from_template("Briefly: {question}")
    if where == "template":
        prompt.metadata = metadata
    config = {"metadata": metadata} if where == "config" else {}
    (prompt | model).invoke({"question": QUESTION}, config)
    asyncio.run((prompt | model).ainvoke({"question": "Why?"}, config))
    assert _tags(cache) == [tags, tags]


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch"])
def test_each_call_has_the_tags_of_its_own_prompt(
    cache: SemanticCache, model: ScriptedModel, way: str
) -> None:
    first = ChatPromptTemplate.from_template("Rephrase: {q}")
    first.metadata = {"prompt_id": "rephrase", "prompt_version": "1"}
    second = ChatPromptTemplate.from_template("Answer: {q}")
    second.metadata = {"prompt_id": "answer", "prompt_version": "2"}
    third = ChatPromptTemplate.from_template("Check: {q}")
    parser = StrOutputParser()
    named = RunnableLambda(lambda text: {"q": text})
    asked = first | model | parser | named | second | model | parser | named | third | model
    if way == "ainvoke":
        asyncio.run(asked.ainvoke({"q": "Q"}))
    elif way == "batch":
        asked.batch([{"q": "Q"}])
    else:
        asked.invoke({"q": "Q"})
    assert sorted(_tags(cache)) == [
        (),
        ("prompt:answer", "prompt:answer@2"),
        ("prompt:rephrase", "prompt:rephrase@1"),
    ]
    assert cache.semcache.invalidate(prompt="answer@1", dry_run=True) == 0
    assert cache.semcache.invalidate(prompt="answer@2") == 1
    assert cache.semcache.invalidate(prompt="rephrase") == 1


# -- said by the application ------------------------------------------------------------------


def test_what_the_application_says_is_kept_and_is_a_part_of_the_request(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    for version in ("1", "2", "1"):
        with resting_on({"prices.csv": version}, tags=("prices",)):
            model.invoke(QUESTION)
    assert model.calls == 2
    model.invoke(QUESTION)
    assert model.calls == 3
    assert cache.semcache.source_changed("prices.csv", "2", dry_run=True) == 1
    assert cache.semcache.invalidate(tags=("prices",), dry_run=True) == 2


def test_blocks_add_up(cache: SemanticCache, model: ScriptedModel) -> None:
    with resting_on({"a": "1"}), resting_on([("a", "2"), ("b", "3")]):
        asyncio.run(model.ainvoke(QUESTION))
    (entry,) = cache.semcache.entries()
    assert entry.sources == (("a", "1"), ("a", "2"), ("b", "3"))


@pytest.mark.parametrize("sources", ["faq.md", {"faq.md": 1}, [("a",)], 7, {1: "a"}, ["ab"]])
def test_what_are_no_sources_is_said_at_once(sources: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"faq\.md"), resting_on(sources):
        pass


# -- a change while the model is answering ----------------------------------------------------


def _changed(cache: SemanticCache, digest: str) -> None:
    cache.semcache.source_changed("0.md", digest)


def test_an_answer_of_old_content_that_comes_late_is_not_kept(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    model.before(lambda: _changed(cache, "sha256:new"))
    chain(found(TEXT), model).invoke("Is it free?")
    assert names(cache) == []
    assert cache.semcache.stats().stores_by_reason == {Reason.SOURCE_CHANGED: 1}


def test_it_is_kept_when_the_change_was_to_what_it_was_made_of(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    model.before(lambda: _changed(cache, content_hash(TEXT)))
    chain(found(TEXT), model).invoke("Is it free?")
    assert names(cache) == [{"0.md"}]


def test_system_messages_are_read_too(cache: SemanticCache, model: ScriptedModel) -> None:
    (document,) = found(TEXT).invoke("")
    model.invoke([SystemMessage(document.page_content), AIMessage("Hm."), HumanMessage("Free?")])
    assert names(cache) == [{"0.md"}]


def test_a_batch_of_completions_does_not_mix(cache: SemanticCache) -> None:
    class Echo(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(id=query, page_content=TEXT)]

    questions = [f"Question {number}?" for number in range(20)]
    chain(Echo(), FakeListLLM(responses=["Yes."])).batch(questions)
    assert sorted(map(str, names(cache))) == sorted(str({one}) for one in questions)
