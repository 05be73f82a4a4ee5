"""The error budgets at work: one account a namespace, shared with other workers by the store.

The rules are pure (`threshold`); here their state lives, is kept, and is told of.
"""

from __future__ import annotations

import itertools
import os
import socket
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

from langchain_semcache.breaker import ThrottledWarning
from langchain_semcache.clock import Clock
from langchain_semcache.engine.commands import Admit, Admitted, Answer, Book, Due
from langchain_semcache.engine.gate import told
from langchain_semcache.engine.pool import WorkerPool
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.events import BudgetTurned, EventSink
from langchain_semcache.ports import EntryIndex
from langchain_semcache.records import BOOKS, Entry, Reason
from langchain_semcache.threshold import (
    Admission,
    Budget,
    Ledger,
    Mode,
    Summary,
    Terms,
    Verdict,
    admit,
    clear,
    from_json,
    merge,
    observe_request,
    record,
    report_wrong,
    review,
    shadow_due,
    summary,
    to_json,
)

_ROOT = uuid.UUID("7d0c1d0e-6a0c-5f0a-8d57-0c9e4a7f6b11")
REVIEW_EVERY = 50
SAVE_SECONDS = 15.0
_MOST = 256
"""Namespaces with a budget at a time; more would mean that somebody uses them as tenants."""

_MOST_DUE = 1024
"""Comparisons waiting for the model's answer; where it never comes, the oldest is dropped."""

_REASONS = {
    Verdict.WITHIN_BUDGET: Reason.SEMANTIC,
    Verdict.BELOW_BAR: Reason.LOW_CONFIDENCE,
    Verdict.ACCOUNT_SPENT: Reason.BUDGET_SPENT,
    Verdict.EXACT_ONLY: Reason.BUDGET_SPENT,
    Verdict.REPORTED_WRONG: Reason.REPORTED_WRONG,
}

_numbers = itertools.count()


@dataclass(slots=True)
class _Account:
    ledger: Ledger
    terms: Terms
    saved_at: float
    seen: int = 0
    unsaved: bool = False


