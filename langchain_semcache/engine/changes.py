"""Which sources have changed lately, for answers that were under way when they did.

A model that is asked with the old text of a document answers after that document was reported as
changed. Without this its answer would be stored, and nothing would ever remove it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, TypeAlias

from langchain_semcache.clock import Clock

UNDER_WAY_SECONDS: Final = 600.0
"""How long a change is remembered: clients of language models give up after ten minutes."""

REMEMBERED: Final = 4_096
"""Changes that are remembered; beyond that the oldest is forgotten."""

_Where: TypeAlias = tuple[str, str | None, str]
"""Namespace, digest of the tenant (None: every tenant), and name of the source."""


class SourceChanges:
    """The changes that were reported to this cache. Safe to share between threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._changes: OrderedDict[_Where, tuple[float, frozenset[str]]] = OrderedDict()

    def note(
        self, source: str, current: Iterable[str], *, namespace: str, tenant: str | None
    ) -> bool:
        """The source has only these hashes from now on; whether others were reported before."""
        where = (namespace, tenant, source)
        with self._lock:
            before = self._changes.pop(where, None)
            self._changes[where] = (self._clock.monotonic(), frozenset(current))
            if len(self._changes) > REMEMBERED:
                self._changes.popitem(last=False)
            return before is not None and before[1] != self._changes[where][1]

    def outdated(
        self, sources: Iterable[tuple[str, str]], *, namespace: str, tenant: str
    ) -> str | None:
        """The first of these sources that has another hash by now."""
        if not self._changes:
            return None
        since = self._clock.monotonic() - UNDER_WAY_SECONDS
        with self._lock:
            for name, digest in sources:
                places = ((namespace, whose, name) for whose in (None, tenant))
                noted = [self._changes[place] for place in places if place in self._changes]
                # What was said last counts, of everybody's or of the tenant's own.
                when, current = max(noted, key=lambda note: note[0], default=(since, frozenset()))
                if when > since and digest not in current:
                    return name
        return None
