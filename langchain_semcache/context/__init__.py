"""Follow-up questions: what they refer to, and whether two chats mean the same by it."""

from langchain_semcache.context._compare import Difference, compare
from langchain_semcache.context._context import Context, Referent, Turn, summarise
from langchain_semcache.context._standalone import is_standalone

__all__ = [
    "Context",
    "Difference",
    "Referent",
    "Turn",
    "compare",
    "is_standalone",
    "summarise",
]
