"""`stats` and `show`: what lies in a cache, for people and for programs."""

from __future__ import annotations

import json

import pytest

from langchain_semcache import Request, Response, Semcache, SemcacheConfig
from langchain_semcache.eviction import entry_bytes
from langchain_semcache.threshold.confidence import Calibration

PASSWORD = "How do I reset my password?"
ORDER = "Where is order 4471?"
REFUND = "退款多久到账？"


def test_stats_count_entries_models_and_tenants(semcache, at) -> None:
    found = json.loads(semcache("stats", *at, "--json").stdout)
    assert found["entries"] == 3
    assert found["models"] == {"small": 2, "large": 1}
    assert found["tags"] == {"account": 1}
    assert found["tenants"] == 2
    assert found["namespaces"] == {"default": 3}
    assert found["disk_bytes"] > 0
    assert 0 <= found["newest_seconds"] <= found["oldest_seconds"]


def test_stats_of_one_tenant_leave_the_others_out(semcache, at) -> None:
    found = json.loads(semcache("stats", *at, "--tenant", "acme", "--json").stdout)
    assert found["models"] == {"large": 1}


def test_stats_for_people_name_the_encoder_and_the_index(semcache, at) -> None:
    shown = semcache("stats", *at)
    assert shown.exit_code == 0
    assert "qdrant-edge" in shown.stdout
    assert "3, 0 of them expired" in shown.stdout


def test_stats_say_who_decides_on_a_hit(semcache, at) -> None:
    found = json.loads(semcache("stats", *at, "--json").stdout)
    assert (found["verifier"], found["min_confidence"], found["budget"]) == (None, None, None)
    assert found["similarity_threshold"] > 0
    shown = semcache("stats", *at).stdout
    assert "verifier    none" in shown
    assert "from similarity" in shown
    assert "budget" not in shown


def test_stats_say_where_an_error_budget_stands(semcache, own, tmp_path) -> None:
    made = Calibration(
        encoder="tokenizer-hash-v1;salt=cbf29ce484222325", verifier=None,
        floor=0.5, bar=0.9, least=0.8, weights={"similarity": 1.0, "bias": 0.0},
    )  # fmt: skip
    file, settings = tmp_path / "calibration.json", tmp_path / "semcache.toml"
    file.write_text(made.to_json())
    settings.write_text(f"max_error_rate = 0.01\ncalibration = {json.dumps(str(file))}\n")
    config = SemcacheConfig.of(
        SemcacheConfig.from_file(settings), location=str(own), encoder="hash"
    )
    with Semcache.open(config) as cache:
        for question in ("When do you open?", "Who is the boss?"):
            assert not cache.lookup(Request(messages=question)).hit
    where = ("--location", own, "--encoder", "hash", "--config", settings)
    budget = json.loads(semcache("stats", *where, "--json").stdout)["budget"]
    assert (budget["mode"], budget["requests"], budget["reports"]) == ("open", 2, 0)
    shown = semcache("stats", *where).stdout
    assert "from similarity 0.5 on with confidence 0.8" in shown
    assert "0.01 of all requests: open" in shown
    assert "2 requests, 0 reported wrong" in shown


def test_stats_say_how_much_room_is_taken_of_how_much(semcache, at, tmp_path) -> None:
    settings = tmp_path / "semcache.toml"
    settings.write_text("max_bytes = 50_000\nmax_entries = 40\ntenant_max_entries = 7\n")
    where = (*at, "--config", settings)
    found = json.loads(semcache("stats", *where, "--json").stdout)
    with Semcache.open(SemcacheConfig(location=str(at[1]), encoder="hash")) as cache:
        dimension = cache.core.workplace.encoder.dimension
        assert found["room_bytes"] == sum(entry_bytes(one, dimension) for one in cache.entries())
    assert (found["max_bytes"], found["tenant_max_entries"]) == (50_000, 7)

    def room(*arguments):
        shown = semcache("stats", *arguments).stdout.splitlines()
        return next(line for line in shown if line.startswith("room taken")).rstrip()

    assert room(*where).endswith("B of 50.0 kB and 40 entries")
    assert room(*where, "--tenant", "acme").endswith("B of 7 entries")
    assert room(*at).endswith("B")


def test_stats_of_an_empty_namespace_say_zero(semcache, at) -> None:
    shown = semcache("stats", *at, "--namespace", "other")
    assert shown.exit_code == 0
    assert "0, 0 of them expired" in shown.stdout
    assert "default (3)" in shown.stdout


def test_show_lists_question_answer_model_and_expiry(semcache, at) -> None:
    shown = semcache("show", *at).stdout
    for part in (PASSWORD, "Open Settings.", ORDER, REFUND, "small", "large", "never", "30 d"):
        assert part in shown


def test_the_newest_entry_comes_first(semcache, at) -> None:
    shown = json.loads(semcache("show", *at, "--json").stdout)
    assert [entry["created_at"] for entry in shown] == sorted(
        (entry["created_at"] for entry in shown), reverse=True
    )
    assert shown[0]["question"] == REFUND


def test_show_lists_no_more_than_it_is_asked_for(semcache, at) -> None:
    assert len(json.loads(semcache("show", *at, "--limit", "2", "--json").stdout)) == 2


def test_show_of_one_tenant_leaves_the_others_out(semcache, at) -> None:
    shown = json.loads(semcache("show", *at, "--tenant", "acme", "--json").stdout)
    assert [entry["question"] for entry in shown] == [REFUND]


def test_the_beginning_of_an_id_is_enough_to_see_the_whole_answer(semcache, at, ids) -> None:
    shown = semcache("show", ids[PASSWORD][:8], *at).stdout
    assert "Open Settings.\nThen Security." in shown
    assert ids[PASSWORD] in shown
    assert "account" in shown


def test_one_entry_as_json_has_everything(semcache, at, ids) -> None:
    entry = json.loads(semcache("show", ids[ORDER], *at, "--json").stdout)
    assert entry["answer"] == "On its way."
    assert entry["sources"] == {"orders.csv": "v1"}
    assert entry["kind"] == "text"


def test_an_id_that_is_not_there_is_said(semcache, at) -> None:
    shown = semcache("show", "zzzz", *at)
    assert shown.exit_code == 2
    assert "zzzz" in shown.stderr
    assert shown.stdout == ""


def test_an_empty_namespace_is_said_and_is_no_error(semcache, at) -> None:
    shown = semcache("show", *at, "--namespace", "other")
    assert shown.exit_code == 0
    assert "No entries" in shown.stdout


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(semcache, at, monkeypatch, width: int) -> None:
    from rich.cells import cell_len

    monkeypatch.setenv("COLUMNS", str(width))
    for command in ("show", "stats"):
        lines = semcache(command, *at).stdout.splitlines()
        assert max(cell_len(line) for line in lines) <= width


def test_what_users_wrote_is_neither_markup_nor_control(semcache, tmp_path) -> None:
    """A stored question must not be able to colour, clear or fake the terminal."""
    question = "[red]Is this\x1b[2J :smile: bold?\x07"
    with Semcache.open(SemcacheConfig(location=str(tmp_path / "store"), encoder="hash")) as cache:
        cache.store(Request(messages=question), Response.from_text("[b]No\x1b]0;x\x07[/b]"))
    where = ("--location", str(tmp_path / "store"), "--encoder", "hash")
    listed = semcache("show", *where).stdout
    assert "[red]Is this" in listed
    assert ":smile:" in listed
    (entry,) = json.loads(semcache("show", *where, "--json").stdout)
    whole = semcache("show", entry["id"], *where).stdout
    assert "[b]No" in whole
    for shown in (listed, whole):
        assert "\x1b" not in shown
        assert "\x07" not in shown


@pytest.fixture
def torn(own):
    """A store with one answer that its model was not sure of."""
    even = [{"token": name, "logprob": -2.5} for name in "abcdefgh"]
    told = {"content": [{"token": "a", "logprob": -2.5, "top_logprobs": even}]}
    config = SemcacheConfig.of(
        location=str(own), encoder="hash", confidence_eviction={"enabled": True}
    )
    with Semcache.open(config) as cache:
        for question, logprobs in (("What is the boiling point?", told), (PASSWORD, None)):
            answer = Response.from_text("Like this.", logprobs=logprobs)
            cache.store(Request(messages=question), answer)
    return ["--location", str(own), "--encoder", "hash"]


def test_how_sure_an_answer_is_can_be_seen_everywhere(semcache, torn) -> None:
    assert json.loads(semcache("stats", *torn, "--json").stdout)["in_doubt"] == 1
    assert "in doubt" in semcache("stats", *torn).stdout
    shown = {one["question"]: one for one in json.loads(semcache("show", *torn, "--json").stdout)}
    assert shown[PASSWORD]["assessment"] is None
    doubted = shown["What is the boiling point?"]
    assert doubted["assessment"]["factor"] == 0.5
    whole = semcache("show", *torn, doubted["id"]).stdout
    assert "lifetime x 0.5" in " ".join(whole.split())
    told = semcache("explain", *torn, "What is the boiling point?")
    assert "lifetime x 0.5" in " ".join(told.stdout.split())
    document = json.loads(semcache("explain", *torn, "What is the boiling point?", "--json").stdout)
    assert document["candidates"][0]["assessment"]["factor"] == 0.5


def test_where_nobody_is_in_doubt_nothing_is_said_of_it(semcache, at) -> None:
    assert "in doubt" not in semcache("stats", *at).stdout
