"""What two ways to set lifetimes come to on the same requests, and how sure that is.

Requests for one entry go together: they hit and miss as one. So the spread is taken over entries
and not over requests (cluster-robust standard errors; Cameron and Miller, "A practitioner's guide
to cluster-robust inference", Journal of Human Resources 2015).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

SURE: Final = 1.959964
"""Standard errors on either side of an estimate: 95%."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95% interval; without a value where nothing was seen."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(slots=True)
class Mean:
    """A mean over requests of many entries, from the sums of each entry."""

    count: float = 0.0
    total: float = 0.0
    _squares: float = 0.0
    _mixed: float = 0.0
    _counts: float = 0.0
    entries: int = 0

    def add(self, total: float, count: float) -> None:
        """All of one entry: the sum of what was seen, and how often."""
        self.entries += 1
        self.count += count
        self.total += total
        self._squares += total * total
        self._mixed += total * count
        self._counts += count * count

    def estimate(self) -> Estimate:
        if not self.count:
            return Estimate(None)
        mean = self.total / self.count
        if self.entries < 2:
            return Estimate(mean)
        spread = self._squares - 2 * mean * self._mixed + mean * mean * self._counts
        few = self.entries / (self.entries - 1)
        error = SURE * math.sqrt(max(0.0, spread * few)) / self.count
        return Estimate(mean, mean - error, mean + error)


_RATIO: Final = 1.05
_LEAST: Final = 1e-5


@dataclass(slots=True)
class Durations:
    """Seconds, counted in buckets of 5%, so that quantiles cost no memory."""

    count: int = 0
    buckets: dict[int, int] = field(default_factory=dict)

    def add(self, seconds: float) -> None:
        bucket = round(math.log(max(seconds, _LEAST) / _LEAST, _RATIO))
        self.buckets[bucket] = self.buckets.get(bucket, 0) + 1
        self.count += 1

    def quantile(self, share: float) -> Estimate:
        """The value that this share does not exceed; the interval is that of the rank."""
        if not self.count:
            return Estimate(None)
        error = SURE * math.sqrt(self.count * share * (1 - share))
        ranks = (self.count * share, self.count * share - error, self.count * share + error)
        value, low, high = [self._at(rank) for rank in ranks]
        return Estimate(value, low, high)

    def _at(self, rank: float) -> float:
        passed = 0
        for bucket in sorted(self.buckets):
            passed += self.buckets[bucket]
            if passed >= rank:
                break
        return _LEAST * _RATIO**bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowReport:
    """A policy in shadow beside the one that answers, on the requests that both saw.

    Attributes:
        name: Of the policy.
        requests: That were compared.
        entries: That they were for.
        ttl, live_ttl: Mean lifetime at a request, in seconds.
        hit_rate, live_hit_rate: Share of the requests that were answered, or would have been.
        hit_rate_change: The difference.
        stale, live_stale: Share of its hits with an answer that the model would have given
            otherwise by then, of those of which that came to be known.
        stale_change: The difference.
        stale_known: Share of the hits of either policy of which it came to be known.
        p99, live_p99: Seconds that a request took, or would have taken, at the 99th percentile.
        p99_change: The difference; the interval is that of both ends.
    """

    name: str
    requests: int
    entries: int
    ttl: Estimate
    live_ttl: Estimate
    hit_rate: Estimate
    live_hit_rate: Estimate
    hit_rate_change: Estimate
    stale: Estimate
    live_stale: Estimate
    stale_change: Estimate
    stale_known: float | None
    p99: Estimate
    live_p99: Estimate
    p99_change: Estimate


def difference(one: Estimate, other: Estimate) -> Estimate:
    """One less the other, as if they had nothing to do with each other."""
    if one.value is None or other.value is None:
        return Estimate(None)
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return Estimate(one.value - other.value)
    return Estimate(one.value - other.value, one.low - other.high, one.high - other.low)
