"""Waiting for LiteLLM in this process: it hands replies to its cache after it has given them."""

from __future__ import annotations

import time

from langchain_semcache.errors import IndexUnavailable

LEAST = 0.1
"""Seconds that are waited in any case: what comes twice would have come by then."""

MOST = 2.0
"""The same for calls of which the cache is told nothing at all (`no-store`)."""


def told() -> int:
    """How many calls the installed cache has answered, kept, or said that it does not keep."""
    import litellm  # some tests are skipped without it

    installed = getattr(litellm.cache, "semcache", None)
    if installed is None:
        return 0
    try:
        stats = installed.stats(sizes=False)
    except IndexUnavailable:
        return 0
    return int(stats.hits + sum(stats.stores_by_reason.values()))


def wait_for_stores(before: int, calls: int = 1) -> None:
    """Until the cache was told of so many calls more than `before`."""
    time.sleep(LEAST)
    give_up = time.monotonic() + MOST
    while told() < before + calls and time.monotonic() < give_up:
        time.sleep(0.02)
