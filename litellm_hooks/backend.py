"""`SemcacheBackend`: the core cache as LiteLLM's `Cache`. Translation, nothing else.

LiteLLM asks a `Cache` for a reply before a call and hands it the reply afterwards. The stock class
shows its backends only a part of the call; a subclass sees all of it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from langchain_semcache.client import AsyncSemcache, Semcache
from langchain_semcache.errors import CorruptEntry, MissingExtra
from langchain_semcache.records import Decision, Request, Response
from langchain_semcache.request import Resolved
from langchain_semcache.tenancy import current_tenant
from litellm_hooks._calls import Begun, Calls
from litellm_hooks._controls import Controls, lifetime, read_controls
from litellm_hooks._identity import FACTS, METADATA, SIMILARITY, noted_tenant
from litellm_hooks._translate import (
    CHAT,
    Caller,
    Unstorable,
    choices_of,
    facts_of,
    reply_of,
    request_of,
    response_of,
    surface_of,
)
from litellm_hooks.settings import HookSettings

try:
    from litellm.caching.base_cache import BaseCache
    from litellm.caching.caching import Cache
    from litellm.responses import streaming_iterator
    from litellm.types import utils as litellm_types

    from litellm_hooks._account import account_of
    from litellm_hooks._replay import Replay, replayed, replayed_async
    from litellm_hooks._streams import broke_off, watch
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

ADAPTER = "litellm"
CHAT_CALLS = ("completion", "acompletion")
RESPONSES_CALLS = ("responses", "aresponses")
"""What is cached. Embeddings and text completions pass through."""

Kwargs: TypeAlias = dict[str, Any]


class SemcacheBackend(Cache):  # type: ignore[misc]
    """LiteLLM's cache, answered by meaning.

    No method raises in a call: LiteLLM would fail the user's request over it. With the setting
    `strict`, for tests, it does.

    Args:
        cache: An open cache; whoever made it closes it, or `disconnect` does.
        settings: Who shares answers, and whether calls are cached that do not say.
        authenticated: Whether the tenant is what the proxy's hook noted, instead of
            `langchain_semcache.tenant` and the settings.
    """

    def __init__(
        self, cache: Semcache, settings: HookSettings, *, authenticated: bool = False
    ) -> None:
        super().__init__(type="local", supported_call_types=_call_types(), **_without_a_limit())
        self.type = "semcache"
        self.cache = _NoBackend()
        self.namespace = None
        self.ttl = None
        self._sync = cache
        self._async = AsyncSemcache(cache.core)
        self._settings = settings
        self._authenticated = authenticated
        self._calls = Calls()
        self.by_tags = False
        """Whether tags choose among the deployments of a model; the proxy's hook keeps it true."""
        watch()

    @property
    def semcache(self) -> Semcache:
        """The core cache, for `explain`, `invalidate`, `report` and the rest."""
        return self._sync

    @property
    def asemcache(self) -> AsyncSemcache:
        """The same cache for asyncio."""
        return self._async

    @property
    def settings(self) -> HookSettings:
        """What it was made with."""
        return self._settings

    def get_cache(
        self, dynamic_cache_object: object = None, **kwargs: Any
    ) -> Kwargs | Replay | None:
        """The stored reply to this call, as LiteLLM reads it, or None; of a stream, the stream."""
        try:
            controls = self._controls(kwargs)
            if not controls.used or not controls.reads:
                return None
            decision = self._sync.lookup(
                self._asked(kwargs, controls), conditions=controls.conditions
            )
            try:
                reply = self._told(kwargs, decision)
            except CorruptEntry as error:
                self._sync.remove(error.entry_id)
                raise
            return self._as_asked(reply, kwargs, replayed)
        except Exception as error:  # noqa: BLE001 - LiteLLM would fail the call over it
            self._sync.troubled(ADAPTER, error)
            return None

    async def async_get_cache(
        self, dynamic_cache_object: object = None, **kwargs: Any
    ) -> Kwargs | Replay | None:
        """See `get_cache`."""
        try:
            controls = self._controls(kwargs)
            if not controls.used or not controls.reads:
                return None
            decision = await self._async.lookup(
                self._asked(kwargs, controls), conditions=controls.conditions
            )
            try:
                reply = self._told(kwargs, decision)
            except CorruptEntry as error:
                await self._async.remove(error.entry_id)
                raise
            return self._as_asked(reply, kwargs, replayed_async)
        except Exception as error:  # noqa: BLE001 - LiteLLM would fail the call over it
            self._async.troubled(ADAPTER, error)
            return None

    def add_cache(self, result: object, **kwargs: Any) -> None:
        """Keep the reply to this call, if it may be kept."""
        try:
            controls = self._controls(kwargs)
            if self._keeps(kwargs, controls):
                self._sync.store(
                    self._answered(kwargs, controls, at_once=_at_once(kwargs)),
                    self._reply(result, kwargs)(),
                    ttl=self._lifetime(controls),
                    tags=controls.tags,
                    sources=controls.sources,
                )
        except Unstorable as error:
            self._sync.not_kept(str(error))
        except Exception as error:  # noqa: BLE001 - the answer is paid for and must arrive
            self._sync.troubled(ADAPTER, error)

    async def async_add_cache(
        self, result: object, dynamic_cache_object: object = None, **kwargs: Any
    ) -> None:
        """See `add_cache`."""
        try:
            controls = self._controls(kwargs)
            if self._keeps(kwargs, controls):
                await self._async.store(
                    self._answered(kwargs, controls),
                    self._reply(result, kwargs),
                    ttl=self._lifetime(controls),
                    tags=controls.tags,
                    sources=controls.sources,
                )
        except Unstorable as error:
            self._async.not_kept(str(error))
        except Exception as error:  # noqa: BLE001 - the answer is paid for and must arrive
            self._async.troubled(ADAPTER, error)

    def get_cache_key(self, **kwargs: Any) -> str:
        """The id of this call's entry.

        LiteLLM asks for it before a lookup and again for its logs; `get_cache` then notes the id of
        the entry that was served. Until then a name for the call does: to work the id out means
        reading the whole request, which is not done on an event loop.
        """
        params = kwargs.get("litellm_params")
        preset = params.get("preset_cache_key") if isinstance(params, Mapping) else None
        return str(preset or kwargs.get("litellm_call_id") or "")

    def should_use_cache(self, **kwargs: Any) -> bool:
        """Whether this call says that it is cached."""
        return self._controls(kwargs).used

    def began(self, kwargs: Kwargs, name: str) -> None:
        """Note whose call this is of the LiteLLM function `name`, in the context of its caller."""
        try:
            if name in self.supported_call_types and self._controls(kwargs).used:
                self._calls.began(kwargs, current_tenant())
        except Exception as error:  # noqa: BLE001 - LiteLLM would fail the call over it
            self._sync.troubled(ADAPTER, error)

    async def explain(self, call: Kwargs, tenant: str) -> Decision:
        """What would be decided on this call of this tenant; serves and changes nothing."""
        controls = read_controls(call, self._settings.mode)
        caller = Caller(tenant=tenant, authenticated=self._authenticated)
        request = self._request(call, controls, caller)
        return await self._async.explain(request, conditions=controls.conditions)

    async def ping(self) -> bool:
        """Whether the store answers.

        Raises:
            IndexUnavailable: It does not.
        """
        await self._async.stats(sizes=False)
        return True

    async def delete_cache_keys(self, keys: list[str]) -> int:
        """Remove the entries with these ids (`x-litellm-cache-key`); how many there were."""
        return sum([await self._async.remove(str(key)) for key in keys])

    async def disconnect(self) -> None:
        """Release files, threads and sockets; the proxy calls it when it shuts down."""
        await self._async.close()

    def _controls(self, kwargs: Mapping[str, object]) -> Controls:
        controls = read_controls(kwargs, self._settings.mode)
        if self._authenticated and not noted_tenant(kwargs):
            # A call that the proxy makes by itself, or that no hook has seen: it is nobody's.
            return replace(controls, used=False)
        return controls

    def _lifetime(self, controls: Controls) -> Any:
        cache = self._settings.cache
        limits = [cache.ttl, cache.freshness.most if cache.freshness.policy == "rules" else None]
        longest = min((limit for limit in limits if limit is not None), default=None)
        return lifetime(controls, longest, trusted=not self._authenticated)

    def _asked(self, kwargs: Kwargs, controls: Controls) -> Callable[[], Resolved]:
        """Makes the identity of a call; to be called where CPU work may be done."""
        # LiteLLM goes on to write into the metadata while a worker reads them.
        kwargs = {**kwargs, **_metadata(kwargs)}
        caller = self._caller(kwargs)

        def identity() -> Resolved:
            resolved = self._resolved(kwargs, controls, caller)
            self._calls.asked(kwargs, resolved)
            return resolved

        return identity

    def _answered(
        self, kwargs: Kwargs, controls: Controls, *, at_once: bool = False
    ) -> Callable[[], Resolved]:
        """The same for a call that is over, as it was when it began.

        Its conversation may have been changed since, and a stream is stored by whoever reads it to
        its end, perhaps outside the block that named the tenant. `at_once` says that the caller is
        still waiting: nothing has changed then.

        Raises:
            Unstorable: In a program, who asked was not noted: only so many calls are remembered.
        """
        kwargs = {**kwargs, **_metadata(kwargs)}
        caller, known = self._caller(kwargs), self._calls.answered(kwargs)
        if isinstance(known, Begun):
            kwargs = known.call(kwargs)
            if not self._authenticated:
                caller = replace(caller, tenant=known.tenant)
        elif known is not None:
            return lambda: known
        elif not (at_once or self._authenticated):
            raise Unstorable("who asked was not noted when the call began")
        return lambda: self._resolved(kwargs, controls, caller)

    def _caller(self, kwargs: Kwargs) -> Caller:
        if self._authenticated:
            return Caller(tenant=noted_tenant(kwargs), authenticated=True)
        return Caller(tenant=current_tenant(), authenticated=False, account=account_of(kwargs))

    def _resolved(self, kwargs: Kwargs, controls: Controls, caller: Caller) -> Resolved:
        return self._sync.core.resolve(self._request(kwargs, controls, caller))

    def _request(self, kwargs: Kwargs, controls: Controls, caller: Caller) -> Request:
        return request_of(
            kwargs, caller, owned=_owned, namespace=controls.namespace, by_tags=self.by_tags
        )

    def _told(self, kwargs: Kwargs, decision: Decision) -> Kwargs | None:
        """The reply of a hit; the facts, of a miss too, are noted where LiteLLM looks."""
        reply = reply_of(decision, surface_of(kwargs)) if decision.hit else None
        facts = facts_of(decision)
        if (handler := _handler(kwargs)) is not None:
            setattr(handler, FACTS, facts)
        for place in METADATA:
            if isinstance(held := kwargs.get(place), dict):
                held[FACTS] = facts
                if decision.similarity is not None:
                    held[SIMILARITY] = round(decision.similarity, 4)
        if reply is not None:
            self._calls.answered(kwargs)
            _note_key(kwargs, decision.entry_id)
        return reply

    def _as_asked(
        self, reply: Kwargs | None, kwargs: Kwargs, replay: Callable[..., Replay]
    ) -> Kwargs | Replay | None:
        if reply is None or not kwargs.get("stream") or surface_of(kwargs) != CHAT:
            return reply
        clock = self._sync.core.workplace.clock.monotonic
        return replay(reply, kwargs, self._settings.cache.streams, clock)

    def _reply(self, result: object, kwargs: Kwargs) -> Callable[[], Response]:
        """Reads the reply to a call; it may be large, and is read where that may take time."""
        wanted, surface = choices_of(kwargs), surface_of(kwargs)
        # A provider may have none to give; of a stream LiteLLM leaves them out by itself.
        logprobs = bool(kwargs.get("logprobs") and kwargs.get("stream"))
        return functools.partial(response_of, result, surface, wanted, logprobs=logprobs)

    def _keeps(self, kwargs: Kwargs, controls: Controls) -> bool:
        """Whether the reply that LiteLLM hands over is to be stored.

        Raises:
            Unstorable: It is not whole.
        """
        if not (controls.used and controls.writes) or not self._calls.stores_first(kwargs):
            return False
        # A reply that is made up (`mock_response`) has no end that a provider said.
        if broke_off(kwargs) and not isinstance(kwargs.get("mock_response"), str):
            raise Unstorable("the stream broke off")
        return True


