"""What one call says about caching: `cache={"no-cache": True, "s-maxage": 60, …}`. Pure.

LiteLLM itself acts on `no-cache` and `no-store` where they are `True`. A caller can make matching
stricter and answers shorter-lived, never the other way round; what cannot be read counts as the
strictest there is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from langchain_semcache.lineage import prompt_tags
from langchain_semcache.records import Conditions
from langchain_semcache.ttl import UNSET, Ttl
from litellm_hooks.settings import Mode

_UNFIT = ("background", "conversation", "text_completion")
"""Calls whose reply is no answer to keep: it moves a conversation on that the provider holds, it
comes later, or it is of another API and only passes by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """The controls of one call, read.

    Attributes:
        used: Whether this call is cached at all.
        reads, writes: Whether it may be answered from the cache, and its answer be kept.
        conditions: What it asks of a hit; None where it asks for nothing.
        ttl: Lifetime it wants for its answer; None where it does not say.
        namespace: A partition of its own choice, inside its tenant.
        tags, sources: What its answer can be invalidated by; the prompt it names is a tag.
    """

    used: bool = True
    reads: bool = True
    writes: bool = True
    conditions: Conditions | None = None
    ttl: timedelta | None = None
    namespace: str = ""
    tags: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)


def read_controls(kwargs: Mapping[str, object], mode: Mode) -> Controls:
    """The controls among the arguments of a call."""
    said = kwargs.get("cache")
    controls = said if isinstance(said, Mapping) else {}
    wanted = controls.get("use-cache") is True or mode is Mode.DEFAULT_ON
    unfit = any(kwargs.get(name) for name in _UNFIT)
    streams = bool(kwargs.get("stream"))
    ttl = _seconds(controls["ttl"]) if controls.get("ttl") is not None else None
    tags, sources = controls.get("tags") or [], controls.get("sources") or {}
    if not _are_texts(tags, list) or not _are_texts(sources, dict):
        # An answer that cannot be invalidated as its caller means to is not kept.
        tags, sources, ttl = [], {}, timedelta(0)
    return Controls(
        used=wanted and not unfit and kwargs.get("caching") is not False,
        # LiteLLM ends a stream once, however many answers are in it.
        reads=not is_set(controls.get("no-cache")) and not (_several(kwargs) and streams),
        writes=not is_set(controls.get("no-store")),
        conditions=_conditions(controls),
        ttl=ttl,
        namespace=str(controls.get("namespace") or ""),
        tags=(*tags, *_prompt(kwargs)),
        sources=sources,
    )


def readable(kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call with controls that LiteLLM can read, which fails over all but a mapping.

    None when there is nothing to change. What cannot be read counts as the strictest.
    """
    if "cache" not in kwargs or isinstance(said := kwargs["cache"], dict):
        return None
    others = {name: value for name, value in kwargs.items() if name != "cache"}
    if said is None or said is True:
        return others
    flags = [said] if said in ("no-cache", "no-store") else ["no-cache", "no-store"]
    return {**others, "cache": dict.fromkeys(flags, True)}


def lifetime(controls: Controls, longest: timedelta | None, *, trusted: bool) -> Ttl:
    """How long an answer is kept: the caller's wish, on the proxy only where it is shorter."""
    if controls.ttl is None:
        return UNSET
    return controls.ttl if trusted or longest is None else min(controls.ttl, longest)


def _conditions(controls: Mapping[object, object]) -> Conditions | None:
    age = next((controls[name] for name in ("s-maxage", "s-max-age") if name in controls), None)
    alike, sure = controls.get("min-similarity"), controls.get("min-confidence")
    exact = is_set(controls.get("exact"))
    if age is None and alike is None and sure is None and not exact:
        return None
    return Conditions(
        max_age=None if age is None else _seconds(age),
        min_similarity=_share(alike),
        min_confidence=_share(sure),
        exact=exact,
    )


def _several(kwargs: Mapping[str, object]) -> bool:
    wanted = kwargs.get("n")
    return isinstance(wanted, int) and wanted > 1


def is_set(flag: object) -> bool:
    """Whether a flag is set: by everything that does not plainly say no."""
    return flag not in (None, False, 0, "", "false", "False", "0", "no", "off")


def _prompt(kwargs: Mapping[str, object]) -> tuple[str, ...]:
    """The tags of the prompt that LiteLLM is told to fill in, if it is."""
    name, version = kwargs.get("prompt_id"), kwargs.get("prompt_version")
    return prompt_tags(name, version) if isinstance(name, str) and name else ()


def _are_texts(value: Any, kind: type[list[Any] | dict[Any, Any]]) -> bool:
    inside = [*value, *value.values()] if isinstance(value, dict) else value
    return isinstance(value, kind) and all(isinstance(one, str) and one for one in inside)


def _seconds(value: object) -> timedelta:
    """A duration; 0 for what is none, so that nothing is served or kept by mistake."""
    number = _number(value)
    if number is None or number < 0:
        return timedelta(0)
    return timedelta(seconds=min(number, timedelta.max.total_seconds() - 1))


def _share(value: object) -> float:
    """A number in [0, 1]; 1 for what is none."""
    if value is None:
        return 0.0
    number = _number(value)
    return 1.0 if number is None else min(1.0, max(0.0, number))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return None if math.isnan(number) else number
