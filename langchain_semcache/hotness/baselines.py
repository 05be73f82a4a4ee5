"""Models of heat that need no training, and one TTL that finds its length by itself."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness.features import HORIZON, STEPS, checked_windows
from langchain_semcache.ports import Heats, Windows

HALF_LIFE: Final = 16.0
"""Steps after which a use counts half, by default."""


class PopularityHotness:
    """As often as so far: the mean of the last `steps` steps goes on.

    Args:
        steps: Steps that count, 1 to 64.

    Raises:
        ConfigurationError: `steps` is no such number.
    """

    def __init__(self, steps: int = STEPS) -> None:
        if isinstance(steps, bool) or not 1 <= steps <= STEPS:
            raise ConfigurationError(f"steps is {steps!r}, expected a whole number, 1 to {STEPS}")
        self._steps = steps

    @property
    def identity(self) -> str:
        return f"popularity-{self._steps}"

    def predict(self, windows: Windows) -> Heats:
        """See `HotnessModel`."""
        counts = checked_windows(windows)
        heats: Heats = counts[:, -self._steps :].sum(axis=1) * np.float32(HORIZON / self._steps)
        return heats


class EWMAHotness:
    """The exponentially weighted mean of the window goes on: what was lately counts more.

    Args:
        half_life: Steps after which a use counts half, above 0.

    Raises:
        ConfigurationError: `half_life` is no such number.
    """

    def __init__(self, half_life: float = HALF_LIFE) -> None:
        if isinstance(half_life, bool) or not (math.isfinite(half_life) and half_life > 0):
            raise ConfigurationError(f"half_life is {half_life!r}, expected a number above 0")
        self._half_life = half_life
        weights = 0.5 ** (np.arange(STEPS - 1, -1, -1) / half_life)
        self._weights = (HORIZON * weights / weights.sum()).astype(np.float32)

    @property
    def identity(self) -> str:
        return f"ewma-{self._half_life:g}"

    def predict(self, windows: Windows) -> Heats:
        """See `HotnessModel`."""
        heats: Heats = checked_windows(windows) @ self._weights
        return heats


class AdaptiveTTL:
    """d-TTL: one TTL for all, moved by each request until the cache has the hit rate it should.

    A miss makes it longer and a hit shorter, by a stochastic approximation after Basu, Sundarrajan,
    Ghaderi, Shakkottai and Sitaraman, "Adaptive TTL-Based Caching for Content Delivery", IEEE/ACM
    Transactions on Networking 26(3), 2018 (arXiv:1704.04448), the algorithm for hit rates of
    objects. With a gain that falls as `gain / n**decay` it converges; with `decay` 0 it follows
    what changes. Not safe to share between threads.

    Args:
        target_hit_rate: Hits over requests to come to, above 0 and below 1.
        max_ttl_seconds: The TTL is at most this long. A target that even this does not reach ends
            there.
        gain: Of the first step, as a share of `max_ttl_seconds`.
        decay: 0, or above 0.5 and up to 1 for convergence.

    Raises:
        ConfigurationError: A number is out of its range.
    """

    def __init__(
        self,
        *,
        target_hit_rate: float,
        max_ttl_seconds: float,
        gain: float = 0.01,
        decay: float = 0.0,
    ) -> None:
        for name, value, good, range_ in (
            ("target_hit_rate", target_hit_rate, 0 < target_hit_rate < 1, "above 0 and below 1"),
            ("max_ttl_seconds", max_ttl_seconds, 0 < max_ttl_seconds < math.inf, "above 0"),
            ("gain", gain, 0 < gain <= 1, "above 0 and up to 1"),
            ("decay", decay, decay == 0 or 0.5 < decay <= 1, "0, or above 0.5 and up to 1"),
        ):
            if isinstance(value, bool) or not good:
                raise ConfigurationError(f"{name} is {value!r}, expected a number {range_}")
        self._target, self._most = target_hit_rate, max_ttl_seconds
        self._gain, self._decay = gain, decay
        self._share, self._requests = 0.0, 0

    @property
    def ttl_seconds(self) -> float:
        """What an entry that is written or served now may live."""
        return self._share * self._most

    def observe(self, *, hit: bool) -> float:
        """A request came; the TTL in seconds from now on."""
        self._requests += 1
        step = self._gain / self._requests**self._decay
        self._share = min(1.0, max(0.0, self._share + step * (self._target - hit)))
        return self.ttl_seconds
