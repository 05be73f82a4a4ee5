"""`SemanticCacheMiddleware`: the cache inside LangChain agents. Needs the extra `langchain`.

A `BaseCache` sees two strings. A middleware sees the call itself: the live model, the schema of the
answer and the runtime with the real tenant in it, so nothing has to be guessed here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, TypeAlias, TypedDict

from langchain_semcache.client import AsyncSemcache, Semcache
from langchain_semcache.errors import CorruptEntry, MissingExtra
from langchain_semcache.langchain.agent_calls import (
    AnyRequest,
    AnyResponse,
    core_request,
    from_decision,
    to_agent_response,
)
from langchain_semcache.langchain.cache import SemanticCache
from langchain_semcache.langchain.generations import Unstorable
from langchain_semcache.langchain.provenance import traced
from langchain_semcache.langchain.tracking import (
    Surroundings,
    around_this_run,
    track,
    with_artifacts,
)
from langchain_semcache.lineage import Pairs, current_lineage
from langchain_semcache.records import Decision, Request, Response
from langchain_semcache.request import Resolved
from langchain_semcache.tenancy import current_tenant
from langchain_semcache.ttl import UNSET, Unset, checked_ttl

try:
    from langchain.agents.middleware import AgentMiddleware
except ImportError as error:
    raise MissingExtra("SemanticCacheMiddleware", "langchain", "langchain") from error

ADAPTER = "langchain agent"

Tenant: TypeAlias = str | Callable[[AnyRequest], str]


class SemanticCacheMiddleware(AgentMiddleware[Any, Any, Any]):
    """Answers an agent's model calls from the cache.

        create_agent(model, tools, middleware=[SemanticCacheMiddleware(SemanticCache())])

    Model and its parameters, system prompt, tools, answer schema and tenant have to be the same;
    the question may be worded differently. A turn that carries tool calls or results is matched
    exactly only. Identical calls that arrive together ask the model once. What breaks in the cache
    is a miss; what the model raises arrives as it is.

    Args:
        cache: A `SemanticCache` or an open `Semcache`; whoever made it closes it.
        tenant: Who shares the answers, or how to tell from the call, for instance
            `lambda request: request.runtime.context.customer`. When that fails, the call is not
            cached. Inside `with tenant("…"):` that name is used instead.
        ttl: Lifetime of what is stored; numbers are seconds. The cache's own by default.
        tags: Labels to invalidate by.

    Raises:
        ConfigurationError: `ttl` is negative or no duration.
    """

    def __init__(
        self,
        cache: SemanticCache | Semcache,
        *,
        tenant: Tenant = "",
        ttl: timedelta | float | None | Unset = UNSET,
        tags: Sequence[str] = (),
    ) -> None:
        super().__init__()
        if isinstance(cache, SemanticCache):
            self._sync, self._async = cache.semcache, cache.asemcache
            tenant = tenant or cache.tenant
            self._tracks = cache.track_sources
        else:
            self._sync, self._async = cache, AsyncSemcache(cache.core)
            self._tracks = True
        if self._tracks:
            track()
        self._tenant = tenant
        self._ttl = ttl if isinstance(ttl, Unset) else checked_ttl(ttl)
        self._tags = tuple(tags)

    def wrap_model_call(
        self, request: AnyRequest, handler: Callable[[AnyRequest], AnyResponse]
    ) -> AnyResponse:
        """The stored answer, else what `handler` returns or raises."""
        call = _Call(request)

        def ask() -> Response:
            try:
                call.answer = handler(request)
            except Exception as error:
                raise _ModelFailed(error) from error
            return to_agent_response(request, call.answer)

        try:
            asked = self._read(request, self._whose(request), self._around())
            decision = self._sync.get_or_call(call=ask, ttl=self._ttl, **asked)
            settled = self._settled(call, decision)
            if settled is None:
                self._sync.remove(decision.entry_id or "")
                decision = self._sync.get_or_call(call=ask, ttl=self._ttl, **asked)
                settled = self._settled(call, decision)
        except Exception as error:  # noqa: BLE001 - a cache must not break the call it caches
            settled = self._trouble(call, error)
        if call.failure is not None:
            raise call.failure
        return settled if settled is not None else handler(request)

    async def awrap_model_call(
        self, request: AnyRequest, handler: Callable[[AnyRequest], Awaitable[AnyResponse]]
    ) -> AnyResponse:
        """See `wrap_model_call`."""
        call = _Call(request)

        async def ask() -> Response:
            try:
                call.answer = await handler(request)
            except Exception as error:
                raise _ModelFailed(error) from error
            return await asyncio.to_thread(to_agent_response, request, call.answer)

        try:
            who = self._whose(request)
            asked = await asyncio.to_thread(self._read, request, who, self._around())
            decision = await self._async.get_or_call(call=ask, ttl=self._ttl, **asked)
            settled = await asyncio.to_thread(self._settled, call, decision)
            if settled is None:
                await self._async.remove(decision.entry_id or "")
                decision = await self._async.get_or_call(call=ask, ttl=self._ttl, **asked)
                settled = await asyncio.to_thread(self._settled, call, decision)
        except Exception as error:  # noqa: BLE001 - a cache must not break the call it caches
            settled = self._trouble(call, error)
        if call.failure is not None:
            raise call.failure
        return settled if settled is not None else await handler(request)

    def _whose(self, request: AnyRequest) -> str:
        """The tenant of this call.

        Raises:
            TypeError: It cannot be told; the call must then not be cached at all.
        """
        named = current_tenant()
        if named:
            return named
        who = self._tenant(request) if callable(self._tenant) else self._tenant
        if not isinstance(who, str):
            raise TypeError("the tenant is no text")
        return who

    def _around(self) -> Surroundings:
        """Where this call is made; to be asked on its own task or thread."""
        return around_this_run() if self._tracks else Surroundings()

    def _read(self, request: AnyRequest, who: str, around: Surroundings) -> _Asked:
        """The call as a request, with what its answer rests on."""
        asked = core_request(request, who)
        around = with_artifacts(around, request.messages) if self._tracks else around
        found = traced(asked, around, current_lineage(), self._sync.core.resolve)
        if found is None:
            return _Asked(request=asked, sources=(), tags=self._tags)
        tags = tuple(dict.fromkeys((*self._tags, *found.tags)))
        return _Asked(request=found.asked, sources=found.sources, tags=tags)

    def _settled(self, call: _Call, decision: Decision) -> AnyResponse | None:
        """The model's own answer, else the stored one or that of an identical call.

        None when the stored one cannot be read: whoever asked removes it and asks again.
        """
        if call.answer is not None:
            return call.answer
        try:
            return from_decision(call.request, decision)
        except CorruptEntry as error:
            self._sync.core.warn(str(error))
            return None

    def _trouble(self, call: _Call, error: Exception) -> AnyResponse | None:
        """What there is to return after all; None when the model has to be asked."""
        if isinstance(error, _ModelFailed):
            call.failure = error.error
            return None
        if isinstance(error, Unstorable):
            self._sync.not_kept(str(error))
            return call.answer
        self._sync.troubled(ADAPTER, error)
        return call.answer


class _Asked(TypedDict):
    request: Request | Resolved
    sources: Pairs
    tags: tuple[str, ...]


class _ModelFailed(Exception):
    """Carries what the model raised past everything that handles errors of the cache."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class _Call:
    """One model call: what the model said to this very caller, if it was asked."""

    def __init__(self, request: AnyRequest) -> None:
        self.request = request
        self.answer: AnyResponse | None = None
        self.failure: Exception | None = None
