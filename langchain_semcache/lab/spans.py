"""What a request did, as the spans that a tracer of a store of tokens would have seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from langchain_semcache.lab.fragmentation import Costs, Lookup

REQUEST, GET, FALLBACK = "llm.request", "cache.token.get", "llm.generate.fallback"

GET_SECONDS = 0.0002
"""How long reading one key takes: a round trip to a store on the same network."""

MOST_GETS = 64
"""Reads of one request that have a span of their own; the last one always has."""

MODEL = "simulated"

Attribute = str | int | float


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time with a name, in seconds since the beginning of the traffic."""

    name: str
    begin: float
    end: float
    attributes: Mapping[str, Attribute]
    children: Sequence[Span] = field(default=())


def spans(lookup: Lookup, costs: Costs) -> Span:
    """The request with a child for each key that was read, and one for what the model had to make.

    `hit_ratio` is the share of the keys read so far that were there; `token_index` the first token
    that was not; `latency_ms` how long the model took from there to the end of the answer.
    """
    arrival = lookup.arrival
    reads = lookup.found if lookup.hit else lookup.found + 1
    read = arrival.at + reads * GET_SECONDS
    children = [_get(lookup, n) for n in _shown(reads)]
    end = read
    if not lookup.hit:
        seconds = (arrival.tokens - lookup.run) / costs.rate
        end = read + seconds
        made: dict[str, Attribute] = {
            "token_index": lookup.run,
            "latency_ms": round(1000 * seconds, 3),
        }
        children.append(Span(FALLBACK, read, end, made))
    asked: dict[str, Attribute] = {
        "req_id": f"{lookup.number:06d}",
        "model_name": MODEL,
        "cache.reads": reads,
        "cache.stranded": lookup.stranded,
        "answer.tokens": arrival.tokens,
    }
    return Span(REQUEST, arrival.at, end, asked, children)


def _shown(reads: int) -> list[int]:
    """The first reads, and the last one: it says how the others ended."""
    return list(range(reads)) if reads <= MOST_GETS else [*range(MOST_GETS - 1), reads - 1]


def _get(lookup: Lookup, place: int) -> Span:
    begin = lookup.arrival.at + place * GET_SECONDS
    found = min(place + 1, lookup.found)
    attributes: dict[str, Attribute] = {
        "cache_key": lookup.layout.key(lookup.arrival.prompt, place),
        "hit_ratio": found / (place + 1),
    }
    return Span(GET, begin, begin + GET_SECONDS, attributes)
