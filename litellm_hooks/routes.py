"""What an administrator of the proxy can ask of the cache: `/semcache/…`, and `/cache/…` answered.

LiteLLM's own `/cache/ping`, `/cache/delete` and `/cache/flushall` know Redis only: for any other
cache they say "healthy" without a look, or fail.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, HTTPException
from litellm.proxy._types import LitellmUserRoles, UserAPIKeyAuth
from litellm.proxy.auth.user_api_key_auth import user_api_key_auth
from pydantic import BaseModel, ConfigDict, Field

from langchain_semcache.config import without_password
from langchain_semcache.errors import SemcacheError
from langchain_semcache.records import Request, Response
from litellm_hooks._identity import tenant_of
from litellm_hooks._translate import CHAT, surface_of
from litellm_hooks.backend import SemcacheBackend

if TYPE_CHECKING:
    from litellm_hooks.proxy import ProxyHandler

PING_TENANT = "semcache:ping"
_pings = itertools.count()
PING = "Does the cache store and read?"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Keys(_Body):
    """Ids of entries, as `x-litellm-cache-key` names them."""

    keys: list[str]


class Which(_Body):
    """What to remove: every field that is given must match.

    `prompt` is a name, or one version as NAME@VERSION. `older_than` is in seconds. A `dry_run`
    counts and removes nothing.
    """

    tags: list[str] = Field(default_factory=list)
    source: str | None = None
    prompt: str | None = None
    model: str | None = None
    tenant: str | None = None
    older_than: float | None = Field(None, ge=0, le=1e10)
    dry_run: bool = False


class Changed(_Body):
    """A source and what it holds now: its hash, or one for each piece of it; null when it is gone.

    `tenant` says whose answers are meant; every tenant's by default.
    """

    source: str = Field(min_length=1)
    new_hash: str | list[str] | None
    tenant: str | None = None
    dry_run: bool = False


class Whose(_Body):
    """A tenant, by the name of its bucket ("key:…", "team:…")."""

    tenant: str = Field(min_length=1)
    dry_run: bool = False


def admin_routes(handler: ProxyHandler) -> APIRouter:
    """The routes over one worker's cache; each asks for a proxy administrator."""
    router = APIRouter(dependencies=[Depends(_administrator)], tags=["caching"])
    for method, path, answer in (
        ("GET", "/cache/ping", _ping),
        ("POST", "/cache/delete", _delete),
        ("POST", "/cache/flushall", _flush),
        ("GET", "/semcache/stats", _stats),
        ("POST", "/semcache/explain", _explain),
        ("POST", "/semcache/invalidate", _invalidate),
        ("POST", "/semcache/source-changed", _source_changed),
        ("POST", "/semcache/flush", _flush_tenant),
    ):
        router.add_api_route(path, _told(answer(handler)), methods=[method])
    return router


async def _administrator(caller: UserAPIKeyAuth = Depends(user_api_key_auth)) -> None:  # noqa: B008 - FastAPI's way
    if caller.user_role != LitellmUserRoles.PROXY_ADMIN:
        raise HTTPException(
            status_code=403,
            detail="only a proxy administrator may do this: use the master key "
            "(general_settings.master_key), or a key with the role proxy_admin",
        )


Endpoint = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


def _ping(handler: ProxyHandler) -> Endpoint:
    async def ping() -> dict[str, Any]:
        """Store, read and remove an entry for real, and say what is wrong if that fails."""
        cache = _of(handler).asemcache
        # Somebody else may be pinging, in another worker.
        tenant = f"{PING_TENANT}:{os.getpid()}:{next(_pings)}"
        request = Request(messages=PING, model="ping", tenant=tenant, surface=CHAT)
        kept = await cache.store(request, Response.from_text("It does."), ttl=timedelta(minutes=1))
        if not kept.stored or kept.entry_id is None:
            told = without_password(kept.detail)
            raise HTTPException(503, detail=f"unhealthy: nothing is stored ({kept.reason}: {told})")
        found = await cache.get(kept.entry_id)
        await cache.remove(kept.entry_id)
        if found is None:
            raise HTTPException(503, detail="unhealthy: what was stored is not read back")
        return {
            "status": "healthy",
            "cache_type": "semcache",
            "ping_response": True,
            "set_cache_response": "success",
            "encoder": (await cache.stats(sizes=False)).encoder,
        }

    return ping


def _delete(handler: ProxyHandler) -> Endpoint:
    async def delete(wanted: Keys) -> dict[str, Any]:
        """Remove the entries with these ids."""
        removed = await _of(handler).delete_cache_keys(wanted.keys)
        return {"status": "success", "removed": removed}

    return delete


def _flush(handler: ProxyHandler) -> Endpoint:
    async def flush_all() -> dict[str, Any]:
        """Remove every entry of this cache's namespace."""
        return {"status": "success", "removed": await _of(handler).asemcache.clear()}

    return flush_all


