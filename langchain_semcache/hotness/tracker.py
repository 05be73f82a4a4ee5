"""Counts uses on a clock and asks a model, once a step, what to expect."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

import numpy as np

from langchain_semcache.breaker import ThrottledWarning
from langchain_semcache.clock import Clock
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness.features import STEP_SECONDS, STEPS, CountRing, distinct
from langchain_semcache.ports import Heats, HotnessModel, Windows

MAX_ENTRIES = 65_536
"""Entries counted at most, by default: about 22 MB."""


class WindowedHeat:
    """How hot entries are: the `HeatTracker` that a cache is given. Safe to share between threads.

    A window ends with the last whole step, so an answer changes once a step and is remembered until
    then; an entry has a heat from the first step after its first use on. Windows that are alike are
    shown to the model once. While the model is asked, uses go on being counted.

    Args:
        model: Whose answers they are. Where it raises, the heat is NaN until the next step, and a
            warning says so, once a minute at most.
        clock: Steps are counted on its monotonic reading.
        max_entries: Entries counted at most; the one used longest ago is forgotten for a new one.
        step_seconds: Length of a step; a model that learned has to have learned with the same.

    Raises:
        ConfigurationError: A number is out of its range.
    """

    def __init__(
        self,
        model: HotnessModel,
        *,
        clock: Clock,
        max_entries: int = MAX_ENTRIES,
        step_seconds: float = STEP_SECONDS,
    ) -> None:
        if isinstance(max_entries, bool) or max_entries < 1:
            raise ConfigurationError(
                f"max_entries is {max_entries!r}, expected a whole number from 1 up"
            )
        if isinstance(step_seconds, bool) or not 0 < step_seconds < float("inf"):
            raise ConfigurationError(f"step_seconds is {step_seconds!r}, expected a number above 0")
        self._model, self._clock, self._step_seconds = model, clock, step_seconds
        self._began = clock.monotonic()
        self._ring: CountRing[str] = CountRing(max_entries)
        self._known: dict[str, float] = {}
        self._before: dict[str, float] = {}
        self._lock = threading.Lock()
        self._warn = ThrottledWarning(clock)

    @property
    def identity(self) -> str:
        """Of the model."""
        return self._model.identity

    def __len__(self) -> int:
        """Entries that are counted."""
        return len(self._ring)

    def used(self, entry_id: str) -> None:
        """See `HeatTracker`."""
        with self._lock:
            self._move()
            self._ring.add(entry_id)

    def forgotten(self, entry_id: str) -> None:
        """See `HeatTracker`."""
        with self._lock:
            self._ring.forget(entry_id)
            self._known.pop(entry_id, None)
            self._before.pop(entry_id, None)

    def heat(self, entry_ids: Sequence[str]) -> Heats:
        """See `HeatTracker`."""
        with self._lock:
            self._move()
            step = self._ring.step
            found = {one: self._known.get(one) for one in entry_ids}
            new = [one for one, heat in found.items() if heat is None]
            windows = self._ring.windows(new)
        begun = np.flatnonzero(windows.any(axis=1))
        if len(begun):
            heats = self._predicted(windows[begun]).tolist()
            learned = {new[place]: heat for place, heat in zip(begun.tolist(), heats, strict=True)}
            found.update(learned)
            with self._lock:
                # Of a step that has passed meanwhile it is as good an answer, but no lasting one.
                if self._ring.step == step:
                    self._known.update(learned)
        return np.array([found[one] for one in entry_ids], dtype=np.float32)  # None becomes NaN

    def known(self, entry_id: str) -> float | None:
        """The heat that the model was last asked for, of this step or the one before; asks nobody.

        None where there is none, or the model failed.
        """
        with self._lock:
            self._move()
            heat = self._known.get(entry_id, self._before.get(entry_id))
        return None if heat is None or math.isnan(heat) else heat

    def newcomer(self) -> float | None:
        """What the model expects of an entry with a single use, in the last step; None if it fails.

        Asks the model.
        """
        window = np.zeros((1, STEPS), dtype=np.float32)
        window[0, -1] = 1
        heat = float(self._predicted(window)[0])
        return None if math.isnan(heat) else heat

    @property
    def step_seconds(self) -> float:
        """Length of a step."""
        return self._step_seconds

    def refresh(self) -> int:
        """Ask the model about every entry that has a window; how many that are.

        For a thread of whoever wires it, so that no request waits for the model.
        """
        with self._lock:
            self._move()
            ids = self._ring.windowed()
        self.heat(ids)
        return len(ids)

    def _predicted(self, windows: Windows) -> Heats:
        rows, places = distinct(windows)
        try:
            return self._model.predict(rows)[places]
        except Exception as error:  # noqa: BLE001 - whatever somebody's model came up with
            self._warn(f"no heat from {self._model.identity} ({type(error).__name__})")
            return np.full(len(windows), np.nan, dtype=np.float32)

    def _move(self) -> None:
        step = int((self._clock.monotonic() - self._began) // self._step_seconds)
        if step > self._ring.step:
            self._before = self._known if step == self._ring.step + 1 else {}
            self._ring.move(step)
            self._known = {}
