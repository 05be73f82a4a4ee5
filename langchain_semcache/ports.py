"""What the engine asks of the outside world: small Protocols, and optional powers beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.records import Candidate, Entry, Selection

Vectors: TypeAlias = NDArray[np.float32]
"""float32 [n, dimension], each row of length 1."""

Vector: TypeAlias = NDArray[np.float32]
"""float32 [dimension], of length 1."""

Windows: TypeAlias = NDArray[np.float32]
"""float32 [n, 64]: how often an entry was used in each of 64 steps, the oldest first."""

Heats: TypeAlias = NDArray[np.float32]
"""float32 [n]: how often each is expected to be used in the five steps that follow."""


class Encoder(Protocol):
    """Text to vectors. Safe to call from several threads."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def identity(self) -> str:
        """Model, revision, pooling and normalisation: equal identities give comparable vectors."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens beyond this number would be cut off."""
        ...

    def count_tokens(self, text: str) -> int:
        """Number of tokens `text` has, uncut, special tokens included."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of unit length, one row a text, in order."""
        ...


class QueuedEncoder(Encoder, Protocol):
    """An encoder with a queue in front: callers wait for a future, and may stop waiting."""

    def submit(self, texts: Sequence[str]) -> Future[Vectors]:
        """Vectors of `texts` to come. Cancelling drops what has not been started."""
        ...

    def encode_if_idle(self, texts: Sequence[str]) -> Vectors | None:
        """The vectors, made on this thread; None when that might mean to wait for somebody."""
        ...