def _stats(handler: ProxyHandler) -> Endpoint:
    async def stats() -> dict[str, Any]:
        """Numbers: of the whole store, and of this worker since it started."""
        numbers = await _of(handler).asemcache.stats(sizes=False)
        return asdict(numbers) | {"hit_rate": numbers.hit_rate}

    return stats


def _explain(handler: ProxyHandler) -> Endpoint:
    async def explain(
        body: dict[str, Any],
        caller: UserAPIKeyAuth = Depends(user_api_key_auth),  # noqa: B008 - FastAPI's way
    ) -> dict[str, Any]:
        """What the cache would decide on this body of a call, and why; serves nothing.

        `semcache_tenant` beside the call asks for another tenant than the administrator's own.
        """
        backend = _of(handler)
        _check_call(body)
        tenant = body.pop("semcache_tenant", None) or tenant_of(caller, backend.settings.share)
        said = body.get("metadata")
        metadata = {**(said if isinstance(said, dict) else {}), "model_group": body.get("model")}
        call = {**_defaults(body), **body, "metadata": metadata}
        decision = await backend.explain(call, str(tenant))
        return {
            "hit": decision.hit,
            "reason": decision.reason,
            "tenant": tenant,
            "surface": surface_of(body),
            "similarity": decision.similarity,
            "confidence": decision.confidence,
            "exact_only": decision.exact_only,
            "detail": decision.detail,
            "candidates": [
                {
                    "entry_id": verdict.candidate.entry.id,
                    "question": verdict.candidate.entry.question,
                    "similarity": verdict.candidate.similarity,
                    "confidence": verdict.confidence,
                    "reason": verdict.reason,
                    "detail": verdict.detail,
                }
                for verdict in decision.verdicts
            ],
            "seconds": decision.stages,
        }

    return explain


_TAKES: dict[str, tuple[type, ...]] = {
    "model": (str,),
    "messages": (list,),
    "input": (str, list),
    "semcache_tenant": (str,),
}


def _check_call(body: dict[str, Any]) -> None:
    """Whether this may be the body of a call.

    Raises:
        HTTPException: 400, which names what is wrong.
    """
    for name, kinds in _TAKES.items():
        if name in body and not isinstance(body[name], kinds):
            wanted = " or ".join("text" if kind is str else "a list" for kind in kinds)
            raise HTTPException(400, detail=f"{name} must be {wanted}")
    if "messages" not in body and "input" not in body:
        raise HTTPException(400, detail="give the body of a call: model, and messages or input")


def _invalidate(handler: ProxyHandler) -> Endpoint:
    async def invalidate(which: Which) -> dict[str, Any]:
        """Remove what matches; how many entries that were, or would be."""
        chosen = which.model_dump()
        named = [value for name, value in chosen.items() if name not in ("tags", "dry_run")]
        if not which.tags and all(value is None for value in named):
            raise HTTPException(
                400,
                detail="name at least one of tags, source, prompt, model, tenant, older_than",
            )
        return {"removed": await _of(handler).asemcache.invalidate(**chosen)} | {
            "dry_run": which.dry_run
        }

    return invalidate


def _source_changed(handler: ProxyHandler) -> Endpoint:
    async def source_changed(changed: Changed) -> dict[str, Any]:
        """Remove what was made of other content of this source; how many entries that were."""
        removed = await _of(handler).asemcache.source_changed(**changed.model_dump())
        return {"removed": removed, "dry_run": changed.dry_run}

    return source_changed


def _flush_tenant(handler: ProxyHandler) -> Endpoint:
    async def flush(whose: Whose) -> dict[str, Any]:
        """Remove every entry of one tenant; how many that were, or would be."""
        cache = _of(handler).asemcache
        removed = await cache.invalidate(tenant=whose.tenant, dry_run=whose.dry_run)
        return {"removed": removed, "dry_run": whose.dry_run}

    return flush


def _defaults(body: dict[str, Any]) -> dict[str, Any]:
    """What the proxy's config adds to a call of this model, as its Router does."""
    from litellm.proxy import proxy_server

    router = proxy_server.llm_router
    deployments = router.get_model_list(model_name=body.get("model")) if router else None
    return dict(deployments[0]["litellm_params"]) if deployments else {}


def _of(handler: ProxyHandler) -> SemcacheBackend:
    if handler.backend is None:
        trouble = without_password(handler.trouble)
        raise HTTPException(503, detail=f"this worker has no cache: {trouble}")
    return handler.backend


def _told(endpoint: Endpoint) -> Endpoint:
    """The endpoint, whose store may fail: then it says so."""

    @functools.wraps(endpoint)
    async def answer(*args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            return await endpoint(*args, **kwargs)
        except SemcacheError as error:
            raise HTTPException(503, detail=without_password(str(error))) from error

    return answer
