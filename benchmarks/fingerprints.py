"""How quick fingerprints are, whether they collide, and what keys take.

    python benchmarks/fingerprints.py --data ../shared/data

Seconds are those of the processor, on one core. Sequences are runs of words of real answers, all
different; of the 64 bits 32 are looked at alone too, where collisions must be found.
A raw key is the canonical text of what a request is recognised by. The data is not part of the
project; it takes about a minute.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from langchain_semcache.request import canonical
from langchain_semcache.streaming import TextFingerprint, TokenFingerprint, Trail, common_prefix

ANSWERS = ("responses_en_deepseekv3_3samples.jsonl.gz", "responses_en_oasst_sft_11samples.jsonl.gz")
QUESTIONS = {
    "questions of a bank": ("intents_en_banking77.jsonl.gz", "text"),
    "questions, Chinese": ("pairs_zh_lcqmc_dev.jsonl.gz", "a"),
    "prompts to assistants": ("prompts_en_mixed.jsonl.gz", "prompt"),
}
_WORD = re.compile(r"\s*\w+|\s*[^\w\s]+|\s+$")


def rows(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def groups(path: Path) -> Iterator[list[list[str]]]:
    """The answers to one prompt, in words."""
    for row in rows(path):
        answers = row["responses"]
        assert isinstance(answers, list)
        texts = [one if isinstance(one, str) else one["text"] for one in answers]
        yield [_WORD.findall(text) for text in texts]


def speed(words: list[str], count: int) -> None:
    pieces = words[:count]
    count = len(pieces)
    known: dict[str, int] = {}
    ids = [known.setdefault(word, len(known)) for word in pieces]

    def one_by_one(kind: type[TokenFingerprint | TextFingerprint], parts: list) -> None:
        growing = kind()
        for part in parts:
            growing.append(part)

    def at_once(parts: list) -> None:
        for start in range(0, len(parts), 300):
            TokenFingerprint(parts[start : start + 300])

    print("\n| fingerprint | million tokens a second |")
    print("| --- | --- |")
    jobs: dict[str, Callable[[], None]] = {
        "ids, one by one": lambda: one_by_one(TokenFingerprint, ids),
        "ids, 300 at once": lambda: at_once(ids),
        "pieces of text, one by one": lambda: one_by_one(TokenFingerprint, pieces),
        "pieces of text, 300 at once": lambda: at_once(pieces),
        "a text, piece by piece": lambda: one_by_one(TextFingerprint, pieces),
        "ids, each prefix kept": lambda: (Trail(ids), None)[1],
    }
    for name, job in jobs.items():
        best = min(_seconds(job) for _ in range(3))
        print(f"| {name} | {count / best / 1e6:.2f} |", flush=True)


def _seconds(job: Callable[[], None]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def collisions(answers: list[list[str]], count: int) -> None:
    seen: set[tuple[str, ...]] = set()
    values: set[int] = set()
    low: set[int] = set()
    for length in (3, 5, 8, 13):
        for words in answers:
            for start in range(0, len(words) - length, 2):
                if len(seen) < count:
                    seen.add(tuple(words[start : start + length]))
    for words in seen:
        value = TokenFingerprint(words).value
        values.add(value)
        low.add(value & 0xFFFFFFFF)
    n = len(seen)
    print(
        f"\n{n:,} different sequences of words: {n - len(values)} collisions at 64 bits; "
        f"{n - len(low)} at 32 bits, where {n * n / 2**33:.0f} are to be expected"
    )


def keys(data: Path) -> None:
    print("\n| requests | raw key | entry id, text | saved | fingerprint | saved | all save |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, (file, field) in QUESTIONS.items():
        raw = [len(_raw(str(row[field])).encode()) for row in rows(data / file)]
        size = statistics.median(raw)
        cells = []
        for short in (36, 16):
            cells += [str(short), f"{1 - short / size:.0%}"]
        least = 1 - 36 / min(raw)
        print(f"| {name} | {size:.0f} | {' | '.join(cells)} | {least:.0%} |")


def _raw(question: str) -> str:
    """What a request with nothing special about it is recognised by, spelled out."""
    return canonical(
        {
            "model": "gpt-4o-mini",
            "parameters": {"temperature": 0.2, "top_p": 0.95},
            "messages": [{"role": "user", "content": question}],
        }
    )


def prefixes(data: Path) -> None:
    print("\n| answers to one prompt | pairs | words, median | in common from the beginning on |")
    print("| --- | --- | --- | --- |")
    for file in ANSWERS:
        lengths, common = [], []
        for group in groups(data / file):
            trails = [Trail(words) for words in group]
            lengths += [len(trail) for trail in trails]
            common += [common_prefix(trails[0], other) for other in trails[1:]]
        middle, most = statistics.median(common), statistics.quantiles(common, n=10)[-1]
        print(
            f"| {file} | {len(common):,} | {statistics.median(lengths):.0f} "
            f"| median {middle:.0f}, one in ten {most:.0f} or more |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--count", type=int, default=1_000_000)
    options = parser.parse_args()
    answers = [
        words for file in ANSWERS for group in groups(options.data / file) for words in group
    ]
    speed([word for words in answers for word in words], options.count)
    collisions(answers, options.count)
    keys(options.data)
    prefixes(options.data)


if __name__ == "__main__":
    main()
