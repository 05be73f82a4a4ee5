from __future__ import annotations

from datetime import timedelta

import pytest

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.ttl import checked_ttl, expires_at


@pytest.mark.parametrize(
    ("given", "lifetime"),
    [
        (None, None),
        (0, timedelta(0)),
        (1.5, timedelta(seconds=1.5)),
        (timedelta(days=3), timedelta(days=3)),
    ],
)
def test_seconds_durations_and_none_are_lifetimes(given, lifetime):
    assert checked_ttl(given) == lifetime


@pytest.mark.parametrize(
    "given", [-1, -0.001, timedelta(seconds=-1), True, "60", float("nan"), float("inf"), 1e300]
)
def test_anything_else_is_one_clear_error(given):
    with pytest.raises(ConfigurationError, match=r"^ttl "):
        checked_ttl(given)


def test_none_never_expires_and_zero_expires_at_once():
    assert expires_at(None, now=100.0) is None
    assert expires_at(timedelta(0), now=100.0) == 100.0
    assert expires_at(timedelta(minutes=1), now=100.0) == 160.0
