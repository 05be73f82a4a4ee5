"""What can never be stored is refused alike by every backend, and is no failure of it."""

import pytest

from langchain_semcache.errors import BackendError, ConfigurationError
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
from langchain_semcache.index.qdrant_server import QdrantServerIndex
from langchain_semcache.records import Selection
from langchain_semcache.testing.index_values import NOW, make_entry, unit
from tests.services.qdrant_http import QdrantService

AXIS = unit([1, 0, 0, 0])
HALF = "half \ud800"

IMPOSSIBLE = [
    *({field: HALF} for field in ("id", "scope", "partition", "fingerprint", "namespace")),
    *({field: HALF} for field in ("tenant", "model", "question")),
    *({field: None} for field in ("id", "scope", "tenant", "model", "question", "created_at")),
    *({"tags": tags} for tags in ((HALF,), (1,), (None,), ("good", b"bad"), None, "red", {"a"})),
    {"sources": ((HALF, "1"),)},
    {"sources": (("faq", HALF),)},
    {"sources": (("faq", 3),)},
    {"sources": ((3, "1"),)},
    {"sources": (("faq", None),)},
    {"sources": (("faq",),)},
    {"sources": ("faq",)},
    {"sources": {"faq": "1"}},
    {"payload": "text"},
    {"created_at": float("nan")},
    {"created_at": float("inf")},
    {"expires_at": float("nan")},
    {"expires_at": "tomorrow"},
]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    with QdrantService() as service:
        made = {
            "memory": MemoryIndex(4),
            "edge": QdrantEdgeIndex(tmp_path_factory.mktemp("refusals") / "store", dimension=4),
            "server": QdrantServerIndex(service.url, dimension=4),
        }
        for index in made.values():
            index.put(make_entry(1), AXIS)
        yield made
        for index in made.values():
            index.close()


@pytest.fixture(params=["memory", "edge", "server"])
def index(request, indexes):
    return indexes[request.param]


def untouched(index):
    (found,) = index.scan(Selection())
    (near,) = index.search("partition-a", AXIS, limit=5, now=NOW)
    return found == near.entry == index.fetch(make_entry(1).id, now=NOW) == make_entry(1)


def refused(caught):
    """One line that says which field, and no sign of an outage or of a wrong setting."""
    assert not isinstance(caught.value, BackendError | ConfigurationError)
    assert "\n" not in str(caught.value)
    str(caught.value).encode()
    return str(caught.value)


@pytest.mark.parametrize("change", IMPOSSIBLE, ids=ascii)
def test_it_is_refused_and_the_good_entry_stays(index, change):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is looked at below
        index.put(make_entry(1, **change), AXIS)
    assert next(iter(change)) in refused(caught)
    assert untouched(index)


async def test_the_event_loop_is_told_the_same(indexes):
    with pytest.raises(ValueError, match="question") as caught:
        await indexes["server"].aput(make_entry(1, question=HALF), AXIS)
    refused(caught)
    assert untouched(indexes["server"])


@pytest.mark.parametrize(
    "selection",
    [
        Selection(namespace=HALF),
        Selection(tenant=HALF),
        Selection(model=HALF),
        Selection(scope=HALF),
        Selection(source=HALF),
        Selection(tags=(HALF,)),
        Selection(ids=(HALF,)),
    ],
    ids=ascii,
)
def test_a_selection_of_what_cannot_be_there_matches_nothing(index, selection):
    assert list(index.scan(selection)) == []
    assert index.remove(selection, dry_run=True) == index.remove(selection) == 0
    assert index.trim(0, namespace=HALF, now=NOW) == 0
    assert untouched(index)
