"""When something behind the cache breaks: the answer arrives, soon, and the cache recovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.globals import set_llm_cache

from langchain_semcache import (
    ConfigurationError,
    Request,
    SemanticCache,
    Semcache,
    SemcacheConfig,
)
from langchain_semcache.clock import ManualClock
from langchain_semcache.errors import BackendError, IndexUnavailable
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.testing.fakes import Fault, FlakyEncoder, FlakyIndex, ScriptedEncoder
from tests.adapters.langchain.conftest import PARAPHRASE, QUESTION
from tests.adapters.langchain.models import ScriptedModel
from tests.services.qdrant_http import Fault as HttpFault
from tests.services.qdrant_http import QdrantService

DEADLINE = 0.2
COOLDOWN = 5.0


class Setup:
    """A global cache over backends that can be made to fail."""

    def __init__(self, make_cache: Any, clock: ManualClock) -> None:
        self.encoder = FlakyEncoder(
            ScriptedEncoder({QUESTION: 1.0, PARAPHRASE: 0.99}, dimension=256)
        )
        self.index = FlakyIndex(MemoryIndex(256))
        self.clock = clock
        self.cache: SemanticCache = make_cache(
            encoder=self.encoder,
            index=self.index,
            deadline_seconds=DEADLINE,
            breaker_cooldown_seconds=COOLDOWN,
        )
        self.model = ScriptedModel()
        set_llm_cache(self.cache)


@pytest.fixture
def setup(make_cache: Any, clock: ManualClock) -> Any:
    setup = Setup(make_cache, clock)
    yield setup
    setup.encoder.released.set()
    setup.index.released.set()


ENCODER_FAULTS = [RuntimeError("prompt text"), Fault.NAN, Fault.EMPTY, Fault.DIMENSION, Fault.HANG]
INDEX_FAULTS = [IndexUnavailable("gone"), ConnectionError("prompt text"), Fault.HANG]


def _calls_of(ask: Callable[[str], Any], count: int = 100) -> float:
    started = time.perf_counter()
    for number in range(count):
        ask(f"question {number}")
    return time.perf_counter() - started


@pytest.mark.parametrize("fault", ENCODER_FAULTS, ids=str)
def test_an_encoder_that_breaks_costs_only_hits(
    setup: Setup, fault: Any, warnings_of: Callable[[], list[str]]
) -> None:
    """B39: every answer arrives, little time is lost, one warning, counted; then it recovers."""
    setup.encoder.fault = fault
    assert _calls_of(setup.model.invoke) < 10 * DEADLINE
    # However busy the machine: after three failures nobody waits for it any more.
    assert setup.encoder.calls <= 3
    assert setup.model.calls == 100
    assert len(warnings_of()) == 1
    assert "prompt text" not in warnings_of()[0]
    assert setup.cache.stats().failures
    # Without a vector an answer is still kept: identical questions need none.
    assert setup.model.invoke("question 7").content == "answer 8"
    setup.encoder.fault = None
    setup.encoder.released.set()
    setup.clock.advance(COOLDOWN)
    setup.model.invoke(QUESTION)
    calls = setup.model.calls
    setup.model.invoke(PARAPHRASE)
    assert setup.model.calls == calls


@pytest.mark.parametrize("fault", INDEX_FAULTS, ids=str)
@pytest.mark.parametrize("failing", ["everything", "put", "search"])
def test_an_index_that_breaks_costs_only_hits(
    setup: Setup, fault: Any, failing: str, warnings_of: Callable[[], list[str]]
) -> None:
    """B39: the same, also when it can only be read."""
    if failing != "everything":
        setup.index.failing = frozenset({failing})
    setup.index.fault = fault
    assert _calls_of(setup.model.invoke) < 10 * DEADLINE + 2
    assert setup.model.calls == 100
    assert len(warnings_of()) == 1
    assert "prompt text" not in warnings_of()[0]
    setup.index.fault = None
    setup.index.released.set()
    setup.clock.advance(COOLDOWN)
    setup.model.invoke(QUESTION)
    calls = setup.model.calls
    setup.model.invoke(QUESTION)
    setup.model.invoke(PARAPHRASE)
    assert setup.model.calls == calls


@pytest.mark.parametrize("fault", [*ENCODER_FAULTS, *INDEX_FAULTS], ids=str)
@pytest.mark.parametrize("port", ["encoder", "index"])
async def test_an_outage_is_the_same_for_async_code(setup: Setup, port: str, fault: Any) -> None:
    """B39: bounded for the loop too."""
    getattr(setup, port).fault = fault
    started = time.perf_counter()
    for number in range(20):
        assert (await setup.model.ainvoke(f"question {number}")).content == f"answer {number + 1}"
    assert time.perf_counter() - started < 10 * DEADLINE + 2
    assert setup.model.calls == 20


def test_while_the_breaker_is_open_nothing_is_asked(setup: Setup) -> None:
    """B39: a dead backend costs its deadline once and not once per request."""
    setup.index.fault = Fault.HANG
    setup.model.invoke("first")
    asked = len(setup.index.calls)
    _calls_of(setup.model.invoke, 50)
    assert len(setup.index.calls) == asked
    setup.clock.advance(COOLDOWN)
    setup.model.invoke("the probe")
    assert len(setup.index.calls) == asked + 1


def test_clearing_a_dead_store_says_so(setup: Setup) -> None:
    """B39: a clear that silently did nothing would be a lie."""
    setup.index.fault = IndexUnavailable("gone")
    with pytest.raises(BackendError):
        setup.cache.clear()


async def test_clearing_a_dead_store_says_so_to_async_code(setup: Setup) -> None:
    """B39: the other colour."""
    setup.index.fault = IndexUnavailable("gone")
    with pytest.raises(BackendError):
        await setup.cache.aclear()


class Interrupted(BaseException):
    """Stands for KeyboardInterrupt, which would end the test run."""


def test_an_interrupt_is_not_swallowed(setup: Setup) -> None:
    """B39: neither in the lookup nor in the model."""

    def interrupt() -> None:
        raise Interrupted

    setup.model.before(interrupt)
    with pytest.raises(Interrupted):
        setup.model.invoke(QUESTION)
    with pytest.raises(Interrupted):
        setup.cache.semcache.get_or_call(Request(messages="q"), interrupt)  # type: ignore[arg-type]


class KeyPressed(MemoryIndex):
    """Control-C arrives while one of its methods is at work."""

    pressed_in = "nowhere"

    def fetch(self, *args: Any, **kwargs: Any) -> Any:
        self._work("fetch")
        return super().fetch(*args, **kwargs)

    def search(self, *args: Any, **kwargs: Any) -> Any:
        self._work("search")
        return super().search(*args, **kwargs)

    def put(self, *args: Any, **kwargs: Any) -> None:
        self._work("put")
        super().put(*args, **kwargs)

    def _work(self, name: str) -> None:
        if name == self.pressed_in:
            raise KeyboardInterrupt


@pytest.mark.parametrize("method", ["fetch", "search", "put"])
def test_control_c_inside_the_cache_passes_through(make_cache: Any, method: str) -> None:
    """B39: no miss is made of it, and the cache works on."""
    index = KeyPressed(64)
    model = ScriptedModel(cache=make_cache(index=index))
    index.pressed_in = method
    with pytest.raises(KeyboardInterrupt):
        model.invoke(QUESTION)
    assert model.calls == (1 if method == "put" else 0)
    index.pressed_in = "nowhere"
    calls = model.calls
    assert model.invoke(QUESTION).content == model.invoke(PARAPHRASE).content
    assert model.calls == calls + 1


def test_control_c_while_a_lookup_waits_for_its_encoder_passes_through(make_cache: Any) -> None:
    """B39: a real signal, on the thread that waits."""
    encoder = FlakyEncoder(ScriptedEncoder({QUESTION: 1.0, PARAPHRASE: 0.99}), Fault.HANG)
    cache = make_cache(encoder=encoder, index=MemoryIndex(64), deadline_seconds=20)
    model = ScriptedModel(cache=cache)

    def press() -> None:
        if encoder.entered.wait(10):
            os.kill(os.getpid(), signal.SIGINT)

    pressing = threading.Thread(target=press)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        model.invoke(QUESTION)
    pressing.join()
    assert model.calls == 0
    encoder.fault = None
    encoder.released.set()
    assert model.invoke(QUESTION).content == model.invoke(PARAPHRASE).content
    assert model.calls == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"similarity_threshold": 2},
        {"ttl": -1},
        {"deadline_seconds": 0},
        {"no_such_setting": 1},
        {"location": ""},
        {"encoder": "no-such-encoder"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_a_wrong_setting_is_an_error_at_construction(settings: dict[str, Any]) -> None:
    """B39: one line that names it; a mistake must not look like a cache that never hits."""
    with pytest.raises(ConfigurationError) as raised:
        Semcache.open(SemcacheConfig.of(**{"location": ":memory:"} | settings))
    assert next(iter(settings)) in str(raised.value)
    assert "\n" not in str(raised.value)


HTTP_FAULTS = [
    HttpFault("status", status=500),
    HttpFault("status", status=401),
    HttpFault("status", status=404),
    HttpFault("status", status=500, writes_only=True),
    HttpFault("drop"),
    HttpFault("garbage"),
    HttpFault("hang"),
]


@pytest.mark.services
@pytest.mark.parametrize("fault", HTTP_FAULTS, ids=lambda fault: f"{fault.kind}-{fault.status}")
def test_a_server_that_breaks_costs_only_hits(
    make_cache: Any, clock: ManualClock, fault: HttpFault
) -> None:
    """B39: refusals, errors, garbage and silence over real HTTP."""
    with QdrantService() as service:
        cache = make_cache(service.url, deadline_seconds=0.5, breaker_cooldown_seconds=COOLDOWN)
        model = ScriptedModel(cache=cache)
        model.invoke(QUESTION)
        model.invoke(PARAPHRASE)
        assert model.calls == 1
        service.fault = fault
        started = time.perf_counter()
        replies = [model.invoke(f"question {number}").content for number in range(20)]
        assert time.perf_counter() - started < 5
        assert replies == [f"answer {number}" for number in range(2, 22)]
        service.fault = None
        clock.advance(COOLDOWN)
        for _ in range(2):
            model.invoke("after the outage")
        assert model.calls == 22


@pytest.mark.services
@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_a_server_that_is_not_there_is_an_error_at_construction(make_cache: Any) -> None:
    """B39: and the key is not in the message."""
    with QdrantService() as service:
        url = service.url
    with pytest.raises(ConfigurationError) as raised:
        make_cache(url, qdrant={"api_key": "sk-secret"})
    assert "sk-secret" not in str(raised.value)


@pytest.mark.parametrize("text", ["half a pair \ud83d", "\x00", "x" * 300_000])
def test_text_that_a_store_cannot_hold_breaks_nothing(
    make_cache: Any, tmp_path: Path, text: str, warnings_of: Callable[[], list[str]]
) -> None:
    """B39: one odd question must not close the store for the others."""
    cache = make_cache(tmp_path / "store")
    model = ScriptedModel(cache=cache)
    for number in range(5):
        model.invoke(f"{text}{number}")
    assert model.calls == 5
    model.invoke(QUESTION)
    model.invoke(PARAPHRASE)
    assert model.calls == 6


def test_a_sink_that_breaks_is_no_trouble(make_cache: Any) -> None:
    """B39: whoever watches cannot break what is watched."""

    class Broken:
        def emit(self, event: object) -> None:
            raise RuntimeError("broken sink")

    model = ScriptedModel(cache=make_cache(sinks=[Broken()]))
    model.invoke(QUESTION)
    model.invoke(QUESTION)
    assert model.calls == 1


OFFLINE = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("the network was asked")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from langchain_semcache import Semcache, Request, Response
with Semcache.open(":memory:") as cache:
    cache.store(Request(messages="How do I reset my password?"), Response.from_text("a"))
    assert cache.lookup(Request(messages="How do I reset my password?")).hit
    assert not cache.lookup(Request(messages="How do I boil an egg?")).hit
"""


