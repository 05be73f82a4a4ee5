"""Any cross-encoder of the sentence-transformers library. Needs the extra `sentence-transformers`.

A cross-encoder reads both questions together, which tells "cancel" from "do not cancel" where two
vectors cannot. Good ones are trained on duplicate questions (one output) or on natural language
inference (NLI: entailment, neutral, contradiction).
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.errors import ConfigurationError, MissingExtra, VerifierUnavailable

FEATURE = EXTRA = "sentence-transformers"
ENTAILMENT = ("entailment", "entail", "entailed")
PLAIN = {"Identity", "NoneType"}
"""Activations that leave the model's numbers as they are; we make probabilities of those."""

PROBABILITIES = {"Sigmoid", "Softmax"}
_MANY = 1_000_000
"""Tokenizers that know of no limit give an enormous number."""

_POSITIONS_LOST = 2
"""RoBERTa's family counts positions from 2 on."""

Floats = NDArray[np.float64]


class CrossEncoder(Protocol):
    """What is used of `sentence_transformers.CrossEncoder`, from version 5 on."""

    activation_fn: object
    config: _Config
    tokenizer: _Tokenizer

    def predict(self, pairs: list[tuple[str, str]], **options: object) -> object: ...
    def state_dict(self) -> Mapping[str, _Tensor]: ...


