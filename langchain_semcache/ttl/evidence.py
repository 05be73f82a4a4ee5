"""What is seen of an entry: hits, misses beside it, refreshes, and how often it is asked.

Counts fade, so that what was true a month ago does not weigh on today. Times are seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

DAY: Final = 86_400.0
FADE: Final = 30 * DAY
"""Time in which what refreshes said of an answer loses weight, to 37%."""

HEAT_FADE: Final = DAY
"""The same of how often an answer is asked for: interest moves faster than facts."""

TRIGGER_FADE: Final = 7 * DAY
"""The same of misses beside an answer."""

MINUTE: Final = 60.0
HOUR: Final = 3600.0
USUAL_SECONDS: Final = HOUR * -math.expm1(-10 * MINUTE / HOUR)
"""Ten minutes of counting, faded over an hour."""

USUAL_COUNT: Final = 30


@dataclass(slots=True)
class Fading:
    """A count that fades: exponentially, to 1/e in `over` seconds.

    A clock that runs back neither fades nor revives it.
    """

    over: float
    value: float = 0.0
    at: float = 0.0

    def at_time(self, now: float) -> float:
        """The count as it is now."""
        passed = now - self.at
        return self.value if passed <= 0 else self.value * math.exp(-passed / self.over)

    def add(self, amount: float, now: float) -> None:
        self.value = self.at_time(now) + amount
        self.at = max(self.at, now)


@dataclass(slots=True)
class Rate:
    """Events a second, from a fading count and the time it has been counted for."""

    since: float
    count: Fading

    @classmethod
    def faded(cls, over: float, since: float) -> Rate:
        return cls(since, Fading(over))

    def add(self, now: float) -> None:
        self.count.add(1.0, now)

    def counted(self, now: float) -> tuple[float, float]:
        """Events and the seconds that they are spread over, both faded alike."""
        watched = max(0.0, now - self.since)
        over = self.count.over
        return self.count.at_time(now), -over * math.expm1(-watched / over)


@dataclass(slots=True)
class Pace:
    """How busy it is now, over what is usual: a minute against an hour."""

    now: Rate
    usual: Rate

    @classmethod
    def from_now(cls, now: float) -> Pace:
        return cls(Rate.faded(MINUTE, now), Rate.faded(HOUR, now))

    def add(self, now: float) -> None:
        self.now.add(now)
        self.usual.add(now)

    def ratio(self, now: float) -> float:
        """1 until ten minutes and 30 requests have shown what is usual.

        Also where a minute has no more above the usual than chance brings: two deviations.
        """
        fast, fast_seconds = self.now.counted(now)
        slow, slow_seconds = self.usual.counted(now)
        if slow_seconds < USUAL_SECONDS or slow < USUAL_COUNT:
            return 1.0
        expected = slow / slow_seconds * fast_seconds
        if expected < fast <= expected + 2 * math.sqrt(expected + 1):
            return 1.0
        return fast / expected


@dataclass(slots=True)
class Changes:
    """How often answers changed, from looks at them that lie some time apart.

    A look that finds another answer tells that it changed somewhere between the two. What counts
    as watched is the time until that is expected at the rate believed so far: half of the gap where
    looks lie close, 1/rate where they lie far apart (one step of expectation maximisation).
    """

    changed: Fading = field(default_factory=lambda: Fading(FADE))
    watched: Fading = field(default_factory=lambda: Fading(FADE))

    def look(self, gap: float, now: float, *, changed: bool, believed: float) -> None:
        """An answer was compared with the one of `gap` seconds before.

        Args:
            believed: Changes a second, as far as was known by then; above 0.
        """
        if gap <= 0:
            return
        self.changed.add(float(changed), now)
        self.watched.add(_until_change(gap, believed) if changed else gap, now)

    def rate(self, prior: float, now: float) -> float:
        """Changes a second, drawn to `prior` by as much as one change weighs (Gamma prior)."""
        watched = self.watched.at_time(now) + 1.0 / prior
        return (self.changed.at_time(now) + 1.0) / watched


def _until_change(gap: float, rate: float) -> float:
    """Expected time to the first change, given that there was one within `gap`."""
    x = rate * gap
    if x < _NEARLY_NONE:
        return gap / 2
    return 1 / rate - gap / math.expm1(min(x, _MOST))


_NEARLY_NONE: Final = 1e-4
"""Below this the difference of the two terms has fewer right digits than half of the gap."""

_MOST: Final = 700.0
"""Above this the exponential is beyond a float, and the second term is nothing."""


@dataclass(slots=True)
class Evidence:
    """What has been seen of one entry.

    Attributes:
        asked: Lookups that came nearest to it, also while it was expired.
        days: Day number → [hits, lookups]: only those days that still count.
        misses: Lookups in a row that came nearest to it and did not hit.
        triggers: How often its class's trigger has fired and not been made good for.
        changes: What refreshes said of its answer.
        served_at: When it was last served.
    """

    asked: Rate
    days: dict[int, list[int]] = field(default_factory=dict)
    misses: int = 0
    triggers: Fading = field(default_factory=lambda: Fading(TRIGGER_FADE))
    changes: Changes = field(default_factory=Changes)
    served_at: float = 0.0

    @classmethod
    def from_now(cls, now: float) -> Evidence:
        return cls(Rate.faded(HEAT_FADE, now))

    def hit(self, now: float, *, keep_days: int) -> None:
        """It was served. One hit makes good for one time that its trigger fired."""
        self._count(now, 1, keep_days)
        self.misses = 0
        self.triggers.add(-min(1.0, self.triggers.at_time(now)), now)
        self.served_at = max(self.served_at, now)

    def miss(self, now: float, *, keep_days: int, in_a_row: int) -> None:
        """A lookup came nearest to it and did not hit; so many in a row fire its trigger."""
        self._count(now, 0, keep_days)
        self.misses += 1
        if self.misses >= in_a_row:
            self.misses = 0
            self.triggers.add(1.0, now)

    def tally(self, now: float, *, keep_days: int) -> tuple[int, int]:
        """Hits and lookups of the last days, today included."""
        first = int(now // DAY) - keep_days + 1
        kept = [count for day, count in self.days.items() if day >= first]
        return sum(hits for hits, _ in kept), sum(lookups for _, lookups in kept)

    def _count(self, now: float, hits: int, keep_days: int) -> None:
        today = int(now // DAY)
        if today not in self.days:
            for day in [day for day in self.days if day <= today - keep_days]:
                del self.days[day]
        count = self.days.setdefault(today, [0, 0])
        count[0] += hits
        count[1] += 1
        self.asked.add(now)
