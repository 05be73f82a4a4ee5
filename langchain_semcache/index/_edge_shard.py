"""What an Edge shard of ours looks like, and how our conditions and points look to the engine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import qdrant_edge as edge

from langchain_semcache.index import schema
from langchain_semcache.index._edge_panic import panics_caught
from langchain_semcache.ports import Vector
from langchain_semcache.records import Entry

FULL_SCAN_BELOW: Final = 2_000
"""A partition with fewer entries is read in full: that is faster than a graph, and exact."""

_LINKS_PER_NODE: Final = 16
_BUILD_BREADTH: Final = 100
SEARCH_BREADTH: Final = 128
"""Candidates kept while a graph is walked; more find more and take longer."""

_SEARCH_THREADS: Final = 1
"""One segment is one piece of work. Handing it to a pool of more threads took 0.30 ms where this
takes 0.16 (10,000 entries, two cores), and concurrent searches were no faster for it."""

_NO_VACUUM: Final = 1_000_000_000  # old points go when the next generation is built


@panics_caught()
def create(path: Path, dimension: int) -> edge.EdgeShard:
    """A new shard with every payload index; indexes made later would have to read all points."""
    shard = edge.EdgeShard.create(str(path), _config(dimension))
    for field, kind in schema.INDEXES.items():
        shard.update(edge.UpdateOperation.create_field_index(field, _index(kind)))
    return shard


@panics_caught()
def load(path: Path, dimension: int) -> edge.EdgeShard:
    """An existing shard."""
    return edge.EdgeShard.load(str(path), _config(dimension))


def point(entry: Entry, vector: Vector | None) -> edge.Point:
    """An entry as a point; without a vector no search finds it."""
    vectors = {} if vector is None else {schema.VECTOR: vector.tolist()}
    return edge.Point(schema.point_id(entry.id), vectors, schema.to_payload(entry))


def all_of(conditions: Iterable[schema.Condition]) -> edge.Filter:
    """A filter that requires every condition."""
    return edge.Filter(must=[_condition(condition) for condition in conditions])


def _condition(
    condition: schema.Condition,
) -> edge.FieldCondition | edge.HasIdCondition | edge.Filter:
    match condition:
        case schema.Matches(field, value):
            return edge.FieldCondition(field, match=edge.MatchValue(value))
        case schema.Above(field, bound):
            return edge.FieldCondition(field, range=edge.RangeFloat(gt=bound))
        case schema.Below(field, bound, inclusive=True):
            return edge.FieldCondition(field, range=edge.RangeFloat(lte=bound))
        case schema.Below(field, bound):
            return edge.FieldCondition(field, range=edge.RangeFloat(lt=bound))
        case schema.HasPoint(points):
            return edge.HasIdCondition(set(points))
        case schema.UsedOtherwise(source, digests):
            return _used_otherwise(source, digests)


def _used_otherwise(source: str, digests: Iterable[str]) -> edge.Filter:
    others = edge.MatchExcept(list(digests))
    name = edge.FieldCondition(schema.SOURCE_NAME, match=edge.MatchValue(source))
    digest = edge.FieldCondition(schema.SOURCE_DIGEST, match=others)
    older: list[edge.IsEmptyCondition | edge.FieldCondition] = [
        edge.IsEmptyCondition(schema.FIELD_SOURCES),
        edge.FieldCondition(schema.FIELD_SOURCE_DIGESTS, match=others),
    ]
    return edge.Filter(
        should=[
            edge.NestedCondition(schema.FIELD_SOURCES, edge.Filter(must=[name, digest])),
            edge.Filter(must=[*older]),
        ]
    )


def _index(kind: schema.Indexed) -> edge.KeywordIndexParams | edge.FloatIndexParams:
    match kind:
        case schema.Indexed.PARTITION:
            return edge.KeywordIndexParams(is_tenant=True, enable_hnsw=True)
        case schema.Indexed.KEYWORD:
            return edge.KeywordIndexParams(enable_hnsw=False)
        case schema.Indexed.FLOAT:
            return edge.FloatIndexParams(enable_hnsw=False)


def _config(dimension: int) -> edge.EdgeConfig:
    """One segment and one graph per partition: a search never leaves its partition."""
    return edge.EdgeConfig(
        vectors={schema.VECTOR: edge.EdgeVectorParams(dimension, edge.Distance.Dot)},
        hnsw_config=edge.HnswIndexConfig(
            m=0,
            payload_m=_LINKS_PER_NODE,
            ef_construct=_BUILD_BREADTH,
            full_scan_threshold=max(1, FULL_SCAN_BELOW * dimension * 4 // 1024),  # in KiB
            max_indexing_threads=1,
        ),
        optimizers=edge.EdgeOptimizersConfig(
            default_segment_number=1,
            indexing_threshold=1,
            vacuum_min_vector_number=_NO_VACUUM,
        ),
        max_search_threads=_SEARCH_THREADS,
        # Loads payloads with the shard. Otherwise the first reader of each waits for the disk: 0.8
        # instead of 0.2 ms a search, right after a new generation has taken over.
        payload_memory=edge.Memory.Cached,
    )
