"""A worker that found its directory taken serves uncached, and owns it when the other is gone."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from langchain_semcache import Semcache

OWNER = """
import sys
from langchain_semcache import Semcache
with Semcache.open(sys.argv[1], encoder="hash"):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def owner(tmp_path):
    """Another process with the directory open; `kill()` is how workers end."""
    running = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "cache")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout.readline() == "open\n"
    yield running
    running.kill()
    running.wait()


@pytest.fixture
def handler(tmp_path, owner, monkeypatch):
    # Here and not above, where every process of a test run would read it for a quarter of a minute.
    pytest.importorskip("litellm.proxy.proxy_server", reason="needs the proxy of litellm")
    import litellm

    from litellm_hooks._streams import unwatch
    from litellm_hooks.proxy import ProxyHandler
    from litellm_hooks.settings import HookSettings

    monkeypatch.setattr(litellm, "cache", None)
    made = ProxyHandler(HookSettings.of({"location": str(tmp_path / "cache"), "encoder": "hash"}))
    yield made
    unwatch()
    if made.backend is not None:
        made.backend.semcache.close()


def request(handler) -> dict:
    """One call that the hook sees, and whatever it set off."""
    from litellm.proxy._types import UserAPIKeyAuth

    async def seen():
        data = {"model": "m", "metadata": {}}
        await handler.async_pre_call_hook(UserAPIKeyAuth(api_key="k"), None, data, "acompletion")
        if handler._opening is not None:
            await handler._opening
        return data

    return asyncio.run(seen())


def test_it_takes_over_when_the_owner_is_gone(handler, owner, tmp_path):
    assert handler.backend is None
    assert "in use by another process" in handler.trouble
    request(handler)
    assert handler._opening is None, "it does not try with every request"
    handler._again = 0.0
    request(handler)
    assert handler.backend is None
    owner.kill()
    owner.wait()
    handler._again = 0.0
    request(handler)
    assert handler.backend is not None
    assert handler.trouble == ""
    assert isinstance(handler.backend.semcache, Semcache)
    assert sys.modules["litellm"].cache is handler.backend


def test_what_goes_wrong_then_fails_no_request(handler, owner, tmp_path):
    owner.kill()
    owner.wait()
    (tmp_path / "cache").rename(tmp_path / "elsewhere")
    (tmp_path / "cache").write_text("no directory")
    handler._again = 0.0
    assert request(handler)["metadata"]
    assert handler.backend is None
    assert str(tmp_path / "cache") in handler.trouble
