"""Writes what a Triton Inference Server reads: a repository with one network and its settings."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness.features import STEPS
from langchain_semcache.hotness.torchscript import about

NAME: Final = "semcache_heat"
INPUT, OUTPUT = "INPUT__0", "OUTPUT__0"
"""Names of the tensors, as the PyTorch backend asks for them."""

MAX_BATCH: Final = 1024

Backend = Literal["python", "pytorch"]
Device = Literal["cpu", "gpu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How the server is to serve.

    Attributes:
        name: Of the model.
        backend: "python" runs a script that needs torch beside the server; "pytorch" needs a server
            that was built with that backend.
        device: Where the instances are.
        instances: How many there are, on a GPU for each one.
        max_batch: Windows in one pass at most.
        queue_delay_microseconds: How long a request waits for others to share its pass.
        threads: Threads of one pass on a CPU.

    Raises:
        ConfigurationError: A name or a number is out of its range.
    """

    name: str = NAME
    backend: Backend = "python"
    device: Device = "cpu"
    instances: int = 1
    max_batch: int = MAX_BATCH
    queue_delay_microseconds: int = 500
    threads: int = 1

    def __post_init__(self) -> None:
        checked_name(self.name)
        for name, value, least in (
            ("instances", self.instances, 1),
            ("max_batch", self.max_batch, 1),
            ("queue_delay_microseconds", self.queue_delay_microseconds, 0),
            ("threads", self.threads, 1),
        ):
            if isinstance(value, bool) or value < least:
                raise ConfigurationError(
                    f"{name} is {value!r}, expected a whole number from {least} up"
                )

    @property
    def config(self) -> str:
        """The text of `config.pbtxt`."""
        instances = f"kind: KIND_{self.device.upper()} count: {self.instances}"
        delay = f"max_queue_delay_microseconds: {self.queue_delay_microseconds}"
        lines = [
            f'name: "{self.name}"',
            f'backend: "{self.backend}"',
            f"max_batch_size: {self.max_batch}",
            f'input [ {{ name: "{INPUT}" data_type: TYPE_FP32 dims: [ {STEPS} ] }} ]',
            f'output [ {{ name: "{OUTPUT}" data_type: TYPE_FP32 dims: [ 1 ] }} ]',
            f"instance_group [ {{ {instances} }} ]",
            f"dynamic_batching {{ {delay} }}",
            _parameter("INTRA_OP_THREAD_COUNT", str(self.threads)),
        ]
        if self.device == "gpu" and self.backend == "python":
            lines.append(_parameter("FORCE_CPU_ONLY_INPUT_TENSORS", "no"))
        return "\n".join(lines) + "\n"


def _parameter(name: str, value: str) -> str:
    return f'parameters {{ key: "{name}" value {{ string_value: "{value}" }} }}'


def checked_name(name: str) -> str:
    """A name that is one in a path, in a URL and in a configuration.

    Raises:
        ConfigurationError: It is none.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", name):
        raise ConfigurationError(
            f"{name!r} is no name of a model: use letters, digits, dots, hyphens and underscores"
        )
    return name


def export(
    model: str | os.PathLike[str], out: str | os.PathLike[str], serving: Serving | None = None
) -> Path:
    """Add the network to the repository as its next version, and say where that is.

    A server that polls its repository goes over to it; a half-written version is never seen.

    Args:
        model: The file of `semcache hotness train`.
        out: The repository; made when absent.

    Raises:
        ConfigurationError: The model is none, or the place cannot be written to or holds a model
            of this name that is served by another backend.
    """
    serving = serving or Serving()
    source = Path(model).expanduser()
    about(source)
    place = Path(out).expanduser() / serving.name
    try:
        _check_backend(place / "config.pbtxt", serving)
        place.mkdir(parents=True, exist_ok=True)
        versions = [int(found.name) for found in place.iterdir() if found.name.isdecimal()]
        version = place / str(max(versions, default=0) + 1)
        growing = place / f".{version.name}.part"
        shutil.rmtree(growing, ignore_errors=True)
        growing.mkdir()
        shutil.copyfile(source, growing / "model.pt")
        if serving.backend == "python":
            script = files("langchain_semcache.hotness").joinpath("_triton_model.py")
            (growing / "model.py").write_text(script.read_text("utf-8"), "utf-8")
        _write(place / "config.pbtxt", serving.config)
        growing.rename(version)
    except OSError as error:
        raise ConfigurationError(
            f"{place} cannot be written to ({error.strerror}): choose another place"
        ) from error
    return version


def _check_backend(config: Path, serving: Serving) -> None:
    if config.exists() and f'backend: "{serving.backend}"' not in config.read_text("utf-8"):
        raise ConfigurationError(
            f"{config} is of another backend than {serving.backend}: its older versions would not "
            "run, so choose another place or name"
        )


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, "utf-8")
    part.replace(path)
