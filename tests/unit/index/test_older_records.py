"""Records from before names and digests of sources were stored as pairs."""

import uuid

import pytest
import qdrant_edge as edge
from qdrant_client import QdrantClient, models

from langchain_semcache.index import _edge_shard, _server_schema, schema
from langchain_semcache.records import Selection
from langchain_semcache.testing.index_values import make_entry

SOURCES = [
    (("faq.md", "1"),),
    (("faq.md", "2"),),
    (("terms.md", "2"),),
    (("faq.md", "1"), ("terms.md", "1")),
    (("faq.md", "1"), ("terms.md", "2")),
]


def older(number):
    """The payload of an entry as it was written before."""
    payload = schema.to_payload(make_entry(number, sources=SOURCES[number]))
    del payload[schema.FIELD_SOURCES]
    return payload


@pytest.mark.parametrize("number", range(len(SOURCES)))
def test_they_are_read_as_ever(number):
    assert schema.from_payload(older(number)).sources == SOURCES[number]


def server(path, conditions):
    client = QdrantClient(":memory:")
    client.create_collection("c", vectors_config=_server_schema.vectors(4))
    points = [
        models.PointStruct(id=str(uuid.UUID(int=n + 1)), vector={}, payload=older(n))
        for n in range(len(SOURCES))
    ]
    client.upsert("c", points)
    return client.scroll("c", scroll_filter=_server_schema.all_of(conditions))[0]


def embedded(path, conditions):
    shard = _edge_shard.create(path, 4)
    for n in range(len(SOURCES)):
        point = edge.Point(str(uuid.UUID(int=n + 1)), {}, older(n))
        shard.update(edge.UpdateOperation.upsert_points([point]))
    request = edge.ScrollRequest(limit=10, filter=_edge_shard.all_of(conditions))
    return shard.scroll(request)[0]


@pytest.mark.parametrize("backend", [server, embedded])
def test_a_change_takes_all_that_may_rest_on_old_content(tmp_path, backend):
    """The last one rests on two sources, and its record does not tell which is at which version:
    an answer too many goes, never one too few."""
    (tmp_path / "shard").mkdir()
    conditions = schema.conditions(Selection(source="faq.md", current=("1",)))
    found = backend(tmp_path / "shard", conditions)
    assert {schema.from_payload(record.payload).sources for record in found} == {
        SOURCES[1],
        SOURCES[4],
    }
