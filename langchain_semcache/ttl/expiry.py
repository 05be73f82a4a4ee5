"""From a lifetime to a point in time. Zero is a lifetime of zero, never "for ever"."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import Final, TypeAlias

from langchain_semcache.errors import ConfigurationError


class Unset(Enum):
    """Tells "not given" from an explicit None, which means "never expires"."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET

Ttl: TypeAlias = timedelta | float | str | None | Unset
"""What a caller may say of a lifetime: how long, in seconds where it is a number; None for ever; a
class of the rules by its name; or nothing."""


def checked_ttl(ttl: timedelta | float | None, *, name: str = "ttl") -> timedelta | None:
    """The lifetime as a timedelta; numbers are seconds.

    Raises:
        ConfigurationError: It is negative, not finite, or not a duration at all.
    """
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, timedelta | int | float):
        raise ConfigurationError(f"{name} must be a timedelta, seconds or None, not {ttl!r}")
    try:
        lifetime = ttl if isinstance(ttl, timedelta) else timedelta(seconds=ttl)
    except (OverflowError, ValueError) as error:
        raise ConfigurationError(f"{name} is out of range: {ttl!r}; None has no end") from error
    if lifetime < timedelta(0):
        raise ConfigurationError(f"{name} must not be negative, got {ttl!r}")
    return lifetime


def expires_at(ttl: timedelta | None, *, now: float) -> float | None:
    """Seconds since the epoch at which an entry stored now stops existing; None for never."""
    return None if ttl is None else now + ttl.total_seconds()
