"""In a program, an answer is kept for whoever asked, wherever LiteLLM makes or ends the call."""

from __future__ import annotations

import asyncio

import openai
import pytest

import litellm_hooks
from langchain_semcache import tenant
from litellm_hooks._calls import UNDER_WAY
from tests.services.litellm_stores import wait_for_stores

litellm = pytest.importorskip("litellm", reason="needs the extra litellm")

QUESTION = "When does our product launch?"
MODEL = "openai/gpt-4o"


@pytest.fixture
def cache():
    backend = litellm_hooks.install(":memory:", strict=True)
    yield backend.semcache
    litellm_hooks.uninstall()


@pytest.fixture
def where(upstream):
    return {"api_base": upstream.url, "api_key": "sk-1"}


def said(text: str = QUESTION) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


@pytest.fixture
def has_answer(upstream, where):
    """Whether a tenant is answered from the cache; keeps nothing."""

    def asked(name: str, text: str = QUESTION, way: str = "completion") -> bool:
        before, quiet = upstream.calls, {"cache": {"no-store": True}}
        with tenant(name):
            if way == "Router":
                router_of(where).completion(MODEL, said(text), **quiet)
            elif "responses" in way:
                litellm.responses(model=MODEL, input=text, **quiet, **where)
            else:
                litellm.completion(MODEL, said(text), **quiet, **where)
        return upstream.calls == before

    return asked


def router_of(where):
    deployment = {"model_name": MODEL, "litellm_params": {"model": MODEL, **where}}
    return litellm.Router(model_list=[deployment], cache_responses=True)


BEGUN = {
    "completion": lambda where, **more: litellm.completion(
        model=MODEL, messages=said(), **where, **more
    ),
    "Router": lambda where, **more: router_of(where).completion(MODEL, said(), **more),
    "responses": lambda where, **more: litellm.responses(
        model=MODEL, input=QUESTION, **where, **more
    ),
    "acompletion": lambda where, **more: litellm.acompletion(
        model=MODEL, messages=said(), **where, **more
    ),
    "aresponses": lambda where, **more: litellm.aresponses(
        model=MODEL, input=QUESTION, **where, **more
    ),
}


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("controls", [{}, {"no-cache": True}], ids=["usual", "no-cache"])
@pytest.mark.parametrize("way", BEGUN)
def test_a_stream_is_kept_for_who_began_it_and_not_for_who_reads_it(
    where, has_answer, way, controls
):
    """LiteLLM asks no cache under `no-cache`, and shows it such a call only when it is over."""
    if "responses" in way and "responses" not in litellm.cache.supported_call_types:
        pytest.skip("early releases cannot hand these replies out")

    async def begin_and_read():
        with tenant("acme"):
            stream = await BEGUN[way](where, stream=True, cache=controls)
        with tenant("globex"):
            assert [chunk async for chunk in stream]
            await asyncio.to_thread(wait_for_stores, 0)

    if way.startswith("a"):
        asyncio.run(begin_and_read())
    else:
        with tenant("acme"):
            stream = BEGUN[way](where, stream=True, cache=controls)
        with tenant("globex"):
            assert list(stream)
            wait_for_stores(0)
    owners = [name for name in ("acme", "globex", "") if has_answer(name, way=way)]
    assert owners == ["acme"]


@pytest.mark.usefixtures("cache")
def test_what_is_written_into_a_conversation_meanwhile_is_not_its_question(where, has_answer):
    """Programs go on with the list of messages that they gave."""

    async def chat():
        messages = said("What is the plan?")
        call = {"model": MODEL, "messages": messages, "cache": {"no-cache": True}, **where}
        answer = await litellm.acompletion(**call)
        messages[0]["content"] = QUESTION
        assert answer.choices
        await asyncio.to_thread(wait_for_stores, 0)

    asyncio.run(chat())
    assert has_answer("", "What is the plan?")
    assert not has_answer("")


def test_of_more_open_streams_than_are_remembered_the_first_are_not_kept(cache, where):
    async def begin_and_read():
        with tenant("acme"):
            streams = [
                await litellm.acompletion(
                    model=MODEL, messages=said(f"What is in chapter {n}?"), stream=True, **where
                )
                for n in range(UNDER_WAY + 2)
            ]
        for stream in streams:
            assert [chunk async for chunk in stream]
        await asyncio.to_thread(wait_for_stores, 0, UNDER_WAY + 2)

    asyncio.run(begin_and_read())
    assert cache.stats().stores_by_reason == {"stored": UNDER_WAY, "unsupported_reply": 2}


BATCHES = {
    "batch_completion": lambda where: litellm.batch_completion(MODEL, [said()], **where),
    "batch_completion_models": lambda where: litellm.batch_completion_models(
        models=[MODEL], messages=said(), **where
    ),
    "batch_completion_models_all_responses": lambda where: (
        litellm.batch_completion_models_all_responses(models=[MODEL], messages=said(), **where)
    ),
}


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("way", BATCHES)
def test_a_batch_belongs_to_the_tenant_that_asks_though_it_runs_on_other_threads(
    where, has_answer, way
):
    with tenant("acme"):
        BATCHES[way](where)
    assert [name for name in ("acme", "globex", "") if has_answer(name)] == ["acme"]


@pytest.mark.usefixtures("cache")
def test_so_does_a_synchronous_router_where_a_loop_is_running(where, upstream):
    """It works on another thread then, as in a notebook."""
    router = router_of(where)

    def calls_of(name: str) -> int:
        before = upstream.calls
        with tenant(name):
            router.completion(MODEL, said(), cache={"no-store": True})
        return upstream.calls - before

    async def in_a_loop() -> list[int]:
        with tenant("acme"):
            router.completion(MODEL, said())
        return [calls_of(name) for name in ("acme", "globex", "")]

    assert asyncio.run(in_a_loop()) == [0, 1, 1]


@pytest.mark.usefixtures("cache")
def test_two_clients_of_one_program_are_two_accounts(upstream):
    """Also where LiteLLM itself is told once of a key: it is not among the arguments."""

    def calls(**options) -> int:
        before = upstream.calls
        litellm.completion(model=MODEL, messages=said(), **options)
        return upstream.calls - before

    def client(key: str, organization: str | None = None) -> openai.OpenAI:
        return openai.OpenAI(base_url=upstream.url, api_key=key, organization=organization)

    assert calls(client=client("sk-1")) == 1
    assert calls(client=client("sk-1")) == 0
    assert calls(client=client("sk-2")) == 1
    assert calls(client=client("sk-1", "org-2")) == 1


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("name", ["api_key", "openai_key", "organization"])
def test_so_are_two_keys_that_litellm_is_told_of(upstream, monkeypatch, name):
    def calls() -> int:
        before = upstream.calls
        litellm.completion(model=MODEL, messages=said(), api_base=upstream.url)
        return upstream.calls - before

    monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
    monkeypatch.setattr(litellm, name, "one")
    assert [calls(), calls()] == [1, 0]
    monkeypatch.setattr(litellm, name, "two")
    assert calls() == 1
