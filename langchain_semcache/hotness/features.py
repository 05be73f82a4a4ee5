"""What a model of heat sees: how often an entry was used in each of the last 64 minutes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from langchain_semcache.ports import Heats, Windows

STEPS: Final = 64
"""Steps of a window."""

STEP_SECONDS: Final = 60.0
"""Length of a step, unless somebody says otherwise."""

HORIZON: Final = 5
"""Steps that are predicted."""

_MOST: Final = np.iinfo(np.uint16).max
_FIRST_ROWS: Final = 64

Key = TypeVar("Key", bound=Hashable)


class CountRing(Generic[Key]):
    """Uses by key and step, for the last 64 whole steps and the one that runs.

    A key that was not used for that long is forgotten, and where there are too many, so is the one
    that was used longest ago. Knows no clock: a step is a number that whoever calls counts up. Not
    safe to share between threads.

    Memory: 130 bytes a key for the counts, which stop at 65,535 a step, and about 200 for its place
    in two tables.

    Args:
        max_keys: Keys remembered at most, from 1 up.
    """

    def __init__(self, max_keys: int) -> None:
        self._max_keys = max_keys
        self._step = 0
        self._counts: NDArray[np.uint16] = np.zeros((0, STEPS + 1), dtype=np.uint16)
        self._free: list[int] = []
        self._rows: dict[Key, int] = {}
        self._last: OrderedDict[Key, int] = OrderedDict()  # longest ago first

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def step(self) -> int:
        """The step that runs; windows end before it."""
        return self._step

    def move(self, step: int) -> None:
        """Go on to this step. A step that has been is ignored: time does not run back."""
        if step <= self._step:
            return
        passed = min(step - self._step, STEPS + 1)
        self._counts[:, np.arange(step - passed + 1, step + 1) % (STEPS + 1)] = 0
        self._step = step
        while self._last and next(iter(self._last.values())) < step - STEPS:
            self.forget(next(iter(self._last)))

    def add(self, key: Key) -> None:
        """One use in the step that runs."""
        row = self._rows.get(key)
        if row is None:
            row = self._new(key)
        self._last[key] = self._step
        self._last.move_to_end(key)
        column = self._step % (STEPS + 1)
        if self._counts[row, column] < _MOST:
            self._counts[row, column] += 1

    def forget(self, key: Key) -> None:
        """Drop a key; one that is not known is ignored."""
        row = self._rows.pop(key, None)
        if row is not None:
            del self._last[key]
            self._counts[row] = 0
            self._free.append(row)

    def windowed(self) -> list[Key]:
        """The keys that were used in a whole step, in no particular order."""
        keys = list(self._rows)
        return [keys[place] for place in np.flatnonzero(self.windows(keys).any(axis=1)).tolist()]

    def windows(self, keys: Sequence[Key]) -> Windows:
        """The window of each key, float32 [n, 64], the oldest step first; zeros where unknown."""
        rows = np.array([self._rows.get(key, -1) for key in keys], dtype=np.int64)
        found: Windows = np.zeros((len(rows), STEPS), dtype=np.float32)
        known = rows >= 0
        columns = np.arange(self._step - STEPS, self._step) % (STEPS + 1)
        found[known] = self._counts[rows[known][:, None], columns]
        return found

    def _new(self, key: Key) -> int:
        if len(self._rows) >= self._max_keys:
            self.forget(next(iter(self._last)))
        if not self._free:
            held = len(self._counts)
            more = min(max(held, _FIRST_ROWS), self._max_keys - held)
            grown = np.zeros((held + more, STEPS + 1), dtype=np.uint16)
            grown[:held] = self._counts
            self._counts = grown
            self._free.extend(range(held + more - 1, held - 1, -1))
        row = self._free.pop()
        self._rows[key] = row
        return row


def checked_windows(windows: Windows) -> Windows:
    """The windows as float32.

    Raises:
        ValueError: They are no array [n, 64], or hold what is no count.
    """
    if windows.ndim != 2 or windows.shape[1] != STEPS:
        raise ValueError(f"windows are an array [n, {STEPS}], not {list(windows.shape)}")
    counts = np.asarray(windows, dtype=np.float32)
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("windows hold counts: finite numbers from 0 up")
    return counts


def checked_heats(heats: Heats, count: int) -> Heats:
    """What a model said, as float32 [n].

    Raises:
        ValueError: It is not one number for each window, finite and not negative.
    """
    if heats.size != count:
        raise ValueError(f"{heats.size} predictions for {count} windows")
    flat = np.asarray(heats, dtype=np.float32).reshape(count)
    if not (np.isfinite(flat) & (flat >= 0)).all():
        raise ValueError("a prediction is no finite number from 0 up")
    return flat


def distinct(windows: Windows) -> tuple[Windows, NDArray[np.intp]]:
    """The windows without repetition, and for each row where it is among them.

    Most entries were used once or twice, so most windows of a cache are alike: a model is asked
    about each kind once.
    """
    if len(windows) < 2:
        return windows, np.arange(len(windows))
    rows = np.ascontiguousarray(windows)
    # A row as one value: equal counts are equal bytes, as a count is never -0.0.
    as_bytes = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)
    _, first, inverse = np.unique(as_bytes, return_index=True, return_inverse=True)
    return rows[first], inverse.reshape(-1)
