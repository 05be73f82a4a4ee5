"""`SemcacheCallback`: what has to be seen of a call before LiteLLM looks at its cache controls."""

from __future__ import annotations

from typing import Any, TypeAlias

from langchain_semcache.errors import MissingExtra
from litellm_hooks._begin import Beginnings, first_of
from litellm_hooks._controls import read_controls, readable
from litellm_hooks._identity import FACTS, METADATA, SIMILARITY
from litellm_hooks.settings import Mode

try:
    from litellm.integrations.custom_logger import CustomLogger
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

Data: TypeAlias = dict[str, Any]


class SemcacheCallback(CustomLogger):  # type: ignore[misc]
    """Makes `cache=None`, `cache=False` and the like mean what they say; LiteLLM would fail.

    In a program it also notes whose an asynchronous call is.
    """

    def __init__(self, told: Beginnings | None = None) -> None:
        super().__init__()
        self._told = told

    async def async_pre_call_deployment_hook(self, kwargs: Data, call_type: Any) -> Data | None:
        """Before any asynchronous call."""
        changed = readable(kwargs)
        if self._told is not None:
            call, name = changed or kwargs, str(getattr(call_type, "value", call_type))
            self._told.began(call, name)
            first = first_of(call)
            if first is not None and not read_controls(call, Mode.DEFAULT_ON).reads:
                self._told.began({**first, "cache": call.get("cache")}, name)
        return changed

    async def async_log_failure_event(
        self, kwargs: Data, response_obj: object, start_time: object, end_time: object
    ) -> None:
        """After a try that failed: its facts are none of the answer that another may bring."""
        _forget_facts(kwargs)

    def log_failure_event(
        self, kwargs: Data, response_obj: object, start_time: object, end_time: object
    ) -> None:
        """See `async_log_failure_event`."""
        _forget_facts(kwargs)


def _forget_facts(kwargs: Data) -> None:
    for params in (kwargs, kwargs.get("litellm_params") or {}):
        for place in METADATA:
            if isinstance(held := params.get(place), dict):
                held.pop(FACTS, None)
                held.pop(SIMILARITY, None)
