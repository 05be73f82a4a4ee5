"""Measures encoders: speed alone and under load, and how well cosine tells paraphrases apart.

    python benchmarks/encoders.py speed
    python benchmarks/encoders.py pairs FILE.jsonl.gz ...     # rows {"a", "b", "same": 0 or 1}

`pairs` needs one file or more of labelled pairs. Thresholds are tuned on one half of each file and
reported on the other; `--encoder sentence-transformers:PATH` measures another model.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.encoders import BatchingEncoder, TokenizerHashEncoder
from langchain_semcache.encoders.onnx import OnnxEncoder
from langchain_semcache.guards import check
from langchain_semcache.ports import Encoder

Pairs = tuple[list[str], list[str], NDArray[np.bool_]]
THRESHOLDS = (0.75, 0.8, 0.85, 0.88, 0.9, 0.92, 0.95)
QUESTIONS = (
    "How do I reset my password?",
    "When will my order arrive?",
    "怎么修改收货地址？",
    "What is the capital of France?",
    "明天上海会下雨吗",
    "Can I return a product after thirty days?",
)


def make(name: str) -> Encoder:
    kind, _, model = name.partition(":")
    if kind == "local":
        return OnnxEncoder().open()
    if kind == "hash":
        return TokenizerHashEncoder()
    from langchain_semcache.encoders.sentence_transformers import SentenceTransformerEncoder

    return SentenceTransformerEncoder(model).open()


def speed(encoder: Encoder) -> None:
    batching = BatchingEncoder(encoder)
    for name, encode in (("bare", encoder.encode), ("batching", batching.encode)):
        first = 0 if name == "bare" else 1_000_000
        seconds = sorted(_timed(encode, first + number) for number in range(400))
        print(f"{name:9} p50 {seconds[200] * 1e3:.2f} ms, p99 {seconds[396] * 1e3:.2f} ms", end="")
        rates = [_rate(encode, callers) for callers in (1, 32)]
        print(f"; {rates[0]:.0f} questions/s from 1 caller, {rates[1]:.0f} from 32")
    batch = (QUESTIONS * 6)[:32]
    seconds = sorted(_seconds(lambda: encoder.encode(batch)) for _ in range(40))
    print(f"one batch of 32: {seconds[20] / 32 * 1e3:.2f} ms a question")
    batching.close()


def _asked(number: int) -> str:
    """A question that was not asked before: an encoder may remember the last ones."""
    return f"{QUESTIONS[number % len(QUESTIONS)]} {number}"


def _timed(encode: Callable[[Sequence[str]], object], number: int) -> float:
    return _seconds(lambda: encode([_asked(number)]))


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _rate(encode: Callable[[Sequence[str]], object], callers: int, total: int = 1600) -> float:
    """Questions a second, from so many threads at once."""

    def work(caller: int) -> None:
        for number in range(total // callers):
            encode([_asked(callers * 10_000 + caller * total + number)])

    threads = [threading.Thread(target=work, args=(caller,)) for caller in range(callers)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return total / (time.perf_counter() - start)


def pairs(encoder: Encoder, path: Path, sample: int) -> None:
    first, second, same = load(path, sample)
    similarity = (_encode(encoder, first) * _encode(encoder, second)).sum(axis=1)
    passed = np.array([check(a, b) is None for a, b in zip(first, second, strict=True)])
    print(f"\n{path.name}: {same.sum()} same, {(~same).sum()} different")
    if same.any() and not same.all():
        print(f"  area under the curve {area(same, similarity):.3f}")
        for budget in (0.01, 0.05):
            threshold = np.quantile(similarity[0::2][~same[0::2]], 1 - budget)
            found, wrong = _shares(same[1::2], similarity[1::2] > threshold)
            print(f"  tuned to {budget:.0%} wrong: {threshold:.3f}; held out: {found}, {wrong}")
    for threshold in THRESHOLDS:
        above = similarity >= threshold
        alone, guarded = _shares(same, above), _shares(same, above & passed)
        print(f"  {threshold:.2f}  cosine {' '.join(alone)}   and guards {' '.join(guarded)}")


def load(path: Path, sample: int) -> Pairs:
    """Up to `sample` pairs, as many of each label as there are, shuffled with a fixed seed."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rng = random.Random(0)
    rng.shuffle(rows)
    kept = [row for row in rows if row["same"]][: sample // 2]
    kept += [row for row in rows if not row["same"]][: sample // 2]
    rng.shuffle(kept)
    labels = np.array([bool(row["same"]) for row in kept])
    return [row["a"] for row in kept], [row["b"] for row in kept], labels


def area(same: NDArray[np.bool_], similarity: NDArray[np.float32]) -> float:
    """How often a pair of the same meaning scores higher than one of another meaning."""
    positive, negative = similarity[same], np.sort(similarity[~same])
    below = np.searchsorted(negative, positive, "left") + np.searchsorted(
        negative, positive, "right"
    )
    return float(below.mean() / 2 / len(negative))


def _encode(encoder: Encoder, texts: list[str]) -> NDArray[np.float32]:
    return np.vstack([encoder.encode(texts[i : i + 64]) for i in range(0, len(texts), 64)])


def _shares(same: NDArray[np.bool_], accepted: NDArray[np.bool_]) -> tuple[str, str]:
    found = f"{accepted[same].mean():.3f}" if same.any() else "-"
    wrong = f"{accepted[~same].mean():.3f}" if not same.all() else "-"
    return f"found {found}", f"wrong {wrong}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["speed", "pairs"])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--encoder", default="local")
    parser.add_argument("--sample", type=int, default=1000)
    options = parser.parse_args()
    encoder = make(options.encoder)
    if options.what == "speed":
        speed(encoder)
    for path in options.files:
        pairs(encoder, path, options.sample)


if __name__ == "__main__":
    main()
