"""Measures what a cache that cannot keep everything keeps.

    python benchmarks/freshness.py evict                  # capacity, on the second half of a stream
    python benchmarks/freshness.py evict --part first     # the half that is there to tune on

`--data` is the folder of streams, which are not part of the project (default `../shared/data`). On
one core the whole takes about four minutes.

**evict** One pass over a stream; what is wanted and not there is stored, and somebody has to go. In
percent of the uses in the second half: how many found what they asked for. The gap is that between
LRU and Belady, who knows the future and need not keep what just came. Mooncake are the blocks of a
chat service's prompts, Bing real queries of January 2020 by country and day, drawn by their
popularity (seeded), Zipf is made up (seeded).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import _freshness_evict as evict
from _quality_setup import table


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["evict"])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--part", choices=["first", "second"], default="second")
    parser.add_argument("--json", type=Path, help="write the rows there")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    options = parse(arguments)
    start = time.perf_counter()
    rows = evict.run(options.data, part=options.part)
    print(table(list(rows[0]), rows))
    print(f"{time.perf_counter() - start:.0f} s")
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
