"""From settings to a tracker of heat, and from a cache's events to what it counts."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path

from langchain_semcache.clock import Clock
from langchain_semcache.engine.pool import WorkerPool
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.events import EntryStored, Event, LookupHit
from langchain_semcache.hotness import HORIZON, EWMAHotness, PopularityHotness, WindowedHeat
from langchain_semcache.ports import HeatTracker, HotnessModel, SupportsClose
from langchain_semcache.settings import HotnessSettings


class HeatSink:
    """Counts what a cache serves and stores: an `EventSink` in front of a tracker."""

    def __init__(self, heat: HeatTracker) -> None:
        self._heat = heat

    def emit(self, event: Event) -> None:
        """A hit and a stored answer are uses of their entry; a miss is none."""
        match event:
            case LookupHit(decision=decision):
                used = decision.entry_id
            case EntryStored(result=result):
                used = result.entry_id
            case _:
                used = None
        if used is not None:
            self._heat.used(used)


class Expected:
    """What a cache expects to be asked for: an `EventSink` that also has the model asked.

    Args:
        heat: The tracker; only what its model was asked lately is told to anybody.
        pool: Once a step the model is asked there about all entries: no request waits for it.
    """

    def __init__(self, heat: WindowedHeat, *, clock: Clock, pool: WorkerPool) -> None:
        self._heat = heat
        self._sink = HeatSink(heat)
        self._clock = clock
        self._pool = pool
        self._lock = threading.Lock()
        self._due = clock.monotonic() + heat.step_seconds
        self._newcomer = 0.0

    def emit(self, event: Event) -> None:
        """Count a use, and see to it that the model is asked once a step."""
        self._sink.emit(event)
        now = self._clock.monotonic()
        with self._lock:
            if now < self._due:
                return
            self._due = now + self._heat.step_seconds
        self._pool.submit(self.refresh)

    def refresh(self) -> None:
        """Ask the model now, on this thread."""
        self._newcomer = self._heat.newcomer() or self._newcomer
        self._heat.refresh()

    def uses(self, entry_id: str) -> float:
        """Expected uses in the next five steps.

        An entry of which nothing is known counts as one that came just now; 0 before the model
        was first asked.
        """
        uses = self._heat.known(entry_id)
        return self._newcomer if uses is None else uses

    def rate(self, entry_id: str) -> float | None:
        """The same as uses a second; None where nothing is known of the entry."""
        uses = self._heat.known(entry_id)
        return None if uses is None else uses / (HORIZON * self._heat.step_seconds)


def expecting(
    settings: HotnessSettings, *, clock: Clock, pool: WorkerPool, opened: ExitStack
) -> Expected | None:
    """What these settings have a cache expect; None where that is nothing.

    Raises:
        MissingExtra: What the model needs is not installed.
        ConfigurationError: The model cannot be had, or learned with steps of another length.
    """
    model = make_hotness(settings, clock=clock)
    if model is None:
        return None
    if isinstance(model, SupportsClose):
        opened.callback(model.close)
    heat = WindowedHeat(
        model, clock=clock, max_entries=settings.max_entries, step_seconds=settings.step_seconds
    )
    return Expected(heat, clock=clock, pool=pool)


def make_heat(settings: HotnessSettings, *, clock: Clock) -> WindowedHeat | None:
    """The tracker that these settings name; None where they name none.

    Raises:
        MissingExtra: What the model needs is not installed.
        ConfigurationError: The model cannot be had, or learned with steps of another length.
    """
    model = make_hotness(settings, clock=clock)
    if model is None:
        return None
    return WindowedHeat(
        model, clock=clock, max_entries=settings.max_entries, step_seconds=settings.step_seconds
    )


def make_hotness(settings: HotnessSettings, *, clock: Clock) -> HotnessModel | None:
    """The model that these settings name; heavy modules are imported only when asked for.

    Raises:
        MissingExtra: What the model needs is not installed.
        ConfigurationError: The model cannot be had, or learned with steps of another length.
    """
    kind, _, place = settings.model.partition(":")
    match kind:
        case "popularity":
            return PopularityHotness()
        case "ewma":
            return EWMAHotness(settings.half_life)
        case "torchscript":
            return _network(Path(place).expanduser(), settings)
        case "triton":
            from langchain_semcache.hotness.triton import TritonHotness

            return TritonHotness(
                place,
                model=settings.triton_model,
                fallback=EWMAHotness(settings.half_life),
                deadline_seconds=settings.deadline_seconds,
                max_batch=settings.max_batch,
                failures=settings.breaker_failures,
                cooldown_seconds=settings.breaker_cooldown_seconds,
                clock=clock,
            )
    return None


def _network(path: Path, settings: HotnessSettings) -> HotnessModel:
    from langchain_semcache.hotness.torchscript import TorchScriptHotness

    model = TorchScriptHotness(path, device=settings.device).open()
    if model.step_seconds != settings.step_seconds:
        raise ConfigurationError(
            f"{path} learned with steps of {model.step_seconds:g} s, and step_seconds is "
            f"{settings.step_seconds:g}: set that, or train with --step"
        )
    return model
