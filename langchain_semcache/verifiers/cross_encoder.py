"""Any cross-encoder of the sentence-transformers library. Needs the extra `sentence-transformers`.

A cross-encoder reads both questions together, which tells "cancel" from "do not cancel" where two
vectors cannot. Good ones are trained on duplicate questions (one output) or on natural language
inference (NLI: entailment, neutral, contradiction).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.errors import ConfigurationError, MissingExtra, VerifierUnavailable
from langchain_semcache.processes import PerProcess
from langchain_semcache.torch_models import (
    Source,
    Tensor,
    use_one_thread,
    weights_digest,
    writable,
)

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
    def state_dict(self) -> Mapping[str, Tensor]: ...


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
        get: Callable[[], CrossEncoder]
        if isinstance(model, str | os.PathLike):
            if find_spec("sentence_transformers") is None:
                raise MissingExtra("CrossEncoderVerifier", EXTRA, FEATURE)
            get = partial(_read, os.fspath(model), revision, device, download)
        elif callable(getattr(model, "predict", None)):
            get = partial(_given, model)
        else:
            raise ConfigurationError(
                f"model is a {type(model).__name__}, expected a path, a name or a CrossEncoder"
            )

        def load(inherited: _Loaded | None) -> _Loaded:
            # Without `self`: a verifier that is let go frees its model at once.
            if inherited is not None:
                use_one_thread()
            return _Loaded(get(), entailment_label, both_directions, batch_size)

        self._holder = PerProcess(load)

    def open(self) -> CrossEncoderVerifier:
        """Load now.

        Raises:
            ConfigurationError: The model is not on this machine, cannot be read, or does not say
                which of its labels means "same"; one line that names it and the fix.
        """
        self._holder.get()
        return self

    @property
    def identity(self) -> str:
        """Digest of the weights, the label that counts, and the directions that are read."""
        loaded = self._holder.get()
        ways = "both" if loaded.both_directions else "one"
        return f"cross-encoder;weights={loaded.digest};label={loaded.label};directions={ways}"

    def judge(self, question: str, stored: Sequence[str]) -> list[float]:
        """For each stored question the probability in [0, 1]; 0.0 where the pair is too long.

        Raises:
            VerifierUnavailable: The model failed, or its output was of the wrong shape or not
                finite.
            ConfigurationError: As `open()`, when this is the first call.
        """
        loaded = self._holder.get()
        try:
            return loaded.judge(writable(question), [writable(text) for text in stored])
        except VerifierUnavailable:
            raise
        except Exception as error:  # torch and tokenizers have no common base of their own
            problem = f"the cross-encoder failed: {type(error).__name__}"
            raise VerifierUnavailable(problem) from error


def _given(model: CrossEncoder) -> CrossEncoder:
    return model


def _read(name: str, revision: str | None, device: str | None, download: bool) -> CrossEncoder:
    source = Source.of(name, revision=revision, device=device, download=download)
    source.check(holds="config.json")
    from sentence_transformers import CrossEncoder as Model

    return cast("CrossEncoder", source.load(Model))


class _Config(Protocol):
    num_labels: int
    id2label: Mapping[int, str]


class _Tokenizer(Protocol):
    def __call__(self, text: str, pair: str, **options: object) -> Mapping[str, Sequence[int]]: ...


class _Loaded:
    """A model of this process. Its tokenizer holds state between calls, so threads take turns."""

    def __init__(
        self,
        model: CrossEncoder,
        label: str | int | None,
        both_directions: bool | None,
        batch_size: int,
    ) -> None:
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
        self.digest = weights_digest(model.state_dict())

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
