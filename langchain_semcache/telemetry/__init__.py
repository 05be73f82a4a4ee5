"""Where events go."""

from langchain_semcache.telemetry.sinks import Counters, FanOut

__all__ = ["Counters", "FanOut"]
