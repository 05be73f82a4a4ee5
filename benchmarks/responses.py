"""What answers take when they are written against what they share, and what that costs.

    python benchmarks/responses.py                    # table; about two minutes
    python benchmarks/responses.py --json out.json

`--data` is the folder of resampled answers, which is not part of the project (default
`../shared/data`): several answers of one model to one prompt. A dictionary is trained on the
answers to the even prompts, and everything is reported on the odd ones. Raw is the JSON envelope in
UTF-8; shares are of that. "Both" writes every answer to a prompt against the first one, which
becomes the base; bases, and the bytes in which a record names them, are counted in the share, and
the dictionary stands beside it. "Later" is the share of the answers after the first by themselves.
"As the cache decides" is a whole cache in memory, with its own dictionary: neighbours are found by
meaning, and a base is made only where it pays at once. Times are milliseconds on one thread of this
machine, p50 and p99; compare figures of one run only.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from langchain_semcache import Request, Response, Semcache
from langchain_semcache.responses import DeltaCodec
from langchain_semcache.responses.codec import to_raw
from langchain_semcache.responses.delta import Packed
from langchain_semcache.responses.parts import Base, Dictionary, Owner, new_dictionary
from langchain_semcache.responses.training import train

FILES = ("responses_en_deepseekv3_3samples", "responses_en_oasst_sft_11samples")
OWNER = Owner("bench", "")
MOST_BYTES = 112_640
GROWING = (50, 100, 200, 400, 800, 1_600)
CODEC = DeltaCodec()

Prompt = tuple[str, list[bytes]]
Write = Callable[[bytes], bytes]
Read = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Line:
    file: str
    way: str
    share: float
    bases: float
    later: float | None
    write: tuple[float, float] | None
    read: tuple[float, float] | None


def prompts(path: Path) -> list[Prompt]:
    """Each prompt with the envelopes of its answers."""
    found = []
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            texts = [one if isinstance(one, str) else one["text"] for one in row["responses"]]
            found.append((row["prompt"], [to_raw(Response.from_text(text)) for text in texts]))
    return found


def timed(call: Callable[[bytes], bytes], given: bytes, seconds: list[float]) -> bytes:
    started = time.perf_counter()
    result = call(given)
    seconds.append(time.perf_counter() - started)
    return result


def quantiles(seconds: list[float]) -> tuple[float, float]:
    p50, p99 = np.quantile(seconds, [0.5, 0.99]) * 1e3
    return float(p50), float(p99)


def each_alone(file: str, way: str, held: list[Prompt], write: Write, read: Read) -> Line:
    """Every answer by itself."""
    raw = stored = 0
    writes: list[float] = []
    reads: list[float] = []
    for _, answers in held:
        for answer in answers:
            payload = timed(write, answer, writes)
            assert timed(read, payload, reads) == answer
            raw, stored = raw + len(answer), stored + len(payload)
    return Line(file, way, stored / raw, 0.0, None, quantiles(writes), quantiles(reads))


def against_first(file: str, way: str, held: list[Prompt], learned: Dictionary | None) -> Line:
    """The first answer to a prompt is the base of all of them."""
    raw = stored = bases = later = later_raw = 0
    writes: list[float] = []
    reads: list[float] = []
    for _, answers in held:
        base = CODEC.base(OWNER, answers[0], learned)
        assert base is not None
        parts: dict[bytes, Base | Dictionary] = {base.address: base}
        parts |= {learned.address: learned} if learned else {}
        itself = CODEC.record(answers[0], Packed(b"", base, whole=True))
        bases += len(base.content)
        stored += len(itself)
        for answer in answers[1:]:
            payload = timed(lambda one, base=base: _delta(one, base, learned), answer, writes)
            read = timed(lambda one, parts=parts: CODEC.raw("", one, parts), payload, reads)
            assert read == answer
            later += len(payload)
        later_raw += sum(map(len, answers[1:]))
        raw += sum(map(len, answers))
    share = (stored + later + bases) / raw
    times = quantiles(writes), quantiles(reads)
    return Line(file, way, share, bases / raw, later / later_raw, *times)


def _delta(raw: bytes, base: Base, learned: Dictionary | None) -> bytes:
    packed = CODEC.against(raw, base, learned)
    assert packed is not None
    return CODEC.record(raw, packed)


def line_diff(file: str, held: list[Prompt]) -> Line:
    """What a program without such a codec would do: opcodes of difflib over words, as JSON."""
    raw = stored = 0
    writes: list[float] = []
    for _, answers in held:
        first = answers[0].decode("utf-8", "surrogatepass").split(" ")
        stored += len(answers[0])
        for answer in answers[1:3]:
            started = time.perf_counter()
            words = answer.decode("utf-8", "surrogatepass").split(" ")
            matcher = difflib.SequenceMatcher(None, first, words, autojunk=False)
            steps = [
                [a, b] if tag == "equal" else [a, b, " ".join(words[c:d])]
                for tag, a, b, c, d in matcher.get_opcodes()
            ]
            diff = json.dumps(steps, ensure_ascii=False, separators=(",", ":")).encode(
                "utf-8", "surrogatepass"
            )
            writes.append(time.perf_counter() - started)
            stored += min(len(diff), len(answer))
        raw += sum(map(len, answers[:3]))
    return Line(file, "difflib, JSON", stored / raw, 0.0, None, quantiles(writes), None)


def as_the_cache_decides(file: str, found: list[Prompt]) -> Line:
    """Store the even prompts, let it learn, then store the odd ones; bytes of the odd ones."""
    raw = stored = 0
    seconds: list[float] = []
    with Semcache.open(":memory:", ttl=None) as cache:
        for half in (0, 1):
            for prompt, answers in found[half::2]:
                for number, answer in enumerate(answers):
                    words = prompt if number == 0 else f"{prompt} ({number})"
                    response = Response.from_text(json.loads(answer)["body"])
                    started = time.perf_counter()
                    cache.store(Request(messages=words, model="bench"), response)
                    seconds.append(time.perf_counter() - started)
            cache.core.policy.dictionaries.settle()
            before, (raw, stored) = (raw, stored), _taken(cache)
        share = (stored - before[1]) / (raw - before[0])
    return Line(
        file, "as the cache decides, whole store", share, 0.0, None, quantiles(seconds), None
    )


def _taken(cache: Semcache) -> tuple[int, int]:
    stats = cache.stats()
    return stats.raw_response_bytes or 0, stats.stored_response_bytes or 0


def growing(learned_from: list[bytes], held: list[Prompt]) -> Iterator[str]:
    """What a dictionary is worth by the number of answers it was learned from."""
    raw = sum(len(answer) for _, answers in held for answer in answers)
    for count in GROWING:
        if count > len(learned_from):
            return
        sample = learned_from[:: max(1, len(learned_from) // count)][:count]
        trained = train(sample, most_bytes=MOST_BYTES)
        if trained is None:
            continue
        part = new_dictionary(OWNER, trained, answers=count)
        stored = sum(CODEC.alone(one, part).size for _, answers in held for one in answers)
        size, share = len(part.content), stored / raw
        yield f"  learned from {count:>5} answers: {size:>6} bytes, share {share:.3f}"


def lines(path: Path) -> Iterator[Line]:
    file = path.name.split(".", maxsplit=1)[0]
    found = prompts(path)
    held = found[1::2]
    learned_from = [answer for _, answers in found[::2] for answer in answers]
    started = time.perf_counter()
    trained = train(learned_from, most_bytes=MOST_BYTES)
    assert trained is not None
    part = new_dictionary(OWNER, trained, answers=len(learned_from))
    took = time.perf_counter() - started
    raw = sum(len(answer) for _, answers in held for answer in answers)
    print(
        f"{file}: {raw} bytes raw; dictionary of {len(trained)} bytes in {took:.1f} s, "
        f"stored in {len(part.content)} ({len(part.content) / raw:.3f} of the held-out raw)"
    )
    for level in (3, 19):
        yield each_alone(file, f"zstd-{level}", held, *_plain(level))
    yield each_alone(file, "gzip", held, gzip.compress, gzip.decompress)
    yield line_diff(file, held)
    parts = {part.address: part}
    yield each_alone(
        file,
        "dictionary alone",
        held,
        lambda raw: CODEC.record(raw, CODEC.alone(raw, part)),
        lambda payload: CODEC.raw("", payload, parts),
    )
    yield against_first(file, "base alone", held, None)
    yield against_first(file, "both", held, part)
    print("\n".join(growing(learned_from, held)))
    yield as_the_cache_decides(file, found)


def _plain(level: int) -> tuple[Write, Read]:
    import zstandard

    compressor = zstandard.ZstdCompressor(level=level)
    return compressor.compress, zstandard.ZstdDecompressor().decompress


def _told(times: tuple[float, float] | None) -> str:
    return f"{times[0]:>8.3f} {times[1]:>8.3f}" if times else f"{'–':>8} {'–':>8}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    taken = []
    shares = f"{'share':>6} {'bases':>6} {'later':>6}"
    print(f"{'':<34} {shares} {'write':>8} {'p99':>8} {'read':>8} {'p99':>8}")
    for file in FILES:
        for line in lines(asked.data / f"{file}.jsonl.gz"):
            taken.append(asdict(line))
            times = f"{_told(line.write)} {_told(line.read)}"
            later = f"{line.later:>6.3f}" if line.later is not None else f"{'–':>6}"
            print(f"{line.way:<34} {line.share:>6.3f} {line.bases:>6.3f} {later} {times}")
    if asked.json:
        asked.json.write_text(json.dumps(taken, indent=1))


if __name__ == "__main__":
    main()
