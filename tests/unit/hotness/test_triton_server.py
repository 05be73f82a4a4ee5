"""`TritonHotness` against a real Triton server: equal answers, a crash under load, a restart.

Skipped where there is no server: `make tests` fetches one, see tests/services/triton_server.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from langchain_semcache.hotness import EWMAHotness
from langchain_semcache.hotness.repository import Serving, export
from langchain_semcache.hotness.torchscript import TorchScriptHotness
from tests.services.triton_server import REASON, TritonServer, unpacked

pytestmark = [
    pytest.mark.services,
    pytest.mark.torch,
    pytest.mark.skipif(unpacked() is None, reason=REASON),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]
DEADLINE = 1.0
COOLDOWN = 0.3


@pytest.fixture(scope="module")
def server(model, tmp_path_factory) -> Iterator[TritonServer]:
    pytest.importorskip("tritonclient")
    work = tmp_path_factory.mktemp("triton")
    export(model, work / "models")
    with TritonServer(work / "models", work) as running:
        yield running


@pytest.fixture(params=["grpc", "http"])
def asking(request, server):
    from langchain_semcache.hotness.triton import TritonHotness

    made = []

    def make(**options) -> TritonHotness:
        settings = {"deadline_seconds": DEADLINE, "cooldown_seconds": COOLDOWN, **options}
        made.append(TritonHotness(getattr(server, request.param), **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def both(server):
    from langchain_semcache.hotness.triton import TritonHotness

    made = [
        TritonHotness(url, deadline_seconds=DEADLINE, cooldown_seconds=COOLDOWN)
        for url in (server.grpc, server.http)
    ]
    yield made
    for one in made:
        one.close()


def test_it_answers_what_the_same_network_answers_here(asking, model, windows) -> None:
    triton = asking()
    expected = TorchScriptHotness(model).predict(windows)
    np.testing.assert_allclose(triton.predict(windows), expected, rtol=1e-5, atol=1e-5)
    assert (triton.answered, triton.fell_back) == (1, 0)
    assert triton.predict(windows[:0]).shape == (0,)


def test_what_is_too_much_for_one_request_is_sent_in_several(asking, model, windows) -> None:
    triton = asking(max_batch=7)
    expected = TorchScriptHotness(model).predict(windows)
    np.testing.assert_allclose(triton.predict(windows), expected, rtol=1e-5, atol=1e-5)
    assert triton.fell_back == 0


def test_more_than_the_server_takes_at_once_falls_back(asking, windows) -> None:
    triton = asking(max_batch=4_000)
    many = np.arange(2_000 * 64, dtype=np.float32).reshape(2_000, 64)
    assert triton.predict(many).tolist() == EWMAHotness().predict(many).tolist()
    assert triton.fell_back == 1


def test_threads_that_ask_at_once_each_get_their_own_answer(asking, model) -> None:
    """The server joins what waits into one pass, and takes it apart again."""
    triton = asking(deadline_seconds=20.0)
    chance = np.random.default_rng(5)
    asked = [chance.poisson(1.0, (count, 64)).astype(np.float32) for count in range(1, 17)]
    answers: list[np.ndarray | None] = [None] * len(asked)

    def ask(place: int) -> None:
        answers[place] = triton.predict(asked[place])

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    here = TorchScriptHotness(model)
    for one, answer in zip(asked, answers, strict=True):
        np.testing.assert_allclose(answer, here.predict(one), rtol=1e-5, atol=1e-5)
    assert triton.fell_back == 0


def test_a_model_that_the_server_does_not_have_falls_back(asking, windows, caplog) -> None:
    triton = asking(model="another")
    assert triton.predict(windows).tolist() == EWMAHotness().predict(windows).tolist()
    assert triton.fell_back == 1
    assert "gave no heat" in caplog.text


def test_a_crash_under_load_costs_the_server_s_answers_and_nothing_else(
    both, server, model, windows
) -> None:
    """Before: the server answers. After: the local model does, within the deadline. Then again."""
    expected = TorchScriptHotness(model).predict(windows)
    local = EWMAHotness().predict(windows)
    stop, failed, slowest = threading.Event(), [], [0.0]

    def ask(triton) -> None:
        while not stop.is_set():
            begun = time.perf_counter()
            try:
                answer = triton.predict(windows)
                if not (np.allclose(answer, expected, atol=1e-5) or np.array_equal(answer, local)):
                    failed.append(answer)
            except Exception as error:  # noqa: BLE001 - none may come
                failed.append(error)
            slowest[0] = max(slowest[0], time.perf_counter() - begun)
            stop.wait(0.01)

    threads = [threading.Thread(target=ask, args=(triton,)) for triton in both * 2]
    for thread in threads:
        thread.start()
    try:
        _wait(lambda: all(triton.answered >= 10 for triton in both))
        server.kill()
        _wait(lambda: all(triton.fell_back >= 50 for triton in both))
        assert all(triton.predict(windows).tolist() == local.tolist() for triton in both)
        server.start()
        before = [triton.answered for triton in both]
        _wait(lambda: all(one.answered >= n + 10 for one, n in zip(both, before, strict=True)))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        if not server.running:
            server.start()
    assert failed == []
    # The deadline, and what a machine with busy cores may add to any call.
    assert slowest[0] < DEADLINE + 2.0
    for triton in both:
        np.testing.assert_allclose(triton.predict(windows), expected, rtol=1e-5, atol=1e-5)


def test_a_forked_child_has_a_connection_of_its_own(server, model, tmp_path) -> None:
    program = (
        "import os, sys, numpy as np\n"
        "from langchain_semcache.hotness.triton import TritonHotness\n"
        "triton = TritonHotness(sys.argv[1], deadline_seconds=20.0)\n"
        "windows = np.ones((3, 64), dtype=np.float32)\n"
        "here = triton.predict(windows)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    there = triton.predict(windows)\n"
        "    os._exit(0 if np.array_equal(here, there) and triton.answered == 2 else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert np.array_equal(here, triton.predict(windows)) and triton.answered == 2\n"
    )
    for url in (server.http, server.grpc):
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program, url],
            env=os.environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr


def test_a_new_version_takes_over_without_the_old_one_being_touched(server, model) -> None:
    """A repository may hold several versions; the server reads what the next start finds."""
    repository = server._repository
    assert export(model, repository, Serving()).name == "2"
    assert sorted(one.name for one in (repository / "semcache_heat").iterdir()) == [
        "1",
        "2",
        "config.pbtxt",
    ]


def _wait(until, seconds: float = 60.0) -> None:
    end = time.perf_counter() + seconds
    while not until():
        assert time.perf_counter() < end, "it did not come about in time"
        time.sleep(0.01)
