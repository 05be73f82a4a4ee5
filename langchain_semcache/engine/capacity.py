"""Namespaces held to a size: the books of who is there, and the index that lets them go.

The rules are pure (`eviction`); here they meet threads, and what others do to the same store.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Final

from langchain_semcache.clock import Clock
from langchain_semcache.engine.commands import Announce, Answer, Withdraw
from langchain_semcache.events import EntriesEvicted, EventSink
from langchain_semcache.eviction import POLICIES, Books, Kept, Limits, entry_bytes
from langchain_semcache.ports import EntryIndex
from langchain_semcache.records import Entry, Selection

_MOST: Final = 256
"""Namespaces with books at a time; those of the one used longest ago are read again when needed."""

_TOUCHES: Final = 65_536
"""Hits between two stores that are remembered; a cache that only serves has nobody to evict."""

_AWAITED: Final = 4_096
"""Entries on their way to the index; where nobody says what became of one, it is dropped."""

_PAGE: Final = 256
"""Entries that go in one call of the index."""

_TRIES: Final = 3
"""Looks at the index in one store, where others change it meanwhile."""


class Capacity:
    """Keeps every namespace within its limits. Safe between threads.

    Hits cost an append to a queue; the books are made up when something is stored.

    Args:
        policy: A name of `POLICIES`.
        prices: What a model's answer costs, by model, for its length; others cost 1. For "cost".
        dimension: Length of the vectors.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        policy: str,
        prices: Mapping[str, float],
        index: EntryIndex,
        dimension: int,
        clock: Clock,
        sink: EventSink,
    ) -> None:
        self._limits = limits
        self._policy = policy
        self._prices = prices
        self._index = index
        self._dimension = dimension
        self._clock = clock
        self._sink = sink
        self._lock = threading.Lock()
        # Held for no longer than it takes to look: what is announced never waits for an index.
        self._announcing = threading.Lock()
        self._books: OrderedDict[str, Books] = OrderedDict()
        self._stale: set[str] = set()
        self._awaited: dict[str, str] = {}
        self._touches: deque[str] = deque(maxlen=_TOUCHES)

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

    def hold(self, entry: Entry) -> int:
        """Book an entry that the index now has, and let go who is too much; how many went.

        What has expired goes first, then whom the policy names; never the entry itself.

        Raises:
            IndexUnavailable: The index did not do it; the next store tries again.
        """
        with self._lock:
            self._withdraw(entry.id)
            books = self._opened(entry.namespace)
            books.stored(entry.id, self._kept(entry))
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

    def booked(self, namespace: str) -> frozenset[str]:
        """The ids in the books of a namespace, read from the index where that has changed."""
        with self._lock:
            return frozenset(self._opened(namespace).ids)

    def _announce(self, entry: Entry) -> str | None:
        largest = self._limits.largest
        size = entry_bytes(entry, self._dimension)
        if largest is not None and size > largest:
            return f"{size:,} bytes, and {largest:,} may be kept in all"
        with self._announcing:
            self._awaited[entry.id] = entry.namespace
            if len(self._awaited) > _AWAITED:
                self._awaited.pop(next(iter(self._awaited)))
        return None

    def _withdraw(self, entry_id: str) -> None:
        with self._announcing:
            self._awaited.pop(entry_id, None)

    def _expire(self, entry: Entry, books: Books) -> int:
        now = self._clock.now()
        gone = [entry_id for entry_id in books.expired(now) if entry_id != entry.id]
        return self._let_go(entry.namespace, books, gone, expired_at=now)

    def _evict(self, entry: Entry, books: Books) -> int:
        evicted = 0
        while victims := self._victims(entry, books):
            evicted += self._let_go(entry.namespace, books, victims)
        if evicted:
            self._sink.emit(EntriesEvicted(entry.namespace, evicted, self._policy))
        return evicted

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
        with self._announcing:
            coming = [one for one, where in self._awaited.items() if where == namespace]
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
        books = self._books.get(namespace)
        found = list(self._index.scan(Selection(namespace=namespace)))
        if books is None:
            books = Books(POLICIES[self._policy](), self._limits)
        there = {entry.id for entry in found}
        for entry_id in [known for known in books.ids if known not in there]:
            books.forgotten(entry_id)
        for entry in sorted(found, key=lambda entry: entry.created_at):
            if entry.id not in books:
                books.stored(entry.id, self._kept(entry))
        self._books[namespace] = books
        self._stale.discard(namespace)
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
        if self._policy == "cost":
            saved = self._prices.get(entry.model, 1.0) * len(entry.payload)
        by_bytes = self._limits.max_bytes is not None and self._limits.max_entries is None
        return saved / size if by_bytes else saved
