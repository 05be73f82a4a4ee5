"""The cache in a program that calls LiteLLM: `install` and `uninstall`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from langchain_semcache.client import Semcache
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.errors import ConfigurationError, MissingExtra
from langchain_semcache.events import EventSink
from litellm_hooks.backend import SemcacheBackend
from litellm_hooks.callback import SemcacheCallback
from litellm_hooks.settings import HookSettings, Mode

try:
    import litellm
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error


@dataclass(slots=True)
class _Installed:
    backend: SemcacheBackend
    callback: SemcacheCallback
    before: object
    owned: Semcache | None


_installed: list[_Installed] = []


def install(
    cache: str | Path | SemcacheConfig | Semcache | None = None,
    *,
    mode: str = Mode.DEFAULT_ON,
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
        sinks: Receive every event.
        **overrides: Settings of `SemcacheConfig`.

    Raises:
        ConfigurationError: One line that names what is wrong and the fix.
    """
    checked = HookSettings.of({"mode": mode, "location": ":memory:"}).mode
    _can_serve_hits()
    owned = None
    if not isinstance(cache, Semcache):
        cache = owned = Semcache.open(SemcacheConfig.of(cache, **overrides), sinks=sinks)
    uninstall()
    backend = SemcacheBackend(cache, HookSettings(mode=checked, cache=cache.config))
    callback = SemcacheCallback()
    _installed.append(_Installed(backend, callback, litellm.cache, owned))
    litellm.cache = backend
    litellm.callbacks.append(callback)
    return backend


def uninstall() -> None:
    """Undo `install`: what was in place before is again, and the cache is closed if it was ours.

    Without an `install` nothing happens.
    """
    while _installed:
        done = _installed.pop()
        if litellm.cache is done.backend:
            litellm.cache = done.before
        for place in (litellm.callbacks, litellm.success_callback, litellm.input_callback):
            if done.callback in place:
                place.remove(done.callback)
        if done.owned is not None:
            done.owned.close()


def _can_serve_hits() -> None:
    """Some releases of LiteLLM need parts of their proxy to hand out a cached reply.

    Raises:
        ConfigurationError: They are not installed; without this check every hit would fail.
    """
    try:
        from litellm.caching import caching_handler
        from litellm.utils import convert_to_model_response_object
    except ImportError as error:
        missing = error
    else:
        del caching_handler, convert_to_model_response_object
        return
    raise ConfigurationError(
        f"this release of LiteLLM needs {missing.name} to answer from any cache: "
        'pip install "litellm[proxy]"'
    ) from missing
