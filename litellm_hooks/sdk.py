"""The cache in a program that calls LiteLLM: `install` and `uninstall`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_semcache.client import Semcache
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.errors import ConfigurationError, MissingExtra
from langchain_semcache.events import EventSink
from langchain_semcache.ports import Evaluator
from litellm_hooks._begin import see, unsee
from litellm_hooks._evaluation import evaluator_of
from litellm_hooks._streams import unwatch
from litellm_hooks.backend import SemcacheBackend
from litellm_hooks.callback import SemcacheCallback
from litellm_hooks.settings import HookSettings, Mode, one_of

try:
    import litellm
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error


_LISTS = (
    "callbacks", "input_callback", "success_callback", "failure_callback", "_async_input_callback",
    "_async_success_callback", "_async_failure_callback",
)  # fmt: skip
"""Where LiteLLM puts callbacks, and a marker of its own for every cache."""


@dataclass(slots=True)
class _Installed:
    backend: SemcacheBackend
    callback: SemcacheCallback
    before: object
    marked: frozenset[str]
    owned: Semcache | None


_installed: list[_Installed] = []
_MARK = "cache"


def install(
    cache: str | Path | SemcacheConfig | Semcache | None = None,
    *,
    mode: str = Mode.DEFAULT_ON,
    evaluator: Evaluator | str | None = None,
    sinks: Sequence[EventSink] = (),
    **overrides: object,
) -> SemcacheBackend:
    """Answer this program's LiteLLM calls by meaning, from now on.

        litellm_hooks.install("./.semcache")
        litellm.completion(model="gpt-4o-mini", messages=[…])

    Works for `completion`, `acompletion`, `responses`, `aresponses`, streamed or not, and for a
    `Router(cache_responses=True)`. Who shares answers is said with `langchain_semcache.tenant` or
    the setting `tenant`; another `api_key` or `user` shares nothing. A second call replaces the
    first.

    Args:
        cache: A directory, ":memory:", a Qdrant URL, a configuration, or an open `Semcache`.
        mode: "default_on", or "default_off": only calls with `cache={"use-cache": True}`.
        evaluator: The model that is asked about its answers, by LiteLLM's name, or an evaluator;
            needs the setting `confidence_eviction.enabled`.
        sinks: Receive every event.
        **overrides: Settings of `SemcacheConfig`.

    Raises:
        ConfigurationError: One line that names what is wrong and the fix.
    """
    checked = one_of(Mode, mode, "mode")
    _can_serve_hits()
    owned = None
    if isinstance(cache, Semcache):
        if sinks or overrides or evaluator is not None:
            raise ConfigurationError("an open Semcache has its settings already; give it alone")
    else:
        config, asked = SemcacheConfig.of(cache, **overrides), evaluator_of(evaluator)
        cache = owned = Semcache.open(config, evaluator=asked, sinks=sinks)
    uninstall()
    before, marked = litellm.cache, frozenset(name for name in _LISTS if _MARK in _list(name))
    backend = SemcacheBackend(cache, HookSettings(mode=checked, cache=cache.config))
    callback = SemcacheCallback(backend)
    _installed.append(_Installed(backend, callback, before, marked, owned))
    litellm.cache = backend
    litellm.callbacks.append(callback)
    see(backend)
    return backend


def uninstall() -> None:
    """Undo `install`: what was in place before is again, and the cache is closed if it was ours.

    Without an `install` nothing happens.
    """
    while _installed:
        done = _installed.pop()
        if litellm.cache is done.backend:
            litellm.cache = done.before
        for name in _LISTS:
            listed = _list(name)
            listed[:] = [one for one in listed if one is not done.callback]
            if name not in done.marked:
                listed[:] = [one for one in listed if one != _MARK]
        unwatch()
        unsee()
        if done.owned is not None:
            done.owned.close()


def _list(name: str) -> list[Any]:
    found: list[Any] = getattr(litellm, name, [])
    return found


_READ_BY_HITS = (
    "litellm.llms.anthropic.pass_through.messages.response_cache",
    "litellm.responses.streaming_iterator",
)
"""What LiteLLM first imports when a reply comes out of a cache."""


def _can_serve_hits() -> None:
    """Some releases of LiteLLM need parts of their proxy to hand out a cached reply.

    Raises:
        ConfigurationError: They are not installed; without this check every hit would fail.
    """
    for name in _READ_BY_HITS:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("litellm"):
                raise ConfigurationError(
                    f"this release of LiteLLM needs {error.name} to answer from any cache: "
                    'pip install "langchain-semcache[litellm-proxy]", or "litellm[proxy]"'
                ) from error
