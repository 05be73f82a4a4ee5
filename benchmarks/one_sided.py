"""What guards refuse of our own pairs, by who names the difference and by how alike the words are.

    python benchmarks/one_sided.py --pairs 16000

The clusters of `training/` are read: ways to ask one thing, and questions beside it. It is why a
refusal is not final where only one of two questions in other words names something.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from langchain_semcache.guards import check
from langchain_semcache.guards._reading import read, reworded
from training.data import Pair, own_clusters


def counted(pairs: list[Pair]) -> Counter[tuple[str, str, bool, str]]:
    """How many pairs there are of each language, wording and label, and what becomes of them."""
    counts: Counter[tuple[str, str, bool, str]] = Counter()
    for pair in pairs:
        words = "other" if reworded(read(pair.a), read(pair.b)) else "like"
        refusal = check(pair.a, pair.b)
        group = ("Chinese" if "_zh" in pair.source else "English", words, pair.same)
        counts[(*group, "all")] += 1
        if refusal is not None:
            counts[(*group, "one-sided" if refusal.one_sided else "each names another")] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=16_000)
    pairs = list(own_clusters())
    random.Random(1).shuffle(pairs)
    counts = counted(pairs[: parser.parse_args().pairs])
    print("| language | words | refused | true pairs | traps |")
    print("| --- | --- | --- | --- | --- |")
    for language in ("English", "Chinese"):
        for words in ("other", "like"):
            for kind in ("one-sided", "each names another"):
                shares = [
                    f"{100 * counts[language, words, same, kind] / of:.1f} % of {of}"
                    for same in (True, False)
                    if (of := counts[language, words, same, "all"])
                ]
                print(f"| {language} | {words} | {kind} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
