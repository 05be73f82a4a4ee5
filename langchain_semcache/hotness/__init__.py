"""How often an entry will be asked for next: counts by the minute in, expected accesses out.

What is here needs numpy alone. `lstm`, `training` and `torchscript` need the extra `hotness`,
`triton` needs the extra `triton`.
"""

from langchain_semcache.hotness.baselines import AdaptiveTTL, EWMAHotness, PopularityHotness
from langchain_semcache.hotness.features import HORIZON, STEP_SECONDS, STEPS, CountRing
from langchain_semcache.hotness.tracker import WindowedHeat

__all__ = [
    "HORIZON",
    "STEPS",
    "STEP_SECONDS",
    "AdaptiveTTL",
    "CountRing",
    "EWMAHotness",
    "PopularityHotness",
    "WindowedHeat",
]
