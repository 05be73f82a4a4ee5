"""What the cache costs and saves behind a LiteLLM proxy, beside its own exact cache and none.

    python benchmarks/litellm_proxy.py             # two to three minutes
    python benchmarks/litellm_proxy.py --calls 60  # quicker

Three real proxies of one worker each run at once over one stand-in for the provider, which answers
at once, and calls go to them in turn, so that whatever else the machine does falls on all alike.
Every figure is of that one run; compare figures of one run only.

New questions are of two kinds, for they cost a semantic cache unequally: of subjects of their own,
as most questions are, and near misses, which all ask nearly the same, so that the verifier reads
three stored ones with each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

import httpx
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.lookup import questions
from langchain_semcache.encoders.onnx import OnnxEncoder
from tests.services.litellm_proxy import MASTER, LiteLLMProxy

UPSTREAM = """
import sys, threading
sys.path.insert(0, {root!r})
from tests.services.openai_api import OpenAIService
with OpenAIService() as service:
    print(service.url, flush=True)
    threading.Event().wait()
"""

PROXIES = {
    "no cache": {"semcache": None, "litellm_settings": {}},
    "LiteLLM's own": {
        "semcache": None,
        "litellm_settings": {"cache": True, "cache_params": {"type": "local"}},
    },
    "semcache": {"semcache": {"location": ":memory:"}, "litellm_settings": None},
}
AT_ONCE = 16

Call = Callable[[str], Awaitable[tuple[float, bool]]]
"""Seconds of a call, and whether a cache answered it."""

Times = dict[str, list[float]]

SETS = Path(__file__).parent / "sets"


def unlike(count: int) -> list[str]:
    """Questions of as many subjects, English and Chinese in turn; there are 380."""
    english, chinese = (
        [line.split("\t")[0] for line in (SETS / name).read_text("utf-8").splitlines()]
        for name in ("paraphrases_en.tsv", "paraphrases_zh.tsv")
    )
    found = [text for both in zip(english, chinese, strict=True) for text in both]
    if count > len(found):
        raise SystemExit(f"--calls {count}: there are {len(found)} questions of their own subjects")
    return found[:count]


async def one_by_one(calls: dict[str, Call], texts: list[str]) -> tuple[Times, dict[str, float]]:
    """Seconds of each call, the proxies taking turns, and the share that a cache answered."""
    seconds: Times = {name: [] for name in calls}
    hits = dict.fromkeys(calls, 0)
    for text in texts:
        for name, call in calls.items():
            took, hit = await call(text)
            seconds[name].append(took)
            hits[name] += hit
    return seconds, {name: count / len(texts) for name, count in hits.items()}


async def at_once(call: Call, texts: list[str]) -> float:
    """Calls a second, with `AT_ONCE` under way."""
    waiting = iter(texts)

    async def client() -> None:
        for text in waiting:
            await call(text)

    started = time.perf_counter()
    await asyncio.gather(*[client() for _ in range(AT_ONCE)])
    return len(texts) / (time.perf_counter() - started)


def caller(proxy: LiteLLMProxy, client: httpx.AsyncClient) -> Call:
    async def call(text: str) -> tuple[float, bool]:
        body = {"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}
        headers = {"Authorization": f"Bearer {MASTER}"}
        started = time.perf_counter()
        answer = await client.post(f"{proxy.url}/chat/completions", json=body, headers=headers)
        seconds = time.perf_counter() - started
        answer.raise_for_status()
        return seconds, "x-litellm-cache-key" in answer.headers

    return call


def encoding(texts: list[str]) -> list[float]:
    """Seconds of the encoder alone, on the same questions."""
    encoder = OnnxEncoder().open()
    encoder.encode(["warm up"])
    seconds = []
    for text in texts:
        started = time.perf_counter()
        encoder.encode([text])
        seconds.append(time.perf_counter() - started)
    return seconds


async def measure(proxies: dict[str, LiteLLMProxy], count: int) -> dict[str, object]:
    making = questions(7)
    fresh = [[next(making) for _ in range(count)] for _ in range(2)]
    apart = unlike(count)
    async with httpx.AsyncClient(timeout=60) as client:
        calls = {name: caller(proxy, client) for name, proxy in proxies.items()}
        await one_by_one(calls, [next(making) for _ in range(20)])
        missed_apart, answered_apart = await one_by_one(calls, apart)
        missed, answered = await one_by_one(calls, fresh[0])
        await asyncio.sleep(1.0)  # LiteLLM stores after it has answered
        hit, found = await one_by_one(calls, fresh[0])
        parallel_miss = {name: await at_once(call, fresh[1]) for name, call in calls.items()}
        await asyncio.sleep(1.0)
        parallel_hit = {name: await at_once(call, fresh[1] * 2) for name, call in calls.items()}
    encoder = encoding(apart)
    return {
        "miss": missed_apart,
        "near_miss": missed,
        "hit": hit,
        "miss_throughput": parallel_miss,
        "hit_throughput": parallel_hit,
        "encoder": encoder,
        "answered_apart": answered_apart,
        "answered_near": answered,
        "answered_again": found,
    }


def report(found: dict[str, object]) -> None:
    def p(seconds: list[float], share: float) -> float:
        return float(np.quantile(seconds, share) * 1e3)

    encoder = p(found["encoder"], 0.5)
    heads = ("miss p50", "p99", "near p50", "p99", "hit p50", "p99", "misses/s", "hits/s")
    print(" " * 16 + "".join(f"{head:>10}" for head in heads))
    print(" " * 16 + f"{'ms':>10}" * 6 + f"{f'{AT_ONCE} clients':>20}")
    kinds = ("miss", "near_miss", "hit")
    for name in PROXIES:
        cells = [p(found[kind][name], share) for kind in kinds for share in (0.5, 0.99)]
        print(
            f"{name:16}"
            + "".join(f"{cell:>10.2f}" for cell in cells)
            + f"{found['miss_throughput'][name]:>10.0f}{found['hit_throughput'][name]:>10.0f}"
        )
    for name in PROXIES:
        new, near, again = (
            f"{found[f'answered_{kind}'][name]:.0%}" for kind in ("apart", "near", "again")
        )
        print(f"{name}: a cache answered {new} of new questions, {near} of near, {again} of old")
    ours, own, none = (
        {kind: p(found[kind][name], 0.5) for kind in kinds}
        for name in ("semcache", "LiteLLM's own", "no cache")
    )
    print(f"\nencoder alone: {encoder:.2f} ms")
    allowed = 1.5 * own["hit"] + encoder
    print(f"hit:  {ours['hit']:.2f} ms; 1.5 x LiteLLM's exact cache + encoder = {allowed:.2f} ms")
    for kind in ("miss", "near_miss"):
        allowed = 1.05 * none[kind] + encoder
        told = f"{kind}:".replace("_", " ")
        print(f"{told} {ours[kind]:.2f} ms; 1.05 x no cache + encoder = {allowed:.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200, help="of each kind, to each proxy")
    parser.add_argument("--json", type=Path, help="also write every single time here")
    options = parser.parse_args()
    root = str(Path(__file__).parents[1])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        upstream = subprocess.Popen(
            [sys.executable, "-c", UPSTREAM.format(root=root)], stdout=subprocess.PIPE, text=True
        )
        stack.callback(upstream.wait)
        stack.callback(upstream.terminate)
        url = upstream.stdout.readline().strip()
        proxies = {
            name: stack.enter_context(LiteLLMProxy(folder / str(n), url, **settings))
            for n, (name, settings) in enumerate(PROXIES.items())
        }
        found = asyncio.run(measure(proxies, options.calls))
    report(found)
    if options.json:
        options.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
