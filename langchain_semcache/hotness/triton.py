"""A network that a Triton Inference Server serves. Needs the extra `triton`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Final, Protocol
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.breaker import CircuitBreaker, ThrottledWarning
from langchain_semcache.clock import Clock, SystemClock
from langchain_semcache.errors import ConfigurationError, MissingExtra
from langchain_semcache.hotness.baselines import EWMAHotness
from langchain_semcache.hotness.features import checked_heats, checked_windows, distinct
from langchain_semcache.hotness.repository import INPUT, MAX_BATCH, NAME, OUTPUT, checked_name
from langchain_semcache.ports import Heats, HotnessModel, Windows
from langchain_semcache.processes import PerProcess

DEADLINE_SECONDS: Final = 0.25
FAILURES: Final = 3
COOLDOWN_SECONDS: Final = 5.0


class _Connection(Protocol):
    """One way to ask the server. Safe to share between threads."""

    def infer(self, windows: Windows, seconds: float) -> NDArray[np.float32]:
        """What the model says, [n, 1], or any exception, after `seconds` at the latest."""
        ...

    def close(self) -> None: ...


class TritonHotness:
    """Asks a Triton server, and a local model where that does not answer in time.

    Windows that are alike are sent once, the rest in batches, and all of them together have the
    deadline. Whatever goes wrong (no server, no such model, an answer that is none) ends in the
    local model's answer, is counted in `fell_back`, and a warning says so once a minute. After
    `failures` in a row, or one call that ran out of time, the server is left alone for
    `cooldown_seconds`, and then one call tries again. Safe to share between threads; after a fork a
    child has a connection of its own.

    The constructor connects to nothing; the first question does.

    Args:
        url: `grpc://HOST:PORT` or `http://HOST:PORT`, without encryption.
        model: Name of the model in the server's repository.
        fallback: The local model; a moving average by default.
        deadline_seconds: What one `predict` may take on the network, up to 600.
        max_batch: Windows in one request, as the server's configuration allows.
        failures: Failures in a row after which the server is left alone.
        cooldown_seconds: For how long.
        clock: Measures deadline and pause; the machine's by default.

    Raises:
        MissingExtra: tritonclient is not installed.
        ConfigurationError: The URL is none of these two, or a number is out of its range.
    """

    may_block = True

    def __init__(
        self,
        url: str,
        *,
        model: str = NAME,
        fallback: HotnessModel | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
        max_batch: int = MAX_BATCH,
        failures: int = FAILURES,
        cooldown_seconds: float = COOLDOWN_SECONDS,
        clock: Clock | None = None,
    ) -> None:
        scheme, place = checked_url(url)
        for name, value in (
            ("deadline_seconds", deadline_seconds),
            ("cooldown_seconds", cooldown_seconds),
        ):
            if isinstance(value, bool) or not 0 < value <= 600:
                raise ConfigurationError(f"{name} is {value!r}, expected above 0 and up to 600")
        for name, count in (("max_batch", max_batch), ("failures", failures)):
            if isinstance(count, bool) or count < 1:
                raise ConfigurationError(f"{name} is {count!r}, expected a whole number from 1 up")
        _need(scheme)
        self._scheme, self._place, self._model = scheme, place, checked_name(model)
        self._fallback = fallback or EWMAHotness()
        self._deadline, self._max_batch = deadline_seconds, max_batch
        self._cooldown = cooldown_seconds
        self._clock = clock or SystemClock()
        self._breaker = CircuitBreaker(
            self._clock, failures=failures, cooldown_seconds=cooldown_seconds
        )
        self._warn = ThrottledWarning(self._clock)
        self._counts = {"answered": 0, "fell back": 0}
        self._lock = threading.Lock()
        self._holder: PerProcess[_Connection] = PerProcess(self._connect)

    @property
    def identity(self) -> str:
        """The server, the model, and who answers when they do not."""
        return f"triton-{self._scheme}://{self._place}/{self._model} or {self._fallback.identity}"

    @property
    def answered(self) -> int:
        """Predictions that the server made."""
        return self._counts["answered"]

    @property
    def fell_back(self) -> int:
        """Predictions that the local model made."""
        return self._counts["fell back"]

    def predict(self, windows: Windows) -> Heats:
        """See `HotnessModel`; returns within the deadline, and never raises for the server."""
        counts = checked_windows(windows)
        rows, places = distinct(counts)
        heats = self._asked(rows) if len(rows) and self._breaker.allows() else None
        self._count("fell back" if heats is None else "answered")
        return (self._fallback.predict(rows) if heats is None else heats)[places]

    def close(self) -> None:
        """Close the connection; a later question opens another one."""
        holder, self._holder = self._holder, PerProcess(self._connect)
        if holder.made:
            holder.get().close()

    def _asked(self, rows: Windows) -> Heats | None:
        try:
            heats = checked_heats(np.concatenate(list(self._batches(rows))), len(rows))
        except Exception as error:  # noqa: BLE001 - gRPC, HTTP and tritonclient have trees of their own
            self._breaker.failed(at_once=_ran_out(error))
            self._warn(
                f"Triton at {self._place} gave no heat ({type(error).__name__}{_status(error)}); "
                f"{self._fallback.identity} answers"
            )
            return None
        self._breaker.succeeded()
        return heats

    def _batches(self, rows: Windows) -> Iterator[NDArray[np.float32]]:
        connection = self._holder.get()  # imports what it needs, once, and connects to nothing
        until = self._clock.monotonic() + self._deadline
        for first in range(0, len(rows), self._max_batch):
            left = until - self._clock.monotonic()
            if left <= 0:
                raise TimeoutError
            part = rows[first : first + self._max_batch]
            # Whole by itself: too many answers to one batch must not make up for the next.
            yield checked_heats(connection.infer(part, left), len(part))

    def _connect(self, inherited: _Connection | None) -> _Connection:
        self._inherited = inherited  # closing it here would be heard by the parent's server
        if self._scheme == "grpc":
            return _GrpcConnection(self._place, self._model, pause_seconds=self._cooldown)
        return _HttpConnection(self._place, self._model, self._clock)

    def _count(self, what: str) -> None:
        with self._lock:
            self._counts[what] += 1


class _GrpcConnection:
    def __init__(self, place: str, model: str, *, pause_seconds: float) -> None:
        import tritonclient.grpc as triton

        self._triton, self._model = triton, model
        # The breaker decides when to try again, and then the channel has to be ready to.
        pause = max(100, round(500 * pause_seconds))
        self._client = triton.InferenceServerClient(
            place,
            channel_args=[
                ("grpc.initial_reconnect_backoff_ms", min(1_000, pause)),
                ("grpc.min_reconnect_backoff_ms", min(1_000, pause)),
                ("grpc.max_reconnect_backoff_ms", pause),
                ("grpc.enable_http_proxy", 0),
                ("grpc.max_send_message_length", -1),
                ("grpc.max_receive_message_length", -1),
            ],
        )

    def infer(self, windows: Windows, seconds: float) -> NDArray[np.float32]:
        asked = self._triton.InferInput(INPUT, list(windows.shape), "FP32")
        asked.set_data_from_numpy(windows)
        said = self._client.infer(self._model, [asked], client_timeout=seconds)
        return _tensor(said.as_numpy(OUTPUT))

    def close(self) -> None:
        self._client.close()


class _HttpConnection:
    """The same in the binary form over HTTP, which tritonclient writes and reads.

    Its own HTTP client belongs to one thread and has no deadline for the whole of a call, so the
    bytes are sent by httpx.
    """

    def __init__(self, place: str, model: str, clock: Clock) -> None:
        import httpx
        import tritonclient.http as triton

        self._triton, self._clock = triton, clock
        self._client = httpx.Client(base_url=f"http://{place}", trust_env=False)
        self._path = f"/v2/models/{model}/infer"

    def infer(self, windows: Windows, seconds: float) -> NDArray[np.float32]:
        until = self._clock.monotonic() + seconds
        asked = self._triton.InferInput(INPUT, list(windows.shape), "FP32")
        asked.set_data_from_numpy(windows)
        wanted = self._triton.InferRequestedOutput(OUTPUT)
        client = self._triton.InferenceServerClient
        body, length = client.generate_request_body([asked], outputs=[wanted])
        headers = {"Content-Type": "application/octet-stream", "Accept-Encoding": "identity"}
        if length is not None:
            headers["Inference-Header-Content-Length"] = str(length)
        answer = bytearray()
        with self._client.stream(
            "POST", self._path, content=bytes(body), headers=headers, timeout=seconds
        ) as response:
            response.raise_for_status()
            for part in response.iter_raw():
                answer += part
                if self._clock.monotonic() > until:  # httpx limits each read and not their sum
                    raise TimeoutError
            header = response.headers.get("Inference-Header-Content-Length")
        said = client.parse_response_body(
            bytes(answer), header_length=None if header is None else int(header)
        )
        return _tensor(said.as_numpy(OUTPUT))

    def close(self) -> None:
        self._client.close()


def checked_url(url: str) -> tuple[str, str]:
    """Scheme, and host with port.

    Raises:
        ConfigurationError: It is no `grpc://HOST:PORT` and no `http://HOST:PORT`.
    """
    wrong = "is no place of a Triton server: write grpc://HOST:8001 or http://HOST:8000"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigurationError(f"that URL {wrong}") from error
    if parts.username is not None or parts.password is not None:
        # Not quoted: it holds a secret.
        raise ConfigurationError("the URL of a Triton server takes no user and no password")
    if parts.scheme not in ("grpc", "http") or not parts.hostname or not port:
        raise ConfigurationError(f"{url!r} {wrong}")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ConfigurationError(f"{url!r} {wrong}, and nothing behind it")
    return parts.scheme, parts.netloc


def _need(scheme: str) -> None:
    needed = ("tritonclient", "grpc") if scheme == "grpc" else ("tritonclient", "geventhttpclient")
    for package in needed:
        if find_spec(package) is None:
            raise MissingExtra("TritonHotness", "triton", package)


def _tensor(found: object) -> NDArray[np.float32]:
    if not isinstance(found, np.ndarray) or found.dtype != np.float32:
        raise ValueError(f"the answer holds no float32 tensor {OUTPUT}")
    return found


def _status(error: Exception) -> str:
    """The code of an answer that says no; never its text, which the server wrote."""
    status = getattr(error, "status", None)
    code = (
        status()
        if callable(status)
        else getattr(getattr(error, "response", None), "status_code", None)
    )
    return "" if code is None else f" {str(code).removeprefix('StatusCode.')}"


def _ran_out(error: Exception) -> bool:
    name = type(error).__name__
    return isinstance(error, TimeoutError) or "Timeout" in name or "DEADLINE" in _status(error)
