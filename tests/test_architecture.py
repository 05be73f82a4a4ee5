"""House rules no linter knows: what is public, what is never called, how long a file may be."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import langchain_semcache

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("langchain_semcache", "litellm_hooks")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
CLOCK = ROOT / "langchain_semcache" / "clock.py"
PUBLIC = sorted(langchain_semcache.__all__)
EXPECTED = {
    *("SemanticCache", "Semcache", "AsyncSemcache", "SemcacheConfig"),
    *("Request", "Response", "Decision", "Reason"),
    *("SemcacheError", "ConfigurationError", "MissingExtra", "SchemaMismatch", "StoreLocked"),
    *("BackendError", "IndexUnavailable", "EncoderUnavailable", "VerifierUnavailable"),
    "CorruptEntry",
    "CorruptWeights",
}

# Stored bytes are data: nothing that can run them is imported or called anywhere.
CODE_LOADERS = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve")
CODE_RUNNERS = ("eval", "exec", "yaml.load", "yaml.unsafe_load", "yaml.full_load")

# Time and chance are arguments. A generator that is given its seed is an argument too.
CLOCKS = (
    *("time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.sleep"),
    *("time.perf_counter", "time.perf_counter_ns", "time.localtime", "time.gmtime"),
    *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today"),
    "datetime.date.today",
)
CHANCE = ("random", "secrets", "numpy.random", "uuid.uuid1", "uuid.uuid4", "os.urandom")
SEEDED = "numpy.random.default_rng"


def _within(name: str, forbidden: tuple[str, ...]) -> bool:
    return any(name == one or name.startswith(one + ".") for one in forbidden)


class _Names:
    """The names a module uses, spelt out in full: `np.random.rand` is `numpy.random.rand`."""

    def __init__(self, source: str) -> None:
        self._tree = ast.parse(source)
        self._aliases: dict[str, str] = {}
        self.imported: list[tuple[int, str]] = []
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._bind(node.lineno, alias, alias.name)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    self._bind(node.lineno, alias, f"{node.module}.{alias.name}")

    def _bind(self, line: int, alias: ast.alias, full: str) -> None:
        self.imported.append((line, full))
        if alias.asname or "." not in alias.name:
            self._aliases[alias.asname or alias.name] = full

    def _full(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute):
            owner = self._full(node.value)
            return f"{owner}.{node.attr}" if owner else None
        if not isinstance(node, ast.Name):
            return None
        built_in = node.id if node.id in CODE_RUNNERS else None
        return self._aliases.get(node.id, built_in)  # a local name says nothing about a module

    def used(self) -> Iterator[tuple[int, str]]:
        """Every name and dotted name that is read, called or not."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Name | ast.Attribute):
                full = self._full(node)
                if full is not None:
                    yield node.lineno, full

    def seeded(self) -> set[int]:
        """Lines where a generator is made from a seed."""
        return {
            node.lineno
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Call) and self._full(node.func) == SEEDED and node.args
        }

    def keywords(self) -> Iterator[tuple[int, str, ast.expr]]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.keyword) and node.arg:
                yield node.value.lineno, node.arg, node.value


def code_that_runs_data(source: str) -> list[str]:
    names = _Names(source)
    found = [(line, name) for line, name in names.imported if _within(name, CODE_LOADERS)]
    found += [(line, name) for line, name in names.used() if _within(name, CODE_RUNNERS)]
    found += [
        (line, "allow_pickle")
        for line, name, value in names.keywords()
        if name == "allow_pickle" and not (isinstance(value, ast.Constant) and value.value is False)
    ]
    return [f"line {line}: {name}" for line, name in sorted(set(found))]


def clocks_and_chance(source: str) -> list[str]:
    names = _Names(source)
    seeded = names.seeded()
    found = [
        (line, name)
        for line, name in [*names.imported, *names.used()]
        if _within(name, CLOCKS)
        or (_within(name, CHANCE) and line not in seeded and name != "numpy.random.Generator")
    ]
    return [f"line {line}: {name}" for line, name in sorted(set(found)) if name != "numpy.random"]


