"""The demo's numbers, computed once for the screen and for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_semcache.cli.demo_run import Run, Turn
from langchain_semcache.records import JSON, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a run amounts to. Latencies in seconds, or None where there was nothing to time."""

    asked: int
    exact: int
    semantic: int
    wrong: int
    overlooked: int
    rewordings: int
    traps: int
    hit_p50: float | None
    hit_p95: float | None
    miss_p50: float | None
    miss_p95: float | None
    seconds_spent: float
    seconds_saved: float
    tokens_saved: int
    tokens_billed: int
    money_saved: float

    @property
    def hits(self) -> int:
        return self.exact + self.semantic

    @property
    def hit_rate(self) -> float:
        return self.hits / self.asked if self.asked else 0.0


def summarise(run: Run, price_per_million: float) -> Summary:
    """Time saved is what the hits would have taken at the misses' median (or the model's delay)."""
    hits = [turn for turn in run.turns if turn.decision.hit]
    misses = [turn for turn in run.turns if not turn.decision.hit]
    hit_times, miss_times = _times(hits), _times(misses)
    miss_p50 = quantile(miss_times, 0.5)
    a_miss = run.delay if miss_p50 is None else miss_p50
    saved = sum(turn.tokens for turn in hits)
    return Summary(
        asked=len(run.turns),
        exact=sum(turn.decision.reason is Reason.EXACT for turn in hits),
        semantic=sum(turn.decision.reason is Reason.SEMANTIC for turn in hits),
        wrong=sum(turn.wrong for turn in run.turns),
        overlooked=sum(turn.overlooked for turn in run.turns),
        rewordings=sum(turn.ask.kind == "reworded" for turn in run.turns),
        traps=sum(turn.ask.kind.is_trap for turn in run.turns),
        hit_p50=quantile(hit_times, 0.5),
        hit_p95=quantile(hit_times, 0.95),
        miss_p50=miss_p50,
        miss_p95=quantile(miss_times, 0.95),
        seconds_spent=sum(turn.seconds for turn in run.turns),
        seconds_saved=max(0.0, a_miss * len(hits) - sum(hit_times)),
        tokens_saved=saved,
        tokens_billed=sum(turn.tokens for turn in misses),
        money_saved=saved * price_per_million / 1_000_000,
    )


def quantile(times: Sequence[float], share: float) -> float | None:
    """The smallest time that at least this share of all does not exceed."""
    if not times:
        return None
    ordered = sorted(times)
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]


def document(run: Run, summary: Summary, price_per_million: float) -> JSON:
    """Everything, as JSON."""
    numbers: dict[str, JSON] = {
        name: getattr(summary, name) for name in Summary.__dataclass_fields__
    }
    return {
        "location": run.location,
        "encoder": run.encoder,
        "similarity_threshold": run.threshold,
        "entries_found": run.found,
        "model_calls": run.calls,
        "price_per_million_tokens": price_per_million,
        "backend_failures": {**run.failures},
        "summary": {**numbers, "hits": summary.hits, "hit_rate": summary.hit_rate},
        "turns": [_turn(turn) for turn in run.turns],
    }


def _turn(turn: Turn) -> JSON:
    decision = turn.decision
    return {
        "question": turn.ask.text,
        "kind": turn.ask.kind.value,
        "hit": decision.hit,
        "reason": decision.reason.value,
        "detail": decision.detail,
        "similarity": decision.similarity,
        "nearest": decision.question,
        "right": turn.right,
        "seconds": turn.seconds,
        "tokens": turn.tokens,
    }


def _times(turns: Sequence[Turn]) -> list[float]:
    return [turn.seconds for turn in turns]
