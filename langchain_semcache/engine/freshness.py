"""Lifetimes at work: the rules are pure (`ttl`); here what is seen of entries is kept and used."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from langchain_semcache.clock import Clock
from langchain_semcache.engine.pool import WorkerPool
from langchain_semcache.engine.shadow_ttl import ShadowTtl
from langchain_semcache.engine.ttl_books import GroupKey, Known, TtlBooks, encoded, merge
from langchain_semcache.eviction import Assessment
from langchain_semcache.guards import kind, volatile
from langchain_semcache.life import Life, Step
from langchain_semcache.records import Decision, Entry, Reason, Scope
from langchain_semcache.ttl import (
    DAY,
    Circumstances,
    Evidence,
    Facts,
    Pace,
    Rules,
    Seen,
    first_choice,
    life,
    shortened,
)
from langchain_semcache.ttl.tally import ShadowReport

BY_RULES: Final = "rules"
BY_CLASS: Final = "class:"
"""How an entry says that the rules have a say in its lifetime; see `Entry.life`."""

SCOPES: Final = 1_024
NAMESPACES: Final = 256
ENDS: Final = 65_536
"""Entries of which it is remembered when they end, for a full cache: about 10 MB."""

SAVE_SECONDS: Final = 60.0

USUAL_COST: Final = 20.0
"""Hits that a stale answer costs, for what is learned while nobody has said."""

USUAL_FIRST: Final = DAY
"""Lifetime that stands for a class that has none, or one without end, where rates are learned."""

_NOT_ABOUT_IT: Final = frozenset(
    {
        Reason.BELOW_THRESHOLD,
        Reason.EXPIRED,
        Reason.TOO_OLD,
        Reason.SHADOW_CHECK,
        Reason.BUDGET_SPENT,
        Reason.VERIFIER_UNAVAILABLE,
        Reason.CORRUPT_ENTRY,
    }
)
"""Misses that say nothing of the entry that came nearest: another question might have hit it."""

_kind = lru_cache(4_096)(kind)
_volatile = lru_cache(4_096)(volatile)


@dataclass(frozen=True, slots=True)
class Fixed:
    """One lifetime for all, for what was stored while there were rules and is read without them.

    Attributes:
        ttl: In seconds; infinite for ever.
        volatile_ttl: The same at most for what changes by the day.
        endless: What is shortened by doubt where `ttl` is infinite.
    """

    ttl: float
    volatile_ttl: float
    endless: float = 604_800.0

    def life(self, entry: Entry) -> Life:
        """The lifetime that the entry would be given today."""
        if _volatile(entry.question) and self.volatile_ttl < self.ttl:
            seconds, because = self.volatile_ttl, "time words"
        else:
            seconds, because = self.ttl, "no rules"
        first = seconds
        steps: tuple[Step, ...] = ()
        if (factor := _confidence(entry)) != 1:
            seconds = shortened(seconds, factor, self.endless)
            steps = (Step("confidence", factor, seconds),)
        return Life(ttl_class="fixed", because=because, first=first, steps=steps, seconds=seconds)

    def ends_at(self, entry: Entry, lives: Life) -> float:
        """When that time is over, in seconds since the epoch; infinite for never."""
        return entry.created_at + lives.seconds


UNLIMITED: Final = Fixed(math.inf, math.inf)


@dataclass(slots=True)
class _Namespace:
    known: Known
    saved_at: float
    unsaved: bool = False


class Freshness:
    """Says how long entries live, and learns from what becomes of them. Safe between threads.

    Args:
        rules: Every number. Other rules make other lifetimes of the same entries at once.
        pool: Reads and writes of the books happen there: no lookup waits for them.
        books: Where what was learned outlives the process; None keeps it in memory only.
        rate: Uses a second that are expected of an entry; where nothing is, what was counted goes
            on.

    Attributes:
        shadows: Other policies, played through on the same requests.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        clock: Clock,
        pool: WorkerPool,
        books: TtlBooks | None = None,
        rate: Callable[[str], float | None] | None = None,
    ) -> None:
        self.rules = rules
        self.clock = clock
        self._rate = rate
        self.shadows: tuple[ShadowTtl, ...] = ()
        self._pool = pool
        self._books = books
        self._lock = threading.Lock()
        self._closed = False
        self._ends: OrderedDict[str, float] = OrderedDict()
        self._namespaces: dict[str, _Namespace] = {}
        self._paces: OrderedDict[str, Pace] = OrderedDict()

    def life(self, entry: Entry) -> Life:
        """How long the entry lives by the rules as they are now."""
        return self.life_under(entry, self.rules)

    def life_under(self, entry: Entry, rules: Rules) -> Life:
        """The same by other rules, with what was learned for these."""
        now = self.clock.now()
        facts = _facts(entry, rules)
        with self._lock:
            at = self._circumstances(entry, facts, rules, now)
        return life(at, rules)

    def ends_at(self, entry: Entry, lives: Life) -> float:
        """When that time is over, in seconds since the epoch; infinite for never."""
        start = entry.created_at
        most = math.inf
        if self.rules.sliding:
            most = start + self.rules.bounds_of(entry.tenant).most
            with self._lock:
                seen = self._namespace(entry.namespace).known.entries.get(entry.id)
            start = max(start, seen.served_at) if seen is not None else start
        end = min(most, start + lives.seconds)
        with self._lock:
            self._ends.pop(entry.id, None)
            self._ends[entry.id] = end
            if len(self._ends) > ENDS:
                self._ends.popitem(last=False)
        return end

    def over(self, entry_ids: Iterable[str]) -> list[str]:
        """Those of the entries that were over when they were last looked at, or are by then."""
        now = self.clock.now()
        with self._lock:
            return [one for one in entry_ids if self._ends.get(one, math.inf) <= now]

    def asked(self, scope: Scope) -> None:
        """Count a request of this scope."""
        now = self.clock.now()
        with self._lock:
            pace = self._paces.pop(scope.digest, None) or Pace.from_now(now)
            self._paces[scope.digest] = pace
            if len(self._paces) > SCOPES:
                self._paces.popitem(last=False)
            pace.add(now)

    def decided(self, decision: Decision, scope: Scope) -> None:
        """Learn from what became of a lookup, for the entry that came nearest."""
        if decision.entry_id is None or decision.reason is Reason.BELOW_THRESHOLD:
            return
        now, rules = self.clock.now(), self.rules
        with self._lock:
            at = self._namespace(scope.namespace)
            evidence = at.known.evidence(decision.entry_id, now)
            if decision.hit:
                evidence.hit(now, keep_days=rules.days)
            elif decision.verdicts and decision.verdicts[0].reason not in _NOT_ABOUT_IT:
                evidence.miss(now, keep_days=rules.days, in_a_row=rules.misses_in_a_row)
            else:
                evidence.asked.add(now)  # whatever kept it from being served, it was asked for
            self._changed(scope.namespace, at, now)

    def refreshed(self, entry: Entry, *, changed: bool) -> None:
        """A model gave another answer, or the same, in the place of this one."""
        now = self.clock.now()
        gap = now - entry.created_at
        facts = _facts(entry, self.rules)
        with self._lock:
            at = self._namespace(entry.namespace)
            evidence, group = (
                at.known.evidence(entry.id, now),
                at.known.group(_group(facts, self.rules)),
            )
            in_class = _class_rate(facts, self.rules)
            in_group = group.rate(in_class, now)
            believed = evidence.changes.rate(in_group, now)
            evidence.changes.look(gap, now, changed=changed, believed=believed)
            group.look(gap, now, changed=changed, believed=in_group)
            self._changed(entry.namespace, at, now)

    def stored(self, entry: Entry, *, changed: bool | None) -> None:
        """An answer was stored; whether it differs from the one before, where that is known."""
        if entry.life:
            self.ends_at(entry, self.life(entry))
        for shadow in self.shadows:
            shadow.stored(entry, changed=changed)

    def reports(self) -> tuple[ShadowReport, ...]:
        """Where the policies in shadow stand."""
        return tuple([shadow.report() for shadow in self.shadows])

    def updated(self, source: str, *, namespace: str, tenant: str | None) -> None:
        """A source has other content now."""
        now = self.clock.now()
        with self._lock:
            at = self._namespace(namespace)
            at.known.update((tenant, source), now)
            self._changed(namespace, at, now)

    def load(self, namespace: str) -> None:
        """Read what all workers have written about a namespace, and add it to what is known."""
        if self._books is None:
            return
        stored = self._books.read(namespace)
        with self._lock:
            at = self._namespace(namespace, read=True)
            at.known = merge(at.known, stored)

    def save(self, namespace: str) -> None:
        """Write what is known of a namespace, together with what others have written meanwhile."""
        if self._books is None:
            return
        stored = self._books.read(namespace)
        with self._lock:
            at = self._namespace(namespace, read=True)
            at.known = merge(at.known, stored)
            at.unsaved = False
            known = at.known
        if not self._books.write(namespace, encoded(known, self._lock)):
            with self._lock:
                at.unsaved = True

    def namespaces(self) -> tuple[str, ...]:
        """Those that this process has had to do with."""
        with self._lock:
            return tuple(self._namespaces)

    def close(self) -> None:
        """Save what has changed: whoever only looked leaves no trace."""
        with self._lock:
            self._closed = True
            unsaved = [name for name, at in self._namespaces.items() if at.unsaved]
        for namespace in unsaved:
            self.save(namespace)

    def _namespace(self, namespace: str, *, read: bool = False) -> _Namespace:
        """What is known of a namespace; what is stored of it comes soon, unless just read."""
        at = self._namespaces.get(namespace)
        if at is None:
            at = self._namespaces[namespace] = _Namespace(Known(), self.clock.now())
            if len(self._namespaces) > NAMESPACES:
                self._namespaces.pop(next(iter(self._namespaces)))
            if self._books is not None and not read:
                self._pool.submit(lambda: None if self._closed else self.load(namespace))
        return at

    def _changed(self, namespace: str, at: _Namespace, now: float) -> None:
        at.unsaved = True
        if self._books is not None and now - at.saved_at >= SAVE_SECONDS:
            at.saved_at = now
            self._pool.submit(lambda: None if self._closed else self.save(namespace))

    def _circumstances(self, entry: Entry, facts: Facts, rules: Rules, now: float) -> Circumstances:
        known = self._namespace(entry.namespace).known
        evidence = known.entries.get(entry.id) or Evidence.from_now(now)
        pace = self._paces.get(entry.scope)
        hits, lookups = evidence.tally(now, keep_days=rules.days)
        rate = self._rate(entry.id) if self._rate is not None else None
        if rate is None:
            asked, seconds = evidence.asked.counted(now)
            rate = asked / seconds if seconds > 0 else 0.0
        return Circumstances(
            facts=facts,
            seen=Seen(
                hits=hits,
                lookups=lookups,
                changed=evidence.changes.changed.at_time(now),
                updates=_updates(entry, known, now),
            ),
            triggers=evidence.triggers.at_time(now),
            change_rate=_change_rate(facts, evidence, known, rules, now),
            request_rate=rate,
            qps_ratio=pace.ratio(now) if pace is not None else 1.0,
            confidence=_confidence(entry),
        )


