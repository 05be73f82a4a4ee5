"""Whether segments that entries share save more than a difference from one base does.

    python benchmarks/segments.py --data ../shared/data

Several answers to one prompt, as they are stored when a prompt is answered anew. A dictionary is
trained on the answers to every other prompt, and all figures are of the rest, as shares of their
bytes. `base` stores the first answer to a prompt by the dictionary alone and each further one as a
difference from it (zstd with the base as prefix), if that is smaller. Segments are cut where the
letters say so (a gear hash, after Xia et al., FastCDC, USENIX ATC 2016) or by our own chunker of
long prompts; each different one is kept once, by the dictionary if that is smaller, with 8 bytes
for its key, and an entry is a list of 8 bytes for each. The last column is how much of the bytes
lies in segments that another text has as well: before compression no store of segments can save
more. Prompts are measured too, with what was asked after them. The data is not part of the project;
it takes about two minutes.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path

import zstandard as zstd

from langchain_semcache.windows import split

FILES = (
    "responses_en_deepseekv3_3samples.jsonl.gz",
    "responses_en_oasst_sft_11samples.jsonl.gz",
    "prompts_en_mixed.jsonl.gz",
)
LEVEL = 19
DICTIONARY = 65_536
REFERENCE = 8  # bytes of a fingerprint that names a segment
KEY = 8  # bytes of the same in the table of segments; a real one needs more
GEAR = [int.from_bytes(blake2b(bytes([n]), digest_size=8).digest(), "big") for n in range(256)]

Group = list[bytes]
Cut = Callable[[bytes], list[bytes]]


def groups(path: Path) -> Iterator[Group]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            texts = row.get("responses") or [row["prompt"], *row.get("followups", ())]
            yield [(one if isinstance(one, str) else one["text"]).encode() for one in texts]


def gear(average: int) -> Cut:
    """Cut where a rolling hash of the last 64 bytes is 0 in as many bits as make that average."""
    mask = (average // 2 - 1) << 40
    least, most = average // 4, 4 * average

    def cut(text: bytes) -> list[bytes]:
        pieces, start, state = [], 0, 0
        for at, byte in enumerate(text):
            state = (state << 1) + GEAR[byte] & 0xFFFFFFFFFFFFFFFF
            length = at + 1 - start
            if (length >= least and not state & mask) or length >= most:
                pieces.append(text[start : at + 1])
                start, state = at + 1, 0
        return [*pieces, text[start:]] if start < len(text) else pieces

    return cut


def windows(tokens: int) -> Cut:
    """Our own chunker; it counts four characters as a token here."""

    def cut(text: bytes) -> list[bytes]:
        parts = split(
            text.decode(), count_tokens=lambda part: -(-len(part) // 4), max_tokens=tokens
        )
        return [part.encode() for part in parts] or [text]

    return cut


class Packer:
    """What one piece takes: plain, or by the dictionary if that is smaller."""

    def __init__(self, dictionary: zstd.ZstdCompressionDict) -> None:
        self._dictionary = dictionary
        self._alone = _compressor(dictionary)

    def size(self, piece: bytes) -> int:
        return min(len(piece), len(self._alone.compress(piece)))

    def after(self, base: bytes, piece: bytes) -> int:
        """The same, or as a difference from a base; a byte says which."""
        prefix = zstd.ZstdCompressionDict(
            self._dictionary.as_bytes() + base, dict_type=zstd.DICT_TYPE_RAWCONTENT
        )
        return min(self.size(piece), len(_compressor(prefix).compress(piece)))


def _compressor(dictionary: zstd.ZstdCompressionDict | None) -> zstd.ZstdCompressor:
    return zstd.ZstdCompressor(
        level=LEVEL,
        dict_data=dictionary,
        write_content_size=False,
        write_checksum=False,
        write_dict_id=False,
    )


def by_base(held: list[Group], packer: Packer) -> tuple[int, int]:
    """Bytes of first answers, and of all that follow."""
    first = sum(packer.size(group[0]) for group in held)
    return first, sum(packer.after(group[0], one) for group in held for one in group[1:])


def by_segments(held: list[Group], packer: Packer, cut: Cut) -> tuple[int, int, float, float]:
    """Bytes of pieces, of lists, bytes of a piece on average, and the share that is shared."""
    owners: dict[bytes, set[int]] = {}
    seen: Counter[bytes] = Counter()
    lists = total = 0
    answers = [answer for group in held for answer in group]
    for number, answer in enumerate(answers):
        pieces = cut(answer)
        assert b"".join(pieces) == answer
        lists += REFERENCE * len(pieces)
        total += len(answer)
        seen.update(pieces)
        for piece in pieces:
            owners.setdefault(piece, set()).add(number)
    kept = sum(KEY + packer.size(piece) for piece in owners)
    once = sum(len(piece) for piece in owners)
    shared = sum(len(piece) * count for piece, count in seen.items() if len(owners[piece]) > 1)
    return kept, lists, total / sum(seen.values()), shared / total if once else 0.0


def measured(path: Path) -> None:
    known = list(groups(path))
    taught, held = known[::2], known[1::2]
    samples = [one for group in taught for one in group]
    dictionary = zstd.train_dictionary(DICTIONARY, samples)
    packer = Packer(dictionary)
    raw = sum(len(one) for group in held for one in group)
    plain = _compressor(None)
    print(f"\n{path.name}: {len(held)} prompts, {raw:,} bytes held out\n")
    print("| stored | of raw | lists | a piece, bytes | bytes that are shared |")
    print("| --- | --- | --- | --- | --- |")

    def row(name: str, size: float, *more: str) -> None:
        print(f"| {name} | {size / raw:.3f} | {' | '.join(more or ('', '', ''))} |", flush=True)

    row("zstd-19, each alone", sum(len(plain.compress(one)) for group in held for one in group))
    row("dictionary", sum(packer.size(one) for group in held for one in group))
    first, further = by_base(held, packer)
    row("dictionary, then base", first + further)
    cuts: dict[str, Cut] = {f"gear, {size} bytes": gear(size) for size in (64, 128, 256, 512)}
    cuts |= {f"our chunker, {tokens} tokens": windows(tokens) for tokens in (32, 128)}
    for name, cut in cuts.items():
        kept, lists, mean, shared = by_segments(held, packer, cut)
        more = (f"{lists / raw:.3f}", f"{mean:.0f}", f"{shared:.1%}")
        row(f"segments, {name}", kept + lists, *more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    for name in FILES:
        measured(options.data / name)


if __name__ == "__main__":
    main()
