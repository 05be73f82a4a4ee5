"""A small real retrieval chain: 100 documents in LangChain's own vector store, and a reader."""

from __future__ import annotations

import re
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from tests.adapters.langchain.models import StreamingModel, done

ARTICLES = (
    "kettle toaster blender lamp heater fan scale clock radio phone tablet laptop monitor keyboard "
    "mouse printer scanner camera tripod lens drone watch ring bracelet necklace wallet belt bag "
    "backpack suitcase umbrella jacket coat shirt sweater trousers skirt dress shoe boot sandal "
    "glove scarf hat helmet bicycle scooter skateboard tent mattress pillow blanket towel curtain "
    "carpet mirror vase frame candle desk chair stool bench shelf cabinet wardrobe sofa armchair "
    "table crib stroller doll puzzle guitar piano violin drum flute trumpet microphone speaker "
    "headphone amplifier turntable hammer drill saw wrench pliers ladder shovel rake hose mower "
    "freezer oven dishwasher vacuum juicer hammock"
).split()
TEMPLATE = "Answer from the context.\n\nContext:\n{context}\n\nQuestion: {question}\n\nAnswer:"


class WordEmbeddings(Embeddings):
    """Texts are near each other that name the same articles."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector = [0.01] * len(ARTICLES)
        for word in re.findall(r"\w+", text.lower()):
            if word in ARTICLES:
                vector[ARTICLES.index(word)] += 1.0
        return vector


class Reader(StreamingModel):
    """Answers with the months that the context names for the article that is asked about."""

    def _next(self, messages: Any) -> Any:
        self._asked.append(list(messages))
        text = str(messages[-1].content)
        article = text.rpartition("warranty of the ")[2].partition("?")[0]
        said = text.partition(f"The {article} has a warranty of ")[2].partition(" months")[0]
        return [done(f"{said} months")]


class Library:
    """100 documents, one file each, in a real vector store."""

    def __init__(self, count: int = 100) -> None:
        self.months = {article: 6 + place for place, article in enumerate(ARTICLES[:count])}
        self.store = InMemoryVectorStore(WordEmbeddings())
        self.store.add_documents([self.document(article) for article in self.months])

    def document(self, article: str) -> Document:
        before = ARTICLES[ARTICLES.index(article) - 1]
        text = (
            f"The {article} has a warranty of {self.months[article]} months.\n"
            f"Send the {article} back to us in its box. See also: {before}."
        )
        return Document(
            id=f"doc-{article}", page_content=text, metadata={"source": f"{article}.md"}
        )

    def change(self, article: str) -> Document:
        """Another warranty; the document takes the place of the old one."""
        self.months[article] += 1000
        document = self.document(article)
        self.store.add_documents([document])
        return document

    def retriever(self, k: int = 2) -> Any:
        return self.store.as_retriever(search_kwargs={"k": k})


def question(article: str) -> str:
    return f"How long is the warranty of the {article}?"


def joined(documents: list[Document]) -> str:
    return "\n\n".join(document.page_content for document in documents)


def chain(retriever: Any, model: Any, template: str = TEMPLATE) -> Runnable[Any, str]:
    prompt = ChatPromptTemplate.from_template(template)
    given = {"context": retriever | joined, "question": RunnablePassthrough()}
    return given | prompt | model | StrOutputParser()
