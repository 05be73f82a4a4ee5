"""A directory that holds one Edge store: who owns it, and which generation is the current one.

Layout::

    owner.lock        held exclusively while a process has the store open
    manifest.json     engine, format, dimension, generation, built: the only truth
    g-…/              one Edge shard; any that the manifest does not name is left over

A new generation becomes the current one when the manifest is replaced, which is atomic. Whatever
a killed process left half done is therefore a directory that no manifest names, and goes on open.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import portalocker

from langchain_semcache.errors import ConfigurationError, SchemaMismatch, StoreLocked
from langchain_semcache.index.schema import FORMAT

ENGINE: Final = "qdrant-edge"
LOCK_FILE: Final = "owner.lock"
MANIFEST_FILE: Final = "manifest.json"
PREFIX: Final = "g-"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `manifest.json` says. `built`: points the graphs of the generation were built from."""

    generation: str
    dimension: int
    built: int = 0
    format: int = FORMAT
    engine: str = ENGINE


class StoreDirectory:
    """An Edge directory, owned from `acquire` to `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: portalocker.Lock | None = None

    def acquire(self) -> None:
        """Create the directory if need be and take its lock.

        Raises:
            StoreLocked: Another process has it open.
            ConfigurationError: It cannot be created or written, or holds something else.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._refuse_foreign_contents()
            lock = portalocker.Lock(
                self.path / LOCK_FILE,
                mode="a",
                flags=portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING,
                fail_when_locked=True,
            )
            lock.acquire()
        except portalocker.LockException as error:
            raise StoreLocked(str(self.path)) from error
        except OSError as error:
            raise ConfigurationError(
                f"directory {self.path} cannot be used for a cache ({error.strerror}): "
                f"choose one that this process may create and write"
            ) from error
        self._lock = lock

    def release(self) -> None:
        """Give the lock back; releasing twice is harmless."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def manifest(self) -> Manifest | None:
        """The manifest, or None in a new directory.

        Raises:
            ConfigurationError: It cannot be read.
            SchemaMismatch: Another release wrote it.
        """
        try:
            record = json.loads((self.path / MANIFEST_FILE).read_text("utf-8"))
            found = Manifest(**record)
        except FileNotFoundError:
            return None
        except (OSError, TypeError, ValueError) as error:
            raise ConfigurationError(
                f"{self.path / MANIFEST_FILE} cannot be read ({error}): "
                f"restore it, or choose another directory"
            ) from error
        shard = self.path / found.generation
        if not shard.is_dir():
            raise ConfigurationError(f"{shard} is missing: restore it, or choose another directory")
        if (found.engine, found.format) != (ENGINE, FORMAT):
            raise SchemaMismatch(
                str(self.path), "format", f"{found.engine} {found.format}", f"{ENGINE} {FORMAT}"
            )
        return found

    def commit(self, manifest: Manifest) -> None:
        """Make this manifest the truth, durably and in one step.

        Raises:
            OSError: It could not be written; the old one is still the truth.
        """
        fresh = self.path / f"{MANIFEST_FILE}.new"
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(asdict(manifest), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path / MANIFEST_FILE)
        with suppress(OSError):  # it is the truth by now; only a power cut could undo it
            _sync_directory(self.path)

    def new_generation(self) -> Path:
        """An empty directory whose name was never used here."""
        return Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.path))

    def drop_leftovers(self, keep: str | None) -> None:
        """Remove every generation except the one to keep."""
        for child in self.path.glob(f"{PREFIX}*"):
            if child.name != keep:
                shutil.rmtree(child, ignore_errors=True)

    def _refuse_foreign_contents(self) -> None:
        names = {child.name for child in self.path.iterdir()}
        ours = {LOCK_FILE, MANIFEST_FILE, f"{MANIFEST_FILE}.new"}
        foreign = sorted(name for name in names - ours if not name.startswith(PREFIX))
        if foreign and MANIFEST_FILE not in names:
            raise ConfigurationError(
                f"directory {self.path} already holds something else ({foreign[0]}): "
                f"choose an empty or a new directory"
            )


def _sync_directory(path: Path) -> None:
    if os.name != "posix":
        return  # directories cannot be opened for syncing there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
