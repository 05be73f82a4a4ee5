"""Long texts, window by window: what an encoder would cut off is compared and not forgotten."""

from langchain_semcache.windows.chunks import MAX_WINDOWS, lengths, pooled, split
from langchain_semcache.windows.comparison import Comparison, compare

__all__ = ["MAX_WINDOWS", "Comparison", "compare", "lengths", "pooled", "split"]
