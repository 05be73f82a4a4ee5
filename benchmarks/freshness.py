"""Measures what a cache that cannot keep everything, and for ever, does with what it has.

    python benchmarks/freshness.py evict                  # capacity, on the second half of a stream
    python benchmarks/freshness.py evict --part first     # the half that is there to tune on
    python benchmarks/freshness.py ttl                    # lifetimes, the same halves
    python benchmarks/freshness.py heat                   # what is used next
    python benchmarks/freshness.py heat --stream Bing

`--data` is the folder of streams, which are not part of the project (default `../shared/data`).
Mooncake are the blocks of a chat service's prompts, Bing real queries of January 2020 by country
and day, drawn by their popularity (seeded); others are made up (seeded). On one core `evict` and
`ttl` take four to eight minutes, `heat` about twenty.

**evict** One pass over a stream; what is wanted and not there is stored, and somebody has to go. In
percent of the uses in the second half: how many found what they asked for. The gap is that between
LRU and Belady, who knows the future and need not keep what just came.

**ttl** The queries of Bing, whose answers change as they are made to: a Poisson process each, of a
rate that its class has and the question varies (seeded; `_freshness_ttl.py` has the numbers). In
percent of the requests of the second half: how many the cache answers where so many of all answers
are old, and in parentheses how many points that is above one TTL for all. No way to set lifetimes
is told what the process is, but for the last. "Rules" are `freshness` with `stale_cost`; classes
are told to them as a user would, by tag.

**heat** At moments of the second half of a stream: how well a model ranks what is used in the five
steps that follow. What there is to tune or train was so on the first half. Needs the extra
`hotness`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import _freshness_evict as evict
import _freshness_heat as heat
import _freshness_ttl as ttl
from _quality_setup import table


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts = parser.add_subparsers(dest="what", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, default=Path("../shared/data"))
    common.add_argument("--json", type=Path, help="write the rows there")
    for name in ("evict", "ttl"):
        part = parts.add_parser(name, parents=[common])
        part.add_argument("--part", choices=["first", "second"], default="second")
    heat.add_options(parts.add_parser("heat", parents=[common]))
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    options = parse(arguments)
    start = time.perf_counter()
    if options.what == "heat":
        rows = heat.run(
            options.data,
            only=options.stream,
            effort=heat.Effort(options.epochs, options.max_windows, options.seed),
            threads=options.threads,
        )
    else:
        measure = {"evict": evict.run, "ttl": ttl.run}[options.what]
        rows = measure(options.data, part=options.part)
    print(table(list(rows[0]), rows))
    print(f"{time.perf_counter() - start:.0f} s")
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
