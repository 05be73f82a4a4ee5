"""A program that calls LiteLLM: one line puts the cache in place, and one takes it away."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from contextlib import suppress

import openai
import pytest
from pydantic import BaseModel

import litellm_hooks
from langchain_semcache import ConfigurationError, Semcache, SemcacheConfig, tenant
from langchain_semcache.errors import IndexUnavailable
from langchain_semcache.events import BackendFailed
from langchain_semcache.index.memory import MemoryIndex
from langchain_semcache.testing.fakes import FlakyIndex
from litellm_hooks._identity import note
from litellm_hooks.backend import SemcacheBackend
from litellm_hooks.settings import HookSettings
from tests.services.litellm_stores import told, wait_for_stores
from tests.services.openai_api import Reply

litellm = pytest.importorskip("litellm", reason="needs the extra litellm")

FRANCE = "What is the capital of France?"
REWORDED = "Tell me the capital of France"


class Recorder:
    def __init__(self) -> None:
        self.events: list[object] = []

    def emit(self, event: object) -> None:
        self.events.append(event)


@pytest.fixture
def cache():
    backend = litellm_hooks.install(":memory:", strict=True)
    yield backend.semcache
    litellm_hooks.uninstall()


@pytest.fixture
def ask(upstream):
    """Ask in any of the four ways; what was answered, and how often the provider was asked."""

    def one(said, *, way: str = "sync", **options):
        messages = [{"role": "user", "content": said}] if isinstance(said, str) else said
        options = {"model": "openai/gpt-4o", "api_key": "sk-1", "api_base": upstream.url} | options
        before = upstream.calls
        text = {"sync": _sync, "async": _async}[way.split(maxsplit=1)[0]](messages, **options)
        return text, upstream.calls - before

    return one


def _sync(messages, **options):
    before = told()
    answer = litellm.completion(messages=messages, **options)
    if options.get("stream"):
        text = "".join(chunk.choices[0].delta.content or "" for chunk in answer if chunk.choices)
        wait_for_stores(before)
        return text
    return answer.choices[0].message.content


def _async(messages, **options):
    before = told()

    async def call():
        answer = await litellm.acompletion(messages=messages, **options)
        if options.get("stream"):
            chunks = [chunk async for chunk in answer]
            text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        else:
            text = answer.choices[0].message.content
        await asyncio.to_thread(wait_for_stores, before)
        return text

    return asyncio.run(call())


WAYS = [("sync", False), ("sync", True), ("async", False), ("async", True)]


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("written", WAYS, ids=str)
@pytest.mark.parametrize("read", WAYS, ids=str)
def test_every_way_of_calling_shares_one_entry(ask, written, read):
    text, calls = ask(FRANCE, way=written[0], stream=written[1])
    assert calls == 1
    assert ask(FRANCE, way=read[0], stream=read[1]) == (text, 0)
    assert ask(REWORDED, way=read[0], stream=read[1]) == (text, 0)
    assert ask("What is the capital of Spain?", way=read[0], stream=read[1])[1] == 1


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_one_call_is_one_write(cache, ask, way):
    """LiteLLM hands some streams to its cache twice."""
    ask(
        FRANCE,
        way=way[0],
        stream=way[1],
        **({"stream_options": {"include_usage": True}} if way[1] else {}),
    )
    assert cache.stats().stores_by_reason == {"stored": 1}


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_stream_that_breaks_off_is_not_stored(ask, upstream, way):
    """B19: LiteLLM itself says "stop" at its end."""
    upstream.says["Does it break?"] = Reply("one two three four", cut_after=3)
    with suppress(openai.APIError):  # releases from 1.110 on say themselves that it broke off
        ask("Does it break?", way=way, stream=True)
    upstream.says["Does it break?"] = Reply("one two three four")
    assert ask("Does it break?", way=way, stream=True) == ("one two three four", 1)
    assert ask("Does it break?", way=way, stream=True) == ("one two three four", 0)


@pytest.mark.usefixtures("cache")
def test_the_facts_of_a_hit_are_in_the_metadata_and_the_hidden_parameters(upstream):
    def call(text: str):
        facts: dict = {}
        answer = litellm.completion(
            model="openai/gpt-4o",
            api_key="sk-1",
            api_base=upstream.url,
            messages=[{"role": "user", "content": text}],
            metadata=facts,
        )
        return answer, facts["semcache"]

    missed, facts = call(FRANCE)
    assert (facts["hit"], facts["reason"]) == (False, "no_candidate")
    assert not missed._hidden_params.get("cache_hit")
    hit, facts = call(REWORDED)
    assert (facts["hit"], facts["reason"]) == (True, "semantic")
    assert 0.5 < facts["similarity"] < 1.0
    assert hit._hidden_params["cache_hit"] is True
    # Early releases (1.75) name no key outside the proxy.
    assert hit._hidden_params.get("cache_key") in (facts["entry_id"], None)
    assert hit._hidden_params.get("response_cost", 0.0) == 0.0
    assert hit.usage.total_tokens == 8


@pytest.mark.usefixtures("cache")
def test_another_tenant_account_or_user_has_other_answers(ask):
    ask(FRANCE)
    assert ask(FRANCE, api_key="sk-2")[1] == 1
    assert ask(FRANCE, user="u1")[1] == 1
    with tenant("acme"):
        assert ask(FRANCE)[1] == 1
        assert ask(REWORDED)[1] == 0
    assert ask(FRANCE)[1] == 0


@pytest.mark.usefixtures("cache")
def test_a_stream_belongs_to_the_tenant_that_asked_for_it(ask, upstream):
    """Also when it is read to its end elsewhere."""
    with tenant("acme"):
        stream = litellm.completion(
            model="openai/gpt-4o",
            api_key="sk-1",
            api_base=upstream.url,
            messages=[{"role": "user", "content": FRANCE}],
            stream=True,
        )
    assert list(stream)
    wait_for_stores(0)
    assert ask(FRANCE)[1] == 1
    with tenant("acme"):
        assert ask(FRANCE)[1] == 0


@pytest.mark.usefixtures("cache")
def test_a_schema_that_is_a_class_counts_with_its_fields(ask):
    def answer_of(**fields: type) -> type[BaseModel]:
        return type("Answer", (BaseModel,), {"__annotations__": fields})

    ask(FRANCE, response_format=answer_of(city=str))
    assert ask(FRANCE, response_format=answer_of(city=str))[1] == 0
    assert ask(FRANCE, response_format=answer_of(city=str, country=str))[1] == 1


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_call_that_wants_no_cache_gets_none(ask, way):
    ask(FRANCE)
    for _ in range(2):
        assert ask(FRANCE, way=way, caching=False)[1] == 1
    other = "What is the capital of Spain?"
    ask(other, way=way, caching=False)
    assert ask(other, way=way)[1] == 1, "caching=False left something behind"


@pytest.mark.usefixtures("cache")
def test_null_controls_work_where_litellm_lets_us_see_the_call(ask):
    """A synchronous call fails inside LiteLLM before anybody is asked; the page says so."""
    assert ask(FRANCE, way="async", cache=None)[1] == 1
    with pytest.raises(AttributeError, match="get"):
        ask(FRANCE, way="sync", cache=None)


@pytest.mark.usefixtures("cache")
def test_text_completions_and_embeddings_pass_through(upstream):
    where = {"api_base": upstream.url, "api_key": "sk-1"}
    upstream.says["Once upon"] = Reply("a time")
    for _ in range(2):
        before = upstream.calls
        litellm.text_completion(
            model="text-completion-openai/gpt-3.5-turbo-instruct", prompt="Once upon", **where
        )
        litellm.embedding(model="openai/text-embedding-3-small", input=["same"], **where)
        assert upstream.calls == before + 2


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_the_responses_api(upstream, colour):
    options = {
        "model": "openai/gpt-4o",
        "api_base": upstream.url,
        "api_key": "sk-1",
        "input": "Who wrote the first part of Faust?",
    }

    async def later():
        before = told()
        answer = await litellm.aresponses(**options)
        await asyncio.to_thread(wait_for_stores, before)
        return answer

    def call():
        return asyncio.run(later()) if colour == "async" else litellm.responses(**options)

    before = upstream.calls
    first, second = call(), call()
    if "responses" not in litellm.cache.supported_call_types:
        assert upstream.calls == before + 2, "early releases cannot hand these replies out"
        return
    assert upstream.calls == before + 1
    assert second.output[0].content[0].text == first.output[0].content[0].text


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_deployments_of_one_model_behind_a_router_share(upstream, colour):
    """A Router asks a cache only when it is told to; other addresses and accounts are one model."""
    deployments = [
        {
            "model_name": "chat",
            "litellm_params": {
                "model": "openai/gpt-4o",
                "api_base": upstream.url + suffix,
                "api_key": f"sk-{number}",
            },
        }
        for number, suffix in enumerate(("", "/"))
    ]
    router = litellm.Router(model_list=deployments, cache_responses=True)
    said = {"model": "chat", "messages": [{"role": "user", "content": FRANCE}]}

    async def several():
        answers = []
        for number in range(6):
            answers.append(await router.acompletion(**said))
            await asyncio.to_thread(wait_for_stores, number)
        return answers

    before = upstream.calls
    answers = (
        asyncio.run(several())
        if colour == "async"
        else [router.completion(**said) for _ in range(6)]
    )
    assert upstream.calls == before + 1
    assert len({answer.choices[0].message.content for answer in answers}) == 1


def test_uninstalling_leaves_litellm_as_it_was():
    """In a program of its own, so that nothing of another test is there already."""
    said = subprocess.run(
        [sys.executable, "-c", UNINSTALLING], capture_output=True, check=False, text=True
    )
    assert said.returncode == 0, said.stderr[-2000:]


UNINSTALLING = """
import asyncio, litellm, litellm_hooks
from litellm import router
from litellm.batch_completion import main as batches
from litellm.caching.caching_handler import LLMCachingHandler
from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper

