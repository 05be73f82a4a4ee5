"""`otel`: spans that a real receiver takes, and a file that one would read."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from langchain_semcache import ConfigurationError, MissingExtra
from langchain_semcache.lab import otel
from langchain_semcache.lab.fragmentation import TOKENS, Costs, Lookup
from langchain_semcache.lab.otel import check_otel, send, write
from langchain_semcache.lab.spans import Span, spans
from langchain_semcache.lab.traffic import Arrival

BEGIN = 1_700_000_000.0

needs_otel = pytest.mark.skipif(
    not all(map(otel._installed, otel._NEEDED)), reason="needs the extra otel"
)


class Receiver:
    """OTLP over HTTP on the loopback interface: keeps the messages, or says no."""

    def __init__(self) -> None:
        receiver = self
        self.paths: list[str] = []
        self.messages: list[object] = []
        self.status = 200

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
                    ExportTraceServiceRequest,
                )

                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.paths.append(self.path)
                receiver.messages.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def receiver(monkeypatch) -> Iterator[Receiver]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def requests() -> list[Span]:
    costs = Costs(rate=10.0)
    found = (0, 2, 5)
    return [
        spans(Lookup(n, Arrival(float(n), "0123456789abcdef", 5), TOKENS, kept, 0), costs)
        for n, kept in enumerate(found)
    ]


def taken(message) -> list:
    (resource,) = message.resource_spans
    assert [(one.key, one.value.string_value) for one in resource.resource.attributes] == [
        ("service.name", "semcache lab")
    ]
    return [span for scope in resource.scope_spans for span in scope.spans]


def attributes(span) -> dict[str, object]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


@needs_otel
def test_a_receiver_takes_three_kinds_of_spans_linked_to_their_request(receiver, requests) -> None:
    send(requests, receiver.url, begin=BEGIN)
    assert receiver.paths == ["/v1/traces"]
    found = taken(receiver.messages[0])
    roots = {span.span_id: span for span in found if not span.parent_span_id}
    assert [attributes(root)["req_id"] for root in roots.values()] == ["000000", "000001", "000002"]
    assert len({root.trace_id for root in roots.values()}) == 3
    kinds: dict[str, list] = {}
    for span in found:
        kinds.setdefault(span.name, []).append(span)
        if span.parent_span_id:
            root = roots[span.parent_span_id]
            assert span.trace_id == root.trace_id
            assert root.start_time_unix_nano <= span.start_time_unix_nano
            assert span.end_time_unix_nano <= root.end_time_unix_nano
    assert {name: len(kind) for name, kind in kinds.items()} == {
        "llm.request": 3,
        "cache.token.get": 1 + 3 + 5,
        "llm.generate.fallback": 2,
    }
    for name, wanted in (
        ("llm.request", {"req_id", "model_name"}),
        ("cache.token.get", {"cache_key", "hit_ratio"}),
        ("llm.generate.fallback", {"token_index", "latency_ms"}),
    ):
        assert all(wanted <= set(attributes(span)) for span in kinds[name])
    first = kinds["llm.request"][0]
    assert first.start_time_unix_nano == int(BEGIN) * 10**9


@needs_otel
def test_a_path_of_its_own_is_kept(receiver, requests) -> None:
    send(requests, receiver.url + "/own/traces", begin=BEGIN)
    assert receiver.paths == ["/own/traces"]


@needs_otel
def test_a_receiver_that_says_no_is_one_error(receiver, requests) -> None:
    receiver.status = 400
    with pytest.raises(ConfigurationError, match="takes no traces"):
        send(requests, receiver.url, begin=BEGIN)


@needs_otel
def test_the_file_says_what_the_receiver_was_sent(receiver, requests, tmp_path: Path) -> None:
    """OTLP's JSON: ids in hexadecimal digits, numbers of enumerations, one object on one line."""
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    path = tmp_path / "trace.jsonl"
    write(requests, path, begin=BEGIN)
    send(requests, receiver.url, begin=BEGIN)
    (line,) = path.read_text().splitlines()
    document = json.loads(line)
    sent = {span.span_id.hex(): span for span in taken(receiver.messages[0])}
    for scope in document["resourceSpans"][0]["scopeSpans"]:
        for span in scope["spans"]:
            assert len(span["traceId"]) == 32
            there = sent.pop(span["spanId"])
            assert span["traceId"] == there.trace_id.hex()
            assert span.get("parentSpanId", "") == there.parent_span_id.hex()
            assert span["kind"] == 1
            for name in ("traceId", "spanId", "parentSpanId"):
                span.pop(name, None)
    assert sent == {}
    ParseDict(document, ExportTraceServiceRequest())  # and all the rest is protobuf's own JSON


@needs_otel
def test_the_same_traffic_at_another_time_is_another_trace(requests, tmp_path: Path) -> None:
    for name, begin in (("a", BEGIN), ("b", BEGIN), ("c", BEGIN + 1)):
        write(requests, tmp_path / name, begin=begin)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    ids = [
        {span["traceId"] for span in json.loads((tmp_path / name).read_text())["resourceSpans"][0][
            "scopeSpans"][0]["spans"]}
        for name in "ac"
    ]  # fmt: skip
    assert not ids[0] & ids[1]


@pytest.mark.parametrize("url", ["ftp://host", "localhost:4318", "http://", ""])
def test_what_is_no_url_is_said_first(url: str) -> None:
    with pytest.raises(ConfigurationError, match="no URL of a receiver"):
        check_otel(url, None)


def test_a_file_that_cannot_be_written_is_said_first(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "trace.jsonl"):
        with pytest.raises(ConfigurationError, match="cannot be written"):
            check_otel(None, path)


def no_parent(name: str) -> None:
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("find", [lambda name: None, no_parent], ids=["module", "package"])
def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch, find) -> None:
    monkeypatch.setattr(otel, "find_spec", find)
    with pytest.raises(MissingExtra, match=r"langchain-semcache\[otel\]"):
        check_otel(None, tmp_path / "trace.jsonl")
