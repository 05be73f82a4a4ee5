"""Encoders that run on onnxruntime and on files that came with a package. Needs the extra `local`.

Nothing is downloaded, at no time: the model is installed like any other dependency.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from langchain_semcache.encoders import _use_multilingual as use
from langchain_semcache.encoders.validation import check_vectors
from langchain_semcache.errors import ConfigurationError, EncoderUnavailable, MissingExtra
from langchain_semcache.ports import TokenVectors, Vectors
from langchain_semcache.processes import shared
from langchain_semcache.recent import Recent

FEATURE = "OnnxEncoder"
IDENTITY = f"use-multilingual-v3@{use.WEIGHTS.sha256[:12]};fp32;l2"
EXTRA = "local"
MAX_THREADS = 4
"""A batch is small work, and the other cores belong to the application."""

MARKS = 2
"""Begin and end, around the pieces of every text."""

LATELY = 4 * 1024 * 1024
"""Bytes of token vectors that are kept of the last texts: a question of 12 pieces has 60 kB. A
verifier asks for those of the question that was encoded a moment ago."""

TOKENS_A_RUN = 1024
"""Texts are run together up to this many tokens; bounds the working memory at about 15 MB."""


class OnnxEncoder:
    """Universal Sentence Encoder multilingual v3 in this process: 16 languages, 512 dimensions.

    The constructor looks for the files; `open()`, or the first text, reads and checks them (about
    a second and 100 MB). Encoders in one process share one model. Safe to call from several
    threads, and after a fork.

    Args:
        directory: A folder that holds `weights.npz` and `sp.model`; by default they are found in
            the installed package.
        threads: Threads for one call; by default as many as this process may use, at most four.

    Raises:
        MissingExtra: The runtime or the model is not installed.
        ConfigurationError: `threads` is not a positive number, or `directory` lacks a file.
    """

    dimension = 512
    max_tokens = 64
    """Pieces of a question that is compared by meaning; about 260 English or 70 Chinese characters.

    The model averages over words: behind 100 shared words, two different requests are as near as
    two paraphrases. Fewer than one question in 200 is longer (docs/explanation/encoders.md).
    """

    may_block = False

    similarity_threshold = 0.9
    """Where, with the guards, 0.37 of the paraphrases and 0.05 of the near misses of QQP pass."""

    def __init__(
        self, *, directory: str | os.PathLike[str] | None = None, threads: int | None = None
    ) -> None:
        if threads is not None and (isinstance(threads, bool) or threads < 1):
            raise ConfigurationError(f"threads is {threads!r}, expected a whole number from 1 up")
        for module in ("onnxruntime", "sentencepiece"):
            if find_spec(module) is None:
                raise MissingExtra(FEATURE, EXTRA, module)
        folder = Path(directory) if directory is not None else None
        self._weights = use.WEIGHTS.locate(folder, feature=FEATURE, extra=EXTRA)
        self._pieces = use.PIECES.locate(folder, feature=FEATURE, extra=EXTRA)
        self._threads = threads or min(MAX_THREADS, _available_cpus())
        key = (FEATURE, str(self._weights), str(self._pieces), str(self._threads))
        self._model = shared(key, self._load)
        self._lately: Recent[TokenVectors] = Recent(LATELY, _bytes)

    @property
    def identity(self) -> str:
        """Model, digest of its weights, arithmetic and normalisation."""
        return IDENTITY

    def open(self) -> OnnxEncoder:
        """Load now and not with the first text.

        Raises:
            CorruptWeights: A file is not the one this release was tested with.
        """
        self._model.get()
        return self

    def count_tokens(self, text: str) -> int:
        """Pieces of `text`, uncut, begin and end marks included."""
        return len(self._model.get().tokenize(text))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), 512], rows of length 1; a text is cut at `max_tokens`.

        Raises:
            CorruptWeights: As `open()`, when this is the first call.
            EncoderUnavailable: The runtime failed.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        if len(texts) == 1:
            # A lone question: whoever verifies its candidates will want its pieces, too.
            vectors = self.token_vectors(texts)[0].sentence[None].copy()
        else:
            vectors = self._encode(texts)
        return check_vectors(vectors, count=len(texts), dimension=self.dimension)

    def token_vectors(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        """The pieces of each text with their float32 [pieces, 1280] vectors, cut as in `encode`.

        Raises:
            CorruptWeights: As `open()`, when this is the first call.
            EncoderUnavailable: The runtime failed.
        """
        known = self._lately.among(texts)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            for text, read in zip(new, self._read(new), strict=True):
                known[text] = read
                self._lately.put(text, read)
        return [known[text] for text in texts]

    def _encode(self, texts: Sequence[str]) -> Vectors:
        model, tokens = self._tokens(texts)
        with _named_failures():
            runs = [model.forward(run) for run in _runs(tokens)]
        return runs[0] if len(runs) == 1 else np.concatenate(runs)

    def _read(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        model, tokens = self._tokens(texts)
        with _named_failures():
            return [read for run in _runs(tokens) for read in _token_vectors(model, run)]

    def _tokens(self, texts: Sequence[str]) -> tuple[use.UseMultilingual, list[list[int]]]:
        model = self._model.get()
        return model, [self._cut(model.tokenize(text)) for text in texts]

    def _cut(self, tokens: list[int]) -> list[int]:
        if len(tokens) <= self.max_tokens:
            return tokens
        return [*tokens[: self.max_tokens - 1], tokens[-1]]

    def _load(self, inherited: use.UseMultilingual | None) -> use.UseMultilingual:
        """Read, check and assemble; a forked child uses its parent's arrays again."""
        if inherited is not None:
            session = _session(inherited.weights, self._threads)
            return use.UseMultilingual(inherited.pieces, session, inherited.weights)
        use.PIECES.verify(self._pieces)
        use.WEIGHTS.verify(self._weights)
        weights = use.read_weights(self._weights)
        return use.UseMultilingual(_pieces(self._pieces), _session(weights, self._threads), weights)


