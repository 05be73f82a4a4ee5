"""Two workers: a Qdrant server is shared, a directory has one owner."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.adapters.litellm.conftest import Asker
from tests.services.litellm_proxy import LiteLLMProxy
from tests.services.qdrant_http import Fault, QdrantService

DEADLINE = 3.0
"""Seconds; far above what a call takes on a busy machine."""

QUESTION = "What is the capital of France?"


@pytest.fixture(scope="module")
def qdrant():
    with QdrantService(api_key="secret-of-qdrant") as service:
        yield service


@pytest.fixture(scope="module")
def shared(tmp_path_factory, upstream, qdrant):
    settings = {
        "location": qdrant.url.replace("//", "//user:password-in-url@"),
        "qdrant": {"api_key": "secret-of-qdrant"},
        "deadline_seconds": DEADLINE,
        "breaker_cooldown_seconds": 0.5,
    }
    folder = tmp_path_factory.mktemp("shared")
    with LiteLLMProxy(folder, upstream.url, semcache=settings, workers=2) as running:
        yield running


def test_workers_share_one_cache_through_a_server(shared, upstream):
    ask = Asker(shared, upstream)
    first = ask(QUESTION, settle=False)
    time.sleep(0.5)
    # Each new client is a new connection, which either worker may take.
    got = []
    for _ in range(8):
        ask._clients.clear()
        got.append(ask("Tell me the capital of France", settle=False))
    assert [one.calls for one in got] == [0] * 8
    assert {one.text for one in got} == {first.text}


def test_nothing_shows_a_key_or_a_password(shared, upstream):
    for path in ("/cache/ping", "/semcache/stats"):
        # A worker may still be waiting after an outage that another test made.
        until = time.monotonic() + 20
        while (asked := shared.ask(path))[0] != 200 and time.monotonic() < until:
            time.sleep(0.2)
        status, said = asked
        assert status == 200
        assert "password-in-url" not in str(said)
        assert "secret-of-qdrant" not in str(said)
    assert "password-in-url" not in shared.said()
    assert "secret-of-qdrant" not in shared.said()


@pytest.mark.parametrize("kind", ["status", "hang", "drop"])
def test_a_server_that_fails_fails_no_call(shared, upstream, qdrant, kind):
    """B39: late by the deadline at most, then not at all; hits resume by themselves."""
    ask = Asker(shared, upstream)
    ask(QUESTION, settle=False)
    time.sleep(0.5)
    qdrant.fault = Fault(kind)
    try:
        seconds = []
        for number in range(12):
            started = time.monotonic()
            got = ask(f"Question {number} in an outage?", settle=False)
            seconds.append(time.monotonic() - started)
            assert got.calls == 1
            assert not got.hit
        assert max(seconds) < 3 * DEADLINE
        # Either worker may need its breaker's three failures first.
        assert sorted(seconds)[3] < DEADLINE
        for path, body in (
            ("/cache/ping", None),
            ("/semcache/stats", None),
            ("/cache/delete", {"keys": ["00000000-0000-0000-0000-000000000000"]}),
            ("/cache/flushall", {}),
            ("/semcache/flush", {"tenant": "nobody"}),
        ):
            status, said = shared.ask(path, body)
            assert status == 503, path
            assert "password-in-url" not in str(said)
    finally:
        qdrant.fault = None
    until = time.monotonic() + 20
    while not (hit := ask(QUESTION, settle=False).hit):
        assert time.monotonic() < until, "hits did not resume"
        time.sleep(0.2)
    assert hit


@pytest.mark.parametrize("gunicorn", [False, True], ids=["uvicorn", "gunicorn"])
def test_a_directory_has_one_owner_and_the_others_say_so(tmp_path, upstream, gunicorn):
    settings = {"location": "cache"}
    with LiteLLMProxy(
        tmp_path, upstream.url, semcache=settings, workers=2, gunicorn=gunicorn
    ) as proxy:
        ask = Asker(proxy, upstream)
        hits = 0
        for number in range(24):
            ask._clients.clear()
            hits += ask(QUESTION, settle=False).hit
            time.sleep(0.1 if number == 0 else 0)
        assert hits > 0
        told = [line for line in proxy.said().splitlines() if "serves uncached" in line]
        assert len(told) == 1, proxy.said()[-3000:]
        assert "is in use by another process" in told[0]
        assert "Qdrant server" in told[0]


def test_a_proxy_that_was_killed_finds_its_answers_again(tmp_path, upstream):
    settings = {"location": "cache"}
    with LiteLLMProxy(tmp_path, upstream.url, semcache=settings) as proxy:
        ask = Asker(proxy, upstream)
        first = ask(QUESTION)
        os.killpg(proxy.pid, signal.SIGKILL)
    with LiteLLMProxy(tmp_path, upstream.url, semcache=settings) as proxy:
        again = Asker(proxy, upstream)
        again.namespace = ask.namespace
        assert again(QUESTION).text == first.text
