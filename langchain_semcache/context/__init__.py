"""Follow-up questions: what they refer to, and whether two chats mean the same by it."""

from langchain_semcache.context._asked import asked_part
from langchain_semcache.context._attributes import OtherAttribute, asks_for_a_fact
from langchain_semcache.context._compare import Agreement, Difference, compare, relate
from langchain_semcache.context._context import Context, Referent, Turn, summarise
from langchain_semcache.context._standalone import is_standalone

__all__ = [
    "Agreement",
    "Context",
    "Difference",
    "OtherAttribute",
    "Referent",
    "Turn",
    "asked_part",
    "asks_for_a_fact",
    "compare",
    "is_standalone",
    "relate",
    "summarise",
]
