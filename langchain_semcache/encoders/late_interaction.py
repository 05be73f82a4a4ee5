"""Late interaction: a vector for every token, and texts compared token by token with MaxSim.

After ColBERT (Khattab and Zaharia, SIGIR 2020): each token of one text looks for its nearest token
in the other one, and the mean of these cosines is the score. The token vectors are those of the
default encoder, or of any sentence-transformers model; nothing here is trained. One vector finds
candidates, many re-rank them.

It finds the subject of a question again, and not its point: a question and its negation share all
other tokens. benchmarks/keys.py compares it with the other key functions.
"""

from __future__ import annotations

import hashlib
import math
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.encoders.validation import check_vectors
from langchain_semcache.errors import ConfigurationError, EncoderUnavailable, VerifierUnavailable
from langchain_semcache.ports import Vectors
from langchain_semcache.torch_models import Tensor, Tokenizer, weights_digest, writable

Multivector: TypeAlias = NDArray[np.float32]
"""float32 [tokens, dimension], each row of length 1; never without a row."""

PROJECTION = "late-1"
"""Names the matrix: another one is another encoder."""


class HasVectors(Protocol):
    @property
    def vectors(self) -> Vectors:
        """float32 [tokens, width], of any length but zero."""
        ...


class TokenSource(Protocol):
    """Where token vectors come from: an encoder that also `SupportsTokens`, such as the default."""

    @property
    def identity(self) -> str: ...

    @property
    def max_tokens(self) -> int: ...

    def count_tokens(self, text: str) -> int: ...

    def token_vectors(self, texts: Sequence[str]) -> Sequence[HasVectors]: ...


class LateInteractionEncoder:
    """Token vectors of a source, shortened and normalised. As safe to share as the source is.

    As an `Encoder` it gives the normalised mean of a text's token vectors, for the search of
    candidates; `multivectors` gives all of them, for `maxsim`, `MaxSimVerifier` or a Qdrant
    collection with `MultiVectorComparator.MAX_SIM`, which ranks alike.

    Args:
        source: `OnnxEncoder()`, `SentenceTransformerTokens(model)`, or another one.
        dimension: Length of a vector. Longer ones are projected by a fixed matrix of signs, which
            keeps cosines to about 1/sqrt(dimension) (Achlioptas 2003). None leaves them as they
            are: 1280 values a token for the default encoder.

    Raises:
        ConfigurationError: `dimension` is not a positive number.
    """

    def __init__(self, source: TokenSource, *, dimension: int | None = 128) -> None:
        if dimension is not None and (isinstance(dimension, bool) or dimension < 1):
            raise ConfigurationError(
                f"dimension is {dimension!r}, expected a whole number from 1 up, or None"
            )
        self._source, self._wanted = source, dimension

    @property
    def may_block(self) -> bool:
        return bool(getattr(self._source, "may_block", True))

    @cached_property
    def dimension(self) -> int:
        if self._wanted is not None:
            return self._wanted
        return int(self._source.token_vectors(["dimension"])[0].vectors.shape[1])

    @property
    def identity(self) -> str:
        projected = f";{PROJECTION}:{self._wanted}" if self._wanted is not None else ""
        return f"late-interaction({self._source.identity}){projected};mean;l2"

    @property
    def max_tokens(self) -> int:
        return self._source.max_tokens

    def count_tokens(self, text: str) -> int:
        return self._source.count_tokens(text)

    def multivectors(self, texts: Sequence[str]) -> list[Multivector]:
        """For each text float32 [tokens, dimension], rows of length 1; cut at `max_tokens`.

        Raises:
            EncoderUnavailable: The source failed, or its vectors have no length or are not finite.
        """
        if not texts:
            return []
        found = [read.vectors for read in self._source.token_vectors(texts)]
        if len(found) != len(texts) or not all(len(rows) for rows in found):
            raise EncoderUnavailable(f"the source gave no token vectors for {len(texts)} texts")
        ends = np.cumsum([len(rows) for rows in found])
        rows = _normalised(self._shortened(np.concatenate(found)))
        rows = check_vectors(rows, count=len(rows), dimension=self.dimension)
        return np.split(rows, ends[:-1])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), dimension], rows of length 1: the mean of the token vectors.

        Raises:
            EncoderUnavailable: As `multivectors`.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        means = np.stack([rows.mean(axis=0) for rows in self.multivectors(texts)])
        return check_vectors(_normalised(means), count=len(texts), dimension=self.dimension)

    def _shortened(self, rows: Vectors) -> Vectors:
        if self._wanted is None:
            return rows
        return rows @ _signs(rows.shape[1], self._wanted)


