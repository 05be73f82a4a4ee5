"""What answers share, and no answer leans on any more, goes: when asked, and by the hour."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from math import inf
from typing import Final

from langchain_semcache.assembly import Core
from langchain_semcache.engine import compaction
from langchain_semcache.engine.commands import Remove
from langchain_semcache.engine.compaction import Compaction, Sizes
from langchain_semcache.engine.gate import told
from langchain_semcache.engine.shelf import GRACE
from langchain_semcache.errors import ConfigurationError, SemcacheError
from langchain_semcache.records import Selection
from langchain_semcache.ttl import checked_ttl

STAYS: Final = timedelta(days=1)
"""How long an answer stays that is over by the rules."""

_PAGE: Final = 256
"""Entries that go in one call of the index."""


class Sweeper:
    """Sweeps the store of one cache."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def compact(self, grace: timedelta | float, *, dry_run: bool) -> Compaction:
        """Sweep all namespaces of the store; see `compaction.compact`."""
        kept_for = checked_ttl(grace, name="grace")
        if kept_for is None:
            raise ConfigurationError("grace must be a duration; 0 removes all that is not needed")
        done = compaction.compact(
            self._core.workplace.index,
            now=self._core.workplace.clock.now(),
            grace=kept_for,
            dry_run=dry_run,
        )
        if not dry_run and kept_for < GRACE:
            # Others of this process must not lean on what went before its time.
            self._core.policy.shelf.clear()
        return done

    def sweep_if_due(self) -> None:
        """Sweep behind the caller's back when the last time is long enough ago."""
        if self._core.policy.shelf.sweep_is_due(now=self._core.workplace.clock.now()):
            self._core.workplace.pool.submit(self._sweep)

    def let_go(self, selection: Selection, count: int) -> None:
        """After `count` entries went: nothing more is learned from them.

        Where everything of a namespace or tenant went, what was learned goes as well.
        """
        dictionaries = self._core.policy.dictionaries
        whole = replace(selection, namespace=None, tenant=None) == Selection()
        if not whole or selection.namespace is None:
            if dictionaries is not None and count:
                dictionaries.unlearn(selection.namespace, selection.tenant)
            return
        self._core.policy.shelf.forget_of(selection.namespace, selection.tenant)
        if dictionaries is not None:
            dictionaries.forget_of(selection.namespace, selection.tenant)
        if count:
            self._compact_quietly(selection.namespace)

    def sizes(self) -> Sizes:
        """What the answers of the cache's own namespace are and take."""
        return compaction.sizes(self._core.workplace.index, self._core.config.namespace)

    def _sweep(self) -> None:
        try:
            self.remove_what_is_over()
        except SemcacheError as error:
            self._core.warn(f"what is over by the rules could not be removed ({told(error)})")
        self._compact_quietly()

    def remove_what_is_over(self) -> int:
        """Remove what has been over by the rules for a day; how many that were.

        Until then its next answer can still be compared with it.
        """
        policy, place = self._core.policy, self._core.workplace
        if policy.freshness is None:
            return 0
        latest = place.clock.now() - STAYS.total_seconds()
        over = [
            entry.id
            for namespace in policy.freshness.namespaces()
            for entry in place.index.scan(Selection(namespace=namespace))
            if entry.life and (policy.ends_at(entry, policy.life(entry)) or inf) < latest
        ]
        removed = 0
        for start in range(0, len(over), _PAGE):
            # Of its age: an answer that was stored under one of the ids since is not meant.
            meant = Selection(ids=tuple(over[start : start + _PAGE]), created_before=latest)
            count = place.call(Remove(meant))
            removed += count if isinstance(count, int) else 0
        return removed

    def _compact_quietly(self, namespace: str | None = None) -> None:
        """Sweep; what cannot be swept now goes the next time."""
        place = self._core.workplace
        started = place.clock.monotonic()
        try:
            compaction.compact(place.index, now=place.clock.now(), namespace=namespace)
        except SemcacheError as error:
            self._core.warn(f"what answers share could not be swept ({told(error)})")
        if namespace is None:
            took = place.clock.monotonic() - started
            self._core.policy.shelf.swept(now=place.clock.now(), seconds=took)