@runtime_checkable
class SupportsThreshold(Protocol):
    """An encoder whose similarities were measured, and from which of them on to trust it."""

    @property
    def similarity_threshold(self) -> float:
        """Least cosine similarity of a hit, in (0, 1]."""
        ...


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A text as its encoder sees it, piece by piece; marks of begin and end left out.

    Attributes:
        pieces: As the tokenizer spells them, "▁" for a space; never empty.
        scores: Their log probabilities.
        vectors: float32 [pieces, any width], each piece in its context.
        sentence: float32 [dimension], the vector of the whole text.
    """

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    vectors: Vectors
    sentence: Vector


@runtime_checkable
class SupportsTokens(Protocol):
    """An encoder that also gives the vectors of single pieces."""

    def token_vectors(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        """One for each text; a text is cut as `encode` cuts it."""
        ...


class Verifier(Protocol):
    """A second opinion on whether a stored answer fits. Safe to call from several threads."""

    @property
    def identity(self) -> str:
        """Model and settings: equal identities give comparable probabilities."""
        ...

    def judge(self, question: str, stored: Sequence[str]) -> Sequence[float]:
        """For each stored question the probability that its answer also answers `question`.

        In [0, 1], in order.

        Raises:
            VerifierUnavailable: The verifier failed, or gave what is no probability.
        """
        ...


class Evaluator(Protocol):
    """What a model says of its own answer. Asked on a thread of its own, and not for every one."""

    @property
    def identity(self) -> str:
        """Model and prompt: equal identities give comparable scores."""
        ...

    def score(self, conversation: Sequence[tuple[str, str]], answer: str) -> int | None:
        """How right the answer is, from 0 (wrong) to 5; None where the reply is no such number.

        `conversation` is (role, text), the question last.

        Raises:
            EvaluatorUnavailable: There was no reply.
        """
        ...


class HotnessModel(Protocol):
    """Expects what will be asked for. Safe to call from several threads."""

    @property
    def identity(self) -> str:
        """Model and settings: equal identities give equal answers."""
        ...

    def predict(self, windows: Windows) -> Heats:
        """Expected uses in the five steps after each window; finite and not negative.

        A step is a minute, unless model and tracker were made for another one.

        Raises:
            ValueError: `windows` is no float array [n, 64], or holds what is no count.
        """
        ...


class HeatTracker(Protocol):
    """Counts uses and expects those to come. Safe to call from several threads; never raises."""

    def used(self, entry_id: str) -> None:
        """The entry was stored or served just now."""
        ...

    def forgotten(self, entry_id: str) -> None:
        """The entry is gone; unknown ids are ignored."""
        ...

    def heat(self, entry_ids: Sequence[str]) -> Heats:
        """Expected uses in the next five minutes, in order; NaN for what is not known yet."""
        ...


class EntryIndex(Protocol):
    """Keeps entries and finds them again. Safe to call from several threads.

    An entry whose `expires_at` is at or before `now` does not exist for `fetch` and `search`.
    Failures raise `IndexUnavailable`; an unreadable record raises `CorruptEntry` from `fetch` and
    is left out by `search`.
    """

    def fetch(self, entry_id: str, *, now: float) -> Entry | None:
        """The live entry with this id."""
        ...

    def search(
        self, partition: str, vector: Vector, *, limit: int, now: float
    ) -> Sequence[Candidate]:
        """The live entries of exactly this partition that are nearest by cosine, best first."""
        ...

    def put(self, entry: Entry, vector: Vector | None) -> None:
        """Insert or replace. Without a vector only `fetch` finds the entry. Durable on return.

        Raises:
            ValueError: No index can ever hold this entry (a field is no text, or text that is no
                valid Unicode); that is no failure of the index, and what it held stays.
        """
        ...

    def remove(self, selection: Selection, *, dry_run: bool = False) -> int:
        """Remove what matches and say how many that were; with `dry_run` only count."""
        ...

    def scan(self, selection: Selection) -> Iterator[Entry]:
        """Every entry that matches, expired ones included, in no particular order."""
        ...


@runtime_checkable
class SupportsTrim(Protocol):
    """An index that can hold each namespace to a size."""

    def trim(self, max_entries: int, *, namespace: str, now: float) -> int:
        """Remove expired entries, then the oldest ones, down to `max_entries`; how many went.

        Only entries of exactly this namespace count and go.
        """
        ...


@runtime_checkable
class SupportsRewrite(Protocol):
    """An index that can change how an answer is written, unless somebody else changed it first."""

    def rewrite(self, entry_id: str, *, expected: bytes, payload: bytes) -> bool:
        """Put `payload` in the place of `expected`; whether that is what the entry holds now.

        An entry that is gone, or that holds another payload by now, is left as it is. Nothing else
        about the entry changes: neither its times nor its vector.
        """
        ...


@runtime_checkable
class SupportsAmend(Protocol):
    """An index that can change when an answer ends, unless somebody else replaced it first."""

    def amend(self, entry: Entry) -> bool:
        """Give a stored entry the `expires_at` and `assessment` of this one; whether that was done.

        An entry that is gone, or that has another payload or another `created_at` than this one,
        is left as it is: it is another answer, or is written in another way by now. Nothing else
        about the entry changes, and its vector stays.

        Raises:
            ValueError: As `EntryIndex.put`.
        """
        ...


@runtime_checkable
class SupportsDescribe(Protocol):
    """A backend that can describe itself to `doctor` and `stats`; never a key or a password."""

    def describe(self) -> dict[str, str | int | float | bool | None]: ...


@runtime_checkable
class SupportsClose(Protocol):
    """A backend that holds threads, files or sockets. Closing twice is harmless."""

    def close(self) -> None: ...


@runtime_checkable
class AsyncEntryIndex(Protocol):
    """An index that also speaks to the event loop natively; otherwise a worker thread is used."""

    async def afetch(self, entry_id: str, *, now: float) -> Entry | None: ...

    async def asearch(
        self, partition: str, vector: Vector, *, limit: int, now: float
    ) -> Sequence[Candidate]: ...

    async def aput(self, entry: Entry, vector: Vector | None) -> None: ...


@runtime_checkable
class BlockingPort(Protocol):
    """A backend that says whether its calls may hang: if so, the engine bounds them by a thread.

    An index that says nothing is taken to work in this process and is called directly. An encoder
    that says nothing may be anything, and is bounded.
    """

    may_block: bool
