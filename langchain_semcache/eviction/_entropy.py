"""How undecided a model was: Shannon entropy in nats, of whole distributions and of truncated ones.

Of a distribution over tens of thousands of tokens a provider tells the probability of the token it
wrote and of the k most probable ones. What is left over, the rest, may be anywhere, so nothing but
bounds can be said. With the known probabilities p₁ ≥ … ≥ p_k, the rest r = 1 − Σp and n tokens that
it can be on, each at most c:

- entropy is concave, so it is least at a corner of what is possible: as many tokens as there is
  room for at c, and one more with what remains, ⌊r/c⌋·h(c) + h(r − ⌊r/c⌋·c), with h(x) = −x·ln x;
- and largest where the rest is even: r·ln(n/r).

No token that is not among the k most probable is more probable than the k-th: c = p_k. Where only
the written token is told, nothing bounds the others: c = 1. The number n is not told either; it is
the size of the vocabulary less the known ones, and the upper bound grows with it, so the largest
vocabulary in use is the honest assumption. The lower bound does not depend on it.

Source: C. E. Shannon, "A Mathematical Theory of Communication" (1948), section 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from langchain_semcache.eviction._logprobs import Token

LARGEST_VOCABULARY = 262_144
"""Tokens of the largest vocabulary in common use (Gemma 3; o200k_base has 200,019)."""

TOLERANCE = 0.01
"""By how much told probabilities may miss 1 and still be taken for rounded ones."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number that is known to lie in [lower, upper]."""

    lower: float
    upper: float


def entropy(probabilities: Iterable[float]) -> float:
    """Shannon entropy of a whole distribution, in nats.

    Raises:
        ValueError: They are no distribution: one is negative or no number, or the sum is not 1.
    """
    whole = list(probabilities)
    if not all(p >= 0 for p in whole) or not math.isclose(math.fsum(whole), 1, abs_tol=1e-6):
        raise ValueError("probabilities must not be negative, and sum to 1")
    return _nats(whole)


def entropy_bounds(token: Token, vocabulary: int = LARGEST_VOCABULARY) -> Bounds:
    """The entropy of the distribution that a token was drawn from, in nats.

    From 0 to ln(vocabulary) when nothing is told of it, or what is told contradicts itself.
    """
    unknown = Bounds(0.0, math.log(vocabulary))
    known, cap = _known(token)
    others = vocabulary - len(known)
    if not known or others < 0:
        return unknown
    total = math.fsum(known)
    room = cap * others
    rest = min(max(0.0, 1 - total), room)
    # Rounded numbers sum to a little less or more than they should; others are no distribution.
    if abs(total + rest - 1) > TOLERANCE:
        return unknown
    scale = total + rest
    known, cap, rest = [p / scale for p in known], cap / scale, rest / scale
    told = _nats(known)
    if rest <= 0:
        return Bounds(told, told)
    lower = told + _concentrated(rest, cap)
    # Not the logarithm of the quotient, which is infinite where the rest is next to nothing.
    upper = told + rest * (math.log(others) - math.log(rest))
    return Bounds(lower, max(lower, upper))


def mean(bounds: Sequence[Bounds]) -> Bounds:
    """The mean of numbers of which only bounds are known.

    Raises:
        ValueError: There are none.
    """
    if not bounds:
        raise ValueError("there is no mean of nothing")
    lower = math.fsum(one.lower for one in bounds) / len(bounds)
    return Bounds(lower, max(lower, math.fsum(one.upper for one in bounds) / len(bounds)))


def top_difference(tokens: Sequence[Token]) -> Bounds | None:
    """The mean top-k entropy difference in nats: how far the k most probable are from being even.

    Of one token it is ln k less the entropy of its k most probable alternatives among themselves:
    0 where all k are equally probable, ln k where only one of them is. A token whose alternatives
    are not told may be anywhere in between. None when fewer than two are told of every token.
    """
    most = max((len(token.top) for token in tokens), default=0)
    if most < 2:
        return None
    untold = Bounds(0.0, math.log(most))
    found = [_difference(token.top) for token in tokens]
    return mean([untold if one is None else Bounds(one, one) for one in found])


def _difference(top: Sequence[float]) -> float | None:
    total = math.fsum(top)
    if len(top) < 2 or total <= 0:
        return None
    return max(0.0, math.log(len(top)) - _nats([p / total for p in top]))


def _known(token: Token) -> tuple[list[float], float]:
    """What is known of the distribution, and the most that any other token can have."""
    if not token.top:
        return ([] if token.chosen is None else [token.chosen]), 1.0
    cap = token.top[-1]
    if not token.apart or token.chosen is None:
        return list(token.top), cap
    if token.chosen > cap * (1 + TOLERANCE):
        return [], 1.0  # more probable than the k-th and not listed: it is another kind of list
    return [*token.top, token.chosen], cap


def _concentrated(rest: float, cap: float) -> float:
    full = math.floor(rest / cap)
    left = min(max(0.0, rest - full * cap), cap)
    return full * _nats([cap]) + _nats([left])


def _nats(probabilities: Iterable[float]) -> float:
    # The sum starts at 0.0, so that a sure token has 0.0 and not -0.0.
    return 0.0 + math.fsum(-p * math.log(p) for p in probabilities if p > 0)
