"""What a Qdrant server returned, as entries; and the change of a single one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qdrant_client import QdrantClient, models

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.index import _server_schema, schema
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


def set_fields(
    client: QdrantClient,
    collection: str,
    values: Mapping[str, object],
    held: Sequence[schema.Condition],
) -> bool:
    """Change fields of the point that holds what is said, the point itself first; whether it did.

    The server does not say how many points a filter took, so the point is read afterwards.
    """
    point = next(one.points[0] for one in held if isinstance(one, schema.HasPoint))
    client.set_payload(collection, dict(values), points=_server_schema.all_of(held), wait=True)
    # A float may come back off by its last bit.
    after = {name: told for name, told in values.items() if not isinstance(told, float)}
    records = client.retrieve(collection, [point], list(after))
    return bool(records) and records[0].payload == after
