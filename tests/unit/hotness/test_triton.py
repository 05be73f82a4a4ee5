"""`TritonHotness` without a server, and with ones that answer amiss: the local model answers."""

from __future__ import annotations

import http.server
import json
import logging
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("tritonclient", reason="needs the extra triton")

from langchain_semcache.clock import ManualClock
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness import EWMAHotness, PopularityHotness
from langchain_semcache.hotness.triton import TritonHotness, checked_url
from tests.services.triton_server import free_port

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
schemes = pytest.mark.parametrize("scheme", ["grpc", "http"])


class Local(EWMAHotness):
    """A local model that counts how often it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def predict(self, windows):
        self.asked += 1
        return super().predict(windows)


@contextmanager
def answering(status: int, body: bytes, *, headers=None, wait: float = 0.0):
    """An HTTP server that gives this answer to everything."""
    asked: list[str] = []
    done = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            done.wait(wait)
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: object) -> None:
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        done.set()
        server.shutdown()
        thread.join()
        server.server_close()


@schemes
def test_where_there_is_no_server_the_local_model_answers(scheme, windows, caplog) -> None:
    caplog.set_level(logging.WARNING, logger="langchain_semcache")
    clock, local = ManualClock(), Local()
    triton = TritonHotness(
        f"{scheme}://127.0.0.1:{free_port()}", fallback=local, clock=clock, failures=2
    )
    for _ in range(5):
        assert triton.predict(windows).tolist() == EWMAHotness().predict(windows).tolist()
    assert (triton.answered, triton.fell_back, local.asked) == (0, 5, 5)
    (said,) = caplog.messages
    assert "gave no heat" in said
    assert "ewma-16 answers" in said
    triton.close()
    triton.close()


def test_after_failures_the_server_is_left_alone_and_then_tried_once(windows) -> None:
    with answering(500, b"") as (url, asked):
        clock = ManualClock()
        triton = TritonHotness(
            url, clock=clock, failures=2, cooldown_seconds=5, deadline_seconds=20
        )
        for _ in range(4):
            triton.predict(windows)
        assert len(asked) == 2
        clock.advance(4.9)
        triton.predict(windows)
        assert len(asked) == 2
        clock.advance(0.2)
        triton.predict(windows)
        triton.predict(windows)
        assert asked == ["/v2/models/semcache_heat/infer"] * 3
        assert triton.fell_back == 7
        triton.close()


def test_a_server_that_does_not_answer_costs_its_deadline_once(windows) -> None:
    with answering(200, b"", wait=20.0) as (url, asked):
        triton = TritonHotness(url, deadline_seconds=0.2, failures=3)
        begun = time.perf_counter()
        for _ in range(3):
            triton.predict(windows)
        assert time.perf_counter() - begun < 3.0
        assert len(asked) == 1
        assert triton.fell_back == 3
        triton.close()


def test_the_deadline_is_for_all_batches_together(windows) -> None:
    """The clock moves while the first batch is on its way, so the second is not sent."""

    class Late(ManualClock):
        def monotonic(self) -> float:
            self.advance(0.2)
            return super().monotonic()

    with answering(500, b"") as (url, asked):
        triton = TritonHotness(url, deadline_seconds=0.1, max_batch=1, clock=Late())
        assert triton.predict(windows).tolist() == EWMAHotness().predict(windows).tolist()
        assert asked == []
        triton.close()


def said(datatype: str, shape: list[int], *data: float) -> bytes:
    """An answer in JSON, as a server may give instead of bytes."""
    output = {"name": "OUTPUT__0", "datatype": datatype, "shape": shape, "data": list(data)}
    return json.dumps({"outputs": [output]}).encode()


@pytest.mark.parametrize(
    ("body", "header"),
    [
        *((body, None) for body in (b"", b"no json", b"{}", b'{"outputs": []}', b"\xff\xfe")),
        (said("FP32", [1], 1), None),
        (said("FP32", [2], 1, -1), None),
        (said("INT32", [2], 1, 1), None),
        (b"{}", "99999"),
        (b"{}", "no number"),
    ],
)
def test_an_answer_that_is_none_is_not_believed(body, header) -> None:
    windows = np.eye(2, 64, dtype=np.float32)
    headers = {} if header is None else {"Inference-Header-Content-Length": header}
    with answering(200, body, headers=headers) as (url, asked):
        triton = TritonHotness(url, fallback=PopularityHotness(), deadline_seconds=20)
        assert triton.predict(windows).tolist() == PopularityHotness().predict(windows).tolist()
        assert len(asked) == 1
        assert triton.fell_back == 1
        triton.close()


def test_a_good_answer_is_taken() -> None:
    windows = np.eye(2, 64, dtype=np.float32)
    with answering(200, said("FP32", [2, 1], 1, 2)) as (url, _):
        triton = TritonHotness(url, deadline_seconds=20)
        # Sent in an order of their own; sorted, the last step with a use comes first.
        assert sorted(triton.predict(windows).tolist()) == [1, 2]
        assert triton.predict(windows[[0, 0, 1]]).tolist()[:2] == [triton.predict(windows)[0]] * 2
        assert triton.fell_back == 0
        triton.close()


@schemes
def test_windows_that_are_none_are_the_caller_s_mistake(scheme) -> None:
    triton = TritonHotness(f"{scheme}://127.0.0.1:{free_port()}")
    with pytest.raises(ValueError, match="windows"):
        triton.predict(np.zeros((1, 3), dtype=np.float32))
    assert triton.predict(np.zeros((0, 64), dtype=np.float32)).shape == (0,)


def test_its_identity_says_who_answers() -> None:
    triton = TritonHotness("grpc://heat:8001", fallback=PopularityHotness(5))
    assert triton.identity == "triton-grpc://heat:8001/semcache_heat or popularity-5"


@pytest.mark.parametrize(
    "url",
    [
        *("", "heat:8001", "https://heat:8001", "grpc://heat", "grpc://:8001", "grpc://heat:0"),
        *("grpc://heat:99999", "grpc://heat:x", "http://heat:8000/v2", "http://heat:8000?a=b"),
        "http://[heat:8000",
    ],
)
def test_what_is_no_place_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="write grpc://HOST:8001 or http://HOST:8000"):
        TritonHotness(url)


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigurationError, match="no user and no password") as caught:
        TritonHotness("http://me:secret@heat:8000")
    assert "secret" not in str(caught.value)


def test_a_place_is_scheme_and_host_with_port() -> None:
    assert checked_url("http://[::1]:8000/") == ("http", "[::1]:8000")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("deadline_seconds", value) for value in (0, -1, 601, float("nan"), True)],
        *[("cooldown_seconds", value) for value in (0, float("inf"))],
        *[(name, value) for name in ("max_batch", "failures") for value in (0, True)],
    ],
)
def test_numbers_that_cannot_be_are_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is"):
        TritonHotness("grpc://heat:8001", **{name: value})


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no name of a model"):
        TritonHotness("grpc://heat:8001", model="../other")