def _change_rate(facts: Facts, evidence: Evidence, known: Known, rules: Rules, now: float) -> float:
    """What its own refreshes say, drawn to those of its group, and these to its class."""
    if rules.stale_cost is None:
        return 0.0
    rate = _class_rate(facts, rules)
    group = known.groups.get(_group(facts, rules))
    rate = rate if group is None else group.rate(rate, now)
    return evidence.changes.rate(rate, now)


def _class_rate(facts: Facts, rules: Rules) -> float:
    """The change rate that the first lifetime of its class is the best for."""
    cost = rules.stale_cost or USUAL_COST
    first = rules.classes[first_choice(facts, rules.choice).name].first
    return -math.log1p(-1 / cost) / (first if 0 < first < math.inf else USUAL_FIRST)


def _group(facts: Facts, rules: Rules) -> GroupKey:
    """Entries that learn from each other: of one first class, asking for the same kind."""
    return first_choice(facts, rules.choice).name, facts.kind


def _facts(entry: Entry, rules: Rules) -> Facts:
    wanted = entry.life.removeprefix(BY_CLASS) if entry.life.startswith(BY_CLASS) else None
    return Facts(
        # A class that the rules know no more leaves the choice to them.
        wanted=wanted if wanted in rules.classes else None,
        time_words=_volatile(entry.question),
        kind=_kind(entry.question),
        tags=entry.tags,
        sources=tuple([name for name, _ in entry.sources]),
        model=entry.model,
        tenant=entry.tenant,
    )


def _confidence(entry: Entry) -> float:
    return Assessment.from_json(entry.assessment).factor if entry.assessment else 1.0


def _updates(entry: Entry, known: Known, now: float) -> float:
    """Updates of the entry's sources lately; of several, of the one that has the most."""
    counts = [
        known.updates[key].at_time(now)
        for name, _ in entry.sources
        for key in ((None, name), (entry.tenant, name))
        if key in known.updates
    ]
    return max(counts, default=0.0)
