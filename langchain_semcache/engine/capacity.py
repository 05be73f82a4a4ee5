"""Namespaces held to a size: the books of who is there, and the index that lets them go.

The rules are pure (`eviction`); here they meet threads, and what others do to the same store.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Final

from langchain_semcache.clock import Clock
from langchain_semcache.engine.commands import Announce, Answer, Withdraw
from langchain_semcache.events import EntriesEvicted, EventSink
from langchain_semcache.eviction import (
    POLICIES,
    Books,
    Kept,
    Limits,
    Predicted,
    entry_bytes,
    least_bytes,
)
from langchain_semcache.ports import EntryIndex
from langchain_semcache.records import Entry, Selection
from langchain_semcache.responses import raw_size

_MOST: Final = 256
"""Namespaces with books at a time; those of the one used longest ago are read again when needed."""

_TOUCHES: Final = 65_536
"""Hits between two stores that are remembered; a cache that only serves has nobody to evict."""

_AWAITED: Final = 4_096
"""Entries on their way to the index; of more the first ones are dropped."""

_AWAITED_SECONDS: Final = 60.0
"""How long one may be on its way. Whoever stores it may be cancelled, and then says nothing."""

_PAGE: Final = 256
"""Entries that go in one call of the index."""

_LOOKS: Final = 1.0
"""Seconds between two looks at what is over; each takes a tenth of a microsecond an entry."""

_TRIES: Final = 3
"""Looks at the index in one store, where others change it meanwhile."""


@dataclass(frozen=True, slots=True)
class _Awaited:
    namespace: str
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """Who goes first.

    Attributes:
        policy: A name of `POLICIES`, or "predicted".
        prices: What a model's answer costs, by model, for its length; others cost 1. For "cost",
            and for "predicted" where there are any.
        uses: Expected uses of an entry. For "predicted".
        over: Which of these are over, though the index still has them; None knows of none.
    """

    policy: str
    prices: Mapping[str, float]
    uses: Callable[[str], float] | None = None
    over: Callable[[Iterable[str]], Sequence[str]] | None = None


class Capacity:
    """Keeps every namespace within its limits. Safe between threads.

    Hits cost an append to a queue; the books are made up when something is stored.

    Args:
        by: Who goes first.
        dimension: Length of the vectors.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        by: Preference,
        index: EntryIndex,
        dimension: int,
        clock: Clock,
        sink: EventSink,
    ) -> None:
        self._limits = limits
        self._policy = by.policy
        self._prices = by.prices
        self._over = by.over
        self._looked: dict[str, float] = {}
        self._costly = by.policy == "cost" or (by.policy == "predicted" and bool(by.prices))
        self._make = POLICIES[by.policy] if by.uses is None else partial(Predicted, by.uses)
        self._index = index
        self._dimension = dimension
        self._clock = clock
        self._sink = sink
        self._lock = threading.Lock()
        # Held for no longer than it takes to look: what is announced never waits for an index.
        self._announcing = threading.Lock()
        self._books: OrderedDict[str, Books] = OrderedDict()
        self._stale: set[str] = set()
        self._awaited: dict[str, _Awaited] = {}
        self._touches: deque[str] = deque(maxlen=_TOUCHES)

    @property
    def room(self) -> int | None:
        """Entries that the tightest limit leaves room for at most."""
        return self._limits.room(least_bytes(self._dimension))

    def touched(self, entry_id: str) -> None:
        """The entry was served."""
        self._touches.append(entry_id)

    def answer(self, command: Announce | Withdraw) -> Answer:
        """Carry out a command of the flow that needs no backend."""
        match command:
            case Announce(entry):
                return self._announce(entry)
            case Withdraw(entry_id):
                self._withdraw(entry_id)
                return None

    def resize(self, entry_id: str, more: int, change: Callable[[], bool]) -> bool:
        """Change how an entry is written, and book what it then takes; whether that was done.

        Nothing else is booked meanwhile: where the entry is stored anew before, `change` fails, and
        where it is stored anew afterwards, that is booked afterwards.
        """
        with self._lock:
            done = change()
            if done:
                for books in self._books.values():
                    books.resized(entry_id, more)
        return done

    def amend(self, entry: Entry, change: Callable[[], bool]) -> bool:
        """Give a stored entry another end, and book that; whether it was done. See `resize`."""
        with self._lock:
            done = change()
            if done:
                for books in self._books.values():
                    if entry.id in books:
                        books.corrected(entry.id, self._kept(entry))
        return done

    def hold(self, entry: Entry) -> int:
        """Book an entry that the index now has, and let go who is too much; how many went.

        What has expired goes first, then whom the policy names; never the entry itself.

        Raises:
            IndexUnavailable: The index did not do it; the next store tries again.
        """
        with self._lock:
            books = self._opened(entry.namespace)
            self._book(entry, books)
            self._arrived(entry.id)
            if self._others_changed(entry.namespace, books):
                books = self._read(entry.namespace)
            self._catch_up()
            gone = self._expire(entry, books) + self._evict(entry, books)
            for _ in range(_TRIES):
                if entry.namespace not in self._stale:
                    break
                gone += self._evict(entry, self._read(entry.namespace))
            return gone

    def forget(self, selection: Selection) -> None:
        """Follow a removal that somebody asked for, once the index has done it."""
        with self._lock:
            if selection.ids is None:
                self._stale.update(self._books)
                return
            for books in self._books.values():
                for entry_id in selection.ids:
                    books.forgotten(entry_id)

    def booked(self, namespace: str) -> dict[str, int]:
        """The bytes of each entry of a namespace by its id, read from the index where it changed.

        Where no bytes are bounded they are those at the time of storing.
        """
        with self._lock:
            return {name: kept.size for name, kept in self._opened(namespace).kept.items()}

    def _announce(self, entry: Entry) -> str | None:
        largest = self._limits.largest
        size = entry_bytes(entry, self._dimension)
        if largest is not None and size > largest:
            return f"{size:,} bytes, and {largest:,} may be kept in all"
        with self._announcing:
            self._awaited.pop(entry.id, None)
            self._awaited[entry.id] = _Awaited(entry.namespace, self._clock.monotonic())
            if len(self._awaited) > _AWAITED:
                self._awaited.pop(next(iter(self._awaited)))
        return None

    def _withdraw(self, entry_id: str) -> None:
        """It may be in the index or not, and be what was announced or what was there before."""
        awaited = self._arrived(entry_id)
        if awaited is not None:
            self._stale.add(awaited.namespace)

    def _arrived(self, entry_id: str) -> _Awaited | None:
        with self._announcing:
            return self._awaited.pop(entry_id, None)

    def _book(self, entry: Entry, books: Books) -> None:
        found: Entry | None = entry
        if self._limits.largest is not None:
            # Several may have stored it at once, or written it anew: the last one counts.
            found = self._index.fetch(entry.id, now=-math.inf)
        if found is None:
            books.forgotten(entry.id)
        else:
            books.stored(found.id, self._kept(found))

    def _expire(self, entry: Entry, books: Books) -> int:
        now = self._clock.now()
        gone = [entry_id for entry_id in books.expired(now) if entry_id != entry.id]
        return self._let_go(entry.namespace, books, gone, expired_at=now)

    def _evict(self, entry: Entry, books: Books) -> int:
        evicted = 0
        self._let_go_what_is_over(entry, books)
        while victims := self._victims(entry, books):
            evicted += self._let_go(entry.namespace, books, victims)
        if evicted:
            self._sink.emit(EntriesEvicted(entry.namespace, evicted, self._policy))
        return evicted

    def _let_go_what_is_over(self, entry: Entry, books: Books) -> None:
        """Where somebody has to go, first those who are over by the rules; looked at once a second.

        What is on its way to the index is new, whatever was over under its id.
        """
        now = self._clock.monotonic()
        if self._over is None or books.next_victim(entry.id) is None:
            return
        if now - self._looked.get(entry.namespace, -inf) < _LOOKS:
            return
        self._looked[entry.namespace] = now
        over = set(self._over(books.kept)) - {entry.id}
        with self._announcing:
            over.difference_update(self._awaited)
        self._let_go(entry.namespace, books, sorted(over))

    def _victims(self, entry: Entry, books: Books) -> list[str]:
        victims: list[str] = []
        while len(victims) < _PAGE and (victim := books.next_victim(entry.id)) is not None:
            victims.append(victim)
            books.forgotten(victim)
        return victims

    def _let_go(
        self, namespace: str, books: Books, gone: list[str], *, expired_at: float | None = None
    ) -> int:
        if not gone:
            return 0
        for entry_id in gone:
            books.forgotten(entry_id)
        count = 0
        try:
            count = self._index.remove(Selection(ids=tuple(gone), expired_at=expired_at))
        finally:
            if count < len(gone):
                # Some may still be there, or somebody else has let them go and wrote others.
                self._stale.add(namespace)
        return count

    def _others_changed(self, namespace: str, books: Books) -> bool:
        """Whether the index holds more or less than it should: another process, another cache."""
        count = self._index.remove(Selection(namespace=namespace), dry_run=True)
        given_up = self._clock.monotonic() - _AWAITED_SECONDS
        with self._announcing:
            while self._awaited and next(iter(self._awaited.values())).since < given_up:
                lost = self._awaited.pop(next(iter(self._awaited)))
                self._stale.add(lost.namespace)
            coming = [one for one, where in self._awaited.items() if where.namespace == namespace]
        awaited = sum(one not in books for one in coming)
        return not len(books) <= count <= len(books) + awaited

    def _opened(self, namespace: str) -> Books:
        books = self._books.get(namespace)
        if books is None or namespace in self._stale:
            return self._read(namespace)
        self._books.move_to_end(namespace)
        return books

    def _read(self, namespace: str) -> Books:
        """Books made from what the index holds; what was known of those still there is kept."""
        self._stale.discard(namespace)
        try:
            found = list(self._index.scan(Selection(namespace=namespace)))
        except BaseException:
            self._stale.add(namespace)
            raise
        books = self._books.get(namespace)
        if books is None:
            books = Books(self._make(), self._limits)
        there = {entry.id for entry in found}
        for entry_id in [known for known in books.kept if known not in there]:
            books.forgotten(entry_id)
        for entry in sorted(found, key=lambda entry: entry.created_at):
            if entry.id in books:
                books.corrected(entry.id, self._kept(entry))
            else:
                books.stored(entry.id, self._kept(entry))
        self._books[namespace] = books
        if len(self._books) > _MOST:
            self._books.popitem(last=False)
        return books

    def _catch_up(self) -> None:
        """Tell the policies of the hits since the last store."""
        for _ in range(len(self._touches)):
            entry_id = self._touches.popleft()
            for books in self._books.values():
                books.touched(entry_id)

    def _kept(self, entry: Entry) -> Kept:
        size = entry_bytes(entry, self._dimension)
        return Kept(
            tenant=entry.tenant,
            size=size,
            expires_at=entry.expires_at,
            value=self._value(entry, size),
        )

    def _value(self, entry: Entry, size: int) -> float:
        """What a hit saves, for the room the entry takes: bytes where those are bounded."""
        saved = 1.0
        if self._costly:
            # Of the answer itself: what it takes is little where it leans on another one.
            length = raw_size(entry.payload) or len(entry.payload)
            saved = self._prices.get(entry.model, 1.0) * length
        by_bytes = self._limits.max_bytes is not None and self._limits.max_entries is None
        return saved / size if by_bytes else saved
