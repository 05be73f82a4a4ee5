"""A semantic cache that hits on meaning and can be trusted.

Names are loaded when they are first used: importing this package costs next to nothing and pulls
no optional dependency.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_semcache.client import AsyncSemcache, Semcache, Stats
    from langchain_semcache.config import SemcacheConfig
    from langchain_semcache.errors import (
        BackendError,
        ConfigurationError,
        CorruptEntry,
        CorruptWeights,
        EncoderUnavailable,
        EvaluatorUnavailable,
        IndexUnavailable,
        MissingExtra,
        SchemaMismatch,
        SemcacheError,
        StoreLocked,
        VerifierUnavailable,
    )
    from langchain_semcache.langchain import SemanticCache
    from langchain_semcache.lineage import content_hash, resting_on
    from langchain_semcache.records import (
        Conditions,
        Decision,
        Entry,
        Reason,
        Request,
        Response,
        StoreResult,
    )
    from langchain_semcache.tenancy import tenant

__version__ = "0.1.0"

__all__ = [
    "AsyncSemcache",
    "BackendError",
    "Conditions",
    "ConfigurationError",
    "CorruptEntry",
    "CorruptWeights",
    "Decision",
    "EncoderUnavailable",
    "Entry",
    "EvaluatorUnavailable",
    "IndexUnavailable",
    "MissingExtra",
    "Reason",
    "Request",
    "Response",
    "SchemaMismatch",
    "SemanticCache",
    "Semcache",
    "SemcacheConfig",
    "SemcacheError",
    "Stats",
    "StoreLocked",
    "StoreResult",
    "VerifierUnavailable",
    "content_hash",
    "resting_on",
    "tenant",
]

_MODULES = {
    "client": ("AsyncSemcache", "Semcache", "Stats"),
    "config": ("SemcacheConfig",),
    "langchain": ("SemanticCache",),
    "lineage": ("content_hash", "resting_on"),
    "records": (
        "Conditions",
        "Decision",
        "Entry",
        "Reason",
        "Request",
        "Response",
        "StoreResult",
    ),
    "tenancy": ("tenant",),
    "errors": (
        "BackendError",
        "ConfigurationError",
        "CorruptEntry",
        "CorruptWeights",
        "EncoderUnavailable",
        "EvaluatorUnavailable",
        "IndexUnavailable",
        "MissingExtra",
        "SchemaMismatch",
        "SemcacheError",
        "StoreLocked",
        "VerifierUnavailable",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if (module := _HOME.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
