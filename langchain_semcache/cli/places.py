"""Opening a cache that is already there. Looking at a place must not make a cache in it."""

from __future__ import annotations

import math
from pathlib import Path
from urllib.parse import urlsplit

from langchain_semcache.client import Semcache
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.index._edge_directory import MANIFEST_FILE


class NoCache(ConfigurationError):
    """There is nothing to look at in the place that was named."""

    def __init__(self, location: str, what: str = "") -> None:
        super().__init__(
            f"there is no cache in {what or location}: name its place with --location, "
            f"or make one with SemanticCache({location!r}) or with `semcache demo`"
        )


def open_existing(config: SemcacheConfig) -> Semcache:
    """The cache that lies in this place.

    Raises:
        NoCache: There is none, and none was made.
        ConfigurationError: It is locked, unreachable, or does not fit.
    """
    if config.location == ":memory:":
        raise ConfigurationError(
            "--location :memory: lives and ends with its process: name a directory or a URL"
        )
    if config.is_url:
        _require_collection(config)
    elif not holds_store(Path(config.location)):
        raise NoCache(config.location)
    return Semcache.open(config)


def holds_store(directory: Path) -> bool:
    """Whether a store was made in this directory."""
    return (directory / MANIFEST_FILE).is_file()


def shown(location: str) -> str:
    """The place as it may be printed: a URL without user and password."""
    parts = urlsplit(location)
    if "@" not in parts.netloc:
        return location
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _require_collection(config: SemcacheConfig) -> None:
    from qdrant_client import QdrantClient
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    qdrant, place = config.qdrant, shown(config.location)
    client = QdrantClient(
        url=config.location,
        api_key=qdrant.api_key.get_secret_value() if qdrant.api_key else None,
        timeout=math.ceil(config.deadline_seconds),
        check_compatibility=False,  # its warning would be a second line
    )
    try:
        found = client.collection_exists(qdrant.collection)
    except (ResponseHandlingException, UnexpectedResponse, OSError) as error:
        raise ConfigurationError(
            f"the Qdrant server at {place} does not answer ({type(error).__name__}): "
            f"start it, or correct --location"
        ) from error
    finally:
        client.close()
    if not found:
        raise NoCache(place, f"{place} (no collection {qdrant.collection!r})")
