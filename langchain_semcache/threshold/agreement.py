"""Whether two answers of a model say the same: how a shadow check gets its label.

A model asked twice words its answer anew, so equality of text says little. The beginning of an
answer is compared by meaning, with figures as a second witness where answers are short.
"""

from __future__ import annotations

import re

SIMILAR = 0.6
"""Least cosine of two answers that agree. Of 200 prompts put twice to one large model 95.5% do, and
2% of the answers to the nearest other prompt; of a small model sampled hot only 56% agree with
themselves (docs/explanation/measurements.md)."""

_FIGURE = re.compile(r"\d+(?:[.,:/]\d+)*")
_SHORT = 200
"""Answers up to so many characters are about their figures; in longer ones some always differ."""


def agree(ours: str, theirs: str, similarity: float) -> bool:
    """Whether both answers would serve the same question.

    Args:
        similarity: Cosine of the vectors of both, or of their beginnings.
    """
    if _plain(ours) == _plain(theirs):
        return True
    if max(len(ours), len(theirs)) <= _SHORT and _figures(ours) != _figures(theirs):
        return False
    return similarity >= SIMILAR


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。!！")


def _figures(text: str) -> set[str]:
    return set(_FIGURE.findall(text))
