"""A directory that holds one Edge store: who owns it, and which generation is the current one.

Layout::

    owner.lock        held exclusively while a process has the store open
    manifest.json     engine, format, dimension, generation, built: the only truth
    g-…/              one Edge shard, and the mark that makes the directory a generation of ours

A new generation becomes the current one when the manifest is replaced, which is atomic. Whatever
a killed process left half done is therefore a generation that no manifest names, and goes on open.

Nothing is ever removed but generations, and a generation is what was marked before it was used:
`semcache-unfinished` until it is about to become the current one, `semcache-generation` from then
on. The second kind may hold entries that exist nowhere else, so it goes only where a manifest
names another one.
"""

from __future__ import annotations

import json
import os
import re
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
FRESH_MANIFEST_FILE: Final = "manifest.json.new"
PREFIX: Final = "g-"
UNFINISHED: Final = "semcache-unfinished"
FINISHED: Final = "semcache-generation"

_MARK: Final = b"langchain-semcache\n"
_NAME: Final = re.compile(f"{PREFIX}[a-z0-9_]{{8}}")  # what mkdtemp makes of the prefix


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
            ConfigurationError: It cannot be created or written, or holds something else; what it
                holds is untouched.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if self._record() is None:
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
            ConfigurationError: It cannot be read, or is missing while a generation is there.
            SchemaMismatch: Another release wrote it.
        """
        found = self._record()
        if found is None:
            if any((generation / FINISHED).exists() for generation in self._generations()):
                raise ConfigurationError(
                    f"directory {self.path} holds a cache whose {MANIFEST_FILE} is missing: "
                    f"restore it, or choose another directory"
                )
            return None
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
        generation = self.path / manifest.generation
        fresh = self.path / FRESH_MANIFEST_FILE
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(asdict(manifest), file)
            file.flush()
            os.fsync(file.fileno())
        (generation / UNFINISHED).replace(generation / FINISHED)
        with suppress(OSError):
            _sync_directory(generation)
        fresh.replace(self.path / MANIFEST_FILE)
        with suppress(OSError):  # it is the truth by now; only a power cut could undo it
            _sync_directory(self.path)

    def new_generation(self) -> Path:
        """A marked directory whose name was never used here, for a shard to be made in."""
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.path))
        (path / UNFINISHED).write_bytes(_MARK)
        return path

    def drop_leftovers(self, keep: str | None) -> None:
        """Remove every generation except the one to keep, and nothing else."""
        for generation in self._generations():
            if generation.name != keep:
                remove_generation(generation)

    def _record(self) -> Manifest | None:
        """What the manifest says, or None where there is none."""
        path = self.path / MANIFEST_FILE
        try:
            return _read_manifest(path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, TypeError, ValueError) as error:
            raise ConfigurationError(
                f"{path} cannot be read ({error}): restore it, or choose another directory"
            ) from error

    def _generations(self) -> list[Path]:
        return [child for child in self.path.iterdir() if _is_generation(child)]

    def _refuse_foreign_contents(self) -> None:
        """In a directory without a manifest: nothing but what a killed process of ours left."""
        ours = {generation.name for generation in self._generations()}
        if ours:
            ours.add(FRESH_MANIFEST_FILE)
        foreign = sorted(
            child.name
            for child in self.path.iterdir()
            if child.name not in ours | {LOCK_FILE} and not _is_unmarked(child)
        )
        if foreign:
            raise ConfigurationError(
                f"directory {self.path} already holds something else ({foreign[0]}): "
                f"choose an empty or a new directory"
            )


def _read_manifest(text: str) -> Manifest:
    manifest = Manifest(**json.loads(text))
    if not _NAME.fullmatch(manifest.generation):  # its directory will be removed one day
        raise ValueError(f"{manifest.generation!r} is no generation")
    return manifest


def remove_generation(path: Path) -> None:
    """Remove a generation, its mark last: what a kill leaves of it is still known as ours."""
    with suppress(OSError):
        for child in path.iterdir():
            if child.is_dir():
                shutil.rmtree(child, ignore_errors=True)
            elif child.name not in {UNFINISHED, FINISHED}:
                child.unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)


def _is_generation(path: Path) -> bool:
    """Whether this is beyond doubt a directory that `new_generation` made."""
    if not _NAME.fullmatch(path.name) or path.is_symlink():
        return False
    return any(_holds_mark(path / name) for name in (UNFINISHED, FINISHED))


def _holds_mark(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_MARK) + 1) == _MARK
    except OSError:
        return False


def _is_unmarked(path: Path) -> bool:
    """Whether this may be a generation that a kill left before it got its mark; it harms nobody."""
    if not _NAME.fullmatch(path.name) or path.is_symlink() or not path.is_dir():
        return False
    return all(child.name == UNFINISHED and not child.stat().st_size for child in path.iterdir())


def _sync_directory(path: Path) -> None:
    if os.name != "posix":
        return  # directories cannot be opened for syncing there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
