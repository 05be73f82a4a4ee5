"""How a model is found on this machine, and what it is known by."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.torch_models import Source, weights_digest, writable


def source(model, **options):
    return Source.of(model, **({"revision": None, "device": None, "download": False} | options))


@pytest.mark.parametrize(
    ("model", "name", "is_path"),
    [
        ("owner/model", "owner/model", False),
        ("/nowhere/model", "/nowhere/model", True),
        ("./model", "model", True),
        (Path("owner/model"), "owner/model", True),
        ("~/model", str(Path.home() / "model"), True),
    ],
)
def test_a_directory_is_told_from_a_name(model, name, is_path):
    found = source(model)
    assert (found.name, found.is_path) == (name, is_path)


def test_a_folder_that_exists_is_a_directory(tmp_path, monkeypatch):
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert source("model").is_path


@pytest.mark.parametrize("download", [True, False])
def test_the_network_is_used_only_where_it_was_asked_for(download):
    asked = source("owner/model", revision="v1", device="cpu", download=download)
    assert asked.load(lambda *names, **options: (names, options)) == (
        ("owner/model",),
        {"revision": "v1", "device": "cpu", "local_files_only": not download},
    )


@pytest.mark.parametrize(
    ("model", "download", "says"),
    [
        ("owner/model", False, "'owner/model' is not in this machine's .* with download=True"),
        ("owner/model", True, "'owner/model' could not be downloaded .*: give a directory"),
        ("/model", False, "the model in /model cannot be read .*: copy it anew"),
        ("/model", True, "the model in /model cannot be read .*: copy it anew"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_named_with_the_fix(model, download, says):
    def fail(*names, **options):
        raise OSError("a secret\nof several lines")

    with pytest.raises(ConfigurationError, match=says) as caught:
        source(model, download=download).load(fail)
    assert "(OSError)" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert isinstance(caught.value.__cause__, OSError)


def test_a_directory_that_is_not_there_is_refused_and_a_name_is_not_looked_for():
    source("owner/model").check(holds="config.json")
    with pytest.raises(ConfigurationError, match=r"no directory /nowhere: .* config\.json"):
        source("/nowhere").check(holds="config.json")


def test_lone_surrogates_are_replaced_and_nothing_else():
    assert writable("price \ud83d list") == "price ? list"
    assert writable("密码 👩‍👩‍👧 \x00") == "密码 👩‍👩‍👧 \x00"


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_the_digest_is_that_of_names_and_weights():
    import torch

    weights = {"a": torch.ones(2, 3), "b": torch.zeros(2, dtype=torch.bfloat16)}
    digest = weights_digest(weights)
    # What is stored is known by it.
    assert digest == "c2a63eafa8de"
    assert weights_digest(dict(reversed(weights.items()))) == digest
    assert weights_digest({"a": weights["a"].T.contiguous().T, "b": weights["b"]}) == digest
    others = [
        {"a": weights["a"]},
        {"a": weights["a"], "c": weights["b"]},
        {"a": weights["a"] + 1, "b": weights["b"]},
    ]
    assert len({digest, *map(weights_digest, others)}) == 4
