"""Pairs that were measured, made by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from langchain_semcache.guards import Refusal
from langchain_semcache.lab.pairs import Measured, Pair
from langchain_semcache.records import Reason
from langchain_semcache.threshold.features import Observed

Make = Callable[..., Measured]


@pytest.fixture
def pair() -> Make:
    """A measured pair; its two questions are its own unless they are named."""
    made = iter(range(1_000_000))

    def make(
        same: bool,
        similarity: float,
        *,
        opinion: float | None = None,
        refused: bool = False,
        final: bool = True,
        question: str = "",
        stored: str = "",
        kind: str = "",
    ) -> Measured:
        number = next(made)
        asked, known = question or f"asked {number}", stored or f"known {number}"
        return Measured(
            Pair(asked, known, same, kind),
            Observed(asked, known, similarity, opinion),
            Refusal(Reason.NUMBERS_DIFFER, "", final=final) if refused else None,
        )

    return make
