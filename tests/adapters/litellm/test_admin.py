"""What an administrator can ask of the cache, and who else cannot."""

from __future__ import annotations

import json
import time

import pytest

QUESTION = "Which river flows through Vienna?"

ROUTES = [
    ("GET", "/cache/ping", None),
    ("POST", "/cache/delete", {"keys": ["x"]}),
    ("POST", "/cache/flushall", {}),
    ("GET", "/semcache/stats", None),
    ("POST", "/semcache/explain", {"model": "gpt-4o", "messages": []}),
    ("POST", "/semcache/invalidate", {"model": "none"}),
    ("POST", "/semcache/source-changed", {"source": "none", "new_hash": None}),
    ("POST", "/semcache/flush", {"tenant": "none"}),
]


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_only_an_administrator_may(proxy, method, path, body):
    assert proxy.ask(path, body, key="sk-nobody", method=method)[0] == 401
    status, said = proxy.ask(path, body, key=proxy.key("alice"), method=method)
    assert status == 403
    assert "administrator" in json.dumps(said) or "admin" in json.dumps(said)
    assert proxy.ask(path, body, method=method)[0] == 200


def test_ping_stores_and_reads_and_leaves_nothing(proxy):
    before = proxy.ask("/semcache/stats")[1]["entries"]
    status, said = proxy.ask("/cache/ping")
    assert (status, said["status"], said["cache_type"]) == (200, "healthy", "semcache")
    assert proxy.ask("/semcache/stats")[1]["entries"] == before


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
def test_the_key_that_a_hit_names_deletes_its_entry(ask, proxy, api, stream):
    """X11: also of a reworded question, and of a stream."""
    ask(QUESTION, api=api)
    hit = ask("Name the river that flows through Vienna.", api=api, stream=stream)
    assert hit.reason == "semantic"
    keys = {"keys": [hit.headers["x-litellm-cache-key"]]}
    assert proxy.ask("/cache/delete", keys) == (200, {"status": "success", "removed": 1})
    assert proxy.ask("/cache/delete", keys)[1]["removed"] == 0
    assert ask(QUESTION, api=api).calls == 1


def test_explain_shows_every_candidate_and_serves_nothing(ask, proxy, upstream):
    ask(QUESTION)
    before = upstream.calls
    body = {
        "model": "gpt-4o",
        "cache": {"namespace": ask.namespace},
        "messages": [{"role": "user", "content": "Which river flows through Budapest?"}],
        "semcache_tenant": "key:hash-of-alice",
    }
    status, said = proxy.ask("/semcache/explain", body)
    assert (status, said["hit"], said["tenant"]) == (200, False, "key:hash-of-alice")
    assert said["reason"] in {one["reason"] for one in said["candidates"]}
    assert any(one["question"] == QUESTION for one in said["candidates"])
    assert "response" not in said
    assert upstream.calls == before
    body["messages"][0]["content"] = QUESTION
    assert proxy.ask("/semcache/explain", body)[1]["reason"] == "exact"
    assert not proxy.ask("/semcache/explain", {**body, "cache": {}})[1]["hit"]
    del body["semcache_tenant"]
    assert not proxy.ask("/semcache/explain", body)[1]["hit"]


def test_invalidate_by_model_tenant_and_age_with_a_dry_run(ask, proxy):
    which = {"model": "gpt-4o-mini", "tenant": "key:hash-of-alice"}
    proxy.ask("/semcache/invalidate", which)  # what other tests have left
    ask(QUESTION)
    ask(QUESTION, model="gpt-4o-mini")
    ask(QUESTION, key="bob")
    counted = proxy.ask("/semcache/invalidate", {**which, "dry_run": True})[1]
    assert counted == {"removed": 1, "dry_run": True}
    assert ask(QUESTION, model="gpt-4o-mini").hit
    assert proxy.ask("/semcache/invalidate", which)[1] == {"removed": 1, "dry_run": False}
    assert not ask(QUESTION, model="gpt-4o-mini").hit
    assert proxy.ask("/semcache/invalidate", {"older_than": 3600})[1]["removed"] == 0
    removed = proxy.ask("/semcache/flush", {"tenant": "key:hash-of-alice"})[1]["removed"]
    assert removed >= 2
    assert not ask(QUESTION, cache={"no-store": True}).hit
    assert ask(QUESTION, key="bob").hit
    time.sleep(0.2)
    assert proxy.ask("/semcache/invalidate", {"older_than": 0.1})[1]["removed"] >= 1
    assert not ask(QUESTION, key="bob").hit


