"""What goes first when a cache is full. Pure: no index, no clock, no random numbers."""

from langchain_semcache.eviction._books import POLICIES, Books, Kept, Limits
from langchain_semcache.eviction._frequency import LFU, TinyLFU
from langchain_semcache.eviction._heat import Heat
from langchain_semcache.eviction._policy import LRU, Policy
from langchain_semcache.eviction._size import OVERHEAD_BYTES, entry_bytes, least_bytes
from langchain_semcache.eviction._sketch import Sketch

__all__ = [
    "LFU",
    "LRU",
    "OVERHEAD_BYTES",
    "POLICIES",
    "Books",
    "Heat",
    "Kept",
    "Limits",
    "Policy",
    "Sketch",
    "TinyLFU",
    "entry_bytes",
    "least_bytes",
]
