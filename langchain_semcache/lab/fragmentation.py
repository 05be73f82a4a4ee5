"""What cutting answers into pieces does to a cache: three stores of one size on the same traffic.

One keeps every token under a key of its own, one keeps segments of some tokens, one whole answers.
All three forget what was used longest ago, and a byte costs the same in each: key, value, and what
a store needs for an entry.
"""

from __future__ import annotations

import heapq
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from langchain_semcache.lab.traffic import Arrival

OVERHEAD = 64
"""Bytes a store needs for an entry beside key and value.

Redis documents 85 MB for a million small pairs of strings (FAQ, "What's the Redis memory
footprint?"), of which such a pair itself is about 20. A dictionary of Python takes 170.
"""

TOKEN_BYTES = 4
"""Bytes of text a token stands for: English has about four characters a token."""

SEGMENT = 64
"""Tokens of a segment."""

RATE = 30.0
"""Tokens a second that a model answers with."""

_PLACES = 24  # bits of a key that number the pieces of one answer


@dataclass(frozen=True, slots=True)
class Layout:
    """How answers are cut into entries.

    Attributes:
        name: What the entries are.
        tokens: How many an entry holds; None for all of an answer.
        prefix: What the keys begin with.
    """

    name: str
    tokens: int | None
    prefix: str

    def pieces(self, tokens: int) -> int:
        """Entries of an answer of so many tokens."""
        return 1 if self.tokens is None else -(-tokens // self.tokens)

    def end(self, piece: int, tokens: int) -> int:
        """Tokens of an answer up to the end of a piece."""
        return tokens if self.tokens is None else min(tokens, (piece + 1) * self.tokens)

    def key(self, prompt: str, piece: int) -> str:
        """The key of a piece: `tkn:<request>:<6 hex of the prompt's hash>:<index>`.

        The sketch this models has an id there that no other request has, and so finds nothing
        ever again; here it is the prompt's fingerprint, and equal requests have equal keys.
        """
        key = f"{self.prefix}:{prompt}:{prompt[:6]}"
        return key if self.tokens is None else f"{key}:{piece}"


TOKENS = Layout("tokens", 1, "tkn")
ANSWERS = Layout("answers", None, "ans")


def segments(tokens: int = SEGMENT) -> Layout:
    """Entries of so many tokens each."""
    return Layout("segments", tokens, "seg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What an entry takes, in bytes, and how fast answers are made, in tokens a second."""

    overhead: int = OVERHEAD
    token_bytes: int = TOKEN_BYTES
    rate: float = RATE

    def entry(self, layout: Layout, arrival: Arrival, piece: int) -> int:
        """Bytes of one piece of an answer: overhead, key and value."""
        begin = 0 if piece == 0 else layout.end(piece - 1, arrival.tokens)
        value = (layout.end(piece, arrival.tokens) - begin) * self.token_bytes
        return self.overhead + len(layout.key(arrival.prompt, piece)) + value

    def footprint(self, layout: Layout, arrivals: Sequence[Arrival]) -> int:
        """Bytes of all different answers together."""
        different = {one.prompt: one for one in arrivals}
        return sum(
            self.entry(layout, one, piece)
            for one in different.values()
            for piece in range(layout.pieces(one.tokens))
        )


@dataclass(frozen=True, slots=True)
class Lookup:
    """What one request found.

    Attributes:
        number: Its place in the traffic.
        found: Pieces read from the first one on, up to the first that was not there.
        stranded: Pieces that were there behind that gap, and of no use.
    """

    number: int
    arrival: Arrival
    layout: Layout
    found: int
    stranded: int

    @property
    def pieces(self) -> int:
        """Pieces of the answer."""
        return self.layout.pieces(self.arrival.tokens)

    @property
    def run(self) -> int:
        """Tokens found from the beginning on."""
        return self.layout.end(self.found - 1, self.arrival.tokens) if self.found else 0

    @property
    def hit(self) -> bool:
        """Whether the answer was there to its end."""
        return self.found == self.pieces

    @property
    def partial(self) -> bool:
        """Whether some of the answer was there, and not all."""
        return not self.hit and self.found + self.stranded > 0


@dataclass(slots=True)
class Outcome:
    """What became of all requests on one store.

    Attributes:
        memory: Bytes that the store may take.
        entries: Entries it held in the end.
        inserts: Entries that were written and were not there.
        streams: Answers that were being made at one time, at most.
        run: Tokens found from the beginning on, summed over partial answers.
    """

    layout: Layout
    memory: float
    requests: int = 0
    hits: int = 0
    partials: int = 0
    run: int = 0
    entries: int = 0
    inserts: int = 0
    evictions: int = 0
    streams: int = 0

    @property
    def hit_rate(self) -> float:
        """Share of requests whose whole answer was there."""
        return self.hits / self.requests if self.requests else 0.0

    @property
    def partial_rate(self) -> float:
        """Share of requests of whose answer some was there, and not all."""
        return self.partials / self.requests if self.requests else 0.0

    @property
    def mean_run(self) -> float:
        """Tokens of a partial answer that were there from the beginning on, on average."""
        return self.run / self.partials if self.partials else 0.0

    @property
    def evictions_per_insert(self) -> float:
        """How many entries had to go for one that came."""
        return self.evictions / self.inserts if self.inserts else 0.0

    def count(self, lookup: Lookup) -> None:
        """One request more."""
        self.requests += 1
        self.hits += lookup.hit
        if lookup.partial:
            self.partials += 1
            self.run += lookup.run


class _Store:
    """Forgets what was used longest ago until the rest fits."""

    def __init__(self, memory: float) -> None:
        self.inserts = self.evictions = 0
        self._memory = self._left = memory
        self._sizes: OrderedDict[int, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sizes)

    def __contains__(self, key: int) -> bool:
        return key in self._sizes

    def get(self, key: int) -> bool:
        if key not in self._sizes:
            return False
        self._sizes.move_to_end(key)
        return True

    def put(self, key: int, size: int) -> None:
        """What is larger than the whole store is not kept."""
        sizes = self._sizes
        left = self._left - size
        if key in sizes:
            left += sizes.pop(key)
        elif size > self._memory:
            return
        else:
            self.inserts += 1
        while left < 0:
            left += sizes.popitem(last=False)[1]
            self.evictions += 1
        sizes[key] = size
        self._left = left


_Piece = tuple[float, int, int, int]
"""When it is done, of which request it is, its key, its size."""


class _Writer:
    """Writes the answers that are being made, in the order of time."""

    def __init__(self, store: _Store, layout: Layout, costs: Costs) -> None:
        self._store, self._layout, self._costs = store, layout, costs
        self._next: list[tuple[_Piece, Iterator[_Piece]]] = []
        self._full: list[int] = []

    def __len__(self) -> int:
        return len(self._next)

    def begin(self, lookup: Lookup, first: int) -> None:
        """An answer more, from its first missing piece on."""
        pieces = self._pieces(lookup, first)
        heapq.heappush(self._next, (next(pieces), pieces))

    def until(self, now: float) -> None:
        """Write each piece that is done by now."""
        following, put = self._next, self._store.put
        while following and following[0][0][0] <= now:
            (_, _, key, size), pieces = following[0]
            put(key, size)
            piece = next(pieces, None)
            if piece is None:
                heapq.heappop(following)
            else:
                heapq.heapreplace(following, (piece, pieces))

    def _pieces(self, lookup: Lookup, first: int) -> Iterator[_Piece]:
        """No two streams have a piece of one number: the iterators are never compared."""
        tokens, at, rate = lookup.arrival.tokens, lookup.arrival.at, self._costs.rate
        last, run, number = lookup.pieces - 1, lookup.run, lookup.number
        step = self._layout.tokens or tokens
        sizes = self._whole(lookup.arrival, last)
        for piece in range(lookup.found, last):
            made = (piece + 1) * step - run
            yield at + made / rate, number, first + piece, sizes[piece]
        size = self._costs.entry(self._layout, lookup.arrival, last)
        yield at + (tokens - run) / rate, number, first + last, size

    def _whole(self, arrival: Arrival, count: int) -> list[int]:
        """Sizes of pieces before the last one: the same for all prompts, which are equally long."""
        sizes = self._full
        for piece in range(len(sizes), count):
            sizes.append(self._costs.entry(self._layout, arrival, piece))
        return sizes


def simulate(
    arrivals: Sequence[Arrival],
    layout: Layout,
    memory: float,
    costs: Costs,
    *,
    watch: Callable[[Lookup], None] | None = None,
) -> Outcome:
    """Play the traffic on one store.

    A request reads the pieces of its answer in order, up to the first that is not there. From that
    one on the model makes the answer, token by token, and each piece is written when its last token
    is there; so answers that are made at one time are written between each other.

    Args:
        arrivals: In the order of time; requests of one prompt have answers of one length.
        memory: Bytes that the store may take; `math.inf` for any number.
        watch: Is told what each request found, in order.
    """
    outcome = Outcome(layout, memory)
    store = _Store(memory)
    writer = _Writer(store, layout, costs)
    numbers: dict[str, int] = {}
    for number, arrival in enumerate(arrivals):
        writer.until(arrival.at)
        first = numbers.setdefault(arrival.prompt, len(numbers)) << _PLACES
        lookup = _read(store, layout, number, arrival, first)
        outcome.count(lookup)
        if watch is not None:
            watch(lookup)
        if not lookup.hit:
            writer.begin(lookup, first)
            outcome.streams = max(outcome.streams, len(writer))
    writer.until(math.inf)
    outcome.entries = len(store)
    outcome.inserts, outcome.evictions = store.inserts, store.evictions
    return outcome


def _read(store: _Store, layout: Layout, number: int, arrival: Arrival, first: int) -> Lookup:
    count = layout.pieces(arrival.tokens)
    keys = range(first, first + count)
    found = next((n for n, key in enumerate(keys) if not store.get(key)), count)
    return Lookup(number, arrival, layout, found, sum(map(store.__contains__, keys[found:])))