def _session(weights: use.Weights, threads: int) -> use.Session:
    import onnxruntime

    # Some builds collect usage events; a cache has no business reporting anything.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Spinning would burn the cores of whoever called us, between two questions.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.tensors.values()]
    options.add_external_initializers(list(weights.tensors), values)
    session: use.Session = onnxruntime.InferenceSession(
        use.graph(), options, providers=["CPUExecutionProvider"]
    )
    return session


def _pieces(path: Path) -> use.Pieces:
    import sentencepiece

    pieces: use.Pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return pieces


def _runs(tokens: Sequence[list[int]]) -> Iterator[Sequence[list[int]]]:
    """Consecutive texts, together at most `TOKENS_A_RUN` long; never an empty run."""
    first = total = 0
    for position, row in enumerate(tokens):
        if position > first and total + len(row) > TOKENS_A_RUN:
            yield tokens[first:position]
            first, total = position, 0
        total += len(row)
    yield tokens[first:]


def _token_vectors(
    model: use.UseMultilingual, tokens: Sequence[list[int]]
) -> Iterator[TokenVectors]:
    sentences, features = model.read(tokens)
    start = 0
    for row, sentence in zip(tokens, sentences, strict=True):
        # A text without pieces keeps its marks, so that there is something to look at.
        first, last = (1, len(row) - 1) if len(row) > MARKS else (0, len(row))
        yield TokenVectors(
            pieces=tuple([model.pieces.id_to_piece(number) for number in row[first:last]]),
            scores=tuple([model.pieces.get_score(number) for number in row[first:last]]),
            vectors=_own(features[start + first : start + last]),
            sentence=_own(sentence),
        )
        start += len(row)


def _own(vectors: Vectors) -> Vectors:
    """A copy that does not keep the whole run alive, and that nobody can write into."""
    own = vectors.copy()
    own.flags.writeable = False
    return own


def _bytes(read: TokenVectors) -> int:
    return read.vectors.nbytes + read.sentence.nbytes


@contextmanager
def _named_failures() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # onnxruntime's errors have no common base of their own
        raise EncoderUnavailable(f"onnxruntime failed: {type(error).__name__}") from error


def _available_cpus() -> int:
    # Containers pin processes to fewer cores than the machine has; not every system can say so.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
