"""Model files that come inside packages of the registry: found without importing them, checked.

Nothing is downloaded here, and no code of such a package runs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from langchain_semcache.errors import ConfigurationError, CorruptWeights, MissingExtra


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model.

    Attributes:
        package: Distribution that carries it, with the version that the digest belongs to.
        path: Where it lies, relative to the folder that holds the installed packages.
        sha256: Hexadecimal digest of the file that this release was tested with.
    """

    package: str
    path: str
    sha256: str

    def locate(self, directory: Path | None, *, feature: str, extra: str) -> Path:
        """The file on disk: in `directory` when given, otherwise in the installed package.

        Raises:
            MissingExtra: The package, or the file in it, is not there.
            ConfigurationError: The file is not in `directory`.
        """
        if directory is not None:
            return self._in(directory, feature)
        name = self.package.partition("==")[0]
        try:
            found = Path(str(metadata.distribution(name).locate_file(self.path)))
        except metadata.PackageNotFoundError:
            raise MissingExtra(feature, extra, self.package) from None
        if not found.is_file():
            raise MissingExtra(feature, extra, f"{found} of {self.package}")
        return found

    def _in(self, directory: Path, feature: str) -> Path:
        found = directory / Path(self.path).name
        if not found.is_file():
            raise ConfigurationError(
                f"{feature} found no file {found.name} in {directory}: "
                f"put the one of {self.package} there, or leave directory out"
            )
        return found

    def verify(self, path: Path) -> None:
        """Read `path` once, in pieces, and compare its digest.

        Raises:
            CorruptWeights: The file is truncated, altered or of another version.
        """
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.sha256:
            raise CorruptWeights(str(path), self.sha256, found, self.package)
