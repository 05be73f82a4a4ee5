"""A second way to set lifetimes, played through on the requests that the first one answers.

For every entry a copy is imagined that lives by the other rules: a request within its life would
have been a hit, any other would have asked the model and begun a new life. What the answer is at a
time is known only where the model is really asked. Where it says something else than before,
changes are taken to have come in between as a Poisson process, at the rate that was seen so far: of
those who were served within x seconds out of L, (1 − e^−λx) / (1 − e^−λL) got an old answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from langchain_semcache.ttl.evidence import Changes
from langchain_semcache.ttl.tally import Durations, Mean, ShadowReport, difference

PENDING: Final = 256
"""Hits of one entry that wait to be known as fresh or stale; of more, the first are not counted."""


@dataclass(slots=True)
class Copy:
    """One answer as one policy has it.

    Attributes:
        made_at: When the model gave it; what is known of the answer before that says nothing.
        stale: The probability that it was old already when the model was last asked.
        served_at: When it was last served.
        pending: When it was served since the model was asked, each with the first two as they were.
    """

    made_at: float
    stale: float = 0.0
    served_at: float = 0.0
    pending: list[tuple[float, float, float]] = field(default_factory=list)

    def served(self, at: float) -> None:
        self.served_at = at
        self.pending.append((at, self.made_at, self.stale))
        if len(self.pending) > PENDING:
            del self.pending[0]

    def renewed(self, at: float) -> None:
        """The model gave it anew; what was served before stays to be known."""
        self.made_at, self.stale = at, 0.0

    def known(self, since: float, until: float, *, changed: bool, rate: float) -> tuple[int, float]:
        """The model was asked at both ends of this time, and its answer changed or did not.

        Args:
            rate: Changes a second, as far as was seen; above 0.

        Returns: How many were served meanwhile, and how many old ones these are expected to be.
        """
        whole = -math.expm1(-rate * (until - since))

        def old_at(at: float, made_at: float, stale: float) -> float:
            """The probability that it was old by then: before this time, or within it."""
            watched = max(0.0, at - max(made_at, since))
            if not changed or not watched:
                return stale
            return 1 - (1 - stale) * (1 + math.expm1(-rate * watched) / whole)

        old = sum(old_at(*served) for served in self.pending)
        count, self.pending = len(self.pending), []
        self.stale = old_at(until, self.made_at, self.stale)
        return count, old


@dataclass(slots=True)
class Played:
    """One entry under both policies.

    Attributes:
        asked_at: When the model was last asked for it.
        live, shadow: Its copies.
        changes: How often its answer was seen to change.
        requests, live_hits, shadow_hits, live_ttl, shadow_ttl, live_known, shadow_known,
            live_stale, shadow_stale: Sums over its requests; known are those hits of which it
            came to be known whether they were old.
    """

    asked_at: float
    live: Copy
    shadow: Copy
    changes: Changes = field(default_factory=Changes)
    requests: int = 0
    live_hits: int = 0
    shadow_hits: int = 0
    live_ttl: float = 0.0
    shadow_ttl: float = 0.0
    live_known: int = 0
    shadow_known: int = 0
    live_stale: float = 0.0
    shadow_stale: float = 0.0

    @classmethod
    def since(cls, at: float) -> Played:
        return cls(at, Copy(at), Copy(at))

    def request(
        self, now: float, *, hit: bool, live_ttl: float, shadow_ttl: float, sliding: bool = False
    ) -> bool:
        """A request came, and was a hit or not; whether the other policy would have hit."""
        self.requests += 1
        self.live_ttl += live_ttl
        self.shadow_ttl += shadow_ttl
        if hit:
            self.live_hits += 1
            self.live.served(now)
        last = self.shadow.served_at if sliding else 0.0
        would = now < max(self.shadow.made_at, last) + shadow_ttl
        if would:
            self.shadow_hits += 1
            self.shadow.served(now)
        else:
            self.shadow.renewed(now)
        return would

    def asked_first(self, *, live_ttl: float, shadow_ttl: float) -> None:
        """A request that nobody could have had an answer for."""
        self.requests += 1
        self.live_ttl += live_ttl
        self.shadow_ttl += shadow_ttl

    def refreshed(self, now: float, *, changed: bool | None, prior: float) -> None:
        """The model was asked, and its answer had changed, had not, or cannot be compared.

        Args:
            prior: Changes a second that are believed while nothing was seen; above 0.
        """
        if changed is not None:
            rate = self.changes.rate(prior, now)
            self.changes.look(now - self.asked_at, now, changed=changed, believed=rate)
            rate = self.changes.rate(prior, now)
            for copy, live in ((self.live, True), (self.shadow, False)):
                served, old = copy.known(self.asked_at, now, changed=changed, rate=rate)
                if live:
                    self.live_known += served
                    self.live_stale += old
                else:
                    self.shadow_known += served
                    self.shadow_stale += old
        self.asked_at = now
        self.live.renewed(now)


_MEANS: Final[dict[str, tuple[str, str, str]]] = {
    "ttl": ("shadow_ttl", "", "requests"),
    "live_ttl": ("live_ttl", "", "requests"),
    "hit_rate": ("shadow_hits", "", "requests"),
    "live_hit_rate": ("live_hits", "", "requests"),
    "hit_rate_change": ("shadow_hits", "live_hits", "requests"),
    "stale": ("shadow_stale", "", "shadow_known"),
    "live_stale": ("live_stale", "", "live_known"),
}
"""What is a mean: the sum of one, less that of another, over the count of a third."""


@dataclass(slots=True)
class Score:
    """All entries under both policies. Those that are still played are added for a report.

    Attributes:
        live_seconds, shadow_seconds: What requests took, and would have taken.
        hit_seconds, call_seconds: What hits took, and misses with the model's answer.
        means: Over the entries that are done.
        hits, known: Of both policies; how many of them it is known of whether they were old.
    """

    live_seconds: Durations = field(default_factory=Durations)
    shadow_seconds: Durations = field(default_factory=Durations)
    hit_seconds: Durations = field(default_factory=Durations)
    call_seconds: Durations = field(default_factory=Durations)
    means: dict[str, Mean] = field(default_factory=lambda: {name: Mean() for name in _MEANS})
    hits: int = 0
    known: int = 0

    def took(self, live: float, shadow: float | None) -> None:
        """What a request took in seconds, and would have taken; None where that is not known."""
        if shadow is not None:
            self.live_seconds.add(live)
            self.shadow_seconds.add(shadow)

    def usual(self, *, hit: bool) -> float | None:
        """What a hit or a miss takes, in the middle of all; None before there was one."""
        return (self.hit_seconds if hit else self.call_seconds).quantile(0.5).value

    def fold(self, played: Played) -> None:
        """Add an entry for good."""
        if not played.requests:
            return
        for name, (one, other, over) in _MEANS.items():
            less = getattr(played, other) if other else 0.0
            if count := getattr(played, over):
                self.means[name].add(getattr(played, one) - less, count)
        self.hits += played.live_hits + played.shadow_hits
        self.known += played.live_known + played.shadow_known

    def report(self, name: str) -> ShadowReport:
        """Where it stands."""
        found = {of: mean.estimate() for of, mean in self.means.items()}
        p99, live_p99 = self.shadow_seconds.quantile(0.99), self.live_seconds.quantile(0.99)
        return ShadowReport(
            name=name,
            requests=int(self.means["hit_rate"].count),
            entries=self.means["hit_rate"].entries,
            stale_known=self.known / self.hits if self.hits else None,
            p99=p99,
            live_p99=live_p99,
            p99_change=difference(p99, live_p99),
            stale_change=difference(found["stale"], found["live_stale"]),
            **found,
        )
