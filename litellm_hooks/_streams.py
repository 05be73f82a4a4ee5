"""LiteLLM's streams that broke off: half an answer is not stored."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from langchain_semcache.errors import MissingExtra

try:
    from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

REMEMBERED = 1_024
"""Streams that broke off, whose replies are yet to be handed to the cache."""

_broken: OrderedDict[str, bool] = OrderedDict()
_lock = Lock()
_watched: list[Callable[[Any], Any]] = []
"""LiteLLM's own method, while ours stands in its place."""


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
