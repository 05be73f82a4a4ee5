"""Which answers go, and which never come in. Pure: no index, no clock, no random numbers."""

from langchain_semcache.eviction._assessment import Assessment, Signals, signals
from langchain_semcache.eviction._confidence import (
    HIGHEST_SCORE,
    Action,
    Level,
    Ruling,
    Score,
    Thresholds,
    Unscored,
    decide,
    level_of,
)
from langchain_semcache.eviction._entropy import (
    Bounds,
    entropy,
    entropy_bounds,
    mean,
    top_difference,
)
from langchain_semcache.eviction._logprobs import Token, read_tokens
from langchain_semcache.eviction._sampling import falls_in

__all__ = [
    "HIGHEST_SCORE",
    "Action",
    "Assessment",
    "Bounds",
    "Level",
    "Ruling",
    "Score",
    "Signals",
    "Thresholds",
    "Token",
    "Unscored",
    "decide",
    "entropy",
    "entropy_bounds",
    "falls_in",
    "level_of",
    "mean",
    "read_tokens",
    "signals",
    "top_difference",
]
