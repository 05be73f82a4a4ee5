"""Writes traffic of real questions at real times, for `semcache lab fragmentation`.

    python benchmarks/fragmentation.py --data ../shared/data --out traffic.jsonl
    semcache lab fragmentation traffic.jsonl --plot traffic.png

No public trace says when what was asked and how long the answer was. Here arrivals and lengths are
those of a chat service at Azure, and each request asks a question that was put to a search engine
in January 2020, drawn in proportion to how often it was asked. So repetition is real, and which
question gets which length is not. The data is not part of the project.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np

ARRIVALS = "trace_azure2023_conv.jsonl.gz"
QUESTIONS = "stream_multi_bing_covid_202001_country.jsonl.gz"


def rows(path: Path) -> list[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def joined(data: Path, seed: int) -> list[dict[str, object]]:
    popular: Counter[str] = Counter()
    for row in rows(data / QUESTIONS):
        popular[str(row["query"])] += int(str(row["pop"]))
    questions = sorted(popular)
    weights = np.array([popular[question] for question in questions], dtype=np.float64)
    arrivals = rows(data / ARRIVALS)
    draws = np.random.default_rng(seed).choice(
        len(questions), len(arrivals), p=weights / weights.sum()
    )
    return [
        {"t": row["t"], "prompt": questions[int(draw)], "out_tok": row["out_tok"]}
        for row, draw in zip(arrivals, draws, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    made = joined(options.data, options.seed)
    with options.out.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in made)
    print(f"{len(made):,} requests in {options.out}")


if __name__ == "__main__":
    main()
