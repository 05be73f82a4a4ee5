"""Our own verifier: reads two questions piece by piece and judges what is left over.

It works on the token vectors of the encoder that runs anyway, so it knows the same languages and
adds two megabytes. How it was trained, and what it cannot see: docs/explanation/verifier.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from itertools import accumulate
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.errors import ConfigurationError, MissingExtra, VerifierUnavailable
from langchain_semcache.ports import Encoder, SupportsTokens, Vector, Vectors
from langchain_semcache.processes import shared
from langchain_semcache.recent import Recent
from langchain_semcache.verifiers._lexical import (
    WIDTH,
    Pieces,
    marks,
    read_pieces,
    same_pieces,
)

IDENTITY = "pairs-3"
READER = "pair_reader.onnx"
"""Reads one text; what it made of the last ones is kept, for they are candidates again."""

JUDGE = "pair_judge.onnx"
"""Compares what was read of a question with what was read of the stored ones."""

KEPT = 4 * 1024 * 1024
"""Bytes of what was read of single texts: a question of 12 pieces has 9 kB."""

ENCODER = "use-multilingual-v3"

EQUAL = 0.999
"""The verdict on two texts that are the same but for case, spaces and closing marks. The network
has learned from pairs that differ, where hardly a difference means a trap more often than not."""

_ENDS = "?？!！.。… "

Arrays = dict[str, NDArray[np.float32]]


class Session(Protocol):
    """The one method of `onnxruntime.InferenceSession` that is used."""

    def run(self, outputs: Sequence[str], inputs: Arrays) -> Sequence[Vectors]: ...


@dataclass(frozen=True, slots=True)
class Read:
    """One text as the judge wants it.

    Attributes:
        pieces: What letters tell of it.
        vectors: float32 [pieces, 128].
        sentence: float32 [512], of the whole text.
    """

    pieces: Pieces
    vectors: Vectors
    sentence: Vector


class PairVerifier:
    """Judges whether the answer to one question fits another.

    Safe to call from several threads, and after a fork.

    Args:
        encoder: The default encoder; its token vectors are what the model was trained on.

    Raises:
        ConfigurationError: The encoder is another one, or gives no token vectors.
        MissingExtra: onnxruntime is not installed.
    """

    may_block = False
    identity = IDENTITY

    def __init__(self, encoder: Encoder) -> None:
        identity = encoder.identity
        if not isinstance(encoder, SupportsTokens) or not identity.startswith(ENCODER):
            raise ConfigurationError(
                "PairVerifier reads the token vectors of the encoder 'local', not of "
                f"{identity!r}: use that encoder, or a cross-encoder as the verifier"
            )
        if find_spec("onnxruntime") is None:
            raise MissingExtra("PairVerifier", "local", "onnxruntime")
        self._encoder: SupportsTokens = encoder
        self._reader = shared(("PairVerifier", READER), lambda _: _load(READER))
        self._judge = shared(("PairVerifier", JUDGE), lambda _: _load(JUDGE))
        self._kept: Recent[Read] = Recent(KEPT, _bytes)
        for session in (self._reader, self._judge):
            session.get()  # now, and not with the first question

    def judge(self, question: str, stored: Sequence[str]) -> Sequence[float]:
        """For each stored question the probability in [0, 1] that its answer fits `question`.

        Raises:
            VerifierUnavailable: The runtime failed.
        """
        if not stored:
            return []
        try:
            ours, *theirs = self._read([question, *stored])
            logits = self._judge.get().run(["logits"], _inputs(ours, theirs))[0]
        except Exception as error:  # onnxruntime's errors have no common base of their own
            raise VerifierUnavailable(f"the verifier failed: {type(error).__name__}") from error
        if not np.isfinite(logits).all():
            raise VerifierUnavailable("the verifier returned NaN or infinite values")
        chances = 1 / (1 + np.exp(-logits))
        asked = _bare(question)
        return [
            EQUAL if _bare(text) == asked else float(chance)
            for text, chance in zip(stored, chances, strict=True)
        ]

    def _read(self, texts: Sequence[str]) -> Sequence[Read]:
        known = self._kept.among(texts)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            seen = self._encoder.token_vectors(new)
            # As one long text: each piece is read for itself.
            whole = np.concatenate([one.vectors for one in seen])[None]
            vectors = self._reader.get().run(["read"], {"vectors": whole})[0][0]
            ends = accumulate(len(one.pieces) for one in seen)
            for text, one, end in zip(new, seen, ends, strict=True):
                own = vectors[end - len(one.pieces) : end].copy()
                known[text] = Read(read_pieces(one.pieces, one.scores), own, one.sentence)
                self._kept.put(text, known[text])
        return [known[text] for text in texts]


def _bare(text: str) -> str:
    """The text without case, marks at its end, and all but one of each run of spaces."""
    return " ".join(text.split()).casefold().rstrip(_ENDS) or text


def _bytes(read: Read) -> int:
    return read.vectors.nbytes + read.sentence.nbytes + read.pieces.traits.nbytes


def _inputs(ours: Read, theirs: Sequence[Read]) -> Arrays:
    """The judge's inputs; see `training/serving.py`. Rows are padded to the longest text."""
    texts, count = [ours, *theirs], len(theirs)
    longest = max(len(one.vectors) for one in texts)
    inputs = {
        "read": np.zeros((1 + count, longest, ours.vectors.shape[1]), dtype=np.float32),
        "marks": np.zeros((2 * count, longest, WIDTH), dtype=np.float32),
        "same": np.zeros((count, longest, longest), dtype=np.float32),
        "mask": np.zeros((1 + count, longest), dtype=np.float32),
        "cosine": np.array([ours.sentence @ one.sentence for one in theirs], dtype=np.float32),
    }
    for row, one in enumerate(texts):
        inputs["read"][row, : len(one.vectors)] = one.vectors
        inputs["mask"][row, : len(one.vectors)] = 1
    left = len(ours.vectors)
    for row, one in enumerate(theirs):
        right = len(one.vectors)
        same = same_pieces(ours.pieces, one.pieces)
        inputs["same"][row, :left, :right] = same
        inputs["marks"][row, :left] = marks(ours.pieces, one.pieces, same)
        inputs["marks"][count + row, :right] = marks(one.pieces, ours.pieces, same.T)
    return inputs


def _load(name: str) -> Session:
    import onnxruntime

    # Some builds collect usage events; a cache has no business reporting anything.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    model = resources.files(__package__).joinpath(name).read_bytes()
    session: Session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"]
    )
    return session
