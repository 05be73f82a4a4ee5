"""LiteLLM's streams: replayed with all that was stored, and not stored where they broke off."""

from __future__ import annotations

import asyncio
import functools
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from threading import Lock
from typing import Any

from langchain_semcache.errors import MissingExtra

try:
    from litellm.litellm_core_utils.llm_response_utils.convert_dict_to_response import (
        convert_to_streaming_response,
    )
    from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

REMEMBERED = 1_024
"""Streams that broke off, whose replies are yet to be handed to the cache."""

_broken: OrderedDict[str, bool] = OrderedDict()
_lock = Lock()
_watched: list[Callable[[Any], Any]] = []
"""LiteLLM's own method, while ours stands in its place."""


def replayed(reply: dict[str, Any], kwargs: Mapping[str, Any]) -> CustomStreamWrapper:
    """The stream of a stored chat reply, for an asynchronous call.

    LiteLLM's own asynchronous replay leaves reasoning out (1.108 does); its synchronous one does
    not, and is quick enough for an event loop.
    """

    async def chunks() -> AsyncIterator[Any]:
        for chunk in convert_to_streaming_response(reply):
            yield chunk
            await asyncio.sleep(0)

    return CustomStreamWrapper(
        completion_stream=chunks(),
        model=kwargs.get("model"),
        custom_llm_provider="cached_response",
        logging_obj=kwargs.get("litellm_logging_obj"),
    )


def watch() -> None:
    """From now on, know of the streams that broke off.

    Where a connection ends before the provider has said why it stops, LiteLLM before 1.110 says
    "stop" in its place, and hands half an answer to the cache as if it were whole. Nothing in what
    it hands over tells; the one place where it shows is the method that makes the reason up.
    """
    if _watched:
        return
    make_up = CustomStreamWrapper.finish_reason_handler
    _watched.append(make_up)

    @functools.wraps(make_up)
    def finish_reason_handler(stream: Any) -> Any:
        if stream.received_finish_reason is None and stream.intermittent_finish_reason is None:
            _note(str(stream.logging_obj.litellm_call_id))
        return make_up(stream)

    CustomStreamWrapper.finish_reason_handler = finish_reason_handler


def unwatch() -> None:
    """Leave LiteLLM as it was."""
    if _watched:
        CustomStreamWrapper.finish_reason_handler = _watched.pop()


def broke_off(kwargs: Mapping[str, object]) -> bool:
    """Whether the stream of this call ended before the provider said so; asked once."""
    with _lock:
        return _broken.pop(str(kwargs.get("litellm_call_id")), False)


def _note(call_id: str) -> None:
    with _lock:
        _broken[call_id] = True
        if len(_broken) > REMEMBERED:
            _broken.popitem(last=False)
