"""The dictionaries in use: found in the store, learned from answers, on a thread of their own."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from langchain_semcache.breaker import ThrottledWarning
from langchain_semcache.clock import Clock
from langchain_semcache.engine.gate import told
from langchain_semcache.engine.shelf import Shelf
from langchain_semcache.errors import CorruptEntry
from langchain_semcache.ports import EntryIndex
from langchain_semcache.records import PARTS, Selection
from langchain_semcache.responses.parts import (
    Dictionary,
    Owner,
    dictionary_tag,
    from_entry,
    new_dictionary,
    owner_tag,
    to_entry,
)
from langchain_semcache.responses.training import train

FIRST_ANSWERS = 200
"""Answers from which a first dictionary is worth its bytes: benchmarks/responses.py."""

GROWTH = 4
"""A dictionary is learned anew when there are so many times the answers it was learned from."""

SAMPLE_BYTES = 2 * 1024 * 1024
"""The last answers of each group that are remembered to learn from, in bytes."""

ALL_SAMPLE_BYTES = 8 * SAMPLE_BYTES
"""Of all groups together; those that were not written to lately give theirs up first."""

MOST_GROUPS = 256
"""Groups of answers remembered at a time, each with its dictionary; those that were not written to
lately are dropped."""

Group: TypeAlias = tuple[Owner, str]
"""Whose answers, and of which kind."""


@dataclass(slots=True)
class _Seen:
    samples: deque[bytes] = field(default_factory=deque)
    sample_bytes: int = 0
    full: bool = False
    epoch: int = 0
    answers: int = 0
    busy: bool = False
    dictionary: Dictionary | None = None


class Dictionaries:
    """One dictionary for each owner and kind of answer. Safe between threads.

    Nothing here waits: what reads, learns or writes happens on a thread that ends with the work.
    """

    def __init__(self, *, index: EntryIndex, shelf: Shelf, clock: Clock, most_bytes: int) -> None:
        self._index = index
        self._shelf = shelf
        self._clock = clock
        self._most_bytes = most_bytes
        self._warn = ThrottledWarning(clock)
        self._lock = threading.Lock()
        self._groups: OrderedDict[Group, _Seen] = OrderedDict()
        self._sampled = 0
        """At least the bytes of all samples; counted anew when it comes to the bound."""
        self._work: deque[Callable[[], None]] = deque()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._ending = threading.Event()
        # A process that ends without closing takes the store away from under the thread. What is
        # made last is ended first, and so this is told before the store is.
        weakref.finalize(self, self._ending.set)

    def current(self, owner: Owner, kind: str) -> Dictionary | None:
        """The dictionary to write with; None where there is none, or none was found yet."""
        with self._lock:
            return self._seen((owner, kind)).dictionary

    def saw(self, owner: Owner, kind: str, raw: bytes) -> None:
        """Remember an envelope that was written, and learn from it when there are enough."""
        with self._lock:
            seen = self._seen((owner, kind))
            seen.answers += 1
            if len(raw) > SAMPLE_BYTES // 16:
                return  # too large to lean on a dictionary, or to be typical
            seen.samples.append(raw)
            seen.sample_bytes += len(raw)
            while seen.sample_bytes > SAMPLE_BYTES:
                seen.sample_bytes -= len(seen.samples.popleft())
                seen.full = True
            self._make_room(len(raw))
            if _due(seen) and not seen.busy:
                seen.busy = True
                self._start(lambda: self._learn((owner, kind), seen))

    def forget_of(self, namespace: str, tenant: str | None = None) -> None:
        """Forget what was learned from the answers of a namespace, or of one tenant in it."""
        with self._lock:
            for group in list(self._groups):
                if group[0].namespace == namespace and tenant in (None, group[0].tenant):
                    del self._groups[group]

    def unlearn(self, namespace: str | None, tenant: str | None = None) -> None:
        """Some answers of a namespace, or of any, went: learn from none of those seen so far."""
        with self._lock:
            for (owner, _), seen in self._groups.items():
                if namespace in (None, owner.namespace) and tenant in (None, owner.tenant):
                    self._drop_samples(seen)

    def settle(self) -> None:
        """Wait until nothing is being looked for or learned."""
        while True:
            with self._lock:
                thread = self._thread
            if thread is None or not thread.is_alive():
                return
            thread.join()

    def close(self) -> None:
        """Drop what has not begun, wait for what has, and start no more."""
        with self._lock:
            self._closed = True
            self._work.clear()
        self.settle()

    def _seen(self, group: Group) -> _Seen:
        """What is known of a group; call with the lock held. A new one is looked up behind it."""
        seen = self._groups.get(group)
        if seen is None:
            seen = self._groups[group] = _Seen(busy=True)
            if len(self._groups) > MOST_GROUPS:
                self._groups.popitem(last=False)
            found = seen
            self._start(lambda: self._find(group, found))
        else:
            self._groups.move_to_end(group)
        return seen

    def _make_room(self, more: int) -> None:
        """Keep all samples together to their bound; call with the lock held."""
        self._sampled += more
        if self._sampled <= ALL_SAMPLE_BYTES:
            return
        self._sampled = sum(seen.sample_bytes for seen in self._groups.values())
        for seen in list(self._groups.values())[:-1]:
            if self._sampled <= ALL_SAMPLE_BYTES:
                break
            self._sampled -= seen.sample_bytes
            self._drop_samples(seen)

    def _drop_samples(self, seen: _Seen) -> None:
        seen.samples.clear()
        seen.sample_bytes = 0
        seen.full = False
        seen.epoch += 1

    def _start(self, work: Callable[[], None]) -> None:
        """Do it on the thread; call with the lock held."""
        if self._closed:
            return
        self._work.append(work)
        # After a fork the thread of the parent is not alive in the child.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(
                target=self._run, name="semcache-dictionaries", daemon=True
            )
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._work:
                    self._thread = None
                    return
                work = self._work.popleft()
            try:
                work()
            except Exception as error:  # noqa: BLE001 - answers are written without a dictionary
                if not self._ending.is_set():
                    self._warn(f"a dictionary could not be read or written ({told(error)})")

    def _find(self, group: Group, seen: _Seen) -> None:
        """Take up the latest dictionary that any process has stored for the group."""
        owner, kind = group
        tags = (owner_tag(owner.namespace), dictionary_tag(kind))
        best: Dictionary | None = None
        try:
            for entry in self._index.scan(
                Selection(namespace=PARTS, tenant=owner.tenant, tags=tags)
            ):
                try:
                    part = from_entry(entry, owner)
                except CorruptEntry:
                    continue  # whoever leans on it misses; it is not leaned on any further
                if isinstance(part, Dictionary) and (not best or part.answers > best.answers):
                    best = part
                    self._shelf.keep(part, owner, created_at=entry.created_at)
        finally:
            with self._lock:
                seen.dictionary = best
                seen.answers += best.answers if best else 0
                seen.busy = False

    def _learn(self, group: Group, seen: _Seen) -> None:
        owner, kind = group
        try:
            with self._lock:
                samples, answers, epoch = list(seen.samples), seen.answers, seen.epoch
            trained = train(samples, most_bytes=self._most_bytes)
            # What went meanwhile is not learned from, nor kept by whom it was taken from.
            if trained is not None and self._still(group, seen, epoch):
                now = self._clock.now()
                part = new_dictionary(owner, trained, answers=answers)
                self._index.put(to_entry(part, owner, kind=kind, now=now), None)
                if self._still(group, seen, epoch):
                    self._shelf.keep(part, owner, created_at=now)
                    seen.dictionary = part
        finally:
            with self._lock:
                # Whatever came of it, the next one is learned from other answers.
                self._drop_samples(seen)
                seen.busy = False

    def _still(self, group: Group, seen: _Seen, epoch: int) -> bool:
        """Whether nothing of the group was forgotten since that epoch."""
        with self._lock:
            return self._groups.get(group) is seen and seen.epoch == epoch


def _due(seen: _Seen) -> bool:
    if len(seen.samples) < FIRST_ANSWERS and not seen.full:
        return False
    return seen.dictionary is None or seen.answers >= GROWTH * seen.dictionary.answers
