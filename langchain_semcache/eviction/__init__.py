"""What goes first when a cache is full, and which answers are too unsure to stay.

Pure: no index, no clock, no random numbers.
"""

from langchain_semcache.eviction._assessment import Assessment, Signals, signals
from langchain_semcache.eviction._books import POLICIES, Books, Kept, Limits
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
    LARGEST_VOCABULARY,
    Bounds,
    entropy,
    entropy_bounds,
    mean,
    top_difference,
)
from langchain_semcache.eviction._expected import Predicted
from langchain_semcache.eviction._frequency import LFU, TinyLFU
from langchain_semcache.eviction._heat import Heat
from langchain_semcache.eviction._lifetimes import Sureness
from langchain_semcache.eviction._logprobs import Token, read_tokens
from langchain_semcache.eviction._policy import LRU, Policy
from langchain_semcache.eviction._sampling import falls_in
from langchain_semcache.eviction._size import OVERHEAD_BYTES, entry_bytes, least_bytes
from langchain_semcache.eviction._sketch import Sketch

__all__ = [
    "HIGHEST_SCORE",
    "LARGEST_VOCABULARY",
    "LFU",
    "LRU",
    "OVERHEAD_BYTES",
    "POLICIES",
    "Action",
    "Assessment",
    "Books",
    "Bounds",
    "Heat",
    "Kept",
    "Level",
    "Limits",
    "Policy",
    "Predicted",
    "Ruling",
    "Score",
    "Signals",
    "Sketch",
    "Sureness",
    "Thresholds",
    "TinyLFU",
    "Token",
    "Unscored",
    "decide",
    "entropy",
    "entropy_bounds",
    "entry_bytes",
    "falls_in",
    "least_bytes",
    "level_of",
    "mean",
    "read_tokens",
    "signals",
    "top_difference",
]
