"""Measures what a cache that cannot keep everything, and for ever, does with what it has.

    python benchmarks/freshness.py heat                   # what is used next
    python benchmarks/freshness.py heat --stream Bing

`--data` is the folder of streams, which are not part of the project (default `../shared/data`).

**heat** At moments of the second half of a stream: how well a model ranks what is used in the five
steps that follow. What there is to tune or train was so on the first half. Mooncake are the blocks
of a chat service's prompts, Bing real queries of January 2020 by country and day, drawn by their
popularity (seeded), and one stream is made up (seeded). Needs the extra `hotness`. On one core it
takes about twenty minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import _freshness_heat as heat
from _quality_setup import table


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts = parser.add_subparsers(dest="what", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, default=Path("../shared/data"))
    common.add_argument("--json", type=Path, help="write the rows there")
    heat.add_options(parts.add_parser("heat", parents=[common]))
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    options = parse(arguments)
    start = time.perf_counter()
    rows = heat.run(
        options.data,
        only=options.stream,
        effort=heat.Effort(options.epochs, options.max_windows, options.seed),
        threads=options.threads,
    )
    print(table(list(rows[0]), rows))
    print(f"{time.perf_counter() - start:.0f} s")
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
