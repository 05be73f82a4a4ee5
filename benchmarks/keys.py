"""Compares the three key functions: sentence vectors, late interaction and TokenizerHash.

    python benchmarks/keys.py --data ../shared/data

N stored questions are paraphrases in pairs; each query is one of them, and the other one of its
pair should be among the ten nearest of the other N - 1. Latency is that of one query at a time, on
one thread where the library lets us say so: making the key, and the exhaustive search over N keys
in numpy. Bytes are those of the key alone, packed as tightly as it can be without loss. The data is
not part of the project; it takes about a minute.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.encoders import TokenizerHashEncoder
from langchain_semcache.encoders.late_interaction import (
    LateInteractionEncoder,
    SentenceTransformerTokens,
    TokenSource,
)
from langchain_semcache.encoders.onnx import OnnxEncoder
from langchain_semcache.ports import Encoder

Scores = NDArray[np.float32]
FILES = {"en": "clusters_en_qqp_min3.jsonl.gz", "zh": "pairs_zh_lcqmc_dev.jsonl.gz"}
TOP = 10
CHUNK = 64


class Key(Protocol):
    """One key function, and its store."""

    name: str

    def store(self, texts: Sequence[str]) -> int:
        """Keep the keys of all texts; bytes in all."""
        ...

    def key(self, text: str) -> object: ...

    def scores(self, key: object) -> Scores:
        """float32 [stored], greater is nearer."""
        ...


class SentenceKey:
    def __init__(self, name: str, encoder: Encoder) -> None:
        self.name, self._encoder = name, encoder

    def store(self, texts: Sequence[str]) -> int:
        parts = [self._encoder.encode(part) for part in _chunks(texts)]
        self._stored = np.concatenate(parts)
        return self._stored.nbytes

    def key(self, text: str) -> object:
        return self._encoder.encode([text])[0]

    def scores(self, key: object) -> Scores:
        return np.asarray(self._stored @ np.asarray(key))


class LateKey:
    """All stored tokens in one matrix. With `rerank`, the mean vectors choose who is compared."""

    def __init__(self, name: str, encoder: LateInteractionEncoder, rerank: int = 0) -> None:
        self.name, self._encoder, self._rerank = name, encoder, rerank

    def store(self, texts: Sequence[str]) -> int:
        rows = [one for part in _chunks(texts) for one in self._encoder.multivectors(part)]
        self._ends = np.cumsum([len(one) for one in rows])
        self._starts = self._ends - [len(one) for one in rows]
        self._tokens = np.concatenate(rows)
        self._means = np.stack([_mean(one) for one in rows])
        return self._tokens.nbytes + (self._means.nbytes if self._rerank else 0)

    def key(self, text: str) -> object:
        return self._encoder.multivectors([text])[0]

    def scores(self, key: object) -> Scores:
        query = np.asarray(key)
        if not self._rerank:
            return self._maxsim(query, self._tokens, self._starts)
        result = self._means @ _mean(query) - 2  # below whatever was looked at more closely
        chosen = np.argpartition(-result, self._rerank)[: self._rerank]
        tokens = [self._tokens[self._starts[n] : self._ends[n]] for n in chosen]
        starts = np.cumsum([0, *(len(one) for one in tokens)])[:-1]
        result[chosen] = self._maxsim(query, np.concatenate(tokens), starts)
        return result

    @staticmethod
    def _maxsim(query: Scores, tokens: Scores, starts: NDArray[np.int64]) -> Scores:
        return np.asarray(np.maximum.reduceat(tokens @ query.T, starts, axis=0).mean(axis=1))


class HashKey:
    name = "TokenizerHash, Hamming"
    _ones = np.array([byte.bit_count() for byte in range(256)], dtype=np.float32)

    def __init__(self) -> None:
        self._encoder = TokenizerHashEncoder()

    def store(self, texts: Sequence[str]) -> int:
        self._stored = np.array([self.key(text) for text in texts], dtype=np.uint64)
        return self._stored.nbytes

    def key(self, text: str) -> object:
        return self._encoder.signature(text)

    def scores(self, key: object) -> Scores:
        differing = self._stored ^ np.uint64(cast("int", key))
        result: Scores = -self._ones[differing.view(np.uint8).reshape(-1, 8)].sum(axis=1)
        return result


def keys(model: str | None) -> Iterator[Key]:
    yield HashKey()
    encoder: Encoder = OnnxEncoder(threads=1).open()
    source: TokenSource = OnnxEncoder(threads=1)
    label = "default encoder"
    yield SentenceKey(f"sentence vector, {label}", encoder)
    yield LateKey(f"MaxSim, {label}, 128 d", LateInteractionEncoder(source))
    yield LateKey("   re-ranks 50 of its mean vector", LateInteractionEncoder(source), rerank=50)
    if model is None:
        return
    import torch
    from sentence_transformers import SentenceTransformer

    from langchain_semcache.encoders.sentence_transformers import SentenceTransformerEncoder

    torch.set_num_threads(1)
    loaded = SentenceTransformer(model, device="cpu", local_files_only=True)
    label = Path(model).parent.name if Path(model).name == "model" else Path(model).name
    yield SentenceKey(f"sentence vector, {label}", SentenceTransformerEncoder(model, device="cpu"))
    tokens = SentenceTransformerTokens(loaded)
    yield LateKey(f"MaxSim, {label}, all d", LateInteractionEncoder(tokens, dimension=None))


def load(path: Path, count: int) -> tuple[list[str], NDArray[np.int64]]:
    """`count` texts, two of each group, shuffled; and for each the place of the other one."""
    rng = np.random.default_rng(0)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    groups = [row.get("texts") or [row["a"], row["b"]] for row in rows if row.get("same", 1)]
    rng.shuffle(groups)
    pairs: list[list[str]] = []
    seen: set[str] = set()
    for group in groups:
        pair = [str(text) for text in rng.choice(group, 2, replace=False)]
        if len(pairs) < count // 2 and len(set(pair)) == 2 and not seen & set(group):
            pairs.append(pair)
            seen.update(group)
    texts = [text for pair in pairs for text in pair]
    order = rng.permutation(len(texts))
    places = np.argsort(order)
    return [texts[n] for n in order], places[order ^ 1]


def measure(key: Key, texts: list[str], mates: NDArray[np.int64], queries: int) -> str:
    stored = key.store(texts)
    ranks, making, searching = [], 0.0, 0.0
    for number in range(min(queries, len(texts))):
        start = time.perf_counter()
        made = key.key(texts[number])
        between = time.perf_counter()
        scores = key.scores(made)
        searching += time.perf_counter() - between
        making += between - start
        scores[number] = -np.inf
        mate = scores[mates[number]]
        # A tie counts as its middle: nobody is found by the order of the file.
        ranks.append((scores > mate).sum() + ((scores == mate).sum() - 1) / 2)
    found = np.array(ranks)
    share = 1e3 / len(found)
    return (
        f"| {key.name} | {making * share:.2f} | {searching * share:.2f} "
        f"| {stored / len(texts):,.0f} | {(found < 1).mean():.3f} | {(found < TOP).mean():.3f} |"
    )


def _mean(rows: Scores) -> Scores:
    mean = rows.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean))


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), CHUNK):
        yield texts[start : start + CHUNK]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--stored", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--model", help="a sentence-transformers model on this machine, beside")
    options = parser.parse_args()
    for language, name in FILES.items():
        texts, mates = load(options.data / name, options.stored)
        print(f"\n{language}: {len(texts)} stored, {options.queries} queries, {name}\n")
        print("| key | make, ms | search, ms | bytes | top 1 | top 10 |")
        print("| --- | --- | --- | --- | --- | --- |")
        for key in keys(options.model):
            print(measure(key, texts, mates, options.queries), flush=True)


if __name__ == "__main__":
    main()
