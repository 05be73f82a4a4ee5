"""Where a program's calls begin inside LiteLLM, and the threads on which it makes some of them.

LiteLLM asks its cache nothing under `no-cache`, and hands a stream over wherever it is read to its
end. Whose call it is can be told for certain only where it begins: in its caller's context.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Coroutine
from contextvars import ContextVar, copy_context
from types import ModuleType
from typing import Any, Protocol

from langchain_semcache.errors import MissingExtra
from langchain_semcache.tenancy import current_tenant, tenant

try:
    import litellm
    from litellm.batch_completion import main as batches
    from litellm.caching.caching_handler import LLMCachingHandler
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

_RUN = "run_async_function"
"""LiteLLM's own name for it: runs a coroutine, on another thread where a loop is running."""

_first: ContextVar[dict[str, Any] | None] = ContextVar("litellm_hooks_first", default=None)
"""The arguments of an asynchronous call before LiteLLM has changed them."""

_undo: list[Callable[[], None]] = []


class Beginnings(Protocol):
    """Who is told that a call begins."""

    def began(self, kwargs: dict[str, Any], name: str) -> None:
        """These are its arguments, of the function `name`; current is its caller's context."""


def see(told: Beginnings) -> None:
    """From now on, tell of synchronous calls that begin, and carry the tenant to threads.

    Of asynchronous calls a callback is told. Of the others nobody is: what shows is the object that
    LiteLLM makes for the caching of each.
    """
    unsee()
    make = LLMCachingHandler.__init__

    @functools.wraps(make)
    def init(handler: Any, original_function: Any, request_kwargs: Any, start_time: Any) -> None:
        make(handler, original_function, request_kwargs, start_time)
        told.began(request_kwargs, original_function.__name__)
        _first.set(request_kwargs)

    _replace(LLMCachingHandler, "__init__", init)
    _replace(batches, "litellm", _HereAndNow())
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "")
        if name.startswith("litellm.") and callable(run := vars(module).get(_RUN)):
            _replace(module, _RUN, _carrying(run))


def first_of(kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments of an asynchronous call as LiteLLM got them, if it copied its conversation.

    A stream of a call that is not looked up is handed to the cache with these.
    """
    first = _first.get()
    _first.set(None)
    if first is None or first.get("litellm_call_id") != kwargs.get("litellm_call_id"):
        return None
    return None if first.get("messages") is kwargs.get("messages") else first


def unsee() -> None:
    """Leave LiteLLM as it was."""
    while _undo:
        _undo.pop()()


class _HereAndNow:
    """LiteLLM for its own batches, whose threads know no context: `completion` brings it along."""

    def __getattr__(self, name: str) -> object:
        found = getattr(litellm, name)
        return functools.partial(copy_context().run, found) if name == "completion" else found


def _carrying(run: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(run)
    def run_async_function(
        async_function: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **kwargs: Any
    ) -> Any:
        name = current_tenant()

        async def for_its_tenant(*args: Any, **kwargs: Any) -> Any:
            with tenant(name):
                return await async_function(*args, **kwargs)

        return run(for_its_tenant, *args, **kwargs)

    return run_async_function


def _replace(where: ModuleType | type, name: str, new: object) -> None:
    old = getattr(where, name)
    setattr(where, name, new)
    _undo.append(lambda: setattr(where, name, old))
