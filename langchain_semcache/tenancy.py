"""Whose request this is, for code that cannot pass it along."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from langchain_semcache.errors import ConfigurationError

_tenant: ContextVar[str] = ContextVar("langchain_semcache_tenant", default="")


_used: list[bool] = []
"""Not empty once a tenant was named in this process."""


def tenants_are_named() -> bool:
    """Whether `tenant(...)` was ever used in this process: without it nobody can be mixed up."""
    return bool(_used)


def current_tenant() -> str:
    """The tenant set by the innermost `tenant(...)`, or the empty text."""
    return _tenant.get()


@contextmanager
def tenant(name: str) -> Iterator[None]:
    """Answer the calls inside for this tenant.

    The setting follows the context: tasks, `asyncio.to_thread` and LangChain's executors carry it
    along; a thread started by hand does not, nor does the pool of `litellm.batch_completion`.

    Raises:
        ConfigurationError: The name is no text.
    """
    if not isinstance(name, str):
        raise ConfigurationError(f"tenant must be text, not {name!r}")
    if not _used:
        _used.append(True)
    token = _tenant.set(name)
    try:
        yield
    finally:
        _tenant.reset(token)
