"""Our own verifier: reads two questions piece by piece and judges what is left over.

It works on the token vectors of the encoder that runs anyway, so it knows the same languages and
adds two megabytes. How it was trained, and what it cannot see: docs/explanation/verifier.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.errors import ConfigurationError, MissingExtra, VerifierUnavailable
from langchain_semcache.ports import Encoder, SupportsTokens, TokenVectors, Vectors
from langchain_semcache.processes import shared
from langchain_semcache.verifiers._lexical import WIDTH, marks, read_pieces, same_pieces

IDENTITY = "pairs-3"
MODEL = "pair_verifier.onnx"
ENCODER = "use-multilingual-v3"

EQUAL = 0.999
"""The verdict on two texts that are the same but for case, spaces and closing marks. The network
has learned from pairs that differ, where hardly a difference means a trap more often than not."""

_ENDS = "?？!！.。… "

Arrays = dict[str, NDArray[np.float32]]


class Session(Protocol):
    """The one method of `onnxruntime.InferenceSession` that is used."""

    def run(self, outputs: Sequence[str], inputs: Arrays) -> Sequence[Vectors]: ...


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
        self._session = shared(("PairVerifier", MODEL), _load)
        self._session.get()  # now, and not with the first question

    def judge(self, question: str, stored: Sequence[str]) -> Sequence[float]:
        """For each stored question the probability in [0, 1] that its answer fits `question`.

        Raises:
            VerifierUnavailable: The runtime failed.
        """
        if not stored:
            return []
        try:
            ours, *theirs = self._encoder.token_vectors([question, *stored])
            logits = self._session.get().run(["logits"], _inputs(ours, theirs))[0]
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


def _bare(text: str) -> str:
    """The text without case, marks at its end, and all but one of each run of spaces."""
    return " ".join(text.split()).casefold().rstrip(_ENDS) or text


def _inputs(ours: TokenVectors, theirs: Sequence[TokenVectors]) -> Arrays:
    """The graph's inputs; see `training/export.py`. Rows are padded to the longest."""
    mine = read_pieces(ours.pieces, ours.scores)
    others = [read_pieces(one.pieces, one.scores) for one in theirs]
    count, left = len(theirs), len(mine.keys)
    right = max(len(other.keys) for other in others)
    width = ours.vectors.shape[1]
    inputs = {
        "a": np.repeat(ours.vectors[None], count, axis=0),
        "b": np.zeros((count, right, width), dtype=np.float32),
        "marks_a": np.zeros((count, left, WIDTH), dtype=np.float32),
        "marks_b": np.zeros((count, right, WIDTH), dtype=np.float32),
        "same": np.zeros((count, left, right), dtype=np.float32),
        "mask_a": np.ones((count, left), dtype=np.float32),
        "mask_b": np.zeros((count, right), dtype=np.float32),
        "cosine": np.array([ours.sentence @ one.sentence for one in theirs], dtype=np.float32),
    }
    for row, (one, other) in enumerate(zip(theirs, others, strict=True)):
        length = len(other.keys)
        inputs["b"][row, :length] = one.vectors
        inputs["mask_b"][row, :length] = 1
        same = same_pieces(mine, other)
        inputs["marks_a"][row] = marks(mine, other, same)
        inputs["marks_b"][row, :length] = marks(other, mine, same.T)
        inputs["same"][row, :, :length] = same
    return inputs


def _load(_inherited: Session | None) -> Session:
    import onnxruntime

    # Some builds collect usage events; a cache has no business reporting anything.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    model = resources.files(__package__).joinpath(MODEL).read_bytes()
    session: Session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"]
    )
    return session
