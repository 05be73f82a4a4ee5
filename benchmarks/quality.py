"""Measures what the cache serves: how much of what it should, and what it should not.

    python benchmarks/quality.py pairs                 # single pairs
    python benchmarks/quality.py strangers             # a full cache, and what is new to it
    python benchmarks/quality.py streams               # traffic under an error budget
    python benchmarks/quality.py conversations         # follow-up questions
    python benchmarks/quality.py cost                  # milliseconds
    python benchmarks/quality.py all --json out.json   # everything, with counts and curves
    python benchmarks/quality.py all --sample 60 --seeds 2     # a look, in half a minute

On two cores the whole takes about a quarter of an hour, most of it for pairs and streams. Set
OPENBLAS_NUM_THREADS=1: numpy's threads make the small searches of a stream twice as slow.

`--data` is the folder of labelled files, which are not part of the project (default
`../shared/data`). Whatever has a bar to tune is tuned on the even rows of a file and reported on
the odd ones; the sets in `benchmarks/sets` tune nothing and are reported whole. Every figure is in
percent and has a 95 % interval: Wilson's for shares, a bootstrap over seeds or calls for the rest.

**pairs** Each pair from an empty cache: would the answer to the one be served for the other?
Coverage is the share of the pairs with one answer that are served, trap rate that of the others.
"Cosine, one bar" is the best fixed threshold for all files together and "own bar" the best one for
each file, both with at most 5 % of the traps on the even rows. "Guards cut / lose" says what the
guards add to a cosine of .90: on a trap rate the share of its false hits that they refuse, on a
coverage the points that they cost. "Default" is the cache as it ships: guards, verifier and
calibration. With `--gptcache PYTHON`, an interpreter of an environment made for the purpose (`pip
install gptcache`), the real evaluators of GPTCache judge the same vectors at its default threshold.

**strangers** A cache full of questions is asked each of them in other words, and as many new ones.
Served right, served wrong, and served although nothing answers it, each of all that was asked.

**streams** One pass in a seeded order, starting empty, an answer stored on every miss. Error rate
is wrong answers over all requests, hit rate answers over all requests. Beside the real cache with
an error budget stands a fixed bar on the cosine, tuned on streams of other questions: once for the
same budget, and once for the error rate that the cache had.

**conversations** The last turns are alike. Served is the share of the pairs that mean the same,
trap rate that of pairs whose conversation makes another question of it.

**cost** Guards and confidence for one candidate, the verifier for three, and whole lookups, on one
core, with texts that were never seen before.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import SubprocessError

import _quality_conversations as conversations
import _quality_cost as cost
import _quality_pairs as pairs
import _quality_strangers as strangers
import _quality_streams as streams
from _quality_setup import RememberingEncoder, RememberingVerifier, Row, Setup, table

from langchain_semcache.backends import make_encoder, make_verifier
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.errors import ConfigurationError

Part = Callable[[Setup], tuple[list[str], list[Row], list[str]]]
PARTS: dict[str, Part] = {
    "pairs": pairs.run,
    "strangers": strangers.run,
    "streams": streams.run,
    "conversations": conversations.run,
    "cost": cost.run,
}


def make_setup(options: argparse.Namespace) -> Setup:
    config = SemcacheConfig.of(
        ":memory:",
        encoder=options.encoder,
        verifier=options.verifier,
        calibration=options.calibration,
        ttl=None,
        strict=True,
    )
    encoder = make_encoder(options.encoder)
    verifier = make_verifier(options.verifier, encoder)
    return Setup(
        data=options.data,
        encoder=RememberingEncoder(encoder),
        verifier=RememberingVerifier(verifier) if verifier else None,
        config=config,
        sample=options.sample,
        seeds=options.seeds,
        gptcache=options.gptcache,
    )


def run(names: Sequence[str], setup: Setup) -> dict[str, list[Row]]:
    """Run the parts and print a table each; a part that cannot be run says why."""
    found: dict[str, list[Row]] = {}
    for name in names:
        start = time.perf_counter()
        try:
            head, rows, notes = PARTS[name](setup)
        except (ConfigurationError, OSError, SubprocessError) as error:
            print(f"\n## {name}\n\nnot run: {error}", flush=True)
            continue
        print(f"\n## {name}\n\n{table(head, rows)}\n\n{chr(10).join(notes)}")
        print(f"{time.perf_counter() - start:.0f} s", flush=True)
        found[name] = rows
    return found


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", default="all", choices=[*PARTS, "all"])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sample", type=int, help="rows a half, requests a stream, calls a timing")
    parser.add_argument("--seeds", type=int, default=20, help="streams of each language")
    parser.add_argument("--encoder", default="local", help="as in the settings")
    parser.add_argument("--verifier", default="auto", help="as in the settings")
    parser.add_argument("--calibration", default="auto", help="as in the settings")
    parser.add_argument("--gptcache", type=Path, help="a Python in which GPTCache is installed")
    parser.add_argument("--json", type=Path, help="write counts, intervals and curves there")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    options = parse(arguments)
    setup = make_setup(options)
    calibration = setup.calibration()
    print(f"encoder {setup.encoder.identity}")
    print(f"verifier {setup.verifier.identity if setup.verifier else 'none'}")
    print(f"calibration {calibration.fitted_on or 'yes' if calibration else 'none'}")
    found = run(list(PARTS) if options.part == "all" else [options.part], setup)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
