"""A real proxy, a stand-in for the provider, and a client that tells what came of each call."""

from __future__ import annotations

import gc
import itertools
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.services.litellm_proxy import LiteLLMProxy
from tests.services.openai_api import OpenAIService

_numbers = itertools.count()


def pytest_itemcollected(item: pytest.Item) -> None:
    """LiteLLM and what it brings along warn about themselves; ours may not warn."""
    if Path(__file__).parent in item.path.parents:
        item.add_marker(pytest.mark.filterwarnings("error:::langchain_semcache"))
        item.add_marker(pytest.mark.filterwarnings("error:::litellm_hooks"))
        item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="module", autouse=True)
def _litellm_s_own_loops():
    """LiteLLM leaves event loops open. They are collected here, where its warnings are let pass,
    and not at some moment of another test, where a warning is an error."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def upstream():
    pytest.importorskip("litellm", reason="needs the extra litellm")
    with OpenAIService() as service:
        yield service


@pytest.fixture(scope="session")
def proxy(tmp_path_factory, upstream):
    """One worker, embedded store, everything as it is by default."""
    folder = tmp_path_factory.mktemp("proxy")
    with LiteLLMProxy(folder, upstream.url, semcache={"location": "cache"}) as running:
        yield running


@dataclass
class Got:
    """What a client sees of one call, and how often the provider was asked for it."""

    text: str
    headers: dict[str, str]
    calls: int
    raw: Any
    chunks: list[Any] = field(default_factory=list)

    @property
    def reason(self) -> str:
        return self.headers.get("x-semcache-reason", "")

    @property
    def hit(self) -> bool:
        return self.reason in ("exact", "semantic")


class Asker:
    """Asks one proxy, in a namespace of its own, so that tests do not answer one another."""

    def __init__(self, proxy: LiteLLMProxy, upstream: OpenAIService) -> None:
        self.proxy, self.upstream = proxy, upstream
        self.namespace = f"test-{next(_numbers)}"
        self._clients: dict[str, openai.OpenAI] = {}

    def client(self, key: str = "alice") -> openai.OpenAI:
        if key not in self._clients:
            self._clients[key] = openai.OpenAI(
                base_url=self.proxy.url, api_key=self.proxy.key(key), max_retries=0, timeout=60
            )
        return self._clients[key]

    def __call__(
        self,
        said: Any,
        *,
        key: str = "alice",
        cache: dict[str, Any] | None = None,
        api: str = "chat",
        settle: bool = True,
        body: dict[str, Any] | None = None,
        **options: Any,
    ) -> Got:
        """One call; `said` is a question or a whole conversation."""
        controls = {"namespace": self.namespace, **(cache or {})}
        options["extra_body"] = {"cache": controls, **(body or {})}
        options.setdefault("model", "gpt-4o")
        settle = settle and not controls.get("no-store")
        before, kept = self.upstream.calls, self.stores() if settle else 0
        if api == "chat":
            messages = [{"role": "user", "content": said}] if isinstance(said, str) else said
            make = self.client(key).chat.completions.with_raw_response.create
            answer = make(messages=messages, **options)
        else:
            make = self.client(key).responses.with_raw_response.create
            answer = make(input=said, **options)
        raw = answer.parse()
        chunks = list(raw) if options.get("stream") else []
        got = Got(
            text=_text(api, raw, chunks),
            headers=dict(answer.headers),
            calls=self.upstream.calls - before,
            raw=raw,
            chunks=chunks,
        )
        if settle and got.calls:
            self.wait_for_a_store(kept)
        return got

    def stores(self) -> int:
        status, numbers = self.proxy.ask("/semcache/stats")
        return sum(numbers["stores_by_reason"].values()) if status == 200 else 0

    def wait_for_a_store(self, before: int, seconds: float = 1.0) -> None:
        """LiteLLM hands a reply to its cache after it has answered the client."""
        until = time.monotonic() + seconds
        while self.stores() <= before and time.monotonic() < until:
            time.sleep(0.02)


@pytest.fixture
def ask(proxy, upstream):
    return Asker(proxy, upstream)


def _text(api: str, raw: Any, chunks: list[Any]) -> str:
    if api != "chat":
        deltas = [e.delta for e in chunks if e.type == "response.output_text.delta"]
        return "".join(deltas) if chunks else raw.output_text
    if chunks:
        return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    return raw.choices[0].message.content or "" if raw.choices else ""


def sse(proxy: LiteLLMProxy, body: dict[str, Any], key: str = "alice") -> list[str]:
    """The lines of a streamed answer as they go over the wire."""
    import urllib.request

    request = urllib.request.Request(
        f"{proxy.url}/chat/completions",
        data=json.dumps(body | {"stream": True}).encode(),
        headers={"Authorization": f"Bearer {proxy.key(key)}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return [line.decode().strip() for line in answer if line.strip()]
