"""Part 3 of `quality.py`: the last turn is alike, and the conversation before it is or is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import _quality_gptcache as gptcache
import numpy as np
from _quality_data import SETS, drawn, rows_of
from _quality_setup import Mask, Row, Setup, share

from langchain_semcache import Request, Response, Semcache
from langchain_semcache.clock import ManualClock

BAR = 0.9
OURS, LAST, JOINED = "default", "last message, cosine .90", "all messages, cosine .90"
GPTCACHE = "GPTCache distance"
Messages = Sequence[Mapping[str, str]]
Pairs = Sequence[tuple[Messages, Messages]]


def run(setup: Setup) -> tuple[list[str], list[Row], list[str]]:
    """Columns, rows and remarks. Of the file outside this repository the odd rows are reported."""
    kdconv = rows_of(setup.data / "chatpairs_zh_kdconv_a.jsonl.gz")[1::2]
    english = rows_of(SETS / "conversations_en.jsonl")
    rows: list[Row] = []
    names: list[str] = []
    for file, found in (("zh_kdconv_a", kdconv), ("sets/conversations_en", english)):
        chosen = drawn(found, setup.at_most(len(found)))
        served = judged(setup, [(row["a"], row["b"]) for row in chosen])
        rows += _rows(file, chosen, served)
        names = list(served)
    notes = ["Each pair has a tenant of its own: a is stored, b is looked up."]
    return ["file", "subtype", "rate", "n", *names], rows, notes


def judged(setup: Setup, pairs: Pairs) -> dict[str, Mask]:
    """Whether each method serves the answer stored for the first conversation to the second."""
    last = [(first[-1]["content"], second[-1]["content"]) for first, second in pairs]
    joined = [(_joined(first), _joined(second)) for first, second in pairs]
    served = {OURS: replay(setup, pairs)}
    served[LAST] = _cosine(setup, last) >= BAR
    served[JOINED] = _cosine(setup, joined) >= BAR
    if setup.gptcache is not None:
        served |= _gptcache(setup, pairs, last)
    return served


def replay(setup: Setup, pairs: Pairs) -> Mask:
    """Through the real cache: store the one, look up the other."""
    hits = []
    with Semcache.open(
        setup.config, encoder=setup.encoder, verifier=setup.verifier, clock=ManualClock()
    ) as cache:
        for number, (stored, asked) in enumerate(pairs):
            tenant = f"pair-{number}"
            cache.store(
                Request(messages=stored, model="bench", tenant=tenant),
                Response.from_text(f"This is answer number {number}."),
            )
            hits.append(cache.lookup(Request(messages=asked, model="bench", tenant=tenant)).hit)
    return np.array(hits, dtype=bool)


def _joined(messages: Messages) -> str:
    return "\n".join(message["content"] for message in messages)


def _cosine(setup: Setup, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    ours = setup.encoder.encode([one for one, _ in pairs])
    return (ours * setup.encoder.encode([other for _, other in pairs])).sum(axis=1)


def _gptcache(setup: Setup, pairs: Pairs, last: Sequence[tuple[str, str]]) -> dict[str, Mask]:
    """Its default key, the last message; and its evaluator for several turns of the user."""
    ours = setup.encoder.encode([one for one, _ in last])
    theirs = setup.encoder.encode([other for _, other in last])
    found = gptcache.verdicts(setup.gptcache, last, ours, theirs)
    turns = [(_turns(first), _turns(second)) for first, second in pairs]
    texts = list(dict.fromkeys(text for pair in turns for side in pair for text in side))
    vectors = dict(zip(texts, setup.encoder.encode(texts), strict=True))
    found = {f"{GPTCACHE}, last message": found[GPTCACHE]}
    found |= gptcache.sequence_verdicts(setup.gptcache, turns, vectors)
    return {name: np.array(mask) for name, mask in found.items()}


def _turns(messages: Messages) -> list[str]:
    return [message["content"].strip() for message in messages if message["role"] == "user"]


def _rows(file: str, found: Sequence[Mapping[str, Any]], served: Mapping[str, Mask]) -> list[Row]:
    same = np.array([bool(row["same"]) for row in found])
    kinds = np.array([row.get("subtype", "") for row in found])
    groups = [(kind, kinds == kind) for kind in sorted(set(kinds))]
    rows: list[Row] = []
    for kind, group in [("all", np.ones(len(found), dtype=bool)), *groups]:
        for rate, label in (("served", same), ("trap rate", ~same)):
            chosen = group & label
            if chosen.any():
                count = int(chosen.sum())
                cells = {
                    name: share(int(mask[chosen].sum()), count) for name, mask in served.items()
                }
                rows.append({"file": file, "subtype": kind, "rate": rate, "n": count, **cells})
    return rows
