"""How lifetimes are set, on real questions whose answers change as they are made to."""

from __future__ import annotations

import bisect
import gzip
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from langchain_semcache.clock import ManualClock
from langchain_semcache.engine.freshness import BY_RULES, Freshness
from langchain_semcache.engine.pool import WorkerPool
from langchain_semcache.records import Decision, Entry, Reason, Scope
from langchain_semcache.ttl import Choice, Rule, Rules, TtlClass, best_lifetime

Row = dict[str, object]
BING = "stream_multi_bing_covid_202001_country.jsonl.gz"
HOUR, DAY = 3600.0, 86_400.0

CHANGES = {"figures": 2 * HOUR, "news": 8 * HOUR, "general": 2 * DAY, "knowledge": 30 * DAY}
"""Mean time between two changes of an answer, by class of question."""

SPREADS = {"narrow": 0.7, "wide": 1.5}
"""Each question has a mean of its own, log-normal around that of its class with this sigma: two in
three are within a factor of 2, or of 4.5. Pages of the Web differ more: of those in Cho and
Garcia-Molina, "The evolution of the Web and implications for an incremental crawler" (VLDB 2000),
23% changed within a day and 31% not within four months."""

WORDS = {
    "figures": r"cases?|deaths?|death toll|toll|count|numbers?|map|statistics|stats|data|"
    r"confirmed|how many|"
    r"dashboard|mortality|rate|fälle|karte|casi|mappa|casos|mapa|mort[si]?|carte|人数|地图",
    "news": r"news|updates?|latest|live|today|breaking|headlines?|notici\w*|notizie|nachrichten|"
    r"aktuell\w*|nouvelles|nieuws|nyheter|最新|新闻|in [a-z]+|usa?|uk|china|italia|"
    r"australia|canada|india|florida|california|texas|london|deutschland",
    "knowledge": r"symptom\w*|sintom\w*|signs?|what is|what's|cause\w*|cures?|treat\w*|masks?|"
    r"vaccine\w*|how (?:do|does|to|is|did)|definition|meaning|origin\w*|started?|transmi\w*|"
    r"incubation|prevent\w*|sars|mers|症状|口罩|is the|can (?:you|the)|was ist|qué es|cos'è",
}
_CLASSES = {name: re.compile(rf"(?:^|\b)(?:{words})(?:\b|$)") for name, words in WORDS.items()}


