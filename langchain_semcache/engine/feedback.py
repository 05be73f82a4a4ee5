"""What users say of hits, kept beside the entries: the pairs that a calibration can learn from."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

from langchain_semcache.engine import asking
from langchain_semcache.engine.commands import Flow
from langchain_semcache.ports import EntryIndex
from langchain_semcache.records import BOOKS, Entry, Feedback, Selection

_ROOT = uuid.UUID("2d1b6d5c-9a53-5b0e-9c57-0f4d1d8a6c21")
_LABEL = "feedback"


def remember(said: Feedback, *, namespace: str, now: float) -> Flow[None]:
    """Keep one pair; the last word on a pair counts. Nothing happens when the index fails."""
    name = json.dumps([namespace, said.question, said.stored])
    record = {"a": said.question, "b": said.stored, "same": said.right}
    entry = Entry(
        id=str(uuid.uuid5(_ROOT, name)),
        scope=BOOKS,
        partition=BOOKS,
        fingerprint=_LABEL,
        namespace=BOOKS,
        tenant="",
        model="",
        question="",
        payload=json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass"),
        created_at=now,
        tags=(_tag(namespace),),
    )
    yield from asking.put(entry, None)


def recall(index: EntryIndex, namespace: str) -> Iterator[Feedback]:
    """All pairs of a namespace, in no particular order; unreadable ones are left out."""
    for entry in index.scan(Selection(namespace=BOOKS, tags=(_tag(namespace),))):
        try:
            record = json.loads(entry.payload)
            yield Feedback(str(record["a"]), str(record["b"]), bool(record["same"]))
        except (ValueError, TypeError, KeyError):
            continue


def _tag(namespace: str) -> str:
    return f"{_LABEL}:{namespace}"
