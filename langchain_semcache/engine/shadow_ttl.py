"""Other ways to set lifetimes, in shadow: they see the requests, and never answer one."""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from langchain_semcache.clock import Clock
from langchain_semcache.life import Life
from langchain_semcache.records import Entry
from langchain_semcache.ttl import DAY, Changes
from langchain_semcache.ttl.shadow import Played, Score
from langchain_semcache.ttl.tally import ShadowReport

ENTRIES: Final = 16_384
"""Entries that are played at a time, about 1 kB each; the one asked for longest ago is counted."""

USUAL: Final = 1 / DAY
"""Changes a second that are believed before one was seen."""

AWAITED: Final = 1_024
"""Misses whose model calls are timed at a time."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Which entries a policy is played on: all that are named must match.

    Attributes:
        share: Of the keys, by their hash.
        tags: Labels, of which the entry has one.
        tenants: Digests of the tenants; empty for all.
        models: Names; empty for all.
    """

    share: float = 1.0
    tags: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    def takes(self, entry: Entry) -> bool:
        """Whether an entry is among them; the same entry always is or never."""
        return (
            int(entry.id[:8], 16) < self.share * 2**32
            and (not self.tags or not set(self.tags).isdisjoint(entry.tags))
            and (not self.tenants or entry.tenant in self.tenants)
            and (not self.models or entry.model in self.models)
        )


class ShadowTtl:
    """One policy in shadow. Safe between threads.

    Args:
        sample: Which entries it is played on.
        live: How long an entry lives by the policy that answers.
        shadow: How long it would by this one.
        sliding: Whether by this one a lifetime counts from when the entry was last served.
    """

    def __init__(
        self,
        name: str,
        sample: Sample,
        *,
        live: Callable[[Entry], Life],
        shadow: Callable[[Entry], Life],
        sliding: bool,
        clock: Clock,
    ) -> None:
        self.name = name
        self._sample = sample
        self._live = live
        self._shadow = shadow
        self._sliding = sliding
        self._clock = clock
        self._lock = threading.Lock()
        self._played: OrderedDict[str, tuple[Entry, Played]] = OrderedDict()
        self._asked: OrderedDict[str, tuple[float, bool]] = OrderedDict()
        self._changes = Changes()
        self._score = Score()

    def knows(self, entry_id: str) -> bool:
        """Whether the entry is being played."""
        return entry_id in self._played

    def hit(self, entry: Entry, seconds: float) -> None:
        """The entry was served, after so many seconds."""
        would = self._request(entry.id, entry, hit=True)
        if would is None:
            return
        with self._lock:
            self._score.hit_seconds.add(seconds)
            self._score.took(seconds, seconds if would else self._score.usual(hit=False))

    def missed(self, asked: str, seconds: float) -> None:
        """Nothing was served, after so many seconds; the answer will be stored as `asked`."""
        would = self._request(asked, None, hit=False)
        with self._lock:
            self._asked[asked] = self._clock.monotonic() - seconds, bool(would)
            if len(self._asked) > AWAITED:
                self._asked.popitem(last=False)

    def stored(self, entry: Entry, *, changed: bool | None) -> None:
        """The model's answer was stored; whether it said something else than the one before."""
        if not self._takes(entry):
            return
        now = self._clock.now()
        live, under = self._live(entry).seconds, self._shadow(entry).seconds
        with self._lock:
            asked = self._asked.pop(entry.id, None)
            known = self._played.get(entry.id)
            played = Played.since(now) if known is None else known[1]
            if known is not None:
                prior = self._changes.rate(USUAL, now)
                gap = now - played.asked_at
                played.refreshed(now, changed=changed, prior=prior)
                if changed is not None:
                    self._changes.look(gap, now, changed=changed, believed=prior)
            elif asked is not None:
                played.asked_first(live_ttl=live, shadow_ttl=under)
            if asked is not None:
                took = self._clock.monotonic() - asked[0]
                self._score.call_seconds.add(took)
                self._score.took(took, self._score.usual(hit=True) if asked[1] else took)
            self._keep(entry, played)

    def removed(self, selected: Callable[[Entry], bool]) -> None:
        """The entries that are selected were taken away; no policy could go on serving them."""
        with self._lock:
            gone = [name for name, (entry, _) in self._played.items() if selected(entry)]
            for name in gone:
                self._score.fold(self._played.pop(name)[1])

    def report(self) -> ShadowReport:
        """Where it stands beside the policy that answers."""
        with self._lock:
            score = copy.deepcopy(self._score)
            for _, played in self._played.values():
                score.fold(played)
        return score.report(self.name)

    def _request(self, entry_id: str, entry: Entry | None, *, hit: bool) -> bool | None:
        """Whether it would have been a hit; None where the entry is not played."""
        known = self._played.get(entry_id)
        told = entry or (known[0] if known is not None else None)
        if told is None or not self._takes(told):
            return None
        now = self._clock.now()
        live, under = self._live(told).seconds, self._shadow(told).seconds
        with self._lock:
            # Of an entry that is older than this process, the model was last asked when it began.
            played = known[1] if known is not None else Played.since(told.created_at)
            would = played.request(
                now, hit=hit, live_ttl=live, shadow_ttl=under, sliding=self._sliding
            )
            self._keep(told, played)
        return would

    def _keep(self, entry: Entry, played: Played) -> None:
        self._played[entry.id] = replace(entry, payload=b""), played
        self._played.move_to_end(entry.id)
        if len(self._played) > ENTRIES:
            _, (_, done) = self._played.popitem(last=False)
            self._score.fold(done)

    def _takes(self, entry: Entry) -> bool:
        return bool(entry.life) and self._sample.takes(entry)
