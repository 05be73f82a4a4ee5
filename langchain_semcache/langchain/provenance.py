"""From what was retrieved around a call to what is stored with its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from langchain_semcache.langchain.documents import shown
from langchain_semcache.langchain.tracking import Surroundings
from langchain_semcache.lineage import Lineage, Pairs
from langchain_semcache.recent import Recent
from langchain_semcache.records import Request
from langchain_semcache.request import Resolved, digest, with_sources

UNDER_WAY = 1_024
"""Calls with a lineage that are remembered from their lookup to their store."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A request with a lineage: its identity, and what its answer rests on."""

    asked: Resolved
    sources: Pairs = ()
    tags: tuple[str, ...] = ()


def traced(
    request: Request,
    around: Surroundings,
    said: Lineage | None,
    resolve: Callable[[Request], Resolved],
) -> Traced | None:
    """The request with the documents that its prompt shows; None where there is no lineage at all.

    The documents are a part of what is compared by meaning. An identical request has the same ones:
    their text is in it. What only the application knows of (`said`) is a part of the request.
    """
    documents = around.documents()
    used = shown(documents, request.messages) if documents else []
    lineage = said or Lineage()
    sources = tuple(dict.fromkeys([pair for one in used for pair in one.pairs]))
    if not (sources or around.tags or said):
        return None
    asked = resolve(request)
    query = with_sources(
        asked.query,
        shown=[one.digest for one in used],
        unseen=[digest("source", *pair) for pair in lineage.sources],
    )
    return Traced(
        replace(asked, query=query),
        tuple(dict.fromkeys((*sources, *lineage.sources))),
        tuple(dict.fromkeys((*around.tags, *lineage.tags))),
    )


@dataclass(frozen=True, slots=True)
class Call:
    """One call of LangChain's cache: how to read it, and where it was made.

    `announced` says whether LangChain had told of it when the cache was asked: of a completion it
    does so afterwards, and more is known then.
    """

    texts: tuple[str, str, str]
    request: Callable[[], Request]
    around: Surroundings
    said: Lineage | None
    announced: bool

    @property
    def may_have_lineage(self) -> bool:
        return bool(self.around.shelves or self.around.tags or self.said)


def traced_once(call: Call, resolve: Callable[[Request], Resolved]) -> Traced:
    """The request of a call with its lineage, for one who asks and stores by himself."""
    request = call.request()
    found = traced(request, call.around, call.said, resolve) if call.may_have_lineage else None
    return found or Traced(resolve(request))


class CallsUnderWay:
    """What calls rest on, from their lookup to their store.

    A stream may end in another context than it began in, and by then more may have been retrieved.
    Calls are told apart by their text: it decides which documents are in it.
    """

    def __init__(self, resolve: Callable[[Request], Resolved]) -> None:
        self._resolve = resolve
        self._calls: Recent[Traced | None] = Recent(UNDER_WAY)
        self._used = False

    def looked_up(self, call: Call) -> Request | Resolved:
        """What to look up; its lineage is kept for the store."""
        request = call.request()
        if not call.may_have_lineage and not self._used:
            return request
        self._used = True
        found = traced(request, call.around, call.said, self._resolve)
        for said in {call.said, None}:
            self._calls.put(_key(call, said), found)
        return request if found is None else found.asked

    def answered(self, call: Call) -> Traced | None:
        """What its answer rests on; None where that is nothing."""
        looked_up = self._used and call.announced
        held = self._calls.get(_key(call, call.said)) if looked_up else None
        if held is None and call.may_have_lineage:
            return traced(call.request(), call.around, call.said, self._resolve)
        return held


def _key(call: Call, said: Lineage | None) -> str:
    pairs = [text for pair in said.sources for text in pair] if said else []
    return digest("call", *call.texts, *pairs)
