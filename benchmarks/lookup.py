"""How long a lookup takes, stage by stage, on this machine, in one run.

    python benchmarks/lookup.py                     # 1k, 10k and 100k entries; some minutes
    python benchmarks/lookup.py --sizes 1000 10000  # quicker

Every figure is a percentile over calls of that one run; compare figures of one run only. Entries
lie in 20 scopes. Vectors are random mixtures of 200 topics, so that neighbourhoods exist.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from langchain_semcache import AsyncSemcache, Request, Response, Semcache
from langchain_semcache.records import Entry
from langchain_semcache.responses import EnvelopeCodec

SCOPES = 20
WORDS = (
    "account invoice password delivery refund report server export login billing address team "
    "order payment settings backup storage email calendar printer network licence upgrade ticket"
).split()
VERBS = "change cancel find open move print check restore share update".split()
ANSWER = " ".join(f"Step {n}: open the settings and choose {w}." for n, w in enumerate(WORDS))


def questions(seed: int) -> Iterator[str]:
    """Distinct short questions, the same for the same seed."""
    rng = np.random.default_rng(seed)
    number = 0
    while True:
        verb, *nouns = rng.choice(VERBS), *rng.choice(WORDS, 3, replace=False)
        number += 1
        yield f"How do I {verb} the {nouns[0]} of my {nouns[1]} {nouns[2]} plan{number * ''}?"


def request(text: str, scope: int = 0) -> Request:
    return Request(messages=text, model="bench", tenant=f"tenant-{scope}")


class Timings:
    def __init__(self) -> None:
        self.rows: list[tuple[str, int, float, float, str]] = []

    def add(self, name: str, seconds: list[float], note: str = "") -> float:
        p50, p99 = np.quantile(seconds, [0.5, 0.99]) * 1e3
        self.rows.append((name, len(seconds), float(p50), float(p99), note))
        print(f"{name:<58} {len(seconds):>6} {p50:>9.3f} {p99:>9.3f}  {note}", flush=True)
        return float(p50)

    def say(self, name: str, value: str) -> None:
        print(f"{name:<58} {value}", flush=True)


def timed(calls: int, call: Callable[[int], object]) -> list[float]:
    seconds = []
    for number in range(calls):
        started = time.perf_counter()
        call(number)
        seconds.append(time.perf_counter() - started)
    return seconds


def fill(cache: Semcache, size: int) -> list[np.ndarray]:
    """`size` entries over the scopes, written straight into the index; some of their vectors."""
    core = cache.core
    rng = np.random.default_rng(7)
    dimension = core.workplace.encoder.dimension
    topics = rng.standard_normal((200, dimension)).astype(np.float32)
    partitions = [core.resolve(request("x", scope)) for scope in range(SCOPES)]
    payload = EnvelopeCodec().encode(Response.from_text(ANSWER))
    now = time.time()
    kept = []
    for number in range(size):
        vector = topics[rng.integers(200)] + rng.standard_normal(dimension).astype(np.float32)
        vector = (vector / np.linalg.norm(vector)).astype(np.float32)
        resolved = partitions[number % SCOPES]
        entry = Entry(
            id=str(uuid.UUID(int=number + 1)),
            scope=resolved.scope.digest,
            partition=resolved.query.partition,
            fingerprint=str(number),
            namespace=resolved.scope.namespace,
            tenant=resolved.scope.tenant,
            model="bench",
            question=f"question number {number}",
            payload=payload,
            created_at=now,
            expires_at=now + 86_400,
        )
        core.workplace.index.put(entry, vector)
        if number < 2_000:
            kept.append(vector)
    return kept


def search_only(cache: Semcache, vectors: list[np.ndarray], calls: int) -> list[float]:
    """What a semantic lookup costs when the vector is there already: the index search."""
    core = cache.core
    rng = np.random.default_rng(11)
    partitions = [core.resolve(request("x", s)).query.partition for s in range(SCOPES)]
    near = [(v + 0.02 * rng.standard_normal(len(v))).astype(np.float32) for v in vectors[:calls]]
    near = [v / np.linalg.norm(v) for v in near]
    now = time.time()

    def search(number: int) -> None:
        position = number % len(near)
        found = core.workplace.index.search(
            partitions[position % SCOPES], near[position], limit=3, now=now
        )
        assert found

    return timed(calls, search)


def at_size(size: int, table: Timings, calls: int) -> None:
    label = f"{size // 1000}k entries"
    with tempfile.TemporaryDirectory() as folder:
        graph_from = 10**9  # without a graph first; then one is built while we measure
        with Semcache.open(folder, graph_from=graph_from, ttl=None) as cache:
            started = time.perf_counter()
            vectors = fill(cache, size)
            table.say(f"fill, {label}", f"{time.perf_counter() - started:.1f} s")
            asked = questions(size)
            cache.lookup(request(next(asked)))
            table.add(f"search without encoder, {label}", search_only(cache, vectors, calls))
            whole(cache, asked, table, label, calls)
            if size >= 10_000:
                building(cache, vectors, table, label, calls)


def whole(cache: Semcache, asked: Iterator[str], table: Timings, label: str, calls: int) -> None:
    """Encoder alone and whole lookups side by side, call by call."""
    encoder = cache.core.workplace.encoder
    alone, whole_ = [], []
    for number in range(calls):
        text = next(asked) + f" ({number})"
        started = time.perf_counter()
        # As the lookup calls it: on this thread, without the queue that concurrent callers share.
        assert encoder.encode_if_idle([text + "?"]) is not None
        alone.append(time.perf_counter() - started)
        started = time.perf_counter()
        cache.lookup(request(text, number % SCOPES))
        whole_.append(time.perf_counter() - started)
    base = table.add(f"encoder alone, beside {label}", alone)
    p50 = float(np.median(whole_)) * 1e3
    table.add(f"whole lookup, {label}", whole_, f"{p50 / base:.2f} × the encoder")
    texts = [next(asked) + f" [{n}]" for n in range(calls)]
    reply = Response.from_text(ANSWER)
    for text in texts:
        cache.lookup(request(text))  # as in life: the miss before the store embeds the question
    table.add(
        f"store after a miss, {label}",
        timed(calls, lambda n: cache.store(request(texts[n]), reply)),
    )
    table.add(f"exact hit through the core, {label}", timed(calls, lambda n: hit(cache, texts[n])))


def hit(cache: Semcache, text: str) -> None:
    assert cache.lookup(request(text)).hit


def building(
    cache: Semcache, vectors: list[np.ndarray], table: Timings, label: str, calls: int
) -> None:
    """Searches while the graph is being built, and afterwards."""
    builder = threading.Thread(target=cache.core.workplace.index.build_graph)
    started = time.perf_counter()
    builder.start()
    during: list[float] = []
    while builder.is_alive():
        during += search_only(cache, vectors, 50)
    builder.join()
    table.say(f"graph built, {label}", f"{time.perf_counter() - started:.1f} s")
    table.add(f"search while the graph is built, {label}", during)
    table.add(f"search with the graph, {label}", search_only(cache, vectors, calls))


def callers(table: Timings, calls: int) -> None:
    """Throughput of whole lookups by 1 and by 32 callers, threads and tasks."""
    with tempfile.TemporaryDirectory() as folder, Semcache.open(folder, ttl=None) as cache:
        fill(cache, 1_000)
        asked = questions(5)
        cache.lookup(request(next(asked)))
        texts = [next(asked) + f" {{{n}}}" for n in range(8 * calls)]
        alone = rate(lambda some: [cache.lookup(request(t)) for t in some], texts[:calls])
        with ThreadPoolExecutor(32) as pool:
            threads = rate(
                lambda some: list(pool.map(lambda t: cache.lookup(request(t)), some)),
                texts[calls : 3 * calls],
            )
        asynchronous = AsyncSemcache(cache.core)

        async def tasks(some: list[str], width: int) -> None:
            queue = iter(some)

            async def worker() -> None:
                for text in queue:
                    await asynchronous.lookup(request(text))

            await asyncio.gather(*(worker() for _ in range(width)))

        one_task = rate(lambda s: asyncio.run(tasks(s, 1)), texts[3 * calls : 4 * calls])
        many = rate(lambda s: asyncio.run(tasks(s, 32)), texts[4 * calls : 6 * calls])
        table.say("lookups a second, 1 thread", f"{alone:.0f}")
        table.say("lookups a second, 32 threads", f"{threads:.0f}   {threads / alone:.2f} ×")
        table.say("lookups a second, 1 task", f"{one_task:.0f}")
        table.say("lookups a second, 32 tasks", f"{many:.0f}   {many / one_task:.2f} ×")


def rate(run: Callable[[list[str]], object], texts: list[str]) -> float:
    started = time.perf_counter()
    run(texts)
    return len(texts) / (time.perf_counter() - started)


def through_langchain(table: Timings, calls: int) -> None:
    from langchain_core.load import dumps
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
    from langchain_core.outputs import ChatGeneration

    from langchain_semcache import SemanticCache

    model = json.dumps({"lc": 1, "type": "constructor", "id": ["a", "B"], "kwargs": {"model": "m"}})
    llm_string = model + "---[('stop', None)]"
    asked = questions(9)
    with tempfile.TemporaryDirectory() as folder:
        cache = SemanticCache(folder)
        prompts = [
            dumps([SystemMessage("You help."), HumanMessage(next(asked) + f" {n}")])
            for n in range(calls)
        ]
        for prompt in prompts:
            cache.update(prompt, llm_string, [ChatGeneration(message=AIMessage(ANSWER))])

        def look(number: int) -> None:
            assert cache.lookup(prompts[number], llm_string)

        table.add("exact hit through LangChain's lookup()", timed(calls, look))
        cache.close()


def memory(size: int, table: Timings) -> None:
    """Resident memory that `size` entries add, in a process of its own."""
    code = f"import lookup; lookup.memory_here({size})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    facts = json.loads(done.stdout)
    bound = 2 * facts["vectors"] + facts["responses"]
    table.say(
        f"memory for {size // 1000}k entries",
        f"{facts['added'] / 1e6:.0f} MB added; bound 2 × {facts['vectors'] / 1e6:.0f} MB vectors "
        f"+ {facts['responses'] / 1e6:.0f} MB responses = {bound / 1e6:.0f} MB",
    )


def memory_here(size: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Semcache.open(folder, ttl=None) as cache:
        cache.lookup(request("warm up"))
        before = resident()
        fill(cache, size)
        payload = len(EnvelopeCodec().encode(Response.from_text(ANSWER)))
        facts = {
            "added": resident() - before,
            "vectors": size * cache.core.workplace.encoder.dimension * 4,
            "responses": size * payload,
        }
    print(json.dumps(facts))


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def import_time(table: Timings, runs: int = 9) -> None:
    """What importing the package adds to importing langchain-core's caches."""
    # What a LangChain application has imported before it thinks of a cache.
    base = "from langchain_core.language_models import BaseChatModel; import langchain_core.caches"
    ours = base + "; from langchain_semcache import SemanticCache"

    def once(code: str) -> float:
        timing = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
        command = [sys.executable, "-c", timing]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return float(done.stdout)

    pairs = [(once(base), once(ours), once("import langchain_semcache")) for _ in range(runs)]
    core, both, bare = (float(np.median(column)) * 1e3 for column in zip(*pairs, strict=True))
    table.say("import langchain_semcache", f"{bare:.0f} ms")
    table.say(
        "SemanticCache over langchain-core's own import", f"{both - core:.0f} ms ({core:.0f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--calls", type=int, default=400)
    arguments = parser.parse_args()
    table = Timings()
    print(f"{'':<58} {'calls':>6} {'p50 ms':>9} {'p99 ms':>9}")
    import_time(table)
    through_langchain(table, arguments.calls)
    for size in arguments.sizes:
        at_size(size, table, arguments.calls)
    callers(table, arguments.calls)
    memory(max(arguments.sizes), table)


if __name__ == "__main__":
    main()
