"""LiteLLM hooks: the cache behind the proxy, the SDK and the Router.

On the proxy, one entry of the config:

    litellm_settings: {callbacks: ["litellm_hooks.proxy_handler"]}
    callback_settings: {semcache: {location: "http://qdrant:6333", max_error_rate: 0.01}}

In a program, one line:

    litellm_hooks.install("./.semcache")          # uninstall() undoes it

Needs the extra `litellm`. Names are loaded when they are first used: importing this package loads
neither LiteLLM nor a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from litellm_hooks.backend import SemcacheBackend
    from litellm_hooks.proxy import ProxyHandler
    from litellm_hooks.sdk import install, uninstall

    proxy_handler: ProxyHandler

__all__ = ["SemcacheBackend", "install", "proxy_handler", "uninstall"]


def __getattr__(name: str) -> object:
    if name == "proxy_handler":
        # The proxy reads its config, then looks this name up: here its cache is opened.
        from litellm_hooks.proxy import handler

        return handler()
    if name in ("install", "uninstall"):
        from litellm_hooks import sdk

        return getattr(sdk, name)
    if name == "SemcacheBackend":
        from litellm_hooks.backend import SemcacheBackend

        return SemcacheBackend
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
