"""What was asked when, and how long the answer was: traffic to try a store on."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.records import JSON
from langchain_semcache.streaming import TextFingerprint, TokenFingerprint

DEMO_REQUESTS, DEMO_PROMPTS, DEMO_GAP, DEMO_TOKENS = 1500, 300, 0.5, 120.0
"""Of the traffic that is made up: requests, prompts, seconds between two, mean length."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request.

    Attributes:
        at: Seconds since the first one.
        prompt: Fingerprint of the prompt, 16 hexadecimal digits: equal for equal prompts.
        tokens: Length of the answer, at least 1; one and the same for equal prompts.
    """

    at: float
    prompt: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Popularity:
    """How prompts are drawn for traffic that does not say what was asked.

    Attributes:
        prompts: How many there are; None for one to ten requests.
        skew: The prompt in place n is asked in proportion to 1 / n**skew.
        seed: Equal seeds draw equal prompts.
    """

    prompts: int | None = None
    skew: float = 1.0
    seed: int = 0

    def drawn(self, requests: int) -> list[str]:
        """A prompt for each request."""
        count = self.prompts or max(1, requests // 10)
        weights = np.arange(1, count + 1, dtype=np.float64) ** -self.skew
        edges = np.cumsum(weights / weights.sum())
        draws = np.random.default_rng(self.seed).random(requests)
        places = np.minimum(np.searchsorted(edges, draws), count - 1)
        return [TokenFingerprint([int(place)]).hex for place in places]


@dataclass(frozen=True, slots=True)
class Traffic:
    """Requests in the order of their arrival.

    Attributes:
        name: The file, or what it is.
        drawn: Whether the prompts were drawn, because the file does not say which they were.
    """

    name: str
    arrivals: tuple[Arrival, ...]
    drawn: bool

    @property
    def prompts(self) -> int:
        """How many different prompts were asked."""
        return len({arrival.prompt for arrival in self.arrivals})

    @property
    def tokens(self) -> int:
        """Tokens of all answers."""
        return sum(arrival.tokens for arrival in self.arrivals)


def demo_traffic(popularity: Popularity | None = None, *, requests: int = DEMO_REQUESTS) -> Traffic:
    """Made-up traffic: few prompts are asked often, and lengths fall off exponentially."""
    popularity = popularity or Popularity(DEMO_PROMPTS)
    draws = np.random.default_rng(popularity.seed + 1).random((2, requests))
    times = np.cumsum(-np.log1p(-draws[0]) * DEMO_GAP)
    prompts = popularity.drawn(requests)
    lengths = 1 + (-np.log1p(-draws[1]) * DEMO_TOKENS).astype(np.int64)
    rows = zip(times.tolist(), prompts, lengths.tolist(), strict=True)
    return Traffic("made-up traffic", _arrivals(rows), drawn=True)


def _arrivals(rows: Iterable[tuple[float, str, int]]) -> tuple[Arrival, ...]:
    """Times from 0 on, and for each prompt one answer, as long as its first."""
    lengths: dict[str, int] = {}
    made: list[Arrival] = []
    begin = 0.0
    for at, prompt, tokens in rows:
        begin = at if not made else begin
        made.append(Arrival(at - begin, prompt, lengths.setdefault(prompt, tokens)))
    return tuple(made)


def read_traffic(
    path: str | Path, popularity: Popularity | None = None, *, limit: int | None = None
) -> Traffic:
    """Traffic from JSON lines, gzipped or not. The first line says which of three forms it has.

    `{"t", "prompt", "out_tok"}` is our own: seconds, any text or number that stands for the prompt,
    tokens of the answer. `{"t_ms", "hash_ids", "out_tok"}` is Mooncake's: prompts are equal that
    consist of equal blocks and are equally long (`in_tok`). `{"t", "in_tok", "out_tok"}` is
    Azure's, which does not say what was asked: prompts are drawn by `popularity`.

    Args:
        limit: Read no more requests than these.

    Raises:
        ConfigurationError: The file cannot be read, or a line is no request; it is named.
    """
    file = Path(path).expanduser()
    try:
        with _opened(file) as lines:
            rows = list(_rows(lines, limit))
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise ConfigurationError(f"the traffic in {path} cannot be read: {error}") from error
    except ValueError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    if not rows:
        raise ConfigurationError(f"{path} holds no requests")
    drawn = rows[0][1] is None
    if any((prompt is None) is not drawn for _, prompt, _ in rows):
        raise ConfigurationError(f"{path}: some lines say what was asked, and some do not")
    rows.sort(key=lambda row: row[0])
    asked = [row[1] or "" for row in rows]
    prompts = (popularity or Popularity()).drawn(len(rows)) if drawn else asked
    known = zip([row[0] for row in rows], prompts, [row[2] for row in rows], strict=True)
    return Traffic(file.name, _arrivals(known), drawn)


def _opened(file: Path) -> TextIO:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8")
    return file.open(encoding="utf-8")


_Row = tuple[float, str | None, int]


def _rows(lines: TextIO, limit: int | None) -> Iterator[_Row]:
    found = 0
    for number, line in enumerate(lines, 1):
        if limit is not None and found >= limit:
            return
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number} is no JSON ({error})") from error
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is no JSON object")
        yield _row(row, number)
        found += 1


def _row(row: Mapping[str, JSON], number: int) -> _Row:
    tokens = _number(row, "out_tok", number)
    at = _number(row, "t_ms", number) / 1000 if "t_ms" in row else _number(row, "t", number)
    if at < 0 or tokens < 0:
        raise ValueError(f"line {number} has a time or a length below 0")
    return at, _prompt(row, number), max(1, int(tokens))


def _number(row: Mapping[str, JSON], name: str, number: int) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(
            f"line {number} lacks the number {name!r}: a request is "
            '{"t": seconds, "prompt": text, "out_tok": tokens}, or a line of Mooncake or Azure'
        )
    return value


def _prompt(row: Mapping[str, JSON], number: int) -> str | None:
    prompt, blocks = row.get("prompt"), row.get("hash_ids")
    if isinstance(prompt, (str, int)) and not isinstance(prompt, bool):
        return TextFingerprint(str(prompt)).hex
    if isinstance(blocks, list):
        ids = [block for block in blocks if isinstance(block, int)]
        if len(ids) != len(blocks) or any(one < 0 for one in ids):
            raise ValueError(f"line {number} has 'hash_ids' that are no numbers from 0 up")
        return TokenFingerprint([*ids, int(_number(row, "in_tok", number))]).hex
    if prompt is not None or blocks is not None:
        raise ValueError(f"line {number} has a 'prompt' that is no text, or 'hash_ids' no list")
    return None
