"""The engine is written in Rust. Where it panics, Python sees a `BaseException`.

That would pass by everything which catches failures, up to the application's call of its model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langchain_semcache.errors import IndexUnavailable


@contextmanager
def panics_caught() -> Iterator[None]:
    """Make a panic an `IndexUnavailable`; whatever else is raised passes through."""
    try:
        yield
    except BaseException as error:
        if _is_panic(error):
            raise IndexUnavailable(f"the search engine panicked: {one_line(error)}") from error
        raise


def one_line(error: BaseException) -> str:
    """What the engine said; its messages may have several lines."""
    return " ".join(str(error).split())


def _is_panic(error: BaseException) -> bool:
    """Known by name only: every extension module has a class of its own, and exports none."""
    kind = type(error)
    return (kind.__module__, kind.__name__) == ("pyo3_runtime", "PanicException")
