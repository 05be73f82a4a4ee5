"""A trained network in this process, from a TorchScript file. Needs the extra `hotness`."""

from __future__ import annotations

import json
import math
import os
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from langchain_semcache.errors import ConfigurationError, MissingExtra
from langchain_semcache.hotness.features import (
    HORIZON,
    STEPS,
    checked_heats,
    checked_windows,
    distinct,
)
from langchain_semcache.ports import Heats, Windows
from langchain_semcache.processes import PerProcess, shared
from langchain_semcache.torch_models import use_one_thread, weights_digest

if TYPE_CHECKING:
    import torch

    from langchain_semcache.hotness.training import Trained

EXTRA: Final = "hotness"
FORMAT: Final = 1
ABOUT: Final = "semcache.json"
"""Beside the network in its archive: what it was made for."""

_BATCH: Final = 1024


@dataclass(frozen=True, slots=True)
class About:
    """What a network was made for.

    Attributes:
        step_seconds: Length of a step it learned with.
        trained_on: Name of the uses it learned from.
    """

    step_seconds: float
    trained_on: str


@dataclass(frozen=True, slots=True)
class _Loaded:
    network: torch.jit.ScriptModule
    about: About
    digest: str


def need_torch(feature: str) -> None:
    """Whether torch can be imported, without importing it.

    Raises:
        MissingExtra: It cannot.
    """
    if find_spec("torch") is None:
        raise MissingExtra(feature, EXTRA, "torch")


def save(trained: Trained, path: str | os.PathLike[str]) -> None:
    """Write the network as TorchScript, with what it was made for.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    import torch

    about = {
        "format": FORMAT,
        "steps": STEPS,
        "horizon": HORIZON,
        "step_seconds": trained.step_seconds,
        "trained_on": trained.name,
    }
    scripted = torch.jit.script(trained.network.eval())
    try:
        torch.jit.save(scripted, os.fspath(path), _extra_files={ABOUT: json.dumps(about)})
    except (OSError, RuntimeError) as error:
        raise ConfigurationError(f"{path} cannot be written: choose another place") from error


def about(path: str | os.PathLike[str]) -> About:
    """What the network in this file was made for; torch is not needed to know.

    Raises:
        ConfigurationError: There is no such file, or it is none that `save` wrote.
    """
    wrong = f"{path} is no model of semcache hotness train"
    try:
        with zipfile.ZipFile(path) as archive:
            inside = next(name for name in archive.namelist() if name.endswith(f"/extra/{ABOUT}"))
            said = json.loads(archive.read(inside))
        shape = (said["format"], said["steps"], said["horizon"])
        found = About(float(said["step_seconds"]), str(said["trained_on"]))
    except FileNotFoundError as error:
        raise ConfigurationError(
            f"no model {path}: give the file that semcache hotness train wrote"
        ) from error
    except (OSError, zipfile.BadZipFile) as error:
        raise ConfigurationError(f"{wrong}, or cannot be read ({type(error).__name__})") from error
    except (StopIteration, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{wrong}: it does not say what it was made for") from error
    if shape != (FORMAT, STEPS, HORIZON) or not 0 < found.step_seconds < math.inf:
        raise ConfigurationError(
            f"{path} is for other windows (format, steps, horizon {shape}, here "
            f"{(FORMAT, STEPS, HORIZON)}): train it anew"
        )
    return found


class TorchScriptHotness:
    """A network of `semcache hotness train`, in this process. Safe to call from several threads.

    The constructor stores its arguments; `open()`, or whatever first needs the network, loads it.
    Models with equal arguments share one network per process, and a forked child loads its own.
    A TorchScript file is a program: load one from somebody you trust.

    Args:
        path: The file.
        device: "cpu", "cuda:0" …

    Raises:
        MissingExtra: torch is not installed.
        ConfigurationError: There is no such file.
    """

    may_block = False

    def __init__(self, path: str | os.PathLike[str], *, device: str = "cpu") -> None:
        need_torch("TorchScriptHotness")
        self._path, self._device = Path(path).expanduser(), device
        if not self._path.is_file():
            raise ConfigurationError(
                f"no model {path}: give the file that semcache hotness train wrote"
            )
        changed = str(self._path.stat().st_mtime_ns)
        key = ("torchscript-hotness", str(self._path.resolve()), changed, device)
        self._holder: PerProcess[_Loaded] = shared(key, self._make)

    def open(self) -> TorchScriptHotness:
        """Load now.

        Raises:
            ConfigurationError: The file is no network of ours, or the device is not there.
        """
        self._holder.get()
        return self

    @property
    def identity(self) -> str:
        """Digest of the weights."""
        return f"lstm-{self._holder.get().digest}"

    @property
    def step_seconds(self) -> float:
        """Length of a step it learned with."""
        return self._holder.get().about.step_seconds

    def predict(self, windows: Windows) -> Heats:
        """See `HotnessModel`; windows that are alike are computed once."""
        import torch

        counts = checked_windows(windows)
        rows, places = distinct(counts)
        network = self._holder.get().network
        parts = []
        with torch.inference_mode():
            for first in range(0, len(rows), _BATCH):
                part = torch.from_numpy(rows[first : first + _BATCH]).to(self._device)
                parts.append(network(part).cpu().numpy())
        if not parts:
            return np.zeros(0, dtype=np.float32)
        return checked_heats(np.concatenate(parts), len(rows))[places]

    def _make(self, inherited: _Loaded | None) -> _Loaded:
        if inherited is not None:
            use_one_thread()
        return _load(self._path, self._device)


def _load(path: Path, device: str) -> _Loaded:
    made_for = about(path)
    import torch

    try:
        network = torch.jit.load(os.fspath(path), map_location=device).eval()
    except (OSError, RuntimeError, ValueError) as error:
        # torch's messages run over many lines.
        raise ConfigurationError(
            f"{path} cannot be loaded onto {device!r} ({type(error).__name__}): choose a device "
            "that is there, or train the model anew"
        ) from error
    return _Loaded(network, made_for, weights_digest(dict(network.state_dict())))
