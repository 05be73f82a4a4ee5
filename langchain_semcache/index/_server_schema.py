"""What a collection of ours looks like, and how our conditions look to a Qdrant server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from qdrant_client import models

from langchain_semcache.errors import SchemaMismatch
from langchain_semcache.index import schema
from langchain_semcache.ports import Vector
from langchain_semcache.records import Entry

MARK: Final = "langchain-semcache"
"""Key in the collection's metadata; its value is the payload format."""

_GRAPHS: Final = models.HnswConfigDiff(m=0, payload_m=16, ef_construct=100)
"""One graph per partition and none over all: a search never leaves its partition."""

SEARCH: Final = models.SearchParams(hnsw_ef=128)

Index = models.KeywordIndexParams | models.FloatIndexParams


def vectors(dimension: int) -> dict[str, models.VectorParams]:
    """The vectors of a new collection."""
    params = models.VectorParams(size=dimension, distance=models.Distance.DOT, hnsw_config=_GRAPHS)
    return {schema.VECTOR: params}


def indexes() -> dict[str, Index]:
    """The payload indexes of a collection."""
    return {field: _index(kind) for field, kind in schema.INDEXES.items()}


def check(info: models.CollectionInfo, *, store: str, dimension: int) -> None:
    """Refuse a collection that this package did not make, or made for other vectors.

    Raises:
        SchemaMismatch: Names what was found and what is needed.
    """
    params = info.config.params.vectors
    named = params if isinstance(params, dict) else {}
    vector = named.get(schema.VECTOR)
    if vector is None:
        found = sorted(named) or "one without a name"
        raise SchemaMismatch(store, "vectors", found, f"one named {schema.VECTOR!r}")
    if vector.size != dimension:
        raise SchemaMismatch(store, "vectors of dimension", vector.size, dimension)
    if vector.distance != models.Distance.DOT:
        raise SchemaMismatch(store, "distance", vector.distance, models.Distance.DOT.value)
    mark = (info.config.metadata or {}).get(MARK)
    if mark != schema.FORMAT:
        wanted = f"{schema.FORMAT} (set by this package, on Qdrant 1.16 or newer)"
        raise SchemaMismatch(store, f"metadata {MARK!r}", mark, wanted)


def point(entry: Entry, vector: Vector | None) -> models.PointStruct:
    """An entry as a point; without a vector no search finds it."""
    named: dict[str, models.Vector] = {} if vector is None else {schema.VECTOR: vector.tolist()}
    return models.PointStruct(
        id=schema.point_id(entry.id), vector=named, payload=schema.to_payload(entry)
    )


def all_of(conditions: Iterable[schema.Condition]) -> models.Filter:
    """A filter that requires every condition."""
    return models.Filter(must=[_condition(condition) for condition in conditions])


def _condition(condition: schema.Condition) -> models.Condition:
    match condition:
        case schema.Matches(field, value):
            return models.FieldCondition(key=field, match=models.MatchValue(value=value))
        case schema.Above(field, bound):
            return models.FieldCondition(key=field, range=models.Range(gt=bound))
        case schema.Below(field, bound, inclusive=True):
            return models.FieldCondition(key=field, range=models.Range(lte=bound))
        case schema.Below(field, bound):
            return models.FieldCondition(key=field, range=models.Range(lt=bound))
        case schema.HasPoint(points):
            return models.HasIdCondition(has_id=list(points))
        case schema.UsedOtherwise(source, digests):
            return _used_otherwise(source, digests)


def _used_otherwise(source: str, digests: Iterable[str]) -> models.Filter:
    others = models.MatchExcept(**{"except": list(digests)})
    name = models.FieldCondition(key=schema.SOURCE_NAME, match=models.MatchValue(value=source))
    digest = models.FieldCondition(key=schema.SOURCE_DIGEST, match=others)
    pair = models.Nested(key=schema.FIELD_SOURCES, filter=models.Filter(must=[name, digest]))
    older = [
        models.IsEmptyCondition(is_empty=models.PayloadField(key=schema.FIELD_SOURCES)),
        models.FieldCondition(key=schema.FIELD_SOURCE_DIGESTS, match=others),
    ]
    return models.Filter(should=[models.NestedCondition(nested=pair), models.Filter(must=older)])


def _index(kind: schema.Indexed) -> Index:
    match kind:
        case schema.Indexed.PARTITION:
            return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        case schema.Indexed.KEYWORD:
            return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
        case schema.Indexed.FLOAT:
            return models.FloatIndexParams(type=models.FloatIndexType.FLOAT)