class CrossEncoderVerifier:
    """A cross-encoder in this process as a verifier.

    One output is a probability after the logistic function. Of several, the softmax share of one
    label counts, and each pair is read in both directions, of which the lesser one counts: two
    questions are the same if each entails the other. A pair that is longer than the model's window
    is refused (0.0) and never cut off. Rerankers that are generative models with a chat template
    are not meant: the template would not be counted.

    The constructor stores its arguments; `open()`, or whatever first needs the model, loads it.
    Calls from several threads take turns. A forked child loads a named model anew, and goes on
    with a given one on a single thread.

    Args:
        model: A directory, the name of a model that is in the local Hugging Face cache, or a
            `sentence_transformers.CrossEncoder`, which stays the caller's.
        entailment_label: The label that means "same", by name or number, for models of several
            labels. By default the one called "entailment".
        both_directions: Read each pair both ways, at twice the cost, and take the lesser
            probability. By default for models of several labels only.
        revision: Branch, tag or commit of a named model.
        device: "cpu", "cuda:0" …; by default the library chooses.
        batch_size: Pairs in one forward pass.
        download: Fetch a named model that is not on this machine, in `open()`.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        ConfigurationError: `batch_size` is not a positive number, or `model` is something else.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | CrossEncoder,
        *,
        entailment_label: str | int | None = None,
        both_directions: bool | None = None,
        revision: str | None = None,
        device: str | None = None,
        batch_size: int = 32,
        download: bool = False,
    ) -> None:
        if isinstance(batch_size, bool) or batch_size < 1:
            raise ConfigurationError(
                f"batch_size is {batch_size!r}, expected a whole number from 1 up"
            )
        self._given: CrossEncoder | None = None
        self._name = ""
        if isinstance(model, str | os.PathLike):
            if find_spec("sentence_transformers") is None:
                raise MissingExtra("CrossEncoderVerifier", EXTRA, FEATURE)
            self._name = os.fspath(model)
        elif callable(getattr(model, "predict", None)):
            self._given = model
        else:
            raise ConfigurationError(
                f"model is a {type(model).__name__}, expected a path, a name or a CrossEncoder"
            )
        self._label, self._both_directions = entailment_label, both_directions
        self._revision, self._device, self._download = revision, device, download
        self._batch_size = batch_size
        self._loaded: _Loaded | None = None
        # One lock a process: a lock that another thread held while forking stays held.
        self._locks: dict[int, threading.Lock] = {}

    def open(self) -> CrossEncoderVerifier:
        """Load now.

        Raises:
            ConfigurationError: The model is not on this machine, cannot be read, or does not say
                which of its labels means "same"; one line that names it and the fix.
        """
        self._get()
        return self

    @property
    def identity(self) -> str:
        """Digest of the weights, the label that counts, and the directions that are read."""
        loaded = self._get()
        ways = "both" if loaded.both_directions else "one"
        return f"cross-encoder;weights={loaded.digest};label={loaded.label};directions={ways}"

    def judge(self, question: str, stored: Sequence[str]) -> list[float]:
        """For each stored question the probability in [0, 1]; 0.0 where the pair is too long.

        Raises:
            VerifierUnavailable: The model failed, or its output was of the wrong shape or not
                finite.
            ConfigurationError: As `open()`, when this is the first call.
        """
        loaded = self._get()
        try:
            return loaded.judge(_writable(question), [_writable(text) for text in stored])
        except VerifierUnavailable:
            raise
        except Exception as error:  # torch and tokenizers have no common base of their own
            problem = f"the cross-encoder failed: {type(error).__name__}"
            raise VerifierUnavailable(problem) from error

    def _get(self) -> _Loaded:
        pid = os.getpid()
        loaded = self._loaded
        if loaded is None or loaded.pid != pid:
            with self._locks.setdefault(pid, threading.Lock()):
                loaded = self._loaded
                if loaded is None or loaded.pid != pid:
                    loaded = self._loaded = self._load(inherited=loaded is not None)
        return loaded

    def _load(self, *, inherited: bool) -> _Loaded:
        if inherited:
            # OpenMP's threads stayed in the parent, and a child that hands them work waits for
            # ever. With one thread there is nobody to hand it to.
            import torch

            torch.set_num_threads(1)
        model = self._given if self._given is not None else self._read()
        return _Loaded(model, self._label, self._both_directions, self._batch_size)

    def _read(self) -> CrossEncoder:
        from sentence_transformers import CrossEncoder as Model

        path = Path(self._name).expanduser()
        is_path = path.is_absolute() or self._name.startswith((".", "~")) or path.is_dir()
        if is_path and not path.is_dir():
            raise ConfigurationError(
                f"no directory {path}: give the folder that holds the model's config.json"
            )
        try:
            model = Model(
                str(path) if is_path else self._name,
                revision=self._revision,
                device=self._device,
                local_files_only=is_path or not self._download,
            )
        except Exception as error:  # whatever the hub, the files or torch came up with
            raise ConfigurationError(self._cannot_load(error, is_path=is_path)) from error
        return cast("CrossEncoder", model)

    def _cannot_load(self, error: Exception, *, is_path: bool) -> str:
        # The libraries' messages run over several lines and suggest switches of their own.
        why = type(error).__name__
        if is_path:
            return f"the model in {self._name} cannot be read ({why}): copy it anew"
        if self._download:
            return f"model {self._name!r} could not be downloaded ({why}): give a directory"
        return (
            f"model {self._name!r} is not in this machine's Hugging Face cache ({why}): "
            f"give a directory that holds it, or let it be fetched at start with download=True"
        )


class _Config(Protocol):
    num_labels: int
    id2label: Mapping[int, str]


class _Tokenizer(Protocol):
    def __call__(self, text: str, pair: str, **options: object) -> Mapping[str, Sequence[int]]: ...


class _Tensor(Protocol):
    def detach(self) -> _Tensor: ...
    def cpu(self) -> _Tensor: ...
    def contiguous(self) -> _Tensor: ...
    def reshape(self, size: int) -> _Tensor: ...
    def view(self, dtype: object) -> _Tensor: ...
    def numpy(self) -> NDArray[np.uint8]: ...


class _Loaded:
    """A model of this process. Its tokenizer holds state between calls, so threads take turns."""

    def __init__(
        self,
        model: CrossEncoder,
        label: str | int | None,
        both_directions: bool | None,
        batch_size: int,
    ) -> None:
        self.pid = os.getpid()
        self._model, self._batch_size = model, batch_size
        self._lock = threading.Lock()
        self._labels = int(model.config.num_labels)
        self.label = _label(model.config, label)
        self.both_directions = self._labels > 1 if both_directions is None else both_directions
        self._activation = type(model.activation_fn).__name__
        if self._activation not in PLAIN | PROBABILITIES:
            raise ConfigurationError(
                f"the model's activation is {self._activation}, expected Identity, Sigmoid or "
                "Softmax: load it with activation_fn=torch.nn.Identity()"
            )
        self._window = _window(model)
        self.digest = _digest(model.state_dict())

    def judge(self, question: str, stored: list[str]) -> list[float]:
        result = [0.0] * len(stored)
        with self._lock:
            fitting = [n for n, text in enumerate(stored) if self._fits(question, text)]
            pairs = [(question, stored[n]) for n in fitting]
            if self.both_directions:
                pairs += [(stored[n], question) for n in fitting]
            if not pairs:
                return result
            output = self._model.predict(
                pairs, batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True
            )
        probabilities = (
            self._probabilities(output, len(pairs)).reshape(-1, len(fitting)).min(axis=0)
        )
        for position, probability in zip(fitting, probabilities.tolist(), strict=True):
            result[position] = probability
        return result

    def _fits(self, first: str, second: str) -> bool:
        # Four characters and more a token are common, forty are not: no need to count those.
        if len(first) + len(second) > 40 * self._window:
            return False
        tokens = self._model.tokenizer(first, second, truncation=False, verbose=False)["input_ids"]
        return len(tokens) <= self._window

    def _probabilities(self, output: object, count: int) -> Floats:
        """float64 [count], in [0, 1]."""
        values = np.asarray(output, dtype=np.float64)
        if values.size != count * self._labels:
            raise VerifierUnavailable(
                f"the cross-encoder returned shape {list(values.shape)} for {count} pairs "
                f"and {self._labels} labels"
            )
        values = values.reshape(count, self._labels)
        if not np.isfinite(values).all():
            raise VerifierUnavailable("the cross-encoder returned NaN or infinite values")
        if self._activation in PLAIN:
            values = _logistic(values) if self._labels == 1 else _softmax(values)
        chosen: Floats = values[:, self.label]
        if chosen.min() < 0 or chosen.max() > 1 + 1e-6:
            raise VerifierUnavailable("the cross-encoder returned what is no probability")
        return chosen.clip(0, 1)


def _label(config: _Config, wanted: str | int | None) -> int:
    """Which output counts."""
    count = int(config.num_labels)
    names = {int(number): str(name) for number, name in (config.id2label or {}).items()}
    if wanted is None and count == 1:
        return 0
    accepted = ENTAILMENT if wanted is None else (str(wanted).casefold(),)
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        found = [wanted] if 0 <= wanted < count else []
    else:
        found = [number for number, name in names.items() if name.casefold() in accepted]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{number}: {name}" for number, name in sorted(names.items())[:10])
    raise ConfigurationError(
        f"the model has {count} labels ({listed}) and entailment_label is {wanted!r}: "
        "name the one that means that both questions are the same"
    )


def _window(model: CrossEncoder) -> int:
    """Tokens of a pair, special ones included."""
    limits = (
        getattr(model, "max_seq_length", None) or getattr(model, "max_length", None),
        getattr(model.tokenizer, "model_max_length", None),
    )
    known = [limit for limit in limits if isinstance(limit, int) and 0 < limit < _MANY]
    positions = getattr(model.config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > _POSITIONS_LOST and not known:
        known = [positions - _POSITIONS_LOST]
    if not known:
        raise ConfigurationError(
            "the model does not say how many tokens it reads: load it with max_length=…"
        )
    return min(known) - _prompt_tokens(model)


def _prompt_tokens(model: CrossEncoder) -> int:
    """What the library puts in front of every pair, if the model has a prompt; rather too many."""
    prompts: Mapping[str, str] = getattr(model, "prompts", None) or {}
    prompt = prompts.get(getattr(model, "default_prompt_name", None) or "", "")
    return len(model.tokenizer(prompt, "", verbose=False)["input_ids"]) if prompt else 0


def _logistic(values: Floats) -> Floats:
    # By tanh, which does not overflow.
    result: Floats = 0.5 * (1 + np.tanh(values / 2))
    return result


def _softmax(values: Floats) -> Floats:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    result: Floats = powers / powers.sum(axis=1, keepdims=True)
    return result


def _digest(tensors: Mapping[str, _Tensor]) -> str:
    """Of the weights as they are in memory, in the order of their names."""
    import torch

    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        # As bytes: numpy knows neither bfloat16 nor the eight-bit floats.
        flat = tensors[name].detach().cpu().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()[:12]


def _writable(text: str) -> str:
    """Without lone surrogates, which tokenizers refuse."""
    return text.encode("utf-8", "replace").decode()
