"""Whose request this is, for code that cannot pass it along."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from langchain_semcache.errors import ConfigurationError

_tenant: ContextVar[str] = ContextVar("langchain_semcache_tenant", default="")


def current_tenant() -> str:
    """The tenant set by the innermost `tenant(...)`, or the empty text."""
    return _tenant.get()


@contextmanager
def tenant(name: str) -> Iterator[None]:
    """Answer the calls inside for this tenant.

    The setting follows the context: tasks, `asyncio.to_thread` and LangChain's executors carry it
    along, and `litellm_hooks` sees to LiteLLM's; a thread started by hand does not.

    Raises:
        ConfigurationError: The name is no text.
    """
    if not isinstance(name, str):
        raise ConfigurationError(f"tenant must be text, not {name!r}")
    token = _tenant.set(name)
    try:
        yield
    finally:
        _tenant.reset(token)