class _NoBackend(BaseCache):  # type: ignore[misc]
    """What stands where LiteLLM expects a backend; nothing of ours may show in its listings."""

    __slots__ = ()

    async def async_set_cache_pipeline(self, cache_list: object, **kwargs: Any) -> None:
        """Nothing: embeddings are not cached here."""


def _metadata(kwargs: Mapping[str, Any]) -> Kwargs:
    return {place: dict(kwargs[place]) for place in METADATA if isinstance(kwargs.get(place), dict)}


def _at_once(kwargs: Mapping[str, object]) -> bool:
    """Whether a synchronous call is not over yet; streams go without LiteLLM's logging object."""
    return not kwargs.get("stream") and kwargs.get("litellm_logging_obj") is not None


def _note_key(kwargs: Mapping[str, object], entry_id: str | None) -> None:
    """Tell LiteLLM which entry was served: it reports that id, and `/cache/delete` is given it."""
    if (handler := _handler(kwargs)) is not None and entry_id:
        handler.preset_cache_key = entry_id


def _handler(kwargs: Mapping[str, object]) -> Any:
    """What LiteLLM keeps about the caching of a call; of several tries, the last one's."""
    return getattr(kwargs.get("litellm_logging_obj"), "llm_caching_handler", None)


def _call_types() -> list[str]:
    """Early releases hand a stored reply of the Responses API to the caller as a mere mapping."""
    converts = hasattr(streaming_iterator, "CachedResponsesAPIStreamingIterator")
    return [*CHAT_CALLS, *(RESPONSES_CALLS if converts else ())]


def _owned(name: str) -> bool:
    """Whether an argument is LiteLLM's own and does not go to the model."""
    owned = getattr(litellm_types, "is_litellm_owned_kwarg", None)
    if owned is not None:
        return bool(owned(name))
    return name in litellm_types.all_litellm_params or name.startswith("_litellm_")


def _without_a_limit() -> dict[str, None]:
    """Releases from late 2026 on pass by chats of more than four messages, unless told not to."""
    known = inspect.signature(Cache.__init__).parameters
    return {"max_messages": None} if "max_messages" in known else {}
