"""How long an answer should live that changes at a known rate and is asked for at a known rate.

An answer that changes as a Poisson process of rate λ, is asked for at rate r and lives for τ is
refreshed about every τ + 1/r seconds. In that time it is served rτ times, and r(τ − (1 − e^−λτ)/λ)
of these are stale. Where a stale answer costs as much as 1/s hits are worth, the best τ is the one
at which the gain per second no longer grows (renewal–reward theorem; Ross, Introduction to
Probability Models, ch. 7):

    s = (1 − e^−λτ)(1 + r/λ) − rτ e^−λτ

For an answer that is hardly ever asked for that is τ = −ln(1 − s)/λ: it goes when it is stale with
probability s. One that is asked for all the time is refreshed sooner: asking anew costs it little.
Cho and Garcia-Molina, "Effective page refresh policies for web crawlers" (TODS 2003) treat the
same trade for crawlers with a fixed budget.
"""

from __future__ import annotations

import math
from typing import Final

_STEPS: Final = 60
"""Halvings of the interval: more than the digits of a float are worth."""


def best_lifetime(change_rate: float, request_rate: float, worth: float) -> float:
    """The lifetime in seconds that serves the most for what staleness costs.

    Args:
        change_rate: λ, changes a second; 0 never changes.
        request_rate: r, requests a second.
        worth: s, hits that are worth as much as one stale answer costs, inverted: in (0, 1].

    Returns:
        Seconds; infinite where nothing changes.

    Raises:
        ValueError: A rate is negative or no number, or `worth` is outside (0, 1].
    """
    if not 0 < worth <= 1:
        raise ValueError(f"worth must be in (0, 1], not {worth!r}")
    if not (change_rate >= 0 and request_rate >= 0 and math.isfinite(request_rate)):
        raise ValueError("rates must be numbers from 0 on")
    if change_rate == 0:
        return math.inf
    # In units of 1/λ: x = λτ, ρ = r/λ. The gain falls short of `worth` at 0 and grows with x.
    ratio = request_rate / change_rate
    if worth == 1 and ratio == 0:
        return math.inf
    upper = -math.log1p(-worth) if worth < 1 else 1.0
    while _price(upper, ratio) < worth:
        upper *= 2
    lower = 0.0
    for _ in range(_STEPS):
        middle = (lower + upper) / 2
        lower, upper = (middle, upper) if _price(middle, ratio) < worth else (lower, middle)
    return upper / change_rate


def _price(x: float, ratio: float) -> float:
    """The share of a hit that living a little longer costs, at x = λτ with ρ = r/λ."""
    gone = -math.expm1(-x)
    return gone + ratio * (gone - x * math.exp(-x))
