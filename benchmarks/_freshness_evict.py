"""What a full cache still answers: the shipped policies beside FIFO and the offline optimum."""

from __future__ import annotations

import gzip
import heapq
import json
import random
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from langchain_semcache.eviction import LFU, LRU, Heat, Policy, TinyLFU

Row = dict[str, object]
MOONCAKE = "trace_mooncake_conversation.jsonl.gz"
BING = "stream_multi_bing_covid_202001_country.jsonl.gz"


class FIFO:
    """What was stored first goes first."""

    def __init__(self) -> None:
        self._order: OrderedDict[str, None] = OrderedDict()

    def stored(self, entry_id: str, value: float) -> None:  # noqa: ARG002 - as the protocol says
        self._order.setdefault(entry_id, None)

    def touched(self, entry_id: str) -> None:
        """Nothing: that is what it is there to show."""

    def forgotten(self, entry_id: str) -> None:
        self._order.pop(entry_id, None)

    def worst_first(self) -> Iterator[str]:
        return iter(self._order)


POLICIES: dict[str, Callable[[], Policy]] = {
    "FIFO": FIFO,
    "lru": LRU,
    "lfu": LFU,
    "tinylfu": TinyLFU,
    "heat": Heat,
}


def hit_rate(policy: Policy, stream: Sequence[str], capacity: int, start: int) -> float:
    """Share of the uses from `start` on that find what they ask for; all before is warming up."""
    kept: set[str] = set()
    hits = 0
    for at, wanted in enumerate(stream):
        if wanted in kept:
            policy.touched(wanted)
            hits += at >= start
            continue
        policy.stored(wanted, 1.0)
        kept.add(wanted)
        if len(kept) > capacity:
            victim = next(one for one in policy.worst_first() if one != wanted)
            policy.forgotten(victim)
            kept.discard(victim)
    return hits / (len(stream) - start)


def belady(stream: Sequence[str], capacity: int, start: int) -> float:
    """The same for who knows the future: the one wanted last of all goes, be it the newcomer."""
    following = _next_uses(stream)
    kept: dict[str, int] = {}
    latest: list[tuple[int, str]] = []
    hits = 0
    for at, wanted in enumerate(stream):
        hits += wanted in kept and at >= start
        kept[wanted] = following[at]
        heapq.heappush(latest, (-following[at], wanted))
        if len(kept) > capacity:
            while kept.get(latest[0][1]) != -latest[0][0]:
                heapq.heappop(latest)
            del kept[heapq.heappop(latest)[1]]
    return hits / (len(stream) - start)


def _next_uses(stream: Sequence[str]) -> list[int]:
    """When each use is followed by the next one of the same; what never is comes after the end."""
    after = [0] * len(stream)
    seen: dict[str, int] = {}
    for at in range(len(stream) - 1, -1, -1):
        after[at] = seen.get(stream[at], len(stream) + at)
        seen[stream[at]] = at
    return after


def mooncake(data: Path) -> list[str]:
    """The blocks of the prompts of a chat service, in order."""
    with gzip.open(data / MOONCAKE, "rt", encoding="utf-8") as lines:
        return [str(block) for line in lines for block in json.loads(line)["hash_ids"]]


def bing(data: Path, *, uses: int = 60_000, seed: int = 1) -> list[str]:
    """Queries by day, each as often as it was popular, shuffled within its day; a part of them."""
    days: dict[str, list[tuple[str, int]]] = {}
    with gzip.open(data / BING, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            query = f"{row['country']}: {row['query']}"
            days.setdefault(row["date"], []).append((query, int(row["pop"])))
    draw = random.Random(seed)
    total = sum(popular for rows in days.values() for _, popular in rows)
    stream: list[str] = []
    for day in sorted(days):
        queries, weights = zip(*days[day], strict=True)
        stream += draw.choices(queries, weights, k=round(uses * sum(weights) / total))
    return stream


def zipf(*, uses: int = 60_000, of: int = 20_000, seed: int = 1) -> list[str]:
    """Requests whose popularity falls as one over the rank, to the power of 0.9."""
    weights = [rank**-0.9 for rank in range(1, of + 1)]
    return [str(one) for one in random.Random(seed).choices(range(of), weights, k=uses)]


def rows(name: str, stream: Sequence[str], capacities: Sequence[int], part: str) -> list[Row]:
    """One row a capacity: what each policy answers on a half of the stream, in percent.

    "first" runs on the first half alone, warmed up by its own first half: what is tuned is tuned
    there. "second" is warmed up by all of the first half.
    """
    seen = stream[: len(stream) // 2] if part == "first" else stream
    start = len(seen) // 2
    found: list[Row] = []
    for capacity in capacities:
        row: Row = {"stream": name, "half": part, "capacity": capacity}
        for label, make in POLICIES.items():
            row[label] = round(100 * hit_rate(make(), seen, capacity, start), 2)
        row["Belady"] = round(100 * belady(seen, capacity, start), 2)
        gap = float(str(row["Belady"])) - float(str(row["lru"]))
        for label in ("lfu", "tinylfu", "heat"):
            share = (float(str(row[label])) - float(str(row["lru"]))) / gap if gap else 0.0
            row[f"{label}, gap closed"] = round(100 * share, 1)
        found.append(row)
    return found


def run(data: Path, *, part: str = "second") -> list[Row]:
    """Every stream at every capacity."""
    found = rows("Zipf", zipf(), (200, 1_000, 5_000), part)
    found += rows("Bing", bing(data), (200, 1_000, 5_000), part)
    return found + rows("Mooncake", mooncake(data), (1_000, 5_000, 20_000), part)
