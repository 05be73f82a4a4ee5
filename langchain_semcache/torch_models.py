"""What encoders and verifiers of the sentence-transformers library have in common.

A model is looked for on this machine only, unless a download is asked for by name: the first
question of a user never waits for a model hub. torch is imported by whatever needs it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.errors import ConfigurationError


class Tensor(Protocol):
    """What is used of `torch.Tensor`."""

    def detach(self) -> Tensor: ...
    def cpu(self) -> Tensor: ...
    def contiguous(self) -> Tensor: ...
    def reshape(self, size: int) -> Tensor: ...
    def view(self, dtype: object) -> Tensor: ...
    def numpy(self) -> NDArray[np.uint8]: ...


class Tokenizer(Protocol):
    """What is used of a tokenizer of the transformers library."""

    def __call__(self, text: str, **options: object) -> Mapping[str, Sequence[int]]: ...


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model comes from, and onto which device it goes.

    Attributes:
        name: A directory, or the name of a model in the Hugging Face cache of this machine.
        is_path: Which of the two.
        revision: Branch, tag or commit of a named model.
        device: "cpu", "cuda:0" …; None lets the library choose.
        download: Fetch a named model that is not on this machine.
    """

    name: str
    is_path: bool
    revision: str | None
    device: str | None
    download: bool

    @classmethod
    def of(
        cls,
        model: str | os.PathLike[str],
        *,
        revision: str | None,
        device: str | None,
        download: bool,
    ) -> Source:
        """Of what a user gave: a path object is a directory, and a text may be either."""
        is_path = not isinstance(model, str) or _looks_like_a_path(model)
        name = str(Path(model).expanduser()) if is_path else str(model)
        return cls(name, is_path, revision, device, download)

    def check(self, *, holds: str) -> None:
        """Before the library is imported, which takes seconds: whether there is a directory.

        Raises:
            ConfigurationError: There is none; `holds` names the file by which to know it.
        """
        if self.is_path and not Path(self.name).is_dir():
            raise ConfigurationError(
                f"no directory {self.name}: give the folder that holds the model's {holds}"
            )

    def load(self, model: Callable[..., object]) -> object:
        """An object of `model`, which is one of the library's classes.

        Raises:
            ConfigurationError: The model is not on this machine, or cannot be read; one line that
                names it and the fix.
        """
        try:
            return model(
                self.name,
                revision=self.revision,
                device=self.device,
                local_files_only=not self.download,
            )
        except Exception as error:  # whatever the hub, the files or torch came up with
            raise ConfigurationError(self._cannot_load(error)) from error

    def _cannot_load(self, error: Exception) -> str:
        # The libraries' messages run over several lines and suggest switches of their own.
        why = type(error).__name__
        if self.is_path:
            return f"the model in {self.name} cannot be read ({why}): copy it anew"
        if self.download:
            return f"model {self.name!r} could not be downloaded ({why}): give a directory"
        return (
            f"model {self.name!r} is not in this machine's Hugging Face cache ({why}): "
            f"give a directory that holds it, or let it be fetched at start with download=True"
        )


def _looks_like_a_path(name: str) -> bool:
    return Path(name).is_absolute() or name.startswith((".", "~")) or Path(name).is_dir()


def use_one_thread() -> None:
    """In a forked child, before its first forward pass.

    OpenMP's threads stayed in the parent, and a child that hands them work waits for ever. With one
    thread there is nobody to hand it to.
    """
    import torch

    torch.set_num_threads(1)


def weights_digest(tensors: Mapping[str, Tensor]) -> str:
    """Of the weights as they are in memory, in the order of their names."""
    import torch

    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        # As bytes: numpy knows neither bfloat16 nor the eight-bit floats.
        flat = tensors[name].detach().cpu().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()[:12]


def writable(text: str) -> str:
    """Without lone surrogates, which tokenizers refuse."""
    return text.encode("utf-8", "replace").decode()
