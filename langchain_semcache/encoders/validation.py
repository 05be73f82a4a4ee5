"""One check of what an encoder returned, before anything is stored or compared."""

from __future__ import annotations

import numpy as np

from langchain_semcache.errors import EncoderUnavailable
from langchain_semcache.ports import Vectors

NORM_TOLERANCE = 1e-3
"""How far from 1 the length of a vector may be: float16 models are that rough, bugs are rougher."""


def check_vectors(vectors: object, *, count: int, dimension: int) -> Vectors:
    """`vectors` as float32 [count, dimension] with rows of length 1.

    Lists and other float types are converted; a shape is never repaired.

    Raises:
        EncoderUnavailable: Wrong type, number, dimension or length, or a value is not finite. The
            message says which; it never holds the text.
    """
    array = _as_float32(vectors)
    if array.ndim != 2 or array.shape[0] != count:
        raise EncoderUnavailable(
            f"the encoder returned shape {list(array.shape)} for {count} texts, "
            f"expected [{count}, {dimension}]"
        )
    if array.shape[1] != dimension:
        raise EncoderUnavailable(
            f"the encoder returned vectors of dimension {array.shape[1]}, expected {dimension}"
        )
    lengths = np.sqrt(np.einsum("ij,ij->i", array, array))
    # NaN and infinity in a row show in its length, so this one pass is enough.
    if not np.isfinite(lengths).all():
        raise EncoderUnavailable("the encoder returned NaN or infinite values")
    if count and float(np.abs(lengths - 1).max()) > NORM_TOLERANCE:
        worst = float(lengths[np.abs(lengths - 1).argmax()])
        raise EncoderUnavailable(
            f"the encoder returned a vector of length {worst:.4g}, expected 1: normalise it"
        )
    return array


def _as_float32(vectors: object) -> Vectors:
    try:
        return np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        kind = type(vectors).__name__
        raise EncoderUnavailable(f"the encoder returned a {kind} that is no array") from error
