"""Which entry was used when: what models of heat learn from and are measured on."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness.features import HORIZON, STEP_SECONDS, CountRing
from langchain_semcache.ports import Heats, Windows
from langchain_semcache.records import JSON

_NAMES: Final = ("entry_id", "prompt")
_FORMS: Final = (
    'a use is {"t": seconds, "entry_id": text} or {"t": seconds, "prompt": text}, or a line of '
    'Mooncake, {"t_ms": milliseconds, "hash_ids": [numbers]}'
)


@dataclass(frozen=True, slots=True)
class Accesses:
    """Uses of entries in the order of time.

    Attributes:
        name: Of the file, or what it is.
        steps: int64 [m], ascending: in which step each use was, the first one in step 0.
        entries: int64 [m]: which entry it was, numbered from 0.
        step_seconds: Length of a step.
    """

    name: str
    steps: NDArray[np.int64]
    entries: NDArray[np.int64]
    step_seconds: float

    @property
    def end(self) -> int:
        """The step after the last use."""
        return int(self.steps[-1]) + 1

    @property
    def keys(self) -> int:
        """How many different entries were used."""
        return int(self.entries.max()) + 1


@dataclass(frozen=True, slots=True)
class Moment:
    """What a tracker knows at the beginning of a step, and what came then.

    Attributes:
        step: The first step that is to be predicted.
        windows: float32 [n, 64], of every entry that was used within them.
        uses: float32 [n], their uses in the five steps from `step` on.
    """

    step: int
    windows: Windows
    uses: Heats


def accesses(
    name: str, uses: Iterable[tuple[float, object]], *, step_seconds: float = STEP_SECONDS
) -> Accesses:
    """Uses as pairs of seconds and entry, in any order.

    Raises:
        ConfigurationError: There are none, or a step has no length.
    """
    if isinstance(step_seconds, bool) or not 0 < step_seconds < math.inf:
        raise ConfigurationError(f"a step is {step_seconds!r} seconds, expected a number above 0")
    numbers: dict[object, int] = {}
    pairs = [(at, numbers.setdefault(entry, len(numbers))) for at, entry in uses]
    if not pairs:
        raise ConfigurationError(f"{name} holds no uses: {_FORMS}")
    times = np.array([at for at, _ in pairs], dtype=np.float64)
    entries = np.array([entry for _, entry in pairs], dtype=np.int64)
    order = np.argsort(times, kind="stable")
    steps = ((times[order] - times.min()) // step_seconds).astype(np.int64)
    return Accesses(name, steps, entries[order], step_seconds)


def read_accesses(
    path: str | Path, *, step_seconds: float = STEP_SECONDS, limit: int | None = None
) -> Accesses:
    """Uses from JSON lines, gzipped or not; a line without an entry is passed over.

    `{"t", "entry_id"}` is a log of decisions: seconds, and what was served or stored (null where
    nothing was). `{"t", "prompt"}` is traffic, where equal prompts are one entry.
    `{"t_ms", "hash_ids"}` is a trace of Mooncake: every block of a prompt is an entry.

    Args:
        step_seconds: Length of a step.
        limit: Read no more lines than these.

    Raises:
        ConfigurationError: The file cannot be read, or a line is no use; it is named.
    """
    file = Path(path).expanduser()
    try:
        with _opened(file) as lines:
            return accesses(file.name, _uses(lines, limit), step_seconds=step_seconds)
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise ConfigurationError(f"the uses in {path} cannot be read: {error}") from error
    except _BadLine as error:
        raise ConfigurationError(f"{path}: {error}") from error


def moments(uses: Accesses, *, start: int, end: int, every: int = HORIZON) -> Iterator[Moment]:
    """What was known at `start` and every so many steps on, as long as all is before `end`.

    The windows come from the same counts as in a running cache.
    """
    ring = CountRing[int](uses.keys)
    done = 0
    for step in range(max(1, start), end - HORIZON + 1, every):
        upto = int(np.searchsorted(uses.steps, step))
        rows = zip(uses.steps[done:upto].tolist(), uses.entries[done:upto].tolist(), strict=True)
        for at, entry in rows:
            ring.move(at)
            ring.add(entry)
        ring.move(step)
        done = upto
        keys = ring.windowed()
        if not keys:
            continue
        beyond = int(np.searchsorted(uses.steps, step + HORIZON))
        coming = np.bincount(uses.entries[upto:beyond], minlength=uses.keys)
        yield Moment(step, ring.windows(keys), coming[keys].astype(np.float32))


class _BadLine(ValueError):
    pass


def _opened(file: Path) -> TextIO:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8")
    return file.open(encoding="utf-8")


def _uses(lines: TextIO, limit: int | None) -> Iterator[tuple[float, object]]:
    for number, line in enumerate(lines, 1):
        if limit is not None and number > limit:
            return
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise _BadLine(f"line {number} is no JSON ({error})") from error
        if not isinstance(row, dict):
            raise _BadLine(f"line {number} is no JSON object: {_FORMS}")
        at = _time(row, number)
        for entry in _entries(row, number):
            yield at, entry


def _time(row: Mapping[str, JSON], number: int) -> float:
    name, scale = ("t_ms", 1000.0) if "t_ms" in row else ("t", 1.0)
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _BadLine(f"line {number} lacks the number {name!r}: {_FORMS}")
    return value / scale


def _entries(row: Mapping[str, JSON], number: int) -> Iterable[object]:
    blocks = row.get("hash_ids")
    if isinstance(blocks, list):
        if any(isinstance(block, bool) or not isinstance(block, int) for block in blocks):
            raise _BadLine(f"line {number} has 'hash_ids' that are no numbers")
        return blocks
    for name in _NAMES:
        if name in row:
            entry = row[name]
            if entry is None:
                return ()
            if isinstance(entry, str):
                return (entry,)
            raise _BadLine(f"line {number} has an {name!r} that is no text")
    raise _BadLine(f"line {number} does not say which entry: {_FORMS}")
