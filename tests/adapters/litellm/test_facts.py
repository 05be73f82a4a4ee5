"""What is told of a call is told of the try that was answered, and of no other."""

from __future__ import annotations

import json
import time

import pytest

import litellm_hooks
from tests.adapters.litellm.conftest import Asker
from tests.services.litellm_proxy import LiteLLMProxy

litellm = pytest.importorskip("litellm", reason="needs the extra litellm")

QUESTION = "Where do penguins live?"
NOWHERE = {"model": "openai/gpt-4o", "api_base": "http://127.0.0.1:9/v1", "api_key": "x"}


@pytest.fixture(scope="module")
def routed(tmp_path_factory, upstream):
    """A model that always falls back, and one that goes over the Responses API."""
    folder = tmp_path_factory.mktemp("routed")
    proxy = LiteLLMProxy(folder, upstream.url, semcache={"location": ":memory:"})
    config = json.loads(proxy.config.read_text())
    bridge = {
        "model": "openai/responses/gpt-4o", "api_base": upstream.url, "api_key": "sk-upstream"
    }  # fmt: skip
    config["model_list"] += [
        {"model_name": "down", "litellm_params": NOWHERE},
        {"model_name": "bridge", "litellm_params": bridge},
    ]
    config["router_settings"] = {"fallbacks": [{"down": ["gpt-4o-mini"]}], "num_retries": 0}
    proxy.config.write_text(json.dumps(config))
    with proxy as running:
        yield running


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("model", ["down", "bridge"])
def test_headers_tell_of_the_hit_behind_a_fallback_or_another_api(routed, upstream, model, stream):
    ask = Asker(routed, upstream)
    missed = ask(QUESTION, model=model, stream=stream)
    assert (missed.calls, missed.reason) == (1, "no_candidate")
    hit = ask(QUESTION, model=model, stream=stream)
    assert (hit.calls, hit.reason) == (0, "exact")
    assert float(hit.headers["x-litellm-semantic-similarity"]) == 1.0
    fresh = ask(QUESTION, model=model, stream=stream, cache={"no-cache": True})
    assert (fresh.calls, fresh.reason) == (1, "")


def test_in_a_program_the_facts_of_a_try_that_failed_are_not_those_of_the_answer(upstream):
    """Recent releases give the second try other metadata: then there are none."""
    up = {"model": "openai/gpt-4o", "api_base": upstream.url, "api_key": "sk-1"}
    models = [
        {"model_name": "down", "litellm_params": NOWHERE},
        {"model_name": "up", "litellm_params": up},
    ]
    router = litellm.Router(
        model_list=models, fallbacks=[{"down": ["up"]}], num_retries=0, cache_responses=True
    )
    litellm_hooks.install(":memory:", strict=True)
    said = [{"role": "user", "content": QUESTION}]
    try:
        router.completion(model="up", messages=said)
        for model, without in (("down", True), ("up", None)):
            facts: dict = {}
            before = upstream.calls
            router.completion(model=model, messages=said, metadata=facts)
            assert upstream.calls == before
            assert facts.get("semcache", {"hit": without})["hit"] is True
    finally:
        litellm_hooks.uninstall()


def test_a_made_up_stream_is_kept_like_any_other():
    """Whoever tries the cache without a provider streams one: no provider says where it ends."""
    backend = litellm_hooks.install(":memory:", strict=True)
    try:
        for reason in ("no_candidate", "exact"):
            facts: dict = {}
            stream = litellm.completion(
                model="gpt-4o",
                messages=[{"role": "user", "content": QUESTION}],
                mock_response="In the south.",
                stream=True,
                metadata=facts,
            )
            assert "".join(c.choices[0].delta.content or "" for c in stream) == "In the south."
            _wait_for_a_store(backend)
            assert facts["semcache"]["reason"] == reason
    finally:
        litellm_hooks.uninstall()


def _wait_for_a_store(backend) -> None:
    until = time.monotonic() + 5
    while not backend.semcache.stats().stores_by_reason and time.monotonic() < until:
        time.sleep(0.02)
