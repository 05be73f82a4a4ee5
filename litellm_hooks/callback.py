"""`SemcacheCallback`: what has to be seen of a call before LiteLLM looks at its cache controls."""

from __future__ import annotations

from typing import Any, TypeAlias

from langchain_semcache.errors import MissingExtra
from litellm_hooks._controls import readable

try:
    from litellm.integrations.custom_logger import CustomLogger
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

Data: TypeAlias = dict[str, Any]


class SemcacheCallback(CustomLogger):  # type: ignore[misc]
    """Makes `cache=None`, `cache=False` and the like mean what they say; LiteLLM would fail."""

    async def async_pre_call_deployment_hook(self, kwargs: Data, call_type: Any) -> Data | None:
        """Before any asynchronous call."""
        return readable(kwargs)