def _relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=_relative)
def test_nothing_that_is_stored_can_be_run(path: Path) -> None:
    assert code_that_runs_data(path.read_text()) == []


@pytest.mark.parametrize("path", [path for path in SOURCES if path != CLOCK], ids=_relative)
def test_time_and_chance_come_from_outside(path: Path) -> None:
    assert clocks_and_chance(path.read_text()) == []


@pytest.mark.parametrize("path", SOURCES, ids=_relative)
def test_a_file_fits_in_a_head(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from dill import loads",
        "eval('1')",
        "import yaml\nyaml.load(text)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
    ],
)
def test_the_rule_against_running_data_sees(source: str) -> None:
    """A rule that cannot fail proves nothing."""
    assert code_that_runs_data(source) != []


@pytest.mark.parametrize(
    "source",
    [
        "import time\ntime.time()",
        "from time import time as now\nnow()",
        "import datetime as dt\ndt.datetime.now(dt.UTC)",
        "from datetime import datetime\ndatetime.now()",
        "import time\ndefault = time.monotonic",
        "import random",
        "import numpy as np\nnp.random.rand(3)",
        "import numpy as np\nnp.random.default_rng()",
        "from uuid import uuid4",
    ],
)
def test_the_rule_against_hidden_time_and_chance_sees(source: str) -> None:
    assert clocks_and_chance(source) != []


@pytest.mark.parametrize(
    "source",
    [
        "import re\nre.compile('a')",
        "import numpy as np\nnp.random.default_rng(7)",
        "import datetime as dt\ndt.timedelta(seconds=1)",
        "def plan(secrets):\n    return secrets",
    ],
)
def test_the_rules_let_through_what_is_harmless(source: str) -> None:
    assert code_that_runs_data(source) == []
    assert clocks_and_chance(source) == []


def test_the_promised_names_are_public() -> None:
    assert set(PUBLIC) >= EXPECTED


def test_listing_the_package_shows_its_public_names() -> None:
    assert set(dir(langchain_semcache)) >= set(PUBLIC)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="NoSuchName"):
        langchain_semcache.NoSuchName  # noqa: B018 - looking it up is the test


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_documented(name: str) -> None:
    """In place, by a docstring, and on a page of the reference."""
    thing = getattr(langchain_semcache, name)
    if isinstance(thing, str):
        return
    assert inspect.getdoc(thing), f"{name} has no docstring"
    pages = (ROOT / "docs" / "reference").rglob("*.md")
    assert any(f"langchain_semcache.{name}\n" in page.read_text() for page in pages)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_method_is_typed_and_documented(name: str) -> None:
    thing = getattr(langchain_semcache, name)
    for method_name, method in inspect.getmembers(thing, inspect.isroutine):
        if method_name.startswith("_") or not _ours(method):
            continue
        signature = inspect.signature(method)
        assert signature.return_annotation is not inspect.Signature.empty, method_name
        untyped = [
            parameter.name
            for parameter in signature.parameters.values()
            if parameter.annotation is inspect.Parameter.empty
            and parameter.name not in {"self", "cls"}
        ]
        assert untyped == [], f"{name}.{method_name}"
        assert inspect.getdoc(method), f"{name}.{method_name} has no docstring"


def _ours(method: object) -> bool:
    return str(getattr(method, "__module__", "")).startswith(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_package_says_that_it_is_typed(package: str) -> None:
    assert files(package).joinpath("py.typed").is_file()


def test_importing_the_litellm_hooks_loads_neither_litellm_nor_the_cache() -> None:
    """A proxy looks the handler up by name; a program that only names the package pays nothing."""
    said = subprocess.run(
        [sys.executable, "-c", "import litellm_hooks, sys; print(*sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    assert not {"litellm", "langchain_semcache", "qdrant_edge", "fastapi"} & set(said)
    assert set(import_module("litellm_hooks").__all__) <= set(dir(import_module("litellm_hooks")))
