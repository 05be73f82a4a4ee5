"""GPTCache's own evaluators on our vectors, run by a Python that has GPTCache: its real code.

It decides `score >= (max - min) * similarity_threshold`, with 0.8 by default; so do we here. Run as
a script it reads a folder that `verdicts` or `sequence_verdicts` has written, and writes
`verdicts.json` there; it must not import this project, which that Python does not have.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Pairs = Sequence[tuple[str, str]]
THRESHOLD = 0.8
TURN_WEIGHTS = (0.5, 0.3, 0.2)
"""As in the example of its documentation; there is no default."""

NOT_RUN = (
    "GPTCache: OnnxModelEvaluation, SbertCrossencoderEvaluation and CohereRerankEvaluation need a "
    "model hub or a key and are not run; TimeEvaluation is the distance for fresh entries."
)


def verdicts(python: Path | None, pairs: Pairs, ours: Rows, theirs: Rows) -> dict[str, list[bool]]:
    """Whether each evaluator serves each pair, by its name; nothing without GPTCache."""
    arrays = {"ours": ours, "theirs": theirs}
    return _asked(python, {"part": "pairs", "pairs": list(pairs)}, arrays)


def sequence_verdicts(
    python: Path | None,
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    vectors: dict[str, Rows],
) -> dict[str, list[bool]]:
    """The same of conversations, as the user's turns in order; `vectors` holds every turn."""
    arrays = {"vectors": np.stack(list(vectors.values()))}
    return _asked(python, {"part": "turns", "pairs": list(pairs), "texts": list(vectors)}, arrays)


def _asked(
    python: Path | None, task: dict[str, Any], arrays: dict[str, Rows]
) -> dict[str, list[bool]]:
    if python is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "task.json").write_text(json.dumps(task), "utf-8")
        np.savez(Path(folder, "arrays.npz"), **arrays)
        env = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
        subprocess.run([python, __file__, folder], check=True, env=env, stdout=subprocess.DEVNULL)
        found: dict[str, list[bool]] = json.loads(Path(folder, "verdicts.json").read_text())
        return found


# ── from here on in GPTCache's Python ────────────────────────────────────────────────────────────


class Nearest:
    """All stored questions, as its K-reciprocal evaluator asks for them."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def search(self, vector: Rows, top_k: int) -> list[tuple[float, int]]:
        distances = np.maximum(0, 2 - 2 * (self.rows @ vector))
        best = np.argsort(distances, kind="stable")[:top_k]
        return [(float(distances[row]), int(row)) for row in best]


def _evaluator(module: str, name: str) -> Any:  # noqa: ANN401 - GPTCache ships no types
    return getattr(importlib.import_module(f"gptcache.similarity_evaluation.{module}"), name)


def _pair_verdicts(pairs: Pairs, ours: Rows, theirs: Rows) -> dict[str, list[bool]]:
    nearest = Nearest(np.unique(theirs, axis=0))
    evaluators = {
        "GPTCache distance": _evaluator("distance", "SearchDistanceEvaluation")(),
        "GPTCache norm": _evaluator("np", "NumpyNormEvaluation")(),
        "GPTCache k-reciprocal": _evaluator("kreciprocal", "KReciprocalEvaluation")(nearest),
        "GPTCache exact": _evaluator("exact_match", "ExactMatchEvaluation")(),
    }
    found: dict[str, list[bool]] = {name: [] for name in evaluators}
    for (question, stored), one, other in zip(pairs, ours, theirs, strict=True):
        asked = {"question": question, "embedding": one}
        distance = float(np.sum((one - other) ** 2))
        kept = {"question": stored, "embedding": other, "search_result": (distance, None)}
        for name, evaluator in evaluators.items():
            found[name].append(_served(evaluator, asked, kept))
    return found


def _turn_verdicts(
    pairs: Sequence[Sequence[Sequence[str]]], texts: Sequence[str], vectors: Rows
) -> dict[str, list[bool]]:
    kind = _evaluator("sequence_match", "SequenceMatchEvaluation")
    evaluator = kind.__new__(kind)  # its constructor takes the name of a model to download
    rows = dict(zip(texts, vectors, strict=True))
    evaluator.weights = list(TURN_WEIGHTS)
    evaluator.embedding_extractor = type("Ours", (), {"to_embeddings": _lookup(rows)})()
    asked = [[{"question": " ".join(f"USER: {t}" for t in turns)} for turns in p] for p in pairs]
    return {"GPTCache sequence": [_served(evaluator, one, other) for one, other in asked]}


def _lookup(rows: dict[str, Rows]) -> Callable[[object, str], Rows]:
    return lambda _, text: rows[text.strip()]


def _served(evaluator: Any, asked: dict[str, Any], kept: dict[str, Any]) -> bool:  # noqa: ANN401
    low, high = evaluator.range()
    return bool((high - low) * THRESHOLD <= evaluator.evaluation(asked, kept))


def main() -> None:
    folder = Path(sys.argv[1])
    task = json.loads((folder / "task.json").read_text("utf-8"))
    with np.load(folder / "arrays.npz") as arrays:
        if task["part"] == "pairs":
            found = _pair_verdicts(task["pairs"], arrays["ours"], arrays["theirs"])
        else:
            found = _turn_verdicts(task["pairs"], task["texts"], arrays["vectors"])
    (folder / "verdicts.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
