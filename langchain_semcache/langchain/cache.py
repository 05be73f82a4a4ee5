"""`SemanticCache`: the core cache as LangChain's `BaseCache`. Translation, nothing else."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.outputs import Generation

from langchain_semcache.client import AsyncSemcache, Semcache, Stats
from langchain_semcache.client.shared import Asked
from langchain_semcache.clock import Clock
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.errors import ConfigurationError, CorruptEntry
from langchain_semcache.events import EventSink
from langchain_semcache.langchain.evaluation import Asked as Evaluates
from langchain_semcache.langchain.evaluation import evaluator_of
from langchain_semcache.langchain.generations import Unstorable, to_generations, to_response
from langchain_semcache.langchain.provenance import Call, CallsUnderWay, Traced, traced_once
from langchain_semcache.langchain.recording import Streams
from langchain_semcache.langchain.tracking import Surroundings, around_this_call, track
from langchain_semcache.langchain.wire import is_chat, request_of
from langchain_semcache.lineage import Pairs, current_lineage
from langchain_semcache.ports import Encoder, EntryIndex, Verifier
from langchain_semcache.records import Request
from langchain_semcache.request import Resolved
from langchain_semcache.tenancy import current_tenant

ADAPTER = "langchain"


class _Rests(TypedDict):
    sources: Pairs
    tags: tuple[str, ...]


class SemanticCache(BaseCache):
    """Answers LangChain's model calls by meaning.

        set_llm_cache(SemanticCache())                      # everything, in ./.semcache
        ChatOpenAI(cache=SemanticCache("…", tenant="acme"))    # one model, one tenant

    In a call it never raises: what breaks is a miss, and a paid answer is never lost. Facts about
    a hit are in `response_metadata["semcache"]` of the message.

    Three limits are LangChain's. `.stream()` never asks a cache (see `cached_streams`). A cache is
    told what a chat model was when it was first used: after changing a field use `.bind()` or a new
    object, not `model_copy`. Of a completion model (`BaseLLM`) it is told no option of the call
    but `stop`, given or bound: use one object for each setting, or a model with `cache=False`.

    Args:
        location: A directory, ":memory:", a Qdrant URL, a configuration, or an open `Semcache`.
        tenant: Who shares the answers. Inside `with tenant("…"):` that name is used instead.
        track_sources: Whether the documents that a retriever has put into a prompt become the
            `sources` of its answer, and a part of what is compared by meaning.
        encoder, verifier, index, clock, sinks: See `Semcache.open`.
        evaluator: As there, or the chat model that is asked about its answers.
        **overrides: Settings of `SemcacheConfig`.

    Raises:
        ConfigurationError: One line that names what is wrong and the fix.
    """

    def __init__(  # noqa: PLR0913 - one for each port; all but the first by keyword
        self,
        location: str | Path | SemcacheConfig | Semcache | None = None,
        *,
        tenant: str = "",
        track_sources: bool = True,
        encoder: Encoder | str | None = None,
        verifier: Verifier | str | None = None,
        index: EntryIndex | None = None,
        evaluator: Evaluates | None = None,
        clock: Clock | None = None,
        sinks: Sequence[EventSink] = (),
        **overrides: object,
    ) -> None:
        if not isinstance(tenant, str):
            raise ConfigurationError(f"tenant must be text, not {tenant!r}")
        if isinstance(location, Semcache):
            given = [encoder, verifier, index, evaluator, clock, *sinks, *overrides]
            if any(value is not None for value in given):
                raise ConfigurationError("an open Semcache has its settings already; give it alone")
            self._owned = None
            self._sync = location
        else:
            self._sync = self._owned = Semcache.open(
                location,
                encoder=encoder,
                verifier=verifier,
                index=index,
                evaluator=evaluator_of(evaluator),
                clock=clock,
                sinks=sinks,
                **overrides,
            )
        self._async = AsyncSemcache(self._sync.core)
        self._streams = Streams(self._sync, self._async)
        self._tenant = tenant
        self._tracks = track_sources
        self._calls = CallsUnderWay(self._sync.core.resolve)
        if track_sources:
            track()

    @property
    def semcache(self) -> Semcache:
        """The core cache, for `explain`, `invalidate`, `report` and the rest."""
        return self._sync

    @property
    def asemcache(self) -> AsyncSemcache:
        """The same cache for asyncio."""
        return self._async

    @property
    def tenant(self) -> str:
        """Who shares the answers, unless a block of `tenant` says otherwise."""
        return self._tenant

    @property
    def streams(self) -> Streams:
        """How `cached_streams` reads and writes."""
        return self._streams

    @property
    def track_sources(self) -> bool:
        """Whether answers come to rest on the documents in their prompts."""
        return self._tracks

    def request(self, prompt: str, llm_string: str) -> Request:
        """What LangChain's two strings mean, for this cache's tenant."""
        return self._call(prompt, llm_string).request()

    def _call(self, prompt: str, llm_string: str) -> Call:
        """The same, to be read on another thread; whose it is and where must be asked here."""
        texts = (prompt, llm_string, current_tenant() or self._tenant)
        chat = is_chat(prompt)
        around = around_this_call(prompt, chat=chat) if self._tracks else Surroundings()
        return Call(texts, functools.partial(request_of, *texts), around, current_lineage(), chat)

    def _asked(self, prompt: str, llm_string: str) -> Callable[[], Request | Resolved]:
        return functools.partial(self._calls.looked_up, self._call(prompt, llm_string))

    def traced(self, prompt: str, llm_string: str) -> Callable[[], Traced]:
        """The request of a stream and what it rests on, to be read on another thread."""
        call = self._call(prompt, llm_string)
        return functools.partial(traced_once, call, self._sync.core.resolve)

    def lookup(self, prompt: str, llm_string: str) -> list[Generation] | None:
        """The stored generations, or None."""
        try:
            decision = self._sync.lookup(self._asked(prompt, llm_string))
            try:
                return to_generations(decision) if decision.hit else None
            except CorruptEntry as error:
                self._sync.remove(error.entry_id)
                raise
        except Exception as error:  # noqa: BLE001 - a cache must not break the call it caches
            self._sync.troubled(ADAPTER, error)
            return None

    async def alookup(self, prompt: str, llm_string: str) -> list[Generation] | None:
        """See `lookup`."""
        try:
            decision = await self._async.lookup(self._asked(prompt, llm_string))
            try:
                return to_generations(decision) if decision.hit else None
            except CorruptEntry as error:
                await self._async.remove(error.entry_id)
                raise
        except Exception as error:  # noqa: BLE001 - a cache must not break the call it caches
            self._async.troubled(ADAPTER, error)
            return None

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Keep the generations, if they may be kept."""
        try:
            call = self._call(prompt, llm_string)
            asked, rests = _rests(call, self._calls.answered(call))
            self._sync.store(asked, to_response(return_val), **rests)
        except Unstorable as error:
            self._sync.not_kept(str(error))
        except Exception as error:  # noqa: BLE001 - the answer is paid for and must arrive
            self._sync.troubled(ADAPTER, error)

    async def aupdate(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """See `update`."""
        try:
            call = self._call(prompt, llm_string)
            if call.may_have_lineage:
                found = await asyncio.to_thread(self._calls.answered, call)
            else:
                found = self._calls.answered(call)
            asked, rests = _rests(call, found)
            await self._async.store(asked, functools.partial(to_response, return_val), **rests)
        except Unstorable as error:
            self._async.not_kept(str(error))
        except Exception as error:  # noqa: BLE001 - the answer is paid for and must arrive
            self._async.troubled(ADAPTER, error)

    def clear(self, **kwargs: Any) -> None:
        """Remove this tenant's entries, or without a tenant every entry of the namespace.

        Raises:
            SemcacheError: The store did not do it; a clear that silently does nothing is a lie.
        """
        if tenant := current_tenant() or self._tenant:
            self._sync.invalidate(tenant=tenant)
        else:
            self._sync.clear()

    async def aclear(self, **kwargs: Any) -> None:
        """See `clear`."""
        if tenant := current_tenant() or self._tenant:
            await self._async.invalidate(tenant=tenant)
        else:
            await self._async.clear()

    def stats(self) -> Stats:
        """Numbers of this cache."""
        return self._sync.stats()

    def close(self) -> None:
        """Release what this cache opened; a `Semcache` that was passed in stays open."""
        if self._owned is not None:
            self._owned.close()


def _rests(call: Call, found: Traced | None) -> tuple[Asked, _Rests]:
    """What to store an answer under, and with what."""
    if found is None:
        return call.request, _Rests(sources=(), tags=())
    return found.asked, _Rests(sources=found.sources, tags=found.tags)