def test_invalidate_by_tag_and_by_source(ask, proxy):
    """What an answer came from is said with the call."""
    tagged = {"tags": ["faq", ask.namespace], "sources": {f"{ask.namespace}.md": "v1"}}
    ask(QUESTION, cache=tagged)
    ask("Which river flows through Paris?")
    assert proxy.ask("/semcache/invalidate", {"tags": ["no such"]})[1]["removed"] == 0
    counted = {"tags": [ask.namespace], "source": f"{ask.namespace}.md", "dry_run": True}
    assert proxy.ask("/semcache/invalidate", counted)[1]["removed"] == 1
    assert ask(QUESTION).hit
    assert proxy.ask("/semcache/invalidate", {"source": f"{ask.namespace}.md"})[1]["removed"] == 1
    assert not ask(QUESTION, cache={"no-store": True}).hit
    assert ask("Which river flows through Paris?").hit


def test_a_changed_source_ends_what_was_made_of_its_old_content(ask, proxy):
    """Of every tenant, or of one; answers from the new content stay."""
    source = f"{ask.namespace}.md"
    other = "Which river flows through Paris?"
    ask(QUESTION, cache={"sources": {source: "sha256:old"}})
    ask(QUESTION, key="bob", cache={"sources": {source: "sha256:old"}})
    ask(other, cache={"sources": {source: "sha256:new"}})

    def changed(**body):
        return proxy.ask("/semcache/source-changed", {"source": source, **body})[1]

    assert changed(new_hash=["sha256:new"], dry_run=True) == {"removed": 2, "dry_run": True}
    assert changed(new_hash="sha256:new", tenant="key:hash-of-bob")["removed"] == 1
    assert changed(new_hash="sha256:new") == {"removed": 1, "dry_run": False}
    assert not ask(QUESTION, cache={"no-store": True}).hit
    assert ask(other).hit
    assert changed(new_hash=None)["removed"] == 1


def test_invalidate_by_prompt(ask, proxy):
    """The prompt that LiteLLM is told to fill in is a tag, by its name and by its version."""
    prompt = f"prompt-{ask.namespace}"
    ask(QUESTION, cache={"tags": [f"prompt:{prompt}", f"prompt:{prompt}@2"]})
    assert proxy.ask("/semcache/invalidate", {"prompt": f"{prompt}@1"})[1]["removed"] == 0
    counted = {"prompt": prompt, "tenant": "key:hash-of-alice", "dry_run": True}
    assert proxy.ask("/semcache/invalidate", counted)[1]["removed"] == 1
    assert proxy.ask("/semcache/invalidate", {"prompt": f"{prompt}@2"})[1]["removed"] == 1


@pytest.mark.parametrize("wrong", [{"tags": "faq"}, {"tags": [1]}, {"sources": ["faq.md"]}])
def test_an_answer_whose_tags_cannot_be_read_is_not_kept(ask, wrong):
    ask(QUESTION, cache=wrong)
    assert ask(QUESTION).calls == 1


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("/semcache/invalidate", {}, "older_than"),
        ("/semcache/invalidate", {"modle": "x"}, "modle"),
        ("/semcache/invalidate", {"older_than": -1}, "older_than"),
        ("/semcache/source-changed", {"source": "faq.md"}, "new_hash"),
        ("/semcache/source-changed", {"new_hash": None}, "source"),
        ("/semcache/flush", {}, "tenant"),
        ("/semcache/flush", {"tenant": ""}, "tenant"),
        ("/cache/delete", {}, "keys"),
        ("/semcache/invalidate", {"older_than": 1e300}, "older_than"),
        ("/semcache/explain", {}, "messages"),
        ("/semcache/explain", {"model": ["a"], "messages": []}, "model"),
        ("/semcache/explain", {"model": "gpt-4o", "messages": None}, "messages"),
        ("/semcache/explain", {"model": "gpt-4o", "input": 3}, "input"),
        ("/semcache/explain", {"messages": [], "semcache_tenant": ["t"]}, "semcache_tenant"),
    ],
)
def test_a_wrong_body_is_named_and_removes_nothing(ask, proxy, path, body, named):
    ask(QUESTION)
    status, said = proxy.ask(path, body)
    assert status in (400, 422)
    assert named in json.dumps(said)
    assert ask(QUESTION).hit


def test_older_than_nothing_is_everything(ask, proxy):
    ask(QUESTION)
    counted = {"older_than": 0, "dry_run": True}
    assert proxy.ask("/semcache/invalidate", counted)[1]["removed"] >= 1


def test_flushall_empties_the_cache(ask, proxy):
    ask(QUESTION)
    assert proxy.ask("/cache/flushall", {})[1]["status"] == "success"
    assert proxy.ask("/semcache/stats")[1]["entries"] == 0
    assert ask(QUESTION).calls == 1
