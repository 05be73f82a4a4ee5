"""Spans to a receiver of OTLP, or to a file that one reads. Needs the extra `otel`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from langchain_semcache.errors import ConfigurationError, MissingExtra
from langchain_semcache.lab.spans import Span

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer

SERVICE = "semcache lab"
PATH = "/v1/traces"
"""Where a receiver of OTLP over HTTP takes traces (OTLP specification 1.x, "OTLP/HTTP Request")."""

TIMEOUT = 5.0
"""Seconds that a receiver has."""

_NEEDED = {
    "opentelemetry.sdk": "opentelemetry-sdk",
    "opentelemetry.exporter.otlp.proto.http": "opentelemetry-exporter-otlp",
}
_IDS = ("traceId", "spanId", "parentSpanId")


def check_otel(url: str | None, path: Path | None) -> None:
    """Whether spans can be made and have somewhere to go, before anything long begins.

    Raises:
        ConfigurationError: The URL is none of HTTP, or the directory of the file is not there.
        MissingExtra: OpenTelemetry is not installed.
    """
    if url is not None:
        _endpoint(url)
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise ConfigurationError(
            f"{path} cannot be written: name a file in a directory that exists"
        )
    for module, package in _NEEDED.items():
        if not _installed(module):
            raise MissingExtra("a trace", "otel", package)


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package above it is not there either
        return False


def send(requests: Sequence[Span], url: str, *, begin: float) -> None:
    """Send the requests to a receiver of OTLP over HTTP.

    Args:
        url: As in `http://localhost:4318`; without a path it is `/v1/traces`.
        begin: When the traffic began, in seconds since the epoch.

    Raises:
        ConfigurationError: There is no such URL, or nobody took the spans.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    exporter: SpanExporter = OTLPSpanExporter(endpoint=_endpoint(url), timeout=int(TIMEOUT))
    try:
        taken = exporter.export(_recorded(requests, begin))
    except OSError as error:
        raise ConfigurationError(f"{url} takes no traces: {error}") from error
    finally:
        exporter.shutdown()
    if taken is not SpanExportResult.SUCCESS:
        raise ConfigurationError(
            f"{url} takes no traces: is a receiver of OTLP over HTTP there, as at port 4318 of "
            "a collector?"
        )


def write(requests: Sequence[Span], path: Path, *, begin: float) -> None:
    """Write the requests as OTLP JSON: one line, as the collector's file exporter writes it.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    message = encode_spans(_recorded(requests, begin))
    document = MessageToDict(message, use_integers_for_enums=True)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                # protobuf writes bytes in base64; OTLP wants these in hexadecimal digits.
                span.update({name: _hex(span[name]) for name in _IDS if name in span})
    try:
        path.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error


def _hex(base64: str) -> str:
    from base64 import b64decode

    return b64decode(base64).hex()


def _endpoint(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ConfigurationError(
            f"{url} is no URL of a receiver: write it as in http://localhost:4318"
        )
    return urlunsplit(parts._replace(path=parts.path if parts.path.strip("/") else PATH))


def _recorded(requests: Sequence[Span], begin: float) -> Sequence[ReadableSpan]:
    """The spans as the SDK has them, with ids that depend on the traffic and its beginning."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import SpanLimits, TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.sdk.trace.id_generator import IdGenerator
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    class Derived(IdGenerator):
        def __init__(self) -> None:
            self._ids = _ids(begin)

        def generate_span_id(self) -> int:
            return next(self._ids) & (1 << 64) - 1

        def generate_trace_id(self) -> int:
            return next(self._ids)

    kept = InMemorySpanExporter()
    provider = TracerProvider(
        sampler=ALWAYS_ON,
        resource=Resource({"service.name": SERVICE}),
        id_generator=Derived(),
        span_limits=SpanLimits(),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer(__name__)
    for request in requests:
        _record(tracer, request, begin)
    return kept.get_finished_spans()


def _ids(begin: float) -> Iterator[int]:
    number = 0
    while True:
        number += 1
        seed = f"{begin!r}:{number}".encode()
        yield int.from_bytes(blake2b(seed, digest_size=16).digest(), "big") | 1


def _record(tracer: Tracer, span: Span, begin: float) -> None:
    """A span and its children. Nothing is current here: an application's own trace is not met."""
    from opentelemetry.context import Context
    from opentelemetry.trace import set_span_in_context

    def one(told: Span, context: Context) -> None:
        made = tracer.start_span(
            told.name,
            context=context,
            attributes=dict(told.attributes),
            start_time=_nanoseconds(begin + told.begin),
        )
        inside = set_span_in_context(made, context)
        for child in told.children:
            one(child, inside)
        made.end(_nanoseconds(begin + told.end))

    one(span, Context())


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1_000_000) * 1000
