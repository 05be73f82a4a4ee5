"""What the verifier sees of every text and pair, computed once and kept in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.encoders.onnx import OnnxEncoder
from langchain_semcache.verifiers._lexical import Pieces, marks, read_pieces

REDUCED = 320
"""Directions kept of the 1,280 of a token; four times as many texts fit into memory."""

BATCH = 256
SAMPLE = 4_000


@dataclass(frozen=True, slots=True)
class Reduction:
    """A linear map of token vectors, folded into the model's first layer when it is exported.

    Attributes:
        centre: float32 [1280].
        directions: float32 [1280, REDUCED].
    """

    centre: NDArray[np.float32]
    directions: NDArray[np.float32]

    def __call__(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        return (vectors - self.centre) @ self.directions


@dataclass(slots=True)
class Texts:
    """All distinct texts: vectors float16 [pieces, REDUCED], pieces, sentence vectors [512]."""

    number: dict[str, int]
    vectors: list[NDArray[np.float16]]
    pieces: list[Pieces]
    sentence: NDArray[np.float32]
    reduction: Reduction

    def length(self, number: int) -> int:
        return len(self.vectors[number])


def reduction(texts: Sequence[str]) -> Reduction:
    """The directions in which the token vectors of a sample differ most."""
    encoder = OnnxEncoder().open()
    chosen = np.random.default_rng(0).choice(len(texts), min(SAMPLE, len(texts)), replace=False)
    rows = np.concatenate(
        [
            read.vectors
            for n in range(0, len(chosen), BATCH)
            for read in encoder.token_vectors([texts[i] for i in chosen[n : n + BATCH]])
        ]
    )
    centre = rows.mean(axis=0)
    _, vectors = np.linalg.eigh(np.cov((rows - centre).T))
    return Reduction(centre, np.ascontiguousarray(vectors[:, ::-1][:, :REDUCED], dtype=np.float32))


def embed(
    texts: Sequence[str], reduce: Reduction | None = None, cache: Path | None = None
) -> Texts:
    """Everything about `texts`; `cache` is a file that remembers it between runs."""
    distinct = list(dict.fromkeys(texts))
    known = _recall(cache) if cache else {}
    if known and reduce is None:
        reduce = known.pop("")
    known.pop("", None)
    reduce = reduce or reduction(distinct)
    missing = [text for text in distinct if text not in known]
    encoder = OnnxEncoder().open()
    for first in range(0, len(missing), BATCH):
        part = missing[first : first + BATCH]
        for text, read in zip(part, encoder.token_vectors(part), strict=True):
            vectors = reduce(read.vectors).astype(np.float16)
            known[text] = (vectors, read.pieces, read.scores, read.sentence.astype(np.float16))
    if cache and missing:
        np.save(cache, np.array([{"": reduce, **known}], dtype=object), allow_pickle=True)
    rows = [known[text] for text in distinct]
    return Texts(
        {text: n for n, text in enumerate(distinct)},
        [row[0] for row in rows],
        [read_pieces(row[1], row[2]) for row in rows],
        np.array([row[3] for row in rows], dtype=np.float32),
        reduce,
    )


def _recall(cache: Path) -> dict:
    return np.load(cache, allow_pickle=True)[0] if cache.exists() else {}


def pair_marks(texts: Texts, a: int, b: int) -> tuple[NDArray[np.float16], NDArray[np.float16]]:
    """What each side's pieces have of the other side: float16 [pieces, marks], twice."""
    one, other = texts.pieces[a], texts.pieces[b]
    return marks(one, other).astype(np.float16), marks(other, one).astype(np.float16)