class MaxSimVerifier:
    """`maxsim` of two questions as a probability: `1 / (1 + exp(-steepness (maxsim - midpoint)))`.

    The symmetric MaxSim counts, so both questions have to be covered by the other one. The defaults
    were fitted, for the default encoder at 128 dimensions, to 2,000 paraphrases and as many
    unrelated pairs of the same domains in English and Chinese: they tell subjects apart. Near
    misses (another number, a negation) score as high as paraphrases do, so guards have to be in
    front; for other models, and for judging, fit both numbers to pairs of your own. A question
    longer than the window is refused (0.0).

    Args:
        midpoint: The MaxSim, in [0, 1], whose probability is one half.
        steepness: Greater than 0; the odds grow by a factor of e for every 1/steepness of MaxSim.

    Raises:
        ConfigurationError: A number is out of its range.
    """

    def __init__(
        self, encoder: LateInteractionEncoder, *, midpoint: float = 0.42, steepness: float = 12.0
    ) -> None:
        if not 0 <= midpoint <= 1:
            raise ConfigurationError(f"midpoint is {midpoint!r}, expected a number from 0 to 1")
        if not 0 < steepness < math.inf:
            raise ConfigurationError(f"steepness is {steepness!r}, expected a number above 0")
        self._encoder, self._midpoint, self._steepness = encoder, midpoint, steepness

    @property
    def may_block(self) -> bool:
        return self._encoder.may_block

    @property
    def identity(self) -> str:
        return f"maxsim({self._encoder.identity};{self._midpoint:g};{self._steepness:g})"

    def judge(self, question: str, stored: Sequence[str]) -> list[float]:
        """For each stored question the probability in [0, 1].

        Raises:
            VerifierUnavailable: The encoder failed.
        """
        try:
            return self._judge(question, stored)
        except EncoderUnavailable as error:
            raise VerifierUnavailable(f"no token vectors: {error}") from error

    def _judge(self, question: str, stored: Sequence[str]) -> list[float]:
        result = [0.0] * len(stored)
        fitting = [n for n, text in enumerate(stored) if self._fits(text)]
        if not fitting or not self._fits(question):
            return result
        asked, *others = self._encoder.multivectors([question, *(stored[n] for n in fitting)])
        for position, rows in zip(fitting, others, strict=True):
            result[position] = self._probability(maxsim(asked, rows, symmetric=True))
        return result

    def _fits(self, text: str) -> bool:
        return self._encoder.count_tokens(text) <= self._encoder.max_tokens

    def _probability(self, similarity: float) -> float:
        # By tanh, which does not overflow.
        return 0.5 * (1 + math.tanh(self._steepness * (similarity - self._midpoint) / 2))


def maxsim(query: Multivector, stored: Multivector, *, symmetric: bool = False) -> float:
    """The mean over the query's tokens of the cosine of the nearest stored one, in [0, 1].

    Symmetric: the lesser one of both directions, so that nothing may be left over on either side.
    Qdrant's MaxSim is the sum instead of the mean: the same order for one query.
    """
    similarities = query @ stored.T
    score = float(similarities.max(axis=1).mean())
    if symmetric:
        score = min(score, float(similarities.max(axis=0).mean()))
    return min(1.0, max(0.0, score))


class _Output(Protocol):
    def float(self) -> _Output: ...
    def cpu(self) -> _Output: ...
    def numpy(self) -> Vectors: ...


class SentenceTransformer(Protocol):
    """What is used of `sentence_transformers.SentenceTransformer`."""

    max_seq_length: int | None
    tokenizer: Tokenizer

    def encode(self, texts: list[str], **options: object) -> object: ...
    def state_dict(self) -> Mapping[str, Tensor]: ...


@dataclass(frozen=True, slots=True)
class _Read:
    vectors: Vectors


class SentenceTransformerTokens:
    """The token vectors of a loaded sentence-transformers model, special tokens included.

    Any transformer will do: `SentenceTransformer("/path", local_files_only=True)`. Calls from
    several threads take turns. The model stays the caller's.
    """

    def __init__(self, model: SentenceTransformer) -> None:
        self._model = model
        self._lock = threading.Lock()

    @cached_property
    def identity(self) -> str:
        """Digest of the weights."""
        return f"sentence-transformers-tokens;weights={weights_digest(self._model.state_dict())}"

    @property
    def max_tokens(self) -> int:
        return self._model.max_seq_length or sys.maxsize

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, uncut, special ones included."""
        tokenizer = self._model.tokenizer
        with self._lock:
            return len(tokenizer(writable(text), truncation=False, verbose=False)["input_ids"])

    def token_vectors(self, texts: Sequence[str]) -> list[_Read]:
        """For each text float32 [tokens, width].

        Raises:
            EncoderUnavailable: The model failed.
        """
        try:
            with self._lock:
                found = self._model.encode(
                    [writable(text) for text in texts],
                    output_value="token_embeddings",
                    convert_to_numpy=False,
                    show_progress_bar=False,
                )
            return [_Read(rows.float().cpu().numpy()) for rows in cast("list[_Output]", found)]
        except Exception as error:  # torch and tokenizers have no common base of their own
            problem = f"sentence-transformers failed: {type(error).__name__}"
            raise EncoderUnavailable(problem) from error


def _normalised(rows: Vectors) -> Vectors:
    with np.errstate(divide="ignore", invalid="ignore"):  # what has no length is reported later
        result: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return result


@lru_cache(maxsize=8)
def _signs(width: int, dimension: int) -> Vectors:
    """float32 [width, dimension] of plus and minus 1, the same on every platform and for ever."""
    count = width * dimension
    data = hashlib.shake_256(PROJECTION.encode()).digest((count + 7) // 8)
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8))[:count]
    signs: Vectors = bits.reshape(width, dimension).astype(np.float32) * 2 - 1
    signs.flags.writeable = False
    return signs
