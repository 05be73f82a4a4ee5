"""Bounds on a number of errors that hold at every moment, however often one looks.

One test martingale serves every question asked here. Let errors X_1, X_2, … be 0 or 1 and let q_t
be the probability of X_t given everything before it. For any fixed factor k >= 0

    k ** (X_1 + … + X_n) * exp(-(k - 1) * (q_1 + … + q_n))

never grows on average, because 1 + (k - 1) * q <= exp((k - 1) * q). Averaged over k with an
exponential density it has a closed form (`log_evidence`), and by Ville's inequality it exceeds
1 / (1 - level) at *any* time with probability at most 1 - level. That is the gamma-Poisson mixture
of Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform Chernoff bounds" (2020), proposition 10 ff.;
nothing is assumed about independence, about identical traffic or about when somebody stops to look.
"""

from __future__ import annotations

from math import lgamma, log

_STEPS = 50  # halvings: more than a float can resolve


def log_evidence(count: float, expected: float) -> float:
    """Log of the evidence that `count` errors are not what `expected` predicts; 0 for none."""
    return lgamma(1 + count) - (1 + count) * log(1 + expected) + expected


def _surprise(level: float) -> float:
    return -log(1 - level)


def least_expected(count: float, level: float) -> float:
    """The smallest expectation that `count` observed errors leave possible: a lower bound."""
    limit = _surprise(level)
    if log_evidence(count, 0.0) < limit:
        return 0.0
    low, high = 0.0, count
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if log_evidence(count, middle) >= limit else (low, middle)
    return low


def most_expected(count: float, level: float) -> float:
    """The largest expectation that `count` observed errors leave possible: an upper bound."""
    limit = _surprise(level)
    low, high = count, 2 * count + 4 * limit + 10
    while log_evidence(count, high) < limit:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if log_evidence(count, middle) >= limit else (middle, high)
    return high


def allowance(errors: float, level: float) -> float:
    """How many errors may be *expected* where at most `errors` may *happen*.

    From about ten allowed errors on it is the expectation at which `errors` errors would be a
    surprise: whoever keeps the sum of the q_t below it at every moment makes more than `errors`
    errors with probability at most 1 - level, at whatever moment that is checked. With fewer that
    would be next to nothing and a new cache would never serve, so half is allowed meanwhile: then
    the promise is one about the average only.
    """
    return max(errors / 2, least_expected(errors, level))
