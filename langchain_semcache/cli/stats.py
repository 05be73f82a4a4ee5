"""`semcache stats`: what lies in a cache."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from langchain_semcache.cli import screen
from langchain_semcache.cli.options import Where, Whose, spread
from langchain_semcache.cli.places import open_existing, shown
from langchain_semcache.cli.terms import Terms, terms_of
from langchain_semcache.client import Semcache, Stats
from langchain_semcache.clock import SystemClock
from langchain_semcache.eviction import Assessment, entry_bytes
from langchain_semcache.records import JSON, RESERVED, Entry, Selection
from langchain_semcache.request import tenant_digest
from langchain_semcache.threshold import Mode

_MODES = {Mode.OPEN: "open", Mode.EXACT_ONLY: "spent, exact matches only"}


@dataclass(slots=True)
class Census:
    """Counted in one pass over the entries."""

    entries: int = 0
    expired: int = 0
    in_doubt: int = 0
    answer_bytes: int = 0
    room_bytes: int = 0
    dimension: int = 0
    oldest: float | None = None
    newest: float | None = None
    models: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    tenants: set[str] = field(default_factory=set)

    def add(self, entry: Entry, now: float, ends_at: float | None) -> None:
        self.entries += 1
        self.expired += ends_at is not None and ends_at <= now
        self.in_doubt += Assessment.from_json(entry.assessment).factor < 1
        self.answer_bytes += len(entry.payload)
        self.room_bytes += entry_bytes(entry, self.dimension)
        at = entry.created_at
        self.oldest = at if self.oldest is None else min(at, self.oldest)
        self.newest = at if self.newest is None else max(at, self.newest)
        self.models[entry.model or "(none)"] += 1
        self.tags.update(entry.tags)
        self.tenants.add(entry.tenant)


@spread
def stats(where: Where, whose: Whose) -> None:
    """Show what lies in a cache, how old and how large it is, and what a hit takes."""
    config = where.settings(namespace=whose.namespace)
    with open_existing(config) as cache:
        namespaces, census = _count(cache, whose.tenant)
        numbers, terms = cache.stats(sizes=whose.tenant is None), terms_of(cache.core)
        found = _contents(cache, namespaces, census)
        # Of the whole namespace: what answers share is not told apart by tenant.
        found |= _sizes(numbers) if whose.tenant is None else {}
    if where.json:
        budget = None if numbers.budget is None else asdict(numbers.budget)
        deciding = {"encoder": numbers.encoder, **asdict(terms), "budget": budget}
        screen.write_json({**found, **deciding, "index": {**numbers.index}})
        return
    out = screen.out()
    out.print(screen.heading(shown(config.location), f"namespace {config.namespace}"))
    room = _room(found, "" if whose.tenant is None else "tenant_")
    out.print(screen.facts(_readable(found, room) | _deciding(numbers, terms)))


def _count(cache: Semcache, tenant: str | None) -> tuple[Counter[str], Census]:
    now = SystemClock().now()
    wanted = None if tenant is None else tenant_digest(tenant)
    namespaces: Counter[str] = Counter()
    census = Census(dimension=cache.core.workplace.encoder.dimension)
    policy = cache.core.policy
    for entry in cache.core.workplace.index.scan(Selection(tenant=wanted)):
        if entry.namespace in RESERVED:
            continue  # the cache's own, and no answers
        namespaces[entry.namespace] += 1
        if entry.namespace == cache.config.namespace:
            census.add(entry, now, policy.ends_at(entry, policy.life(entry)))
    return namespaces, census


def _contents(cache: Semcache, namespaces: Counter[str], census: Census) -> dict[str, JSON]:
    now = SystemClock().now()
    ages = [None if at is None else max(0.0, now - at) for at in (census.oldest, census.newest)]
    return {
        "location": shown(cache.config.location),
        "namespace": cache.config.namespace,
        "entries": census.entries,
        "expired": census.expired,
        "in_doubt": census.in_doubt,
        "tenants": len(census.tenants),
        "models": {**dict(census.models.most_common())},
        "tags": {**dict(census.tags.most_common())},
        "oldest_seconds": ages[0],
        "newest_seconds": ages[1],
        "answer_bytes": census.answer_bytes,
        "room_bytes": census.room_bytes,
        "max_entries": cache.config.max_entries,
        "max_bytes": cache.config.max_bytes,
        "tenant_max_entries": cache.config.tenant_max_entries,
        "tenant_max_bytes": cache.config.tenant_max_bytes,
        "disk_bytes": _disk(cache),
        "namespaces": {**dict(namespaces.most_common())},
    }


def _sizes(numbers: Stats) -> dict[str, JSON]:
    return {
        "raw_response_bytes": numbers.raw_response_bytes,
        "stored_response_bytes": numbers.stored_response_bytes,
    }


def _readable(report: dict[str, JSON], room: str) -> dict[str, object]:
    oldest, newest = report["oldest_seconds"], report["newest_seconds"]
    facts: dict[str, object] = {
        "entries": f"{report['entries']:,}, {report['expired']:,} of them expired",
        **({"in doubt": f"{report['in_doubt']:,}"} if report["in_doubt"] else {}),
        "tenants": report["tenants"],
        "models": _counts(report["models"]),
        "tags": _counts(report["tags"]),
    }
    if isinstance(oldest, float) and isinstance(newest, float):
        facts["stored"] = f"{screen.span(oldest)} to {screen.span(newest)} ago"
    facts["answers"] = screen.size(report["answer_bytes"])
    raw, stored = report.get("raw_response_bytes"), report.get("stored_response_bytes")
    if isinstance(raw, int) and isinstance(stored, int) and raw:
        share = f"{stored / raw:.0%} of {screen.size(raw)}"
        facts["written"] = f"{screen.size(stored)} with all they share, {share}"
    facts["room taken"] = room
    if report["disk_bytes"] is not None:
        facts["on disk"] = screen.size(report["disk_bytes"])
    facts["namespaces"] = _counts(report["namespaces"])
    return facts


def _room(report: dict[str, JSON], whose: str) -> str:
    """What `max_bytes` counts, and of what: the bounds of the namespace, or those "tenant_" has."""
    bounds = []
    if (most := report[f"{whose}max_bytes"]) is not None:
        bounds.append(screen.size(most))
    if (many := report[f"{whose}max_entries"]) is not None:
        bounds.append(f"{many:,} entries")
    taken = screen.size(report["room_bytes"])
    return f"{taken} of {' and '.join(bounds)}" if bounds else taken


def _deciding(numbers: Stats, terms: Terms) -> dict[str, object]:
    """Who decides on a hit, and how; and the index."""
    facts: dict[str, object] = {
        "encoder": numbers.encoder,
        "verifier": numbers.verifier or "none",
        "hits": terms.told,
    }
    if (budget := numbers.budget) is not None:
        rate = budget.error_rate
        facts["budget"] = f"{terms.max_error_rate:g} of all requests: {_MODES[budget.mode]}"
        facts["so far"] = (
            f"{budget.requests:,} requests, {budget.reports:,} reported wrong, "
            f"error rate from {rate.lower:.2%} to {rate.upper:.2%}"
        )
    told = {name: value for name, value in numbers.index.items() if value is not None}
    return facts | {"index": ", ".join(f"{name} {value}" for name, value in told.items())}


def _counts(counted: JSON) -> str:
    pairs = counted.items() if isinstance(counted, dict) else ()
    return ", ".join(f"{name} ({count})" for name, count in pairs) or "–"


def _disk(cache: Semcache) -> int | None:
    """What the directory takes; blocks and not lengths, because the files are sparse."""
    if cache.config.is_url:
        return None
    files = [path.stat() for path in Path(cache.config.location).rglob("*") if path.is_file()]
    return sum(getattr(file, "st_blocks", 0) * 512 or file.st_size for file in files)
