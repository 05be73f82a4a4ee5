"""One typed question per command, so that the flow reads as plain calls.

A driver that answers with something else has a bug; it is named here and not three steps later.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from langchain_semcache.engine.commands import (
    Admit,
    Admitted,
    Amend,
    Announce,
    Answer,
    Book,
    Command,
    Due,
    Embed,
    EmbedAll,
    Failure,
    Fetch,
    Flow,
    Hold,
    Put,
    Remove,
    Rewrite,
    Search,
    Verify,
    Withdraw,
)
from langchain_semcache.ports import Vector, Vectors
from langchain_semcache.records import Candidate, Entry, Selection


def fetch(entry_id: str, *, expired: bool = False) -> Flow[Entry | Failure | None]:
    answer = yield (command := Fetch(entry_id, expired))
    if answer is None or isinstance(answer, Entry | Failure):
        return answer
    raise _unexpected(command, answer)


def embed(text: str) -> Flow[Vector | Failure]:
    answer = yield (command := Embed(text))
    if isinstance(answer, np.ndarray | Failure):
        return answer
    raise _unexpected(command, answer)


def embed_all(texts: tuple[str, ...]) -> Flow[Vectors | Failure]:
    answer = yield (command := EmbedAll(texts))
    if isinstance(answer, Failure) or (
        isinstance(answer, np.ndarray) and len(answer) == len(texts)
    ):
        return answer
    raise _unexpected(command, answer)


def search(partition: str, vector: Vector, limit: int) -> Flow[Sequence[Candidate] | Failure]:
    answer = yield (command := Search(partition, vector, limit))
    if isinstance(answer, Failure):
        return answer
    if isinstance(answer, Sequence):
        return [found for found in answer if isinstance(found, Candidate)]
    raise _unexpected(command, answer)


def verify(question: str, stored: tuple[str, ...]) -> Flow[Sequence[float] | Failure]:
    answer = yield (command := Verify(question, stored))
    if isinstance(answer, Failure):
        return answer
    if isinstance(answer, Sequence) and len(answer) == len(stored):
        return [found for found in answer if isinstance(found, float)]
    raise _unexpected(command, answer)


def admit(would_be: Admit) -> Flow[Admitted | None]:
    answer = yield would_be
    if answer is None or isinstance(answer, Admitted):
        return answer
    raise _unexpected(would_be, answer)


def due(asked: str) -> Flow[str | None]:
    answer = yield (command := Due(asked))
    if answer is None or isinstance(answer, str):
        return answer
    raise _unexpected(command, answer)


def book(asked: str, *, wrong: bool) -> Flow[None]:
    answer = yield (command := Book(asked, wrong))
    if answer is not None:
        raise _unexpected(command, answer)


def put(entry: Entry, vector: Vector | None) -> Flow[Failure | None]:
    answer = yield (command := Put(entry, vector))
    if answer is None or isinstance(answer, Failure):
        return answer
    raise _unexpected(command, answer)


def rewrite(entry_id: str, *, expected: bytes, payload: bytes) -> Flow[int | Failure]:
    answer = yield (command := Rewrite(entry_id, expected, payload))
    if isinstance(answer, int | Failure):
        return answer
    raise _unexpected(command, answer)


def amend(entry: Entry) -> Flow[int | Failure]:
    answer = yield (command := Amend(entry))
    if isinstance(answer, int | Failure):
        return answer
    raise _unexpected(command, answer)


def remove(selection: Selection, *, dry_run: bool) -> Flow[int | Failure]:
    answer = yield (command := Remove(selection, dry_run))
    if isinstance(answer, int | Failure):
        return answer
    raise _unexpected(command, answer)


def announce(entry: Entry) -> Flow[str | None]:
    answer = yield (command := Announce(entry))
    if answer is None or isinstance(answer, str):
        return answer
    raise _unexpected(command, answer)


def withdraw(entry_id: str) -> Flow[None]:
    answer = yield (command := Withdraw(entry_id))
    if answer is not None:
        raise _unexpected(command, answer)


def hold(entry: Entry) -> Flow[int | Failure]:
    answer = yield (command := Hold(entry))
    if isinstance(answer, int | Failure):
        return answer
    raise _unexpected(command, answer)


def _unexpected(command: Command, answer: Answer) -> TypeError:
    return TypeError(f"{type(command).__name__} was answered with {type(answer).__name__}")
