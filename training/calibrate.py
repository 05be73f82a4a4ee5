"""Fits the calibrations that ship, on pairs that the verifier has not learned from.

    python training/calibrate.py --data DATA

Writes one file for the default encoder with our verifier, and one for the encoder alone. The pairs
are the groups that `data.held_out` keeps: clusters of our own, templates, open data, and the even
rows of two sets whose odd rows are reported on. They are weighed so that the clusters count most:
they are most like what people ask. What a candidate's lead over its neighbours says is learned from
stores of questions (`crowds`).
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from langchain_semcache.encoders.onnx import OnnxEncoder
from langchain_semcache.lab.pairs import Measured, Pair, measure
from langchain_semcache.threshold.confidence import Calibration, fit
from langchain_semcache.verifiers.pairs import PairVerifier
from training import crowds, data
from training.chats import weight_of_the_same
from training.templates import made

TARGET = Path(__file__).parent.parent / "langchain_semcache/threshold/calibrations"
SHARES = {
    "own": 0.6, "open": 0.2, "made": 0.1, "statements": 0.05, "checklist": 0.025, "neighbours": 0.3,
    "crowd": 0.3,
}  # fmt: skip
FALSE_PASS = 0.125
"""Share of the held-out traps of our own that pass: they are much harder than what people ask."""

VERIFIED = {"margin": 1.8, "distance": 0.0, "margin_chinese": 2.0, "distance_chinese": 0.9}
ALONE = {"margin": 2.0, "distance": 0.8, "margin_chinese": 2.25, "distance_chinese": 0.9}
"""What an error budget reckons with: how much more natural questions err than the pairs here let
expect, and how much their distance says of it. Chosen on streams of one half of those questions
(benchmarks/quality.py reports on the other); no weight comes from them."""

FILES = "abcd"
"""The clusters that the bar is chosen on: in the later ones everything is as hard as can be."""

FLOOR_SHARE = 0.1
LEAST = 0.5


def family(source: str) -> str:
    known = ("own", "made", "statements", "checklist", "neighbours", "crowd")
    return next((name for name in known if source.startswith(name)), "open")


def even_rows(folder: Path) -> list[data.Pair]:
    """What is tuned on of two open sets: statements with paraphrases, and CheckList."""
    found = []
    for name, file in (("statements", "gptcache_mock999"), ("checklist", "checklist_a")):
        for number, row in enumerate(data.rows(folder / f"pairs_en_{file}.jsonl.gz")):
            if number % 2 == 0:
                same = bool(row["same"])
                found.append(data.Pair(row["a"], row["b"], same, "", f"{file}:{number}", name))
    return found


def held_out_pairs(folder: Path) -> list[data.Pair]:
    pairs = [*data.own_clusters(), *data.open_pairs(folder / "open"), *made(24_000)]
    kept = [pair for pair in pairs if data.held_out(pair)]
    random.Random(2).shuffle(kept)
    groups: dict[str, list[data.Pair]] = {}
    for pair in kept:
        groups.setdefault(family(pair.source), []).append(pair)
    return [*groups["own"], *groups["open"][:2500], *groups["made"][:2000], *even_rows(folder)]


def bar_for(confidences: list[float], share: float) -> float:
    """The least bar that at most `share` of these reach."""
    ordered = sorted(confidences, reverse=True)
    return min(0.99, max(0.5, ordered[int(share * len(ordered))] + 1e-4))


def weights_of(pairs: list[data.Pair]) -> list[float]:
    """What each pair counts: as much of both labels in a family, but as they come in crowds."""
    counts = Counter((family(p.source), p.same) for p in pairs)
    crowd = counts["crowd", True] + counts["crowd", False]
    total = len(pairs) - crowd
    return [
        SHARES[family(p.source)]
        * total
        / (crowd if p.source == "crowd" else 2 * counts[family(p.source), p.same])
        for p in pairs
    ]


def calibrated(
    pairs: list[data.Pair], measured: list[Measured], verifier: str | None
) -> Calibration:
    weight = weights_of(pairs)
    open_to = [n for n, found in enumerate(measured) if found.teaches]
    weights = fit(
        [measured[n].observed for n in open_to],
        [pairs[n].same for n in open_to],
        [weight[n] for n in open_to],
    )
    own = [n for n in range(len(pairs)) if family(pairs[n].source) == "own"]
    similar = sorted(measured[n].observed.similarity for n in own if pairs[n].same)
    floor = round(similar[int(FLOOR_SHARE * len(similar))], 2)
    draft = Calibration(
        encoder=OnnxEncoder().identity, verifier=verifier, floor=floor, bar=0.5, least=LEAST,
        outweighs=verifier is not None, weights=weights,
        fitted_on="held-out clusters and templates of training/, open data sets",
    )  # fmt: skip
    traps = [n for n in own if not pairs[n].same and pairs[n].source[-1] in FILES]
    scores = [
        draft.probability(measured[n].observed) if measured[n].stands(draft) else 0.0 for n in traps
    ]
    bar = round(bar_for(scores, FALSE_PASS), 3)
    same = [n for n in own if pairs[n].same and pairs[n].source[-1] in FILES]
    near = [n for n in range(len(pairs)) if family(pairs[n].source) == "neighbours"]

    def served(places: list[int]) -> float:
        """The share of these that a cache would serve."""
        passing = [
            measured[n].observed.similarity >= floor
            and measured[n].stands(draft)
            and draft.probability(measured[n].observed) >= bar
            for n in places
        ]
        return sum(passing) / len(passing)

    print(f"{verifier}: floor {floor}, bar {bar}; of our own held-out clusters it serves")
    print(
        f"{served(same):.3f} of {len(same)} same pairs, {served(traps):.3f} of {len(traps)} traps"
    )
    print(f"and {served(near):.3f} of {len(near)} nearest questions of other clusters")
    return Calibration(
        encoder=draft.encoder, verifier=verifier, floor=floor, bar=bar, least=min(LEAST, bar),
        outweighs=draft.outweighs, weights=weights, fitted_on=draft.fitted_on,
        **(ALONE if verifier is None else VERIFIED),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    args = parser.parse_args()
    encoder = OnnxEncoder().open()
    verifier = PairVerifier(encoder)
    nearby = [pair for pair in data.neighbours(encoder) if data.held_out(pair)]
    pairs = [*held_out_pairs(args.data), *nearby]
    met = list(crowds.found(encoder, args.data))
    around = [*[()] * len(pairs), *(one.around for one in met)]
    pairs += [one.pair for one in met]
    asked = [Pair(pair.a, pair.b, pair.same, pair.kind) for pair in pairs]
    TARGET.mkdir(exist_ok=True)
    judged = [
        replace(one, observed=replace(one.observed, around=near))
        for one, near in zip(measure(asked, encoder, verifier), around, strict=True)
    ]
    alone = [replace(one, observed=replace(one.observed, opinion=None)) for one in judged]
    for name, judge, made_of in (("verified", verifier, judged), ("alone", None, alone)):
        file = TARGET / f"use-multilingual-v3-{name}.json"
        identity = judge.identity if judge else None
        fitted = calibrated(pairs, made_of, identity)
        same = weight_of_the_same(args.data, fitted, encoder, judge)
        fitted = replace(fitted, weights={**fitted.weights, "same_attribute": same})
        file.write_text(fitted.to_json(), "utf-8")
        print("wrote", file)


if __name__ == "__main__":
    main()
