"""Stands in for a Qdrant server: the client library's local mode behind real HTTP on loopback.

It is not a Qdrant server. It answers the REST routes that `QdrantServerIndex` calls through the
real client, over real sockets, with the local mode's Python implementation of filters and search,
behind one lock. It knows no gRPC, no sharding, no graphs and no payload indexes (it only remembers
that they were made). It can be told to fail in the ways a server and a network fail.

In a test::

    with QdrantService() as service:
        client = QdrantClient(url=service.url)
        service.fault = Fault("status", status=500, writes_only=True)

As a process, which prints its URL and runs until it is killed::

    python tests/services/qdrant_http.py [--port N] [--path DIRECTORY]

where `PUT /_fault` with `{"kind": "status", "status": 500}` sets a fault and `DELETE /_fault`
clears it.
"""

from __future__ import annotations

import argparse
import json
import threading
import warnings
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, TypeAdapter
from qdrant_client import QdrantClient, models


@dataclass(frozen=True)
class Fault:
    """How calls fail: `status` (an HTTP error), `hang` (no answer until the fault is cleared),
    `drop` (the connection is closed without an answer), `garbage` (an answer that is not JSON)."""

    kind: str
    status: int = 500
    writes_only: bool = False


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class QdrantService:
    """The stand-in, serving between `__enter__` and `__exit__`."""

    def __init__(self, *, port: int = 0, path: str | None = None, api_key: str | None = None):
        self._path, self._api_key = path, api_key
        self._lock = threading.Lock()
        self._cleared = threading.Event()
        self._fault: Fault | None = None
        self.schemas: dict[str, dict[str, Any]] = {}
        self.calls: list[str] = []
        self.server = _Server(("127.0.0.1", port), partial(_Handler, self))
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Self:
        self.client = QdrantClient(path=self._path) if self._path else QdrantClient(":memory:")
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.fault = None
        self.server.shutdown()
        self.server.server_close()
        with self._lock:
            self.client.close()

    @property
    def fault(self) -> Fault | None:
        return self._fault

    @fault.setter
    def fault(self, fault: Fault | None) -> None:
        self._cleared.set()
        self._cleared = threading.Event()
        self._fault = fault

    def active_fault(self, *, write: bool) -> Fault | None:
        fault = self._fault
        if fault is None or (fault.writes_only and not write):
            return None
        if fault.kind == "hang":
            self._cleared.wait(60)
        return fault

    def call(self, method: str, path: str, body: bytes, api_key: str | None) -> object:
        """The `result` of a call."""
        self.calls.append(f"{method} {path}")
        if self._api_key is not None and api_key != self._api_key:
            raise _Refused(401, "Must provide an API key")
        parts = [part for part in path.split("/") if part]
        if not parts:
            return {"title": "qdrant - stand-in", "version": "1.16.0"}
        if parts[0] != "collections":
            raise _Refused(404, "no such route")
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the local mode warns about indexes it lacks
            return self._collections(method, parts[1:], body)

    def _collections(self, method: str, parts: list[str], body: bytes) -> object:
        match method, parts:
            case "GET", []:
                return self.client.get_collections()
            case "GET", [name, "exists"]:
                return {"exists": self.client.collection_exists(name)}
            case "PUT", [name]:
                return self._create(name, body)
            case "DELETE", [name]:
                self.schemas.pop(name, None)
                return self.client.delete_collection(name)
        name = parts[0]
        if not self.client.collection_exists(name):
            raise _Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        match method, parts[1:]:
            case "GET", []:
                info = self.client.get_collection(name).model_dump(mode="json")
                return {**info, "payload_schema": self.schemas.get(name, {})}
            case "PUT", ["index"]:
                return self._index(name, body)
            case _, ["points", *rest]:
                return self._points(method, name, rest, body)
        raise _Refused(404, "no such route")

    def _create(self, name: str, body: bytes) -> bool:
        if self.client.collection_exists(name):
            raise _Refused(409, f"Wrong input: Collection `{name}` already exists!")
        wanted = models.CreateCollection.model_validate_json(body)
        return self.client.create_collection(
            name, vectors_config=wanted.vectors, metadata=wanted.metadata
        )

    def _index(self, name: str, body: bytes) -> object:
        wanted = models.CreateFieldIndex.model_validate_json(body)
        schema = wanted.field_schema
        kind = schema if isinstance(schema, str) else getattr(schema, "type", "keyword")
        kind = getattr(kind, "value", kind)
        self.schemas.setdefault(name, {})[wanted.field_name] = {"data_type": kind, "points": 0}
        return {"operation_id": 0, "status": "completed"}

    def _points(self, method: str, name: str, rest: list[str], body: bytes) -> object:
        match method, rest:
            case "PUT", []:
                wanted = models.PointsList.model_validate_json(body)
                return self.client.upsert(name, wanted.points)
            case "POST", []:
                asked = models.PointRequest.model_validate_json(body)
                return self.client.retrieve(
                    name, asked.ids, asked.with_payload, bool(asked.with_vector)
                )
            case "POST", ["query"]:
                query = models.QueryRequest.model_validate_json(body)
                return self.client.query_points(
                    name,
                    query=query.query,
                    using=query.using,
                    query_filter=query.filter,
                    limit=query.limit or 10,
                    with_payload=bool(query.with_payload),
                )
            case "POST", ["scroll"]:
                scroll = models.ScrollRequest.model_validate_json(body)
                records, offset = self.client.scroll(
                    name,
                    scroll_filter=scroll.filter,
                    limit=scroll.limit or 10,
                    order_by=scroll.order_by,
                    offset=scroll.offset,
                    with_payload=scroll.with_payload if scroll.with_payload is not None else True,
                )
                return {"points": records, "next_page_offset": offset}
            case "POST", ["count"]:
                count = models.CountRequest.model_validate_json(body)
                return self.client.count(name, count_filter=count.filter)
            case "POST", ["payload"]:
                change = models.SetPayload.model_validate_json(body)
                points = change.filter if change.filter is not None else change.points
                return self.client.set_payload(name, change.payload, points=points)
            case "POST", ["delete"]:
                selector = TypeAdapter(models.PointsSelector).validate_json(body)
                return self.client.delete(name, points_selector=selector)
        raise _Refused(404, "no such route")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def __init__(self, service: QdrantService, *args: Any) -> None:
        self.service = service
        super().__init__(*args)

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = urlsplit(self.path).path
        if path == "/_fault":
            self.service.fault = Fault(**json.loads(body)) if self.command == "PUT" else None
            return self._answer(200, {"status": "ok"})
        write = self.command != "GET" and not path.endswith(("/query", "/scroll", "/count"))
        write = write and (self.command, path.rpartition("/")[2]) != ("POST", "points")
        fault = self.service.active_fault(write=write)
        if fault is not None and fault.kind == "status":
            return self._answer(fault.status, {"status": {"error": "injected"}, "time": 0.0})
        if fault is not None and fault.kind == "garbage":
            return self._answer(200, "<html>not what you think</html>")
        if fault is not None:
            self.close_connection = True
            return None
        try:
            result = self.service.call(self.command, path, body, self.headers.get("api-key"))
        except _Refused as refused:
            return self._answer(refused.status, {"status": {"error": str(refused)}, "time": 0.0})
        except Exception as error:  # noqa: BLE001 - a server answers 400 to whatever it cannot read
            return self._answer(400, {"status": {"error": repr(error)}, "time": 0.0})
        return self._answer(200, {"result": result, "status": "ok", "time": 0.0})

    do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815

    def _answer(self, status: int, value: object) -> None:
        data = json.dumps(value, default=_plain).encode()
        self.send_response(status, HTTPStatus(status).phrase)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silent: the tests look at `service.calls`."""


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is not JSON")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--path", help="keep the data in this directory")
    parser.add_argument("--api-key")
    arguments = parser.parse_args()
    with QdrantService(
        port=arguments.port, path=arguments.path, api_key=arguments.api_key
    ) as service:
        print(service.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
