"""From settings to a tracker of heat, and from a cache's events to what it counts."""

from __future__ import annotations

from pathlib import Path

from langchain_semcache.clock import Clock
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.events import EntryStored, Event, LookupHit
from langchain_semcache.hotness import EWMAHotness, PopularityHotness, WindowedHeat
from langchain_semcache.ports import HeatTracker, HotnessModel
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
