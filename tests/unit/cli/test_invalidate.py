"""`invalidate` and `source-changed`: exactly what is meant goes, and they ask first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langchain_semcache import Request, Response, Semcache, SemcacheConfig, content_hash

OLD, NEW = content_hash("old"), content_hash("new")


@pytest.fixture
def here(tmp_path: Path) -> tuple[str, ...]:
    """A store of four answers, three of them from one file, and the options that name it."""
    directory = tmp_path / "store"
    with Semcache.open(SemcacheConfig(location=str(directory), encoder="hash")) as cache:
        for number, (source, digest) in enumerate(
            [("faq.md", OLD), ("faq.md", NEW), ("faq.md", OLD), ("terms.md", OLD)]
        ):
            cache.store(
                Request(messages=f"What is answer number {number}?", tenant="acme" * (number == 2)),
                Response.from_text(f"It is {number}."),
                sources={source: digest},
                tags=("prompt:support", f"prompt:support@{number}"),
            )
    return ("--location", str(directory), "--encoder", "hash")


def counted(semcache, *arguments: str) -> int:
    done = semcache(*arguments, "--dry-run", "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)["matched"]


def test_what_was_made_of_old_content_goes(semcache, here, tmp_path: Path) -> None:
    file = tmp_path / "faq.md"
    file.write_text("new")
    changed = ("source-changed", "faq.md", *here)
    assert counted(semcache, *changed, "--file", str(file)) == 2
    assert counted(semcache, *changed, "--hash", NEW) == 2
    assert counted(semcache, *changed, "--hash", NEW, "--hash", OLD) == 0
    assert counted(semcache, *changed, "--hash", NEW, "--tenant", "acme") == 1
    assert counted(semcache, *changed, "--gone") == 3
    assert counted(semcache, "source-changed", "other.md", *here, "--gone") == 0
    refused = semcache(*changed, "--hash", NEW, input="n\n")
    assert refused.exit_code == 1
    assert "Remove 2 entries from" in refused.stderr
    done = semcache(*changed, "--hash", NEW, "--yes", "--json")
    assert json.loads(done.stdout) == {"removed": 2, "matched": 2}
    assert counted(semcache, *changed, "--gone") == 1


@pytest.mark.parametrize(
    "said", [(), ("--gone", "--hash", "x"), ("--file", "no such file"), ("--file", ".", "--gone")]
)
def test_the_new_content_has_to_be_said(semcache, here, said: tuple[str, ...]) -> None:
    refused = semcache("source-changed", "faq.md", *here, "--yes", *said)
    assert refused.exit_code == 2
    assert "--gone" in refused.stderr
    assert counted(semcache, "source-changed", "faq.md", *here, "--gone") == 3


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (("--prompt", "support"), 4),
        (("--prompt", "support@2"), 1),
        (("--prompt", "supp"), 0),
        (("--prompt", ""), 0),
        (("--prompt", "support", "--source", "faq.md"), 3),
        (("--tag", "prompt:support@1"), 1),
        (("--tenant", "acme"), 1),
        (("--older-than", "0s", "--namespace", "other"), 0),
    ],
)
def test_invalidate_means_what_matches_all_of_it(semcache, here, filters, count: int) -> None:
    assert counted(semcache, "invalidate", *here, *filters) == count


def test_invalidate_asks_and_removes(semcache, here) -> None:
    asked = semcache("invalidate", *here, "--prompt", "support@0", input="y\n")
    assert asked.exit_code == 0
    assert asked.stdout.endswith("1 entry removed.\n")
    assert counted(semcache, "invalidate", *here, "--prompt", "support") == 3


@pytest.mark.parametrize("command", ["invalidate", "source-changed"])
def test_json_cannot_ask(semcache, here, command: str) -> None:
    named = ("faq.md", "--gone") if command == "source-changed" else ("--source", "faq.md")
    refused = semcache(command, *named, *here, "--json")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr


def test_invalidate_without_a_name_is_refused(semcache, here) -> None:
    refused = semcache("invalidate", *here, "--yes", "--namespace", "x")
    assert refused.exit_code == 2
    assert "--older-than" in refused.stderr
    assert "semcache clear" in refused.stderr