def seen():
    names = [name for name in dir(litellm) if name.endswith(("callback", "callbacks"))]
    lists = {n: list(v) for n in names if isinstance(v := getattr(litellm, n), list)}
    ours = CustomStreamWrapper.finish_reason_handler, LLMCachingHandler.__init__
    return litellm.cache, lists, ours, batches.litellm, getattr(router, "run_async_function", None)

said = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], "mock_response": "yo"}
litellm.completion(**said)
asyncio.run(litellm.acompletion(**said))
before = seen()
litellm_hooks.install(":memory:", encoder="hash")
litellm_hooks.install(":memory:", encoder="hash")
assert seen() != before
litellm.completion(**said)
asyncio.run(litellm.acompletion(**said))
litellm_hooks.uninstall()
assert seen() == before, (before, seen())
litellm_hooks.uninstall()
"""


WITHOUT_PROXY = """
import sys
sys.modules["fastapi"] = None
import litellm, litellm_hooks
try:
    litellm_hooks.install(":memory:", encoder="hash")
except ValueError as error:
    assert "needs fastapi" in str(error) and "litellm-proxy" in str(error), error
    assert litellm.cache is None
    sys.exit()
said = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], "mock_response": "yo"}
assert [litellm.completion(**said)._hidden_params.get("cache_hit") for _ in "ab"] == [None, True]
"""


def test_without_the_proxy_s_packages_it_works_or_says_what_is_missing():
    """X06: some releases import FastAPI for every hit, and fail the call over it."""
    said = subprocess.run(
        [sys.executable, "-c", WITHOUT_PROXY], capture_output=True, check=False, text=True
    )
    assert said.returncode == 0, said.stderr[-2000:]


def test_a_cache_that_is_open_already_stays_open():
    with Semcache.open(":memory:") as opened:
        with pytest.raises(ConfigurationError, match="give it alone"):
            litellm_hooks.install(opened, ttl=60)
        assert litellm_hooks.install(opened).semcache is opened
        litellm_hooks.uninstall()
        assert opened.stats().entries == 0


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"mode": "sometimes"}, "mode must be one of"),
        ({"similarty_threshold": 1}, "similarty_threshold"),
        ({"encoder": "word2vec"}, "word2vec"),
    ],
)
def test_a_wrong_setting_is_named_and_leaves_everything_as_it_was(given, named):
    before = litellm.cache
    with pytest.raises(ConfigurationError, match=named):
        litellm_hooks.install(":memory:", **given)
    assert litellm.cache is before


def test_a_whole_configuration_is_taken_as_it_is():
    backend = litellm_hooks.install(SemcacheConfig(location=":memory:", ttl=60))
    assert backend.semcache.config.ttl.total_seconds() == 60
    litellm_hooks.uninstall()


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_breaks_in_the_cache_fails_no_call(upstream, ask, way):
    index = FlakyIndex(MemoryIndex(512), IndexUnavailable("no"))
    seen = Recorder()
    with Semcache.open(":memory:", index=index, sinks=[seen]) as opened:
        litellm_hooks.install(opened)
        for _ in range(2):
            assert ask(FRANCE, way=way[0], stream=way[1])[1] == 1
        assert any(isinstance(event, BackendFailed) for event in seen.events)
        litellm_hooks.uninstall()


@pytest.mark.parametrize("way", ["sync", "async"])
def test_lifetimes_come_from_rules(ask, way):
    """The long tail for a second, the documentation's answers for an hour."""
    rules = {
        "policy": "rules",
        "classes": {"rare": {"first": 1}},
        "rules": [{"use": "frequent", "tag": "docs"}],
        "shadows": [{"name": "long", "rules": {"classes": {"rare": {"first": 3600}}}}],
    }
    backend = litellm_hooks.install(":memory:", strict=True, freshness=rules)
    try:
        tagged = {"cache": {"tags": ["docs"]}}
        assert ask(FRANCE, way=way)[1] == 1
        assert ask("How do I install it?", way=way, **tagged)[1] == 1
        assert ask(FRANCE, way=way)[1] == 0
        time.sleep(1.1)
        assert ask(FRANCE, way=way)[1] == 1
        assert ask("How do I install it?", way=way, **tagged)[1] == 0
        (shadow,) = backend.semcache.stats().shadows
        assert shadow.hit_rate.value > shadow.live_hit_rate.value
    finally:
        litellm_hooks.uninstall()


@pytest.mark.parametrize(("policy", "lives"), [("rules", 60), ("fixed", 86_400)])
def test_a_client_of_the_proxy_gets_no_longer_life_than_the_operator_allows(policy, lives):
    """Its wish counts where it is shorter: than `ttl`, and with rules than their `most`."""
    settings = HookSettings.of(
        {"location": ":memory:", "strict": True, "freshness": {"policy": policy, "most": 60}}
    )
    with Semcache.open(settings.cache) as opened:
        backend = SemcacheBackend(opened, settings, authenticated=True)
        for wish, kept in ((5, 5), (10**9, lives)):
            call = {
                "model": "gpt-4o",
                "messages": [{"role": "user", "content": f"What costs {wish}?"}],
                "metadata": {},
                "cache": {"ttl": wish},
            }
            note(call, "key:a")
            backend.add_cache(litellm.mock_completion("gpt-4o", call["messages"]), **call)
            (entry,) = [e for e in opened.entries() if str(wish) in e.question]
            assert entry.expires_at - entry.created_at == pytest.approx(kept)
