"""Any model of the sentence-transformers library. Needs the extra `sentence-transformers`."""

from __future__ import annotations

import copy
import hashlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Protocol, cast

import numpy as np

from langchain_semcache.encoders.validation import check_vectors
from langchain_semcache.errors import ConfigurationError, EncoderUnavailable, MissingExtra
from langchain_semcache.ports import Vectors
from langchain_semcache.processes import shared
from langchain_semcache.torch_models import (
    Source,
    Tensor,
    Tokenizer,
    use_one_thread,
    weights_digest,
    writable,
)

FEATURE = EXTRA = "sentence-transformers"


class SentenceTransformerEncoder:
    """A sentence-transformers model in this process, always normalised to length 1.

    The constructor stores its arguments; `open()`, or whatever first needs the model, loads it.
    Encoders with equal arguments share one model per process, and a forked child loads its own.
    Calls from several threads take turns; put a `BatchingEncoder` in front to join them.

    Args:
        model: A directory, or the name of a model that is in the local Hugging Face cache.
        revision: Branch, tag or commit of a named model.
        device: "cpu", "cuda:0" …; by default the library chooses.
        prompt: Text put before every question. By default the model's own default prompt, if it
            has one. Questions are compared with questions, so one prompt serves both sides.
        batch_size: Texts in one forward pass.
        download: Fetch a named model that is not on this machine, in `open()`.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        ConfigurationError: `batch_size` is not a positive number.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        revision: str | None = None,
        device: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        download: bool = False,
    ) -> None:
        if isinstance(batch_size, bool) or batch_size < 1:
            raise ConfigurationError(
                f"batch_size is {batch_size!r}, expected a whole number from 1 up"
            )
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("SentenceTransformerEncoder", EXTRA, FEATURE)
        self._source = Source.of(model, revision=revision, device=device, download=download)
        self._prompt, self._batch_size = prompt, batch_size
        key = (FEATURE, self._source.name, str(revision), str(device))
        self._holder = shared(key, self._load)

    def open(self) -> SentenceTransformerEncoder:
        """Load now.

        Raises:
            ConfigurationError: The model is not on this machine, or cannot be read; one line that
                names it and the fix.
        """
        self._holder.get()
        return self

    @property
    def dimension(self) -> int:
        return self._holder.get().dimension

    @property
    def identity(self) -> str:
        """Digest of the weights, pipeline with pooling, prompt and normalisation.

        The weights count and not the name: a directory whose files were exchanged is another
        encoder, and the same model in another place is the same.
        """
        loaded = self._holder.get()
        prompt = hashlib.sha256(self._effective_prompt(loaded).encode()).hexdigest()[:8]
        return f"{FEATURE};weights={loaded.digest};{loaded.pipeline};prompt={prompt};l2"

    @property
    def max_tokens(self) -> int:
        return self._holder.get().max_tokens

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, uncut, with the prompt and special tokens that are sent with it."""
        loaded = self._holder.get()
        return loaded.count(self._effective_prompt(loaded) + writable(text))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), dimension], rows of length 1; a text is cut at `max_tokens`.

        Raises:
            EncoderUnavailable: The model failed, or returned what is no vector of length 1.
            ConfigurationError: As `open()`, when this is the first call.
        """
        loaded = self._holder.get()
        if not texts:
            return np.empty((0, loaded.dimension), dtype=np.float32)
        written = [writable(text) for text in texts]
        try:
            vectors = loaded.encode(written, self._effective_prompt(loaded), self._batch_size)
        except Exception as error:  # torch and tokenizers have no common base of their own
            problem = f"sentence-transformers failed: {type(error).__name__}"
            raise EncoderUnavailable(problem) from error
        return check_vectors(vectors, count=len(texts), dimension=loaded.dimension)

    def _effective_prompt(self, loaded: _Loaded) -> str:
        return loaded.default_prompt if self._prompt is None else self._prompt

    def _load(self, inherited: _Loaded | None) -> _Loaded:
        self._source.check(holds="modules.json")
        from sentence_transformers import SentenceTransformer

        if inherited is not None:
            use_one_thread()
        return _Loaded(cast("_Model", self._source.load(SentenceTransformer)))


class _Module(Protocol):
    pooling_mode: str


class _Model(Protocol):
    """What is used of `sentence_transformers.SentenceTransformer`."""

    prompts: Mapping[str, str]
    default_prompt_name: str | None
    max_seq_length: int | None
    tokenizer: Tokenizer

    def encode(self, texts: list[str], **options: object) -> Vectors: ...
    def get_sentence_embedding_dimension(self) -> int | None: ...
    def state_dict(self) -> Mapping[str, Tensor]: ...
    def __iter__(self) -> Iterator[_Module]: ...


class _Loaded:
    """A model of this process. Its tokenizer holds state between calls, so threads take turns."""

    def __init__(self, model: _Model) -> None:
        self._model = model
        self._lock = threading.Lock()
        # Counting has a tokenizer of its own: it must not wait for a forward pass, and two
        # threads in one fast tokenizer end in "Already borrowed".
        self._counter = copy.deepcopy(model.tokenizer)
        self._counter_lock = threading.Lock()
        self.dimension = model.get_sentence_embedding_dimension() or _probe(model)
        self.max_tokens = model.max_seq_length or sys.maxsize
        self.default_prompt = model.prompts.get(model.default_prompt_name or "", "")
        self.pipeline = ">".join(_names(model))
        self.digest = weights_digest(model.state_dict())

    def encode(self, texts: list[str], prompt: str, batch_size: int) -> Vectors:
        with self._lock:
            return self._model.encode(
                texts,
                prompt=prompt,
                batch_size=batch_size,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )

    def count(self, text: str) -> int:
        with self._counter_lock:
            return len(self._counter(text, truncation=False, verbose=False)["input_ids"])


def _probe(model: _Model) -> int:
    return int(model.encode(["dimension"], show_progress_bar=False).shape[1])


def _names(model: Iterable[_Module]) -> Iterator[str]:
    """Each step's name, with its pooling where it pools."""
    for module in model:
        pooling = getattr(module, "pooling_mode", None)
        yield type(module).__name__ + (f"({pooling})" if isinstance(pooling, str) else "")