@pytest.mark.weights
def test_nothing_is_downloaded(tmp_path: Path) -> None:
    """X05: the default encoder works without any network and without a model hub's cache."""
    root = Path(__file__).parents[3]
    environment = {
        **os.environ, "PYTHONPATH": str(root), "HOME": str(tmp_path), "HF_HOME": str(tmp_path),
        "HF_HUB_OFFLINE": "0",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], env=environment, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


UNREACHABLE = """
import socket, sys, time
def refuse(*args, **kwargs):
    raise AssertionError("the network was asked")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from langchain_semcache import ConfigurationError, SemanticCache
from langchain_semcache.encoders.sentence_transformers import SentenceTransformerEncoder
import sentence_transformers
encoder, started = SentenceTransformerEncoder("no/such-model"), time.monotonic()
try:
    SemanticCache(":memory:", encoder=encoder)
except ConfigurationError as error:
    print(time.monotonic() - started)
    print(error)
"""


@pytest.mark.torch
def test_a_model_that_is_not_on_this_machine_is_told_at_once(tmp_path: Path) -> None:
    """X05: one line with its name, at construction, and nobody is asked for it."""
    pytest.importorskip("sentence_transformers")
    environment = {
        **os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "HF_HOME": str(tmp_path),
        "HF_HUB_OFFLINE": "0",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", UNREACHABLE], env=environment, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seconds, *told = done.stdout.strip().splitlines()
    assert float(seconds) < 5
    assert len(told) == 1
    assert "no/such-model" in told[0]
