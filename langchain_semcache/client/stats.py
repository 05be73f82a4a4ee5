"""The numbers of a cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from langchain_semcache.threshold import Summary
from langchain_semcache.ttl.tally import ShadowReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Numbers of one cache: of the whole store, and of this process since it opened.

    `verifier` is the identity of who gives the second opinion, `evaluator` that of who rates
    answers, "" without one. `budget` is where the error budget stands; None when none is set.
    `evicted` counts the live entries that had to make room, `evaluated` the answers that were
    rated, by what became of them. `shadows` are the policies in shadow beside the one that sets
    lifetimes.
    `raw_response_bytes` is what the answers of the namespace are, `stored_response_bytes` what they
    take with all that they share; None where nobody asked for them.
    """

    entries: int
    hits: int
    misses: int
    lookups_by_reason: Mapping[str, int]
    stores_by_reason: Mapping[str, int]
    failures: Mapping[str, int]
    index: Mapping[str, str | int | float | bool | None]
    encoder: str
    verifier: str = ""
    budget: Summary | None = None
    raw_response_bytes: int | None = None
    stored_response_bytes: int | None = None
    evicted: int = 0
    shadows: tuple[ShadowReport, ...] = ()
    evaluator: str = ""
    evaluated: Mapping[str, int] = field(default_factory=dict)

    @property
    def hit_rate(self) -> float:
        """Hits over lookups, 0.0 before the first lookup."""
        return self.hits / total if (total := self.hits + self.misses) else 0.0


def ending(counts: Mapping[str, int], suffix: str) -> dict[str, int]:
    """Those of the counts whose names end so, by what comes before."""
    return {
        name.removesuffix(suffix): count for name, count in counts.items() if name.endswith(suffix)
    }
