"""What a Qdrant server returned, as entries."""

from __future__ import annotations

from collections.abc import Sequence

from qdrant_client import models

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.index import schema
from langchain_semcache.records import Candidate, Entry


def fetched(records: Sequence[models.Record], entry_id: str, now: float) -> Entry | None:
    """The live entry with this id among the records, if it is there."""
    if not records:
        return None
    entry = schema.from_payload(records[0].payload, entry_id=entry_id)
    return entry if schema.is_live(entry, now) and entry.id == entry_id else None


def candidates(
    points: Sequence[models.ScoredPoint], partition: str, limit: int, now: float
) -> list[Candidate]:
    """The live entries of the partition among the points; unreadable ones are left out."""
    found: list[Candidate] = []
    for point in points:
        try:
            entry = schema.from_payload(point.payload)
        except CorruptEntry:
            continue
        if schema.is_live(entry, now) and entry.partition == partition:
            found.append(Candidate(entry, schema.similarity(point.score)))
    return found[:limit]


def as_old_as(oldest: Sequence[models.Record]) -> tuple[schema.Condition, ...]:
    """These points, unless one was replaced by a younger entry meanwhile."""
    times = [(record.payload or {}).get(schema.FIELD_CREATED_AT) for record in oldest]
    youngest = max(float(time) for time in times if isinstance(time, int | float))
    return (
        schema.HasPoint(tuple(str(record.id) for record in oldest)),
        schema.Below(schema.FIELD_CREATED_AT, youngest, inclusive=True),
    )
