"""What the flow asks its driver to do, and what the driver may answer."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from langchain_semcache.ports import Vector
from langchain_semcache.records import Candidate, Entry, Reason, Selection


@dataclass(frozen=True, slots=True)
class Fetch:
    """Answered by the live entry with this id, or None; with `expired` also by one that was."""

    entry_id: str
    expired: bool = False


@dataclass(frozen=True, slots=True)
class Embed:
    """Answered by the unit vector of the text."""

    text: str


@dataclass(frozen=True, slots=True)
class EmbedAll:
    """Answered by the unit vectors of the texts, one row each."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """Answered by live candidates of the partition, best first."""

    partition: str
    vector: Vector
    limit: int


@dataclass(frozen=True, slots=True)
class Verify:
    """Answered by one probability a stored question: that its answer fits this one."""

    question: str
    stored: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Put:
    """Answered by None once the entry is durable."""

    entry: Entry
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Answered by 1 once the entry holds `payload` in the place of `expected`, 0 if it had not."""

    entry_id: str
    expected: bytes
    payload: bytes


@dataclass(frozen=True, slots=True)
class Amend:
    """Answered by 1 once the stored entry has the end and the assessment of this one.

    0 where it was replaced meanwhile, or the index cannot do it.
    """

    entry: Entry


@dataclass(frozen=True, slots=True)
class Remove:
    """Answered by how many entries matched."""

    selection: Selection
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Announce:
    """Answered by None, or in words why an entry of this size cannot be kept within the limits.

    `Hold` or `Withdraw` has to follow.
    """

    entry: Entry


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Answered by None. What became of the announced entry is not known to whoever stored it."""

    entry_id: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Answered by how many entries went, so that the limits hold with this one in the index."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Admit:
    """Answered by what the error budget says of a would-be hit: `Admitted`, or None without one.

    `asked` is the id that the request's own answer would have, `kind` the class of its question.
    """

    namespace: str
    asked: str
    entry_id: str
    confidence: float
    kind: str


@dataclass(frozen=True, slots=True)
class Due:
    """Answered by the id of the entry that the model's answer to `asked` is to be compared with."""

    asked: str


@dataclass(frozen=True, slots=True)
class Book:
    """Answered by None once it is noted what the comparison due for `asked` came to."""

    asked: str
    wrong: bool


@dataclass(frozen=True, slots=True)
class Admitted:
    """Answer to `Admit`: `reason` is SEMANTIC for a hit that may be served."""

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Failure:
    """What any command may be answered with: the port did not do it."""

    reason: Reason
    error: Exception


Bookkeeping: TypeAlias = Admit | Due | Book | Announce | Withdraw
"""Answered from memory: no backend, no deadline and no failure is in it."""

Command: TypeAlias = (
    Fetch | Embed | EmbedAll | Search | Verify | Put | Rewrite | Amend | Remove | Hold | Bookkeeping
)
Answer: TypeAlias = (
    Entry | Vector | Sequence[Candidate] | Sequence[float] | Admitted | str | int | Failure | None
)

Result = TypeVar("Result")
Flow: TypeAlias = Generator[Command, Answer, Result]
"""A decision in progress: yields commands, receives answers, returns its result."""

STAGES = {
    Fetch: "fetch",
    Embed: "embed",
    EmbedAll: "embed",
    Search: "search",
    Verify: "verify",
    Admit: "budget",
    Due: "budget",
    Book: "budget",
    Put: "put",
    Rewrite: "put",
    Amend: "put",
    Remove: "remove",
    Announce: "hold",
    Withdraw: "hold",
    Hold: "hold",
}
"""The name under which a driver reports the seconds a command took."""
