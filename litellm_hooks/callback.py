"""`SemcacheCallback`: what has to be seen of a call before LiteLLM looks at its cache controls."""

from __future__ import annotations

from typing import Any, TypeAlias

from langchain_semcache.errors import MissingExtra

try:
    from litellm.integrations.custom_logger import CustomLogger
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

Data: TypeAlias = dict[str, Any]


class SemcacheCallback(CustomLogger):  # type: ignore[misc]
    """Makes `cache=None` mean what it says; LiteLLM itself fails over it."""

    async def async_pre_call_deployment_hook(self, kwargs: Data, call_type: Any) -> Data | None:
        """Before any asynchronous call."""
        return without_null(kwargs)


def without_null(kwargs: Data) -> Data | None:
    """The call without `cache=None`; None when there is nothing to change."""
    if "cache" in kwargs and kwargs["cache"] is None:
        return {name: value for name, value in kwargs.items() if name != "cache"}
    return None
