"""What answers rest on: picked up from real retrievers, in every way a chain can be run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.globals import set_llm_cache
from langchain_core.retrievers import BaseRetriever

from langchain_semcache import SemanticCache, content_hash
from langchain_semcache.langchain import cached_streams
from tests.adapters.langchain.rag import ARTICLES, Library, Reader, chain, question

HUNDRED = [question(article) for article in ARTICLES]


@pytest.fixture
def rag_cache(make_cache: Callable[..., SemanticCache]) -> SemanticCache:
    cache = make_cache(encoder="hash", index=None, similarity_threshold=None)
    set_llm_cache(cache)
    return cache


def sources(cache: SemanticCache) -> dict[str, set[str]]:
    """Names of the sources by question, without the ids."""
    return {
        entry.question: {name for name, _ in entry.sources if name.endswith(".md")}
        for entry in cache.semcache.entries()
    }


def run(way: str, asked: Any, questions: list[str]) -> list[str]:
    """Ask all of them, in one of the ways of LangChain."""
    if way == "invoke":
        return [asked.invoke(one) for one in questions]
    if way == "batch":
        return asked.batch(questions)
    if way == "stream":
        return ["".join(asked.stream(one)) for one in questions]
    if way == "ainvoke":
        return asyncio.run(_gather(asked, questions))
    if way == "abatch":
        return asyncio.run(asked.abatch(questions))
    return asyncio.run(_astream(asked, questions))


async def _gather(asked: Any, questions: list[str]) -> list[str]:
    return list(await asyncio.gather(*(asked.ainvoke(one) for one in questions)))


async def _astream(asked: Any, questions: list[str]) -> list[str]:
    async def one(text: str) -> str:
        return "".join([piece async for piece in asked.astream(text)])

    return list(await asyncio.gather(*map(one, questions)))


WAYS = ["invoke", "batch", "stream", "ainvoke", "abatch", "astream"]


@pytest.mark.parametrize("way", WAYS)
def test_one_document_of_a_hundred_changes_and_exactly_its_dependants_go(
    rag_cache: SemanticCache, way: str
) -> None:
    library, model = Library(), Reader()
    assert len(library.months) == 100
    reading = cached_streams(model, rag_cache) if "stream" in way else model
    asked = chain(library.retriever(), reading)
    first = run(way, asked, HUNDRED)
    assert first == [f"{months} months" for months in library.months.values()]
    kept = sources(rag_cache)
    assert len(kept) == 100
    # What each answer rests on is what the store says that it found.
    for article in ARTICLES:
        found = library.retriever().invoke(question(article))
        assert kept[question(article)] == {one.metadata["source"] for one in found}

    document = library.change("kettle")
    dependants = {text for text, names in kept.items() if "kettle.md" in names}
    assert dependants == {question("kettle"), question("hammock")}
    changed = content_hash(document.page_content)
    cache = rag_cache.semcache
    assert cache.source_changed("kettle.md", changed, dry_run=True) == len(dependants)
    assert len(sources(rag_cache)) == 100
    if way.startswith("a"):
        count = asyncio.run(rag_cache.asemcache.source_changed("kettle.md", changed))
    else:
        count = cache.source_changed("kettle.md", changed)
    assert count == len(dependants)
    assert set(sources(rag_cache)) == set(kept) - dependants

    before = cache.stats().hits
    again = run(way, asked, HUNDRED)
    assert again == [f"{months} months" for months in library.months.values()]
    assert cache.stats().hits - before == 100 - len(dependants)
    # What was made of the new content stays.
    assert cache.source_changed("kettle.md", changed) == 0
    assert cache.source_changed("kettle.md", None, dry_run=True) == len(dependants)


class Meeting(BaseRetriever):
    """Finds one text for every question, under an id of its own, and waits for all the others."""

    barrier: Any
    abarrier: Any

    def _found(self, query: str) -> list[Document]:
        return [Document(id=f"{query}.md", page_content="It is twelve months for all articles.")]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.barrier.wait(60)
        return self._found(query)

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await self.abarrier.wait()
        return self._found(query)


@pytest.mark.parametrize("way", ["threads", "batch", "tasks", "abatch"])
def test_fifty_runs_at_once_do_not_mix(cache: SemanticCache, way: str) -> None:
    """The text is in all prompts: only the run says whose document it was."""
    questions = HUNDRED[:50]
    retriever = Meeting(barrier=threading.Barrier(50), abarrier=asyncio.Barrier(50))
    asked = chain(retriever, Reader())
    if way == "threads":
        with ThreadPoolExecutor(50) as pool:
            list(pool.map(asked.invoke, questions))
    elif way == "batch":
        asked.batch(questions, {"max_concurrency": 50})
    else:
        run({"tasks": "ainvoke", "abatch": "abatch"}[way], asked, questions)
    assert sources(cache) == {one: {f"{one}.md"} for one in questions}


def test_an_entry_has_id_source_and_content_hash(rag_cache: SemanticCache) -> None:
    library = Library()
    chain(library.retriever(k=1), Reader()).invoke(question("kettle"))
    (entry,) = rag_cache.semcache.entries()
    digest = content_hash(library.document("kettle").page_content)
    assert set(entry.sources) == {("doc-kettle", digest), ("kettle.md", digest)}
    assert digest.startswith("sha256:")


def test_without_tracking_nothing_is_kept(make_cache: Any) -> None:
    cache = make_cache(encoder="hash", index=None, similarity_threshold=None, track_sources=False)
    set_llm_cache(cache)
    chain(Library(5).retriever(), Reader()).invoke(question("kettle"))
    (entry,) = cache.semcache.entries()
    assert entry.sources == ()


def test_a_document_that_was_retrieved_and_not_shown_is_no_source(
    rag_cache: SemanticCache,
) -> None:
    def first_only(documents: list[Document]) -> list[Document]:
        return documents[:1]

    library = Library()
    chain(library.retriever(k=4) | first_only, Reader()).invoke(question("kettle"))
    assert sources(rag_cache) == {question("kettle"): {"kettle.md"}}
