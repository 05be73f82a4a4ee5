"""The cache behind LangChain: `set_llm_cache(SemanticCache())`.

`cache` is the `BaseCache`; `streaming` serves `.stream()` and `.astream()`, which LangChain never
asks a cache for; `middleware` sits in LangChain agents (extra `langchain`).
"""

from langchain_semcache.langchain.cache import SemanticCache
from langchain_semcache.langchain.streaming import cached_streams
from langchain_semcache.tenancy import tenant

__all__ = ["SemanticCache", "cached_streams", "tenant"]
