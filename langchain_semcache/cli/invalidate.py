"""`semcache invalidate` and `semcache source-changed`: let go of what is no longer true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from langchain_semcache.cli.options import Where, Whose, duration, spread
from langchain_semcache.cli.removal import Sure, carry_out
from langchain_semcache.client import Semcache
from langchain_semcache.errors import ConfigurationError
from langchain_semcache.lineage import content_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which entries go: everything that is said must match."""

    tag: Annotated[list[str] | None, typer.Option(help="With this tag; may be repeated.")] = None
    model: Annotated[str | None, typer.Option(help="Answers of this model.")] = None
    prompt: Annotated[
        str | None, typer.Option(help="Asked with this prompt: NAME, or NAME@VERSION.")
    ] = None
    source: Annotated[str | None, typer.Option(help="Answers that rest on this source.")] = None
    older_than: Annotated[
        str | None, typer.Option(help="Stored longer ago: 90s, 15m, 12h, 7d, 2w.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a source holds now; one of these has to be said."""

    hash: Annotated[
        list[str] | None,
        typer.Option("--hash", help="Its new hash; once for each piece of it."),
    ] = None
    file: Annotated[
        Path | None, typer.Option("--file", help="The file itself, whose hash is computed.")
    ] = None
    gone: Annotated[bool, typer.Option("--gone", help="It does not exist any more.")] = False

    def hashes(self) -> Sequence[str] | None:
        """The hashes, as `source_changed` takes them.

        Raises:
            ConfigurationError: Not exactly one thing was said, or the file cannot be read.
        """
        said = [bool(self.hash), self.file is not None, self.gone]
        if sum(said) != 1:
            raise ConfigurationError(
                "source-changed has to know the new content: give one of --hash, --file, --gone"
            )
        if self.file is None:
            return self.hash
        try:
            return [content_hash(self.file.read_bytes())]
        except OSError as error:
            raise ConfigurationError(
                f"{self.file} cannot be read ({error.strerror}): name the file, or use --gone"
            ) from error


Removing = Callable[[Semcache, bool], int]


@spread
def invalidate(where: Where, whose: Whose, which: Which, sure: Sure) -> None:
    """Remove the entries that match everything said; asks first."""
    named = chosen(whose, which)
    if named is None:
        raise ConfigurationError(
            "invalidate has to know which entries: name at least one of --tag, --source, --model, "
            "--prompt, --tenant, --older-than (`semcache clear` removes all)"
        )
    carry_out("invalidate", where, whose.namespace, sure, named)


@spread
def source_changed(
    where: Where,
    whose: Whose,
    content: Content,
    sure: Sure,
    *,
    source: Annotated[str, typer.Argument(help="Its name, as answers have it: faq.md.")],
) -> None:
    """Remove the entries that were made of other content of this source; asks first."""
    hashes = content.hashes()

    def remove(cache: Semcache, dry_run: bool) -> int:
        return cache.source_changed(source, hashes, tenant=whose.tenant, dry_run=dry_run)

    carry_out("source-changed", where, whose.namespace, sure, remove)


def chosen(whose: Whose, which: Which) -> Removing | None:
    """How to remove what was named; None where nothing was.

    Raises:
        ConfigurationError: The age is no duration.
    """
    older = duration(which.older_than) if which.older_than is not None else None
    # An empty name is a name: `--model ""` must never widen into everything.
    named = (which.model, which.prompt, which.source, older, whose.tenant)
    if not which.tag and all(one is None for one in named):
        return None

    def remove(cache: Semcache, dry_run: bool) -> int:
        return cache.invalidate(
            tags=which.tag or (),
            source=which.source,
            prompt=which.prompt,
            model=which.model,
            tenant=whose.tenant,
            older_than=older,
            dry_run=dry_run,
        )

    return remove
