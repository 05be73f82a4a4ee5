"""What a server backend must do when the network, the server or the collection is not as hoped.

On the far side of a real socket is a stand-in, see `tests/services/qdrant_http.py`.
"""

import asyncio
import socket
import threading

import grpc
import pytest
from qdrant_client import AsyncQdrantClient, QdrantClient, models

from langchain_semcache.errors import ConfigurationError, IndexUnavailable, SchemaMismatch
from langchain_semcache.index._server_clients import Address
from langchain_semcache.index.qdrant_server import QdrantServerIndex
from langchain_semcache.ports import AsyncEntryIndex, BlockingPort
from langchain_semcache.records import Selection
from langchain_semcache.testing.index_values import NOW, make_entry, unit
from tests.services.qdrant_http import Fault, QdrantService

AXIS = unit([1, 0, 0, 0])


@pytest.fixture
def service():
    with QdrantService() as service:
        yield service


@pytest.fixture
def open_index(service):
    opened = []

    def make(url=service.url, dimension=4, timeout_seconds=10, **settings):
        # Long enough for a machine that does other things as well.
        index = QdrantServerIndex(
            url, dimension=dimension, timeout_seconds=timeout_seconds, **settings
        )
        opened.append(index)
        return index

    yield make
    for index in opened:
        index.close()


def calls(index):
    return {
        "fetch": lambda: index.fetch("x", now=NOW),
        "search": lambda: index.search("p", AXIS, limit=1, now=NOW),
        "put": lambda: index.put(make_entry(1), AXIS),
        "remove": lambda: index.remove(Selection()),
        "scan": lambda: list(index.scan(Selection())),
        "trim": lambda: index.trim(0, namespace="", now=NOW),
        "describe": index.describe,
    }


def test_constructing_calls_nobody(service, open_index):
    open_index()
    assert service.calls == []


def test_it_speaks_to_the_event_loop_and_says_that_it_may_block(open_index):
    index = open_index()
    assert isinstance(index, AsyncEntryIndex)
    assert isinstance(index, BlockingPort)
    assert index.may_block is True


def test_opening_makes_the_collection_with_its_indexes_once(service, open_index):
    open_index().open()
    made = [call for call in service.calls if call.startswith("PUT")]
    assert made.count("PUT /collections/semcache") == 1
    assert made.count("PUT /collections/semcache/index") == 9
    service.calls.clear()
    open_index().open()
    assert [call for call in service.calls if call.startswith("PUT")] == []


def test_many_may_open_at_once(service, open_index):
    problems, start = [], threading.Barrier(6)

    def work(number):
        try:
            index = open_index()
            start.wait()
            index.put(make_entry(number), AXIS)
        except Exception as error:  # noqa: BLE001 - reported by the test's own thread
            problems.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(list(open_index().scan(Selection()))) == 6


NAMED = {"q": models.VectorParams(size=4, distance=models.Distance.DOT)}
MARK = {"langchain-semcache": 2}


@pytest.mark.parametrize(
    ("vectors", "metadata", "message"),
    [
        (NAMED["q"], MARK, "one without a name"),
        ({"text": NAMED["q"]}, MARK, "vectors \\['text'\\]"),
        ({"q": models.VectorParams(size=8, distance="Dot")}, MARK, "dimension 8.* needs 4"),
        ({"q": models.VectorParams(size=4, distance="Euclid")}, MARK, "Euclid.* needs Dot"),
        (NAMED, None, "'langchain-semcache' None"),
        (NAMED, {"langchain-semcache": 99}, "99"),
    ],
)
def test_a_collection_that_is_not_ours_is_refused_and_left_alone(
    service, open_index, vectors, metadata, message
):
    service.client.create_collection("semcache", vectors_config=vectors, metadata=metadata)
    with pytest.raises(SchemaMismatch, match=message) as caught:
        open_index().open()
    assert service.url in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not [call for call in service.calls if not call.startswith("GET")]


def test_clearing_leaves_the_collection_and_other_namespaces(service, open_index):
    index = open_index()
    index.put(make_entry(1, namespace="a"), AXIS)
    index.put(make_entry(2, namespace="b"), AXIS)
    assert index.remove(Selection(namespace="a")) == 1
    assert [entry.namespace for entry in index.scan(Selection())] == ["b"]
    index.remove(Selection())
    assert service.client.collection_exists("semcache")
    index.put(make_entry(1), AXIS)
    assert not [call for call in service.calls if call.startswith("DELETE")]


