"""`semcache stats`: what lies in a cache."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from langchain_semcache.cli import screen
from langchain_semcache.cli.options import Where, Whose, spread
from langchain_semcache.cli.places import open_existing, shown
from langchain_semcache.client import Semcache
from langchain_semcache.clock import SystemClock
from langchain_semcache.records import BOOKS, JSON, Entry, Selection
from langchain_semcache.request import tenant_digest


@dataclass(slots=True)
class Census:
    """Counted in one pass over the entries."""

    entries: int = 0
    expired: int = 0
    answer_bytes: int = 0
    oldest: float | None = None
    newest: float | None = None
    models: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    tenants: set[str] = field(default_factory=set)

    def add(self, entry: Entry, now: float) -> None:
        self.entries += 1
        self.expired += entry.expires_at is not None and entry.expires_at <= now
        self.answer_bytes += len(entry.payload)
        at = entry.created_at
        self.oldest = at if self.oldest is None else min(at, self.oldest)
        self.newest = at if self.newest is None else max(at, self.newest)
        self.models[entry.model or "(none)"] += 1
        self.tags.update(entry.tags)
        self.tenants.add(entry.tenant)


@spread
def stats(where: Where, whose: Whose) -> None:
    """Show how many answers a cache holds, from which models, how old and how large."""
    config = where.settings(namespace=whose.namespace)
    with open_existing(config) as cache:
        namespaces, census = _count(cache, whose.tenant)
        report = _report(cache, namespaces, census)
    if where.json:
        screen.write_json(report)
        return
    out = screen.out()
    out.print(screen.heading(shown(config.location), f"namespace {config.namespace}"))
    out.print(screen.facts(_readable(report)))


def _count(cache: Semcache, tenant: str | None) -> tuple[Counter[str], Census]:
    now = SystemClock().now()
    wanted = None if tenant is None else tenant_digest(tenant)
    namespaces: Counter[str] = Counter()
    census = Census()
    for entry in cache.core.workplace.index.scan(Selection(tenant=wanted)):
        if entry.namespace == BOOKS:
            continue  # the cache's own notes, and no answers
        namespaces[entry.namespace] += 1
        if entry.namespace == cache.config.namespace:
            census.add(entry, now)
    return namespaces, census


def _report(cache: Semcache, namespaces: Counter[str], census: Census) -> dict[str, JSON]:
    numbers = cache.stats()
    now = SystemClock().now()
    ages = [None if at is None else max(0.0, now - at) for at in (census.oldest, census.newest)]
    return {
        "location": shown(cache.config.location),
        "namespace": cache.config.namespace,
        "entries": census.entries,
        "expired": census.expired,
        "tenants": len(census.tenants),
        "models": {**dict(census.models.most_common())},
        "tags": {**dict(census.tags.most_common())},
        "oldest_seconds": ages[0],
        "newest_seconds": ages[1],
        "answer_bytes": census.answer_bytes,
        "disk_bytes": _disk(cache),
        "namespaces": {**dict(namespaces.most_common())},
        "encoder": numbers.encoder,
        "similarity_threshold": cache.core.policy.similarity_threshold,
        "index": {**numbers.index},
    }


def _readable(report: dict[str, JSON]) -> dict[str, object]:
    oldest, newest = report["oldest_seconds"], report["newest_seconds"]
    facts: dict[str, object] = {
        "entries": f"{report['entries']:,}, {report['expired']:,} of them expired",
        "tenants": report["tenants"],
        "models": _counts(report["models"]),
        "tags": _counts(report["tags"]),
    }
    if isinstance(oldest, float) and isinstance(newest, float):
        facts["stored"] = f"{screen.span(oldest)} to {screen.span(newest)} ago"
    facts["answers"] = screen.size(report["answer_bytes"])
    if report["disk_bytes"] is not None:
        facts["on disk"] = screen.size(report["disk_bytes"])
    facts["namespaces"] = _counts(report["namespaces"])
    facts["encoder"] = f"{report['encoder']}, hits from {report['similarity_threshold']:g} on"
    index = report["index"]
    if isinstance(index, dict):
        told = {name: value for name, value in index.items() if value is not None}
        facts["index"] = ", ".join(f"{name} {value}" for name, value in told.items())
    return facts


def _counts(counted: JSON) -> str:
    pairs = counted.items() if isinstance(counted, dict) else ()
    return ", ".join(f"{name} ({count})" for name, count in pairs) or "–"


def _disk(cache: Semcache) -> int | None:
    """What the directory takes; blocks and not lengths, because the files are sparse."""
    if cache.config.is_url:
        return None
    files = [path.stat() for path in Path(cache.config.location).rglob("*") if path.is_file()]
    return sum(getattr(file, "st_blocks", 0) * 512 or file.st_size for file in files)
