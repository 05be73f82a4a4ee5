"""What a provider says of the probabilities of its tokens, read into one form.

Three shapes are read, all of them OpenAI's, which other providers and both hosts copy: of a chat
(`{"content": [{"token", "logprob", "top_logprobs"}]}`), of the Responses API (that list by itself),
and of old completions (`{"tokens", "token_logprobs", "top_logprobs"}`). Source: OpenAI's API
reference, "The chat completion object", "The response object" and "The completion object".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from langchain_semcache.records import JSON

_ROUNDED = 1e-3
"""A log probability above zero is none; one that was rounded may be above it by so much."""

_NOTHING = -1000.0
"""A log probability so low that the probability is 0 as a float."""


@dataclass(frozen=True, slots=True)
class Token:
    """What is told of one token of an answer, as probabilities in [0, 1].

    Attributes:
        chosen: Of the token that was written; None when it is not told.
        top: Of the most probable tokens at its place, highest first; empty when none are told.
        apart: Whether the token that was written is known not to be among `top`.
    """

    chosen: float | None = None
    top: tuple[float, ...] = ()
    apart: bool = False


def read_tokens(told: JSON) -> tuple[Token, ...]:
    """The tokens of one choice, in order; none when nothing is told, or in no shape that is known.

    What cannot be read of a token is left out of it: it then counts as not told.
    """
    if isinstance(told, dict):
        if isinstance(told.get("token_logprobs"), list):
            return tuple(_completed(told))
        told = told.get("content")
    if not isinstance(told, list):
        return ()
    return tuple(_chatted(item) for item in told)


def _chatted(item: JSON) -> Token:
    if not isinstance(item, dict):
        return Token()
    listed = item.get("top_logprobs")
    top = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    named = {_name(one) for one in top}
    return _token(
        item.get("logprob"),
        [one.get("logprob") for one in top],
        apart=_name(item) not in named and None not in {_name(item), *named},
    )


def _completed(told: Mapping[str, JSON]) -> Iterator[Token]:
    chosen = _listed(told.get("token_logprobs"))
    names, tops = _listed(told.get("tokens")), _listed(told.get("top_logprobs"))
    for place, logprob in enumerate(chosen):
        top = tops[place] if place < len(tops) else None
        name = names[place] if place < len(names) else None
        shown: Mapping[str, JSON] = top if isinstance(top, dict) else {}
        others = [told for other, told in shown.items() if other != name]
        # The written token is always listed, as one of the k or as one more. Where it is the least
        # probable it may be the one more, and says nothing of the others.
        added = isinstance(logprob, int | float) and all(
            isinstance(one, int | float) and one >= logprob for one in others
        )
        yield _token(logprob, others if added else list(shown.values()), apart=added)


def _token(logprob: JSON, tops: Sequence[JSON], *, apart: bool) -> Token:
    top = [probability for one in tops if (probability := _probability(one)) is not None]
    if len(top) < len(tops):
        top = []  # with a gap it is no list of the most probable tokens
    chosen = _probability(logprob)
    return Token(
        chosen, tuple(sorted(top, reverse=True)), apart and bool(top) and chosen is not None
    )


def _probability(logprob: JSON) -> float | None:
    if isinstance(logprob, bool) or not isinstance(logprob, int | float):
        return None
    # Written so that NaN fails. OpenAI says -9999 for "very unlikely": that is 0, as is what no
    # float can hold.
    return math.exp(max(_NOTHING, min(0.0, logprob))) if logprob <= _ROUNDED else None


def _name(item: Mapping[str, JSON]) -> str | None:
    """What tells two tokens apart: one character may be written by several, so bytes go first."""
    written = item.get("bytes")
    if isinstance(written, list) and written:
        return repr(written)
    token = item.get("token")
    return token if isinstance(token, str) else None


def _listed(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []
