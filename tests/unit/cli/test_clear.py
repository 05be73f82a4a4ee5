"""`clear`: what goes, what stays, and that it asks first."""

from __future__ import annotations

import json

import pytest

ORDER = "Where is order 4471?"
REFUND = "退款多久到账？"


def left(semcache, directory) -> set[str]:
    """The questions that are still there."""
    shown = semcache("show", "--location", directory, "--encoder", "hash", "--json")
    return {entry["question"] for entry in json.loads(shown.stdout)}


def test_everything_goes_after_a_yes_and_nothing_without(semcache, own) -> None:
    here = ("clear", "--location", own, "--encoder", "hash")
    for answer in ("n\n", "\n", ""):
        asked = semcache(*here, input=answer)
        assert asked.exit_code == 1
        assert "stopped" in asked.stderr
    assert len(left(semcache, own)) == 3
    asked = semcache(*here, input="y\n")
    assert asked.exit_code == 0
    assert "Remove 3 entries from" in asked.stderr
    assert asked.stdout.endswith("3 entries removed.\n")  # the runner echoes what was typed
    assert left(semcache, own) == set()


def test_what_matches_goes_and_nothing_else(semcache, own) -> None:
    here = ("clear", "--location", own, "--encoder", "hash", "--yes")
    done = semcache(*here, "--tag", "account", "--json")
    assert json.loads(done.stdout) == {"removed": 1, "matched": 1}
    assert left(semcache, own) == {ORDER, REFUND}
    assert semcache(*here, "--namespace", "other").stdout == "0 entries removed.\n"
    assert semcache(*here, "--model", "").stdout == "0 entries removed.\n"
    assert left(semcache, own) == {ORDER, REFUND}


def test_a_dry_run_counts_and_neither_asks_nor_removes(semcache, at, kept) -> None:
    assert semcache("clear", *at, "--dry-run").stdout == "3 entries would be removed.\n"
    assert len(left(semcache, kept)) == 3


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (("--tag", "account"), 1),
        (("--model", "small"), 2),
        (("--source", "orders.csv"), 1),
        (("--tenant", "acme"), 1),
        (("--older-than", "0s"), 3),
        (("--older-than", "7d"), 0),
        (("--model", "small", "--tag", "account"), 1),
        (("--model", "large", "--tag", "account"), 0),
        (("--namespace", "other"), 0),
        # An empty name never widens into everything.
        (("--model", ""), 0),
        (("--source", ""), 0),
    ],
)
def test_a_filter_means_what_matches_all_of_it(semcache, at, filters, count: int) -> None:
    counted = semcache("clear", *at, "--dry-run", "--json", *filters)
    assert json.loads(counted.stdout) == {"removed": 0, "matched": count}


def test_json_cannot_ask(semcache, at, kept) -> None:
    refused = semcache("clear", *at, "--json")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert len(left(semcache, kept)) == 3


@pytest.mark.parametrize("text", ["7", "d", "7x", "-1d", "1.5h", "", "7d7d"])
def test_what_is_no_duration_is_refused(semcache, at, text: str) -> None:
    refused = semcache("clear", *at, "--yes", f"--older-than={text}")
    assert refused.exit_code == 2
    assert "--older-than" in refused.stderr
