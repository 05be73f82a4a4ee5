"""Entries in a collection of a Qdrant server or cluster, shared by any number of processes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from qdrant_client import AsyncQdrantClient, QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from langchain_semcache.errors import (
    ConfigurationError,
    CorruptEntry,
    IndexUnavailable,
    SemcacheError,
)
from langchain_semcache.index import _server_schema, schema
from langchain_semcache.index._server_clients import Address, LoopClients
from langchain_semcache.index._server_records import as_old_as, candidates, fetched, set_fields
from langchain_semcache.ports import Vector
from langchain_semcache.records import Candidate, Entry, Selection

_SPARE: Final = 4  # asked for beyond the limit, in case a record cannot be read
_PAGE: Final = 256


class QdrantServerIndex:
    """An `EntryIndex` and `AsyncEntryIndex` over the network.

    The collection and its payload indexes are made on `open` when they are absent, and are never
    changed or dropped afterwards. A collection that something else made is refused.

    Args:
        url: `http://host:6333` or `https://…`.
        dimension: Length of the vectors.
        collection: Name of the collection.
        api_key: Key of the server.
        prefer_grpc: Talk gRPC, on `grpc_port`, where the client can.
        timeout_seconds: Bound of one call, rounded up to whole seconds.
        shard_number, replication_factor, write_consistency_factor: Of a new collection.
        client: Used instead of a client of our own, and never closed here.
        async_client: The same for the event loop; with `client` alone, a thread does async calls.
    """

    may_block = True

    def __init__(  # noqa: PLR0913 - a connection has that many settings; all but one by keyword
        self,
        url: str,
        *,
        dimension: int,
        collection: str = "semcache",
        api_key: str | None = None,
        prefer_grpc: bool = False,
        grpc_port: int = 6334,
        timeout_seconds: float | None = None,
        shard_number: int | None = None,
        replication_factor: int | None = None,
        write_consistency_factor: int | None = None,
        client: QdrantClient | None = None,
        async_client: AsyncQdrantClient | None = None,
    ) -> None:
        self._shown = _without_credentials(url)
        self._store = f"collection {collection} at {self._shown}"
        self._dimension = dimension
        self._collection = collection
        self._layout = (shard_number, replication_factor, write_consistency_factor)
        self._address = Address(
            url=url,
            api_key=api_key,
            prefer_grpc=prefer_grpc,
            grpc_port=grpc_port,
            timeout_seconds=timeout_seconds,
        )
        self._given = client
        self._given_async = async_client
        self._loops = LoopClients(self._address)
        self._opening = threading.Lock()
        self._client: QdrantClient | None = None
        self._ready = False
        self._closed = False

    def __repr__(self) -> str:
        return f"QdrantServerIndex({self._shown!r}, collection={self._collection!r})"

    def open(self) -> None:
        """Connect, make what is missing, and check what is there.

        Raises:
            IndexUnavailable: The server did not answer; the next call tries again.
            SchemaMismatch: The collection is not ours, or holds other vectors; it is untouched.
        """
        self._opened()

    def fetch(self, entry_id: str, *, now: float) -> Entry | None:
        """The live entry with this id.

        Raises:
            IndexUnavailable: The server did not answer.
            CorruptEntry: The record cannot be read.
        """
        client = self._opened()
        with self._mapped():
            records = client.retrieve(self._collection, [schema.point_id(entry_id)])
        return fetched(records, entry_id, now)

    def search(
        self, partition: str, vector: Vector, *, limit: int, now: float
    ) -> Sequence[Candidate]:
        """The live entries of this partition nearest to `vector`, best first.

        Raises:
            IndexUnavailable: The server did not answer.
        """
        if limit < 1:
            return []
        client = self._opened()
        with self._mapped():
            found = client.query_points(
                self._collection,
                query=vector.tolist(),
                using=schema.VECTOR,
                query_filter=_server_schema.all_of(schema.live(partition, now)),
                search_params=_server_schema.SEARCH,
                limit=limit + _SPARE,
            )
        return candidates(found.points, partition, limit, now)

    def put(self, entry: Entry, vector: Vector | None) -> None:
        """Insert or replace; returns once the server has applied it.

        Raises:
            ValueError: The entry can never be stored; see `EntryIndex.put`.
            IndexUnavailable: The server did not answer, or the vector has another length.
        """
        schema.require_storable(entry)
        self._check(vector)
        client = self._opened()
        with self._mapped():
            client.upsert(self._collection, [_server_schema.point(entry, vector)], wait=True)

    async def afetch(self, entry_id: str, *, now: float) -> Entry | None:
        """`fetch`, without blocking the event loop."""
        client = await self._opened_async()
        if client is None:
            return await asyncio.to_thread(self.fetch, entry_id, now=now)
        with self._mapped():
            records = await client.retrieve(self._collection, [schema.point_id(entry_id)])
        return fetched(records, entry_id, now)

    async def asearch(
        self, partition: str, vector: Vector, *, limit: int, now: float
    ) -> Sequence[Candidate]:
        """`search`, without blocking the event loop."""
        client = await self._opened_async()
        if client is None or limit < 1:
            return await asyncio.to_thread(self.search, partition, vector, limit=limit, now=now)
        with self._mapped():
            found = await client.query_points(
                self._collection,
                query=vector.tolist(),
                using=schema.VECTOR,
                query_filter=_server_schema.all_of(schema.live(partition, now)),
                search_params=_server_schema.SEARCH,
                limit=limit + _SPARE,
            )
        return candidates(found.points, partition, limit, now)

    async def aput(self, entry: Entry, vector: Vector | None) -> None:
        """`put`, without blocking the event loop."""
        schema.require_storable(entry)
        self._check(vector)
        client = await self._opened_async()
        if client is None:
            return await asyncio.to_thread(self.put, entry, vector)
        with self._mapped():
            await client.upsert(self._collection, [_server_schema.point(entry, vector)], wait=True)
        return None

    def rewrite(self, entry_id: str, *, expected: bytes, payload: bytes) -> bool:
        """Put `payload` in the place of `expected`, if the entry still holds that.

        Raises:
            IndexUnavailable: The server did not answer.
        """
        now = {schema.FIELD_RESPONSE: schema.response_text(payload)}
        held = schema.holding(schema.point_id(entry_id), expected)
        client = self._opened()
        with self._mapped():
            return set_fields(client, self._collection, now, held)

    def amend(self, entry: Entry) -> bool:
        """Give a stored entry this one's end and assessment, if it still holds its payload.

        Raises:
            IndexUnavailable: The server did not answer.
        """
        schema.require_storable(entry)
        held = schema.holding(schema.point_id(entry.id), entry.payload, entry.created_at)
        client = self._opened()
        with self._mapped():
            return set_fields(client, self._collection, schema.amendment(entry), held)

    def remove(self, selection: Selection, *, dry_run: bool = False) -> int:
        """Remove what matches, or only count it; the count precedes the removal.

        Raises:
            IndexUnavailable: The server did not answer.
        """
        client = self._opened()
        try:
            return self._remove(client, schema.conditions(selection), dry_run=dry_run)
        except IndexUnavailable:
            if self._ready:
                raise
            self._opened()
            return 0  # the collection was dropped by somebody else, and everything in it

    def scan(self, selection: Selection) -> Iterator[Entry]:
        """Every entry that matches; unreadable records are left out.

        Raises:
            IndexUnavailable: The server did not answer.
        """
        client = self._opened()
        wanted = _server_schema.all_of(schema.conditions(selection))
        offset: models.ExtendedPointId | None = None
        while True:
            with self._mapped():
                records, offset = client.scroll(
                    self._collection, scroll_filter=wanted, limit=_PAGE, offset=offset
                )
            for record in records:
                try:
                    yield schema.from_payload(record.payload)
                except CorruptEntry:
                    continue
            if offset is None:
                return

    def trim(self, max_entries: int, *, namespace: str, now: float) -> int:
        """Remove expired entries of a namespace, then its oldest ones, down to `max_entries`.

        Raises:
            IndexUnavailable: The server did not answer.
        """
        removed = self.remove(Selection(namespace=namespace, expired_at=now))
        client = self._opened()
        mine = schema.conditions(Selection(namespace=namespace))
        wanted = _server_schema.all_of(mine)
        while True:
            with self._mapped():
                count = client.count(self._collection, count_filter=wanted, exact=True).count
                surplus = count - max(0, max_entries)
                if surplus < 1:
                    return removed
                oldest, _ = client.scroll(
                    self._collection,
                    scroll_filter=wanted,
                    limit=min(surplus, _PAGE),
                    order_by=schema.FIELD_CREATED_AT,
                    with_payload=[schema.FIELD_CREATED_AT],
                )
            going = self._remove(client, (*mine, *as_old_as(oldest))) if oldest else 0
            removed += going
            if not going:
                return removed

    def describe(self) -> dict[str, str | int | float | bool | None]:
        """Backend, address without credentials, and what the server says of the collection."""
        client = self._opened()
        with self._mapped():
            info = client.get_collection(self._collection)
        return {
            "backend": "qdrant-server",
            "url": self._shown,
            "collection": self._collection,
            "dimension": self._dimension,
            "points": info.points_count,
            "indexed": info.indexed_vectors_count,
            "status": str(info.status.value),
        }

    def close(self) -> None:
        """Close the connections that were opened here. Closing twice is harmless."""
        with self._opening:
            self._closed, self._ready = True, False
            client, self._client = self._client, None
        self._loops.forget()
        if client is not None and client is not self._given:
            client.close()

    def _remove(
        self,
        client: QdrantClient,
        conditions: Sequence[schema.Condition],
        *,
        dry_run: bool = False,
    ) -> int:
        wanted = _server_schema.all_of(conditions)
        with self._mapped():
            count = client.count(self._collection, count_filter=wanted, exact=True).count
            if count and not dry_run:
                selector = models.FilterSelector(filter=wanted)
                client.delete(self._collection, points_selector=selector, wait=True)
        return count

    def _opened(self) -> QdrantClient:
        client = self._client
        if self._ready and client is not None:
            return client
        with self._opening:
            if self._closed:
                raise IndexUnavailable(f"the index on {self._store} is closed")
            if self._client is None:
                self._client = self._given or self._address.client()
            if not self._ready:
                self._prepare(self._client)
                self._ready = True
            return self._client

    async def _opened_async(self) -> AsyncQdrantClient | None:
        """The running loop's client, or None when a thread has to do."""
        if not self._ready:
            await asyncio.to_thread(self._opened)
        if self._given_async is not None:
            return self._given_async
        return None if self._given is not None else await self._loops.current()

    def _prepare(self, client: QdrantClient) -> None:
        with self._mapped():
            if not client.collection_exists(self._collection):
                self._create(client)
            info = client.get_collection(self._collection)
            _server_schema.check(info, store=self._store, dimension=self._dimension)
            for field, params in _server_schema.indexes().items():
                if field not in info.payload_schema:
                    client.create_payload_index(self._collection, field, params, wait=True)

    def _create(self, client: QdrantClient) -> None:
        shards, replicas, consistency = self._layout
        try:
            client.create_collection(
                self._collection,
                vectors_config=_server_schema.vectors(self._dimension),
                shard_number=shards,
                replication_factor=replicas,
                write_consistency_factor=consistency,
                metadata={_server_schema.MARK: schema.FORMAT},
            )
        except Exception:
            # Another process may have been faster; what it made is checked like any other.
            if not client.collection_exists(self._collection):
                raise

    def _check(self, vector: Vector | None) -> None:
        if vector is not None and vector.shape != (self._dimension,):
            raise IndexUnavailable(
                f"a vector of shape {vector.shape} does not fit an index of {self._dimension}"
            )

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        """Turn whatever the client raises into `IndexUnavailable`, without its credentials."""
        try:
            yield
        except SemcacheError:
            raise
        except Exception as error:  # httpx, pydantic, grpc and the client raise their own trees
            if isinstance(error, UnexpectedResponse) and error.status_code == HTTPStatus.NOT_FOUND:
                self._ready = False  # somebody dropped the collection: the next call makes it again
            raise IndexUnavailable(f"{self._store} did not answer ({_brief(error)})") from error


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        shown = url.rpartition("@")[2]
        raise ConfigurationError(f"url {shown!r} is no server; it looks like 'http://host:6333'")
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _brief(error: Exception) -> str:
    """What went wrong in a few words; never the text of the error, which may hold the address."""
    if isinstance(error, UnexpectedResponse):
        return f"HTTP {error.status_code} {error.reason_phrase}"
    if isinstance(error, ResponseHandlingException):
        return type(error.source).__name__
    return type(error).__name__