@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", 500),
        Fault("status", 503),
        Fault("status", 401),
        Fault("status", 404),
        Fault("status", 429),
        Fault("drop"),
        Fault("garbage"),
    ],
    ids=str,
)
def test_every_failure_is_one_error_and_passes(service, open_index, fault):
    index = open_index()
    index.put(make_entry(1), AXIS)
    service.fault = fault
    for call in calls(index).values():
        with pytest.raises(IndexUnavailable, match="collection semcache at http") as caught:
            call()
        assert caught.value.__cause__ is not None
    service.fault = None
    assert index.fetch(make_entry(1).id, now=NOW) == make_entry(1)


def test_a_hanging_server_is_left_after_the_timeout(service, open_index):
    index = open_index(timeout_seconds=1)
    index.open()
    service.fault = Fault("hang")
    with pytest.raises(IndexUnavailable, match="Timeout"):
        index.fetch("x", now=NOW)


def test_reads_go_on_when_only_writes_fail(service, open_index):
    index = open_index()
    index.put(make_entry(1), AXIS)
    service.fault = Fault("status", 500, writes_only=True)
    assert index.fetch(make_entry(1).id, now=NOW) == make_entry(1)
    assert len(index.search("partition-a", AXIS, limit=1, now=NOW)) == 1
    for write in ("put", "remove", "trim"):
        with pytest.raises(IndexUnavailable):
            calls(index)[write]()


def test_a_collection_dropped_meanwhile_is_a_failure_once_and_made_again(service, open_index):
    index = open_index()
    for name, call in calls(index).items():
        index.put(make_entry(1), AXIS)
        service.client.delete_collection("semcache")
        if name in ("remove", "trim"):
            assert call() == 0, name
        else:
            with pytest.raises(IndexUnavailable, match="404"):
                call()
        assert index.fetch(make_entry(1).id, now=NOW) is None
        index.put(make_entry(2), AXIS)
        assert index.fetch(make_entry(2).id, now=NOW) == make_entry(2)


def test_an_absent_server_is_named_and_can_appear_later(service, open_index):
    port = service.server.server_port
    service.__exit__()
    index = open_index()
    with pytest.raises(IndexUnavailable, match=f"http://127.0.0.1:{port}") as caught:
        index.open()
    assert "\n" not in str(caught.value)
    with QdrantService(port=port):
        index.put(make_entry(1), AXIS)
        assert index.fetch(make_entry(1).id, now=NOW) == make_entry(1)


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_credentials_show_nowhere(service):
    with QdrantService(api_key="sk-right") as guarded:
        url = guarded.url.replace("http://", "http://user:hunter2@")
        index = QdrantServerIndex(url, dimension=4, api_key="sk-secret", timeout_seconds=1)
        with pytest.raises(IndexUnavailable, match="401") as caught:
            index.open()
        index.close()
        right = QdrantServerIndex(url, dimension=4, api_key="sk-right")
        right.open()
        shown = f"{caught.value} {index!r} {right!r} {right.describe()} {right._address!r}"
        right.close()
    for secret in ("sk-secret", "sk-right", "hunter2"):
        assert secret not in shown


@pytest.mark.parametrize("url", ["qdrant:6333", "ftp://u:hunter2@host", "http://", "", "./dir"])
def test_what_is_no_url_is_refused_at_once(url):
    with pytest.raises(ConfigurationError) as caught:
        QdrantServerIndex(url, dimension=4)
    assert "hunter2" not in str(caught.value)


def test_a_client_passed_in_is_used_and_left_open(service, open_index):
    client = QdrantClient(url=service.url, check_compatibility=False)
    index = open_index(client=client)
    index.put(make_entry(1), AXIS)
    assert asyncio.run(index.afetch(make_entry(1).id, now=NOW)) == make_entry(1)
    index.close()
    assert client.count("semcache").count == 1
    client.close()


