"""Which class of answers an entry belongs to: what it is asked to be, and what has been seen of it.

The three classes, their first lifetimes and factors are defaults; all are settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final, Literal

Trigger = Literal["updates", "misses", "none"]

FREQUENT: Final = "frequent"
TIME_SENSITIVE: Final = "time_sensitive"
RARE: Final = "rare"


@dataclass(frozen=True, slots=True)
class TtlClass:
    """A class of answers.

    Attributes:
        first: Lifetime before any adjustment, in seconds.
        factor: What each event of its trigger multiplies the lifetime by, in (0, 1].
        trigger: Those events: "updates" that a source reports, "misses" in a row beside the entry.
    """

    first: float
    factor: float = 1.0
    trigger: Trigger = "none"


CLASSES: Final[Mapping[str, TtlClass]] = MappingProxyType(
    {
        FREQUENT: TtlClass(first=3600.0),
        TIME_SENSITIVE: TtlClass(first=300.0, factor=0.92, trigger="updates"),
        RARE: TtlClass(first=180.0, factor=0.75, trigger="misses"),
    }
)
"""Frequent and stable, time-sensitive, and the long tail."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What matches everything that is given here is of the class `use`.

    Attributes:
        tag, source, model: Shell patterns ("docs-*"); of several tags or sources one has to match.
        kind: Pattern of the class a question is counted in, such as "other how" or "han *".
        time_words: Whether the question asks for what changes by the day.
    """

    use: str
    tag: str | None = None
    source: str | None = None
    model: str | None = None
    kind: str | None = None
    time_words: bool | None = None

    def matches(self, facts: Facts) -> bool:
        """Whether an entry is meant."""
        return (
            _any(self.tag, facts.tags)
            and _any(self.source, facts.sources)
            and _any(self.model, (facts.model,))
            and _any(self.kind, (facts.kind,))
            and self.time_words in (None, facts.time_words)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What there is to know of an entry before anybody has asked for it.

    Attributes:
        wanted: The class that it was stored with by name; None leaves it to the rules.
        time_words: Whether its question asks for what changes by the day.
        kind: The class its question is counted in, such as "other how".
        tags, sources: What it can be invalidated by; of sources the names.
        model: Of the request.
        tenant: Digest of whose it is.
    """

    wanted: str | None = None
    time_words: bool = False
    kind: str = ""
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    model: str = ""
    tenant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How classes are chosen.

    Attributes:
        rules: The user's; the first that matches has the last word.
        otherwise: The class of what no rule knows and nothing has been seen of.
        hit_rate: Share of hits over the days of evidence above which an answer counts as stable.
        least_lookups: Lookups below which a share says nothing. With 20 and no miss the true share
            is above 0.86 at 95% confidence (rule of three).
        least_changes: Refreshes that brought another answer, from which on it counts as changing.
    """

    rules: Sequence[Rule] = ()
    otherwise: str = RARE
    hit_rate: float = 0.95
    least_lookups: int = 20
    least_changes: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What has been seen of an entry, as far as classes go by it.

    Attributes:
        hits, lookups: Over the days of evidence, of those that its neighbourhood decided.
        changed: Refreshes that brought another answer.
        updates: Updates that its sources reported.
    """

    hits: int = 0
    lookups: int = 0
    changed: float = 0.0
    updates: float = 0.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """A class and the reason for it, in a word or two."""

    name: str
    because: str = field(compare=False)


def first_choice(facts: Facts, choice: Choice) -> Chosen:
    """The class by what is known beforehand."""
    if facts.wanted is not None:
        return Chosen(facts.wanted, "asked for")
    for rule in choice.rules:
        if rule.matches(facts):
            return Chosen(rule.use, "rule")
    if facts.time_words:
        return Chosen(TIME_SENSITIVE, "time words")
    return Chosen(choice.otherwise, "default")


def choose(facts: Facts, seen: Seen, choice: Choice) -> Chosen:
    """The class by what is known and what has been seen since.

    What the user asked for, by name or by rule, is never overruled. An answer that changes is
    time-sensitive however often it is asked for.
    """
    first = first_choice(facts, choice)
    if first.because in ("asked for", "rule"):
        return first
    # Both counts fade: the last event is rounded up to a whole one for as long as it weighs half.
    if round(seen.changed) >= choice.least_changes:
        return Chosen(TIME_SENSITIVE, "its answer changes")
    if round(seen.updates) >= 1:
        return Chosen(TIME_SENSITIVE, "its source is updated")
    often = seen.lookups >= choice.least_lookups and seen.hits > choice.hit_rate * seen.lookups
    if often and first.name != TIME_SENSITIVE:
        return Chosen(FREQUENT, "hit rate")
    return first


def _any(pattern: str | None, values: Sequence[str]) -> bool:
    return pattern is None or any(fnmatchcase(value, pattern) for value in values)
