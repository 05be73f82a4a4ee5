"""A command line to call, and a small cache to point it at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from langchain_semcache import Request, Response, Semcache, SemcacheConfig
from langchain_semcache.cli.app import app

ROOT = Path(__file__).resolve().parents[3]
PASSWORD = "How do I reset my password?"


@pytest.fixture(autouse=True)
def _no_location_from_outside(monkeypatch) -> None:
    monkeypatch.delenv("SEMCACHE_LOCATION", raising=False)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def semcache() -> Callable[..., Result]:
    """Call a command in this process."""

    def call(*arguments: object, **options: object) -> Result:
        return CliRunner().invoke(app, [str(one) for one in arguments], **options)

    return call


@pytest.fixture
def shell() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Call a command as a process of its own, from a directory of the test's choice."""

    def call(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "langchain_semcache.cli", *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


def fill(directory: Path) -> Path:
    """Three entries by the hash encoder: two models, one tag, one source, two tenants."""
    with Semcache.open(SemcacheConfig(location=str(directory), encoder="hash")) as cache:
        cache.store(
            Request(messages=PASSWORD, model="small"),
            Response.from_text("Open Settings.\nThen Security."),
            tags=("account",),
            ttl=None,
        )
        cache.store(
            Request(messages="Where is order 4471?", model="small"),
            Response.from_text("On its way."),
            sources={"orders.csv": "v1"},
        )
        cache.store(
            Request(messages="退款多久到账？", model="large", tenant="acme"),
            Response.from_text("三到五个工作日。"),
            ttl=timedelta(days=30),
        )
    return directory


@pytest.fixture(scope="session")
def kept(tmp_path_factory) -> Path:
    """One filled store for all tests that only look: making one takes a moment."""
    return fill(tmp_path_factory.mktemp("kept") / "store")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A filled store for a test that changes it."""
    return fill(tmp_path / "store")


@pytest.fixture
def at(kept: Path) -> tuple[str, ...]:
    """The options that name the store to look at."""
    return ("--location", str(kept), "--encoder", "hash")


@pytest.fixture
def ids(semcache, at) -> dict[str, str]:
    """Entry ids by question."""
    shown = json.loads(semcache("show", *at, "--json").stdout)
    return {entry["question"]: entry["id"] for entry in shown}