class Accounts:
    """Admits hits within a budget and learns from what becomes of them. Safe between threads.

    Args:
        index: Where the books are kept, as records without a vector.
        pool: Reads and writes of the books happen there: no lookup waits for them.
    """

    def __init__(
        self,
        budget: Budget,
        *,
        index: EntryIndex,
        clock: Clock,
        sink: EventSink,
        pool: WorkerPool,
    ) -> None:
        self._budget = budget
        self._index = index
        self._clock = clock
        self._sink = sink
        self._pool = pool
        self._warn = ThrottledWarning(clock)
        self._lock = threading.Lock()
        self._accounts: dict[str, _Account] = {}
        self._due: dict[str, tuple[str, Admission]] = {}
        self._worker = f"{socket.gethostname()}-{os.getpid()}-{clock.now():.6f}-{next(_numbers)}"

    def load(self, namespace: str) -> None:
        """Read what all workers have written about a namespace, and add it to what is known."""
        stored = self._read(namespace)
        with self._lock:
            account = self._account(namespace, read=True)
            if stored is not None:
                account.ledger = merge(account.ledger, stored)
            self._review(namespace, account)

    def observe(self, namespace: str) -> None:
        """Count a request, whatever becomes of it."""
        now = self._clock.now()
        with self._lock:
            account = self._account(namespace)
            account.ledger = observe_request(self._budget, account.ledger, now=now)
            account.seen += 1
            account.unsaved = True
            if account.seen % REVIEW_EVERY == 0:
                self._review(namespace, account)
            due = now - account.saved_at >= SAVE_SECONDS
            if due:
                account.saved_at = now
        if due:
            self._pool.submit(lambda: self.save(namespace))

    def answer(self, command: Admit | Due | Book) -> Answer:
        """Carry out a command of the flow."""
        match command:
            case Admit():
                return self._admit(command)
            case Due(asked):
                with self._lock:
                    due = self._due.get(asked)
                return due[1].entry_id if due else None
            case Book(asked, wrong):
                self._book(asked, wrong=wrong)
                return None

    def _admit(self, would_be: Admit) -> Admitted:
        now = self._clock.now()
        with self._lock:
            account = self._account(would_be.namespace)
            account.ledger, admission = admit(
                self._budget,
                account.ledger,
                account.terms,
                confidence=would_be.confidence,
                entry_id=would_be.entry_id,
                class_=would_be.kind,
                now=now,
            )
            compare = shadow_due(admission, self._draw(account.ledger, would_be.entry_id))
            if compare:
                self._due[would_be.asked] = (would_be.namespace, admission)
                if len(self._due) > _MOST_DUE:
                    self._due.pop(next(iter(self._due)))
        if admission.serve and compare:
            return Admitted(Reason.SHADOW_CHECK, "the model is asked as well, to compare")
        return Admitted(_REASONS[admission.verdict], f"confidence needed: {admission.bar:.3f}")

    def _book(self, asked: str, *, wrong: bool) -> None:
        with self._lock:
            due = self._due.pop(asked, None)
        if due is not None:
            namespace, admission = due
            self._change(
                namespace,
                lambda ledger, now: record(self._budget, ledger, admission, wrong=wrong, now=now),
            )

    def reported_wrong(self, namespace: str, entry_id: str) -> None:
        """Book a user's complaint: the entry is not served again before it is cleared."""
        self._change(
            namespace, lambda ledger, now: report_wrong(self._budget, ledger, entry_id, now=now)
        )

    def cleared(self, namespace: str, entry_id: str) -> None:
        """The answer was replaced, or found to be right after all."""
        self._change(namespace, lambda ledger, now: clear(ledger, entry_id, now=now))

    def summary(self, namespace: str) -> Summary:
        """Where the namespace stands."""
        now = self._clock.now()
        with self._lock:
            account = self._account(namespace)
            return summary(self._budget, account.ledger, account.terms, now=now)

    def save(self, namespace: str) -> None:
        """Write the books of a namespace, together with what others have written meanwhile."""
        stored = self._read(namespace)
        with self._lock:
            account = self._account(namespace, read=True)
            if stored is not None:
                account.ledger = merge(account.ledger, stored)
            text = to_json(account.ledger)
            account.unsaved = False
        try:
            self._index.put(_page(namespace, text, now=self._clock.now()), None)
        except Exception as error:  # noqa: BLE001 - a book that is not saved is saved next time
            self._warn(f"the error budget of a namespace could not be saved ({told(error)})")
            with self._lock:
                account.unsaved = True

    def close(self) -> None:
        """Save what has changed: whoever only looked leaves no trace."""
        with self._lock:
            namespaces = [name for name, account in self._accounts.items() if account.unsaved]
        for namespace in namespaces:
            self.save(namespace)

    def _account(self, namespace: str, *, read: bool = False) -> _Account:
        """The account of a namespace; a new one is filled with what is stored, unless just read."""
        account = self._accounts.get(namespace)
        if account is None:
            now = self._clock.now()
            ledger = Ledger(self._worker)
            terms = review(self._budget, ledger, now=now).terms
            account = self._accounts[namespace] = _Account(ledger, terms, saved_at=now)
            if len(self._accounts) > _MOST:
                self._accounts.pop(next(iter(self._accounts)))
            if not read:
                self._pool.submit(lambda: self.load(namespace))
        return account

    def _change(self, namespace: str, change: Callable[[Ledger, float], Ledger]) -> None:
        now = self._clock.now()
        with self._lock:
            account = self._account(namespace)
            account.ledger = change(account.ledger, now)
            account.unsaved = True
            self._review(namespace, account)

    def _review(self, namespace: str, account: _Account) -> None:
        looked = review(self._budget, account.ledger, now=self._clock.now())
        account.ledger, account.terms = looked.ledger, looked.terms
        if looked.transition is not None:
            turned = looked.transition
            self._sink.emit(
                BudgetTurned(namespace, turned.after is Mode.EXACT_ONLY, turned.error_rate.estimate)
            )
            self._pool.submit(lambda: self.save(namespace))

    def _draw(self, ledger: Ledger, entry_id: str) -> float:
        """A number from [0, 1), even over requests: nobody can tell beforehand which it hits."""
        seed = f"{self._worker}:{ledger.requests}:{entry_id}".encode()
        return int.from_bytes(blake2b(seed, digest_size=6).digest()) / 2**48

    def _read(self, namespace: str) -> Ledger | None:
        try:
            page = self._index.fetch(_page_id(namespace), now=self._clock.now())
            return from_json(page.payload, worker=self._worker) if page is not None else None
        except ConfigurationError as error:
            self._warn(f"{error}; it begins anew")
        except Exception as error:  # noqa: BLE001 - the budget goes on with what it knows
            self._warn(f"the error budget of a namespace could not be read ({told(error)})")
        return None


def _page_id(namespace: str) -> str:
    return str(uuid.uuid5(_ROOT, namespace))


def _page(namespace: str, text: str, *, now: float) -> Entry:
    return Entry(
        id=_page_id(namespace),
        scope=BOOKS,
        partition=BOOKS,
        fingerprint="error budget",
        namespace=BOOKS,
        tenant="",
        model="",
        question="",
        payload=text.encode(),
        created_at=now,
    )
