"""The repository that Triton reads: its shape, its settings, and what is never half there."""

from __future__ import annotations

import ast
import json
import zipfile
from pathlib import Path

import pytest

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness import HORIZON, STEPS
from langchain_semcache.hotness.repository import INPUT, OUTPUT, Serving, export


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """What counts as a model without torch: an archive that says what it was made for."""
    said = {
        "format": 1,
        "steps": STEPS,
        "horizon": HORIZON,
        "step_seconds": 60.0,
        "trained_on": "x",
    }
    with zipfile.ZipFile(tmp_path / "heat.pt", "w") as archive:
        archive.writestr("heat/extra/semcache.json", json.dumps(said))
    return tmp_path / "heat.pt"


def parsed(config: str):
    """As Triton itself reads it: the text form of its own message."""
    text_format = pytest.importorskip("google.protobuf.text_format")
    messages = pytest.importorskip("tritonclient.grpc.model_config_pb2")
    return text_format.Parse(config, messages.ModelConfig())


@pytest.mark.parametrize("backend", ["python", "pytorch"])
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_the_settings_are_what_triton_understands(backend, device) -> None:
    serving = Serving(backend=backend, device=device, instances=2, queue_delay_microseconds=700)
    config = parsed(serving.config)
    assert (config.name, config.backend, config.max_batch_size) == ("semcache_heat", backend, 1024)
    assert [(one.name, list(one.dims)) for one in config.input] == [(INPUT, [STEPS])]
    assert [(one.name, list(one.dims)) for one in config.output] == [(OUTPUT, [1])]
    (group,) = config.instance_group
    assert type(group).Kind.Name(group.kind) == f"KIND_{device.upper()}"
    assert group.count == 2
    assert config.dynamic_batching.max_queue_delay_microseconds == 700
    assert config.parameters["INTRA_OP_THREAD_COUNT"].string_value == "1"
    on_gpu = "FORCE_CPU_ONLY_INPUT_TENSORS" in config.parameters
    assert on_gpu is ((backend, device) == ("python", "gpu"))


def test_a_repository_has_the_network_its_script_and_its_settings(file, tmp_path) -> None:
    version = export(file, tmp_path / "models")
    assert version == tmp_path / "models" / "semcache_heat" / "1"
    assert (version / "model.pt").read_bytes() == file.read_bytes()
    script = ast.parse((version / "model.py").read_text())
    imported = {
        alias.name.split(".")[0]
        for node in ast.walk(script)
        if isinstance(node, ast.Import)
        for alias in node.names
    } | {
        str(node.module).split(".")[0]
        for node in ast.walk(script)
        if isinstance(node, ast.ImportFrom)
    }
    assert "langchain_semcache" not in imported
    assert "numpy" not in imported
    assert (version.parent / "config.pbtxt").read_text() == Serving().config


def test_the_pytorch_backend_needs_no_script(file, tmp_path) -> None:
    version = export(file, tmp_path / "models", Serving(backend="pytorch"))
    assert [one.name for one in version.iterdir()] == ["model.pt"]


def test_an_export_again_is_the_next_version(file, tmp_path) -> None:
    export(file, tmp_path)
    (tmp_path / "semcache_heat" / "7").mkdir()
    assert export(file, tmp_path, Serving(instances=3)).name == "8"
    assert "count: 3" in (tmp_path / "semcache_heat" / "config.pbtxt").read_text()


def test_what_was_left_half_written_is_no_version_and_is_cleared(file, tmp_path) -> None:
    part = tmp_path / "semcache_heat" / ".1.part"
    part.mkdir(parents=True)
    (part / "model.pt").write_text("half")
    version = export(file, tmp_path)
    assert version.name == "1"
    assert not part.exists()
    assert (version / "model.pt").read_bytes() == file.read_bytes()


def test_versions_for_different_backends_do_not_mix(file, tmp_path) -> None:
    export(file, tmp_path)
    with pytest.raises(ConfigurationError, match="another backend than pytorch"):
        export(file, tmp_path, Serving(backend="pytorch"))
    assert not (tmp_path / "semcache_heat" / "2").exists()
    assert export(file, tmp_path, Serving(backend="pytorch", name="other")).name == "1"


def test_what_is_no_model_and_no_place_is_refused(file, tmp_path) -> None:
    with pytest.raises(ConfigurationError, match="no model"):
        export(tmp_path / "absent.pt", tmp_path)
    with pytest.raises(ConfigurationError, match="cannot be written to"):
        export(file, file)


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", 'a"b', "a b", "x" * 101])
def test_a_name_is_one_in_a_path_a_url_and_a_configuration(name: str) -> None:
    with pytest.raises(ConfigurationError, match="no name of a model"):
        Serving(name=name)


@pytest.mark.parametrize("name", ["instances", "max_batch", "threads", "queue_delay_microseconds"])
@pytest.mark.parametrize("value", [-1, True])
def test_numbers_that_cannot_be_are_refused(name: str, value: int) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is"):
        Serving(**{name: value})