def class_of(query: str) -> str:
    """The class that a question's answer changes by; figures before news before knowledge."""
    return next((name for name, words in _CLASSES.items() if words.search(query)), "general")


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: when, for what."""

    at: float
    question: str


class World:
    """Answers that change, each as a Poisson process of its own. Seeded."""

    def __init__(self, *, seed: int, spread: float, until: float) -> None:
        self._seed = seed
        self._spread = spread
        self._until = until
        self.rates: dict[str, float] = {}
        self._changes: dict[str, list[float]] = {}

    def version(self, question: str, at: float) -> int:
        """Which answer is the right one at that time."""
        if question not in self._changes:
            self._make(question)
        return bisect.bisect_right(self._changes[question], at)

    def _make(self, question: str) -> None:
        draw = random.Random(f"{self._seed}: {question}")
        mean = CHANGES[class_of(question.split(": ", 1)[1])]
        rate = 1 / (mean * math.exp(draw.gauss(0, self._spread)))
        times, at = [], draw.expovariate(rate)
        while at < self._until:
            times.append(at)
            at += draw.expovariate(rate)
        self.rates[question], self._changes[question] = rate, times


class Lifetimes(Protocol):
    """A way to set them: told of every request and of every answer, asked for how long it lives."""

    def lifetime(self, question: str, now: float) -> float: ...

    def asked(self, question: str, now: float, *, hit: bool) -> None: ...

    def refreshed(self, question: str, stored: float, now: float, *, changed: bool) -> None: ...


@dataclass(slots=True)
class Single:
    """One for all."""

    seconds: float

    def lifetime(self, question: str, now: float) -> float:  # noqa: ARG002 - as the protocol says
        return self.seconds

    def asked(self, question: str, now: float, *, hit: bool) -> None:
        """Nothing is learned."""

    def refreshed(self, question: str, stored: float, now: float, *, changed: bool) -> None:
        """Nothing is learned."""


@dataclass(slots=True)
class DTtl(Single):
    """d-TTL: one lifetime, moved towards a hit rate by stochastic approximation.

    Basu et al., "Adaptive TTL-Based Caching for Content Delivery" (SIGMETRICS 2017), section 3: a
    hit beyond the target shortens it, a miss lengthens it.
    """

    target: float = 0.5
    step: float = 60.0

    def asked(self, question: str, now: float, *, hit: bool) -> None:  # noqa: ARG002
        self.seconds = min(max(1.0, self.seconds + self.step * (self.target - hit)), 31 * DAY)


@dataclass(slots=True)
class Oracle(Single):
    """Knows how often each answer changes and is asked for."""

    rates: dict[str, float] = field(default_factory=dict)
    requests: dict[str, float] = field(default_factory=dict)

    def lifetime(self, question: str, now: float) -> float:  # noqa: ARG002
        return best_lifetime(self.rates[question], self.requests[question], 1 / self.seconds)


class Learned:
    """This project's rules, as they run in a cache. `told` gives each question's class as a tag."""

    def __init__(self, stale_cost: float, *, told: bool = False) -> None:
        classes = {name: TtlClass(3 * HOUR) for name in CHANGES} if told else {}
        rules = Rules(
            stale_cost=stale_cost,
            surge="off",
            classes={**Rules().classes, "rare": TtlClass(3 * HOUR, 0.75, "misses"), **classes},
            choice=Choice(rules=[Rule(name, tag=name) for name in CHANGES] if told else ()),
        )
        self._told = told
        self._clock = ManualClock(0.0)
        self._freshness = Freshness(rules, clock=self._clock, pool=WorkerPool())
        self._scope = Scope(digest="s", namespace="n", tenant="", model="")

    def lifetime(self, question: str, now: float) -> float:
        return self._freshness.life(self._entry(question, now)).seconds

    def asked(self, question: str, now: float, *, hit: bool) -> None:
        self._at(now)
        reason = Reason.EXACT if hit else Reason.EXPIRED
        decision = Decision(hit=hit, reason=reason, entry_id=question)
        self._freshness.decided(decision, self._scope)

    def refreshed(self, question: str, stored: float, now: float, *, changed: bool) -> None:
        self._at(now)
        self._freshness.refreshed(self._entry(question, stored), changed=changed)

    def _at(self, now: float) -> None:
        self._clock.advance(now - self._clock.now())

    def _entry(self, question: str, stored: float) -> Entry:
        query = question.split(": ", 1)[1]
        return Entry(
            id=question,
            scope="s",
            partition="p",
            fingerprint="f",
            namespace="n",
            tenant="",
            model="",
            question=query,
            payload=b"",
            created_at=stored,
            tags=(class_of(query),) if self._told else (),
            life=BY_RULES,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """Shares of the requests that count: answered by the cache, and of these with an old answer."""

    hits: float
    stale: float


def replay(stream: Sequence[Ask], world: World, lifetimes: Lifetimes, start: int) -> Outcome:
    """What a cache without bounds answers; counted from request `start` on."""
    stored: dict[str, tuple[float, int]] = {}
    hits = stale = 0
    for number, ask in enumerate(stream):
        right = world.version(ask.question, ask.at)
        kept = stored.get(ask.question)
        over = kept is None or ask.at >= kept[0] + lifetimes.lifetime(ask.question, ask.at)
        lifetimes.asked(ask.question, ask.at, hit=not over)
        if over:
            if kept is not None:
                changed = kept[1] != right
                lifetimes.refreshed(ask.question, kept[0], ask.at, changed=changed)
            stored[ask.question] = (ask.at, right)
        elif kept is not None and number >= start:
            hits += 1
            stale += kept[1] != right
    counted = len(stream) - start
    return Outcome(hits / counted, stale / counted)


def bing(data: Path, *, uses: int = 60_000, seed: int = 1) -> list[Ask]:
    """Queries by day and country, as often as they were popular, at random times of their day."""
    days: dict[str, list[tuple[str, int]]] = {}
    with gzip.open(data / BING, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            query = f"{row['country']}: {row['query']}"
            days.setdefault(row["date"], []).append((query, int(row["pop"])))
    draw = random.Random(seed)
    total = sum(popular for rows in days.values() for _, popular in rows)
    stream = []
    for number, day in enumerate(sorted(days)):
        queries, weights = zip(*days[day], strict=True)
        drawn = draw.choices(queries, weights, k=round(uses * sum(weights) / total))
        times = sorted(draw.uniform(number * DAY, (number + 1) * DAY) for _ in drawn)
        stream += [Ask(at, query) for at, query in zip(times, drawn, strict=True)]
    return stream


SINGLE = tuple(60.0 * 2 ** (step / 3) for step in range(40))
COSTS = (80.0, 40.0, 20.0, 10.0, 6.0, 4.0, 3.0, 2.0, 1.5)
TARGETS = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75)

STALE = (0.005, 0.01, 0.02, 0.05)
"""Shares of all requests that may get an old answer."""

Way = Callable[[float], Lifetimes]


def frontier(outcomes: Sequence[Outcome], stale: float) -> float:
    """Hits at a share of stale answers, between those that were measured."""
    known = sorted((outcome.stale, outcome.hits) for outcome in outcomes)
    place = bisect.bisect_left(known, (stale, 0.0))
    if place == 0 or place == len(known):
        return math.nan
    (left, low), (right, high) = known[place - 1], known[place]
    return low + (high - low) * (stale - left) / (right - left) if right > left else high


def rows(
    stream: Sequence[Ask], *, seed: int, spread: str, part: str, stale: Sequence[float] = STALE
) -> list[Row]:
    """One row a way to set lifetimes: hits in percent at equal shares of stale answers.

    "first" runs on the first half alone, warmed up by its own first half: what is tuned is tuned
    there. "second" is warmed up by all of the first half.
    """
    seen = stream[: len(stream) // 2] if part == "first" else stream
    start = len(seen) // 2
    world = World(seed=seed, spread=SPREADS[spread], until=seen[-1].at + 1)
    for ask in seen:
        world.version(ask.question, 0.0)
    span = seen[-1].at - seen[0].at
    asked = {
        question: count / span for question, count in Counter(a.question for a in seen).items()
    }
    ways: dict[str, tuple[Sequence[float], Way]] = {
        "one TTL": (SINGLE, Single),
        "d-TTL": (TARGETS, lambda target: DTtl(HOUR, target)),
        "rules, told nothing": (COSTS, Learned),
        "rules, classes by tag": (COSTS, lambda cost: Learned(cost, told=True)),
        "knows every rate": (COSTS, lambda cost: Oracle(cost, world.rates, asked)),
    }
    curves = {
        name: [replay(seen, world, way(number), start) for number in numbers]
        for name, (numbers, way) in ways.items()
    }
    found: list[Row] = []
    for name, curve in curves.items():
        row: Row = {"changes": spread, "half": part, "lifetimes": name}
        for share in stale:
            hits, usual = frontier(curve, share), frontier(curves["one TTL"], share)
            row[f"stale {share:.1%}"] = f"{100 * hits:.1f} ({100 * (hits - usual):+.1f})"
        found.append(row)
    return found


def run(data: Path, *, part: str = "second", seed: int = 1) -> list[Row]:
    """Every way, where answers of one class change alike and where they do not."""
    stream = bing(data, seed=seed)
    return [row for spread in SPREADS for row in rows(stream, seed=seed, spread=spread, part=part)]
