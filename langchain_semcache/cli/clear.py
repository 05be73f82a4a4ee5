"""`semcache clear`: remove entries, all of a namespace or those that match."""

from __future__ import annotations

from langchain_semcache.cli.invalidate import Which, chosen
from langchain_semcache.cli.options import Where, Whose, spread
from langchain_semcache.cli.removal import Sure, carry_out
from langchain_semcache.client import Semcache


@spread
def clear(where: Where, whose: Whose, which: Which, sure: Sure) -> None:
    """Remove the entries of a namespace, or those of them that match; asks first."""
    named = chosen(whose, which)

    def remove(cache: Semcache, dry_run: bool) -> int:
        if named is not None:
            return named(cache, dry_run)
        return cache.stats(sizes=False).entries if dry_run else cache.clear()

    carry_out("clear", where, whose.namespace, sure, remove)