async def test_an_async_client_passed_in_is_used_and_left_open(service, open_index):
    client = AsyncQdrantClient(url=service.url, check_compatibility=False)
    index = open_index(async_client=client)
    await index.aput(make_entry(1), AXIS)
    assert (await client.count("semcache")).count == 1
    await client.close()


def test_after_close_it_says_so(open_index):
    index = open_index()
    index.open()
    index.close()
    index.close()
    for call in calls(index).values():
        with pytest.raises(IndexUnavailable, match="closed"):
            call()


def test_one_index_serves_several_event_loops(open_index):
    index = open_index()

    async def use(number):
        await index.aput(make_entry(number), AXIS)
        found = await index.asearch("partition-a", AXIS, limit=9, now=NOW)
        return await index.afetch(make_entry(number).id, now=NOW), len(found)

    results = [asyncio.run(use(number)) for number in range(3)]
    assert results == [(make_entry(n), n + 1) for n in range(3)]
    other = []
    thread = threading.Thread(target=lambda: other.append(asyncio.run(use(3))))
    thread.start()
    thread.join()
    assert other == [(make_entry(3), 4)]
    assert index.fetch(make_entry(0).id, now=NOW) == make_entry(0)


async def test_the_loop_runs_on_and_a_cancelled_call_leaves_no_trace(service, open_index):
    index = open_index(timeout_seconds=1)
    await index.aput(make_entry(1), AXIS)
    service.fault = Fault("hang")
    task = asyncio.create_task(index.asearch("partition-a", AXIS, limit=1, now=NOW))
    ticks = 0
    while ticks < 20:
        await asyncio.sleep(0)
        ticks += 1
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    service.fault = None
    assert len(await index.asearch("partition-a", AXIS, limit=1, now=NOW)) == 1


@pytest.mark.parametrize("fault", [Fault("status", 500), Fault("drop"), Fault("garbage")], ids=str)
async def test_async_failures_are_the_same_error(service, open_index, fault):
    index = open_index()
    await index.aput(make_entry(1), AXIS)
    service.fault = fault
    for call in (
        index.afetch("x", now=NOW),
        index.asearch("p", AXIS, limit=1, now=NOW),
        index.aput(make_entry(1), AXIS),
    ):
        with pytest.raises(IndexUnavailable, match="collection semcache at http"):
            await call


async def test_concurrent_async_calls_share_the_loop(open_index):
    index = open_index()
    await asyncio.gather(*(index.aput(make_entry(n), AXIS) for n in range(30)))
    fetched = await asyncio.gather(*(index.afetch(make_entry(n).id, now=NOW) for n in range(30)))
    assert fetched == [make_entry(n) for n in range(30)]


def test_layout_settings_reach_the_server(service, open_index, monkeypatch):
    bodies = []
    original = service._create
    monkeypatch.setattr(service, "_create", lambda n, b: bodies.append(b) or original(n, b))
    open_index(shard_number=3, replication_factor=2, write_consistency_factor=2).open()
    asked = models.CreateCollection.model_validate_json(bodies[0])
    assert (asked.shard_number, asked.replication_factor) == (3, 2)
    assert asked.write_consistency_factor == 2
    assert asked.metadata == MARK
    assert asked.vectors["q"].hnsw_config.payload_m == 16


@pytest.fixture
def grpc_port():
    """A port where whatever connects is read once and turned away; see `received`."""
    received = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                received.append(connection.recv(24))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1], received
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def test_with_grpc_the_client_calls_the_grpc_port(service, open_index, grpc_port):
    port, received = grpc_port
    with pytest.raises(IndexUnavailable):
        open_index(timeout_seconds=1, prefer_grpc=True, grpc_port=port).open()
    assert received[0] == HTTP2
    assert service.calls == []


async def test_with_grpc_the_client_of_a_loop_calls_the_grpc_port(service, grpc_port):
    port, received = grpc_port
    address = Address(url=service.url, prefer_grpc=True, grpc_port=port, timeout_seconds=1)
    client = address.async_client()
    with pytest.raises(grpc.RpcError):
        await client.get_collections()
    await client.close()
    assert received[0] == HTTP2
    assert service.calls == []


def test_without_grpc_nobody_calls_the_grpc_port(service, open_index, grpc_port):
    port, received = grpc_port
    open_index(grpc_port=port).open()
    assert received == []
    assert service.calls
