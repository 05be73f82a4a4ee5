"""The options that commands share, and what they mean as a configuration."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from langchain_semcache.config import SemcacheConfig
from langchain_semcache.errors import ConfigurationError

VARIABLE = "SEMCACHE_LOCATION"

ConfigFile = Annotated[
    Path | None, typer.Option("--config", "-c", help="TOML file with the cache's settings.")
]
EncoderName = Annotated[
    str | None,
    typer.Option("--encoder", help="local, hash, or sentence-transformers:NAME_OR_PATH."),
]
Namespace = Annotated[
    str | None, typer.Option("--namespace", "-n", help="Partition of the application.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document and nothing else.")]

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which cache is meant, and how its answer is written."""

    location: Annotated[
        str | None,
        typer.Option(
            "--location",
            "-l",
            help="Directory, :memory:, or URL of a Qdrant server. Without it: what the file says, "
            "then the variable SEMCACHE_LOCATION, then ./.semcache",
        ),
    ] = None
    config: ConfigFile = None
    encoder: EncoderName = None
    json: AsJson = False

    def settings(self, **more: object) -> SemcacheConfig:
        """What was said on the command line, then the file, then the environment.

        Raises:
            ConfigurationError: The file cannot be read, or a setting is wrong.
        """
        given = {"location": self.location or None, "encoder": self.encoder, **more}
        said = chosen(self.config, given)
        # What is said for this call goes before what lies about in the environment.
        elsewhere = None if "location" in said.model_fields_set else os.environ.get(VARIABLE)
        return SemcacheConfig.of(said, location=elsewhere) if elsewhere else said


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """Whose entries are meant."""

    namespace: Namespace = None
    tenant: Annotated[
        str | None, typer.Option("--tenant", "-t", help="Who shares the answers.")
    ] = None


def chosen(file: Path | None, said: Mapping[str, object]) -> SemcacheConfig:
    """What was said on the command line, then the file; None is what was not said.

    Raises:
        ConfigurationError: The file cannot be read, or a setting is wrong.
    """
    base = None if file is None else SemcacheConfig.from_file(file)
    given = {name: value for name, value in said.items() if value is not None}
    return SemcacheConfig.of(base, **given)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take dataclasses of options: each field becomes an option of its own."""
    hints = typing.get_type_hints(command, include_extras=True)
    groups = {
        name: hint
        for name, hint in hints.items()
        if isinstance(hint, type) and dataclasses.is_dataclass(hint)
    }
    own = [p for p in inspect.signature(command).parameters.values() if p.name not in groups]
    parameters = [p.replace(annotation=hints[p.name]) for p in own]
    for group in groups.values():
        types = typing.get_type_hints(group, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=types[field.name],
            )
            for field in dataclasses.fields(group)
        ]

    def run(**given: object) -> None:
        gathered: dict[str, object] = {}
        for name, group in groups.items():
            fields = [field.name for field in dataclasses.fields(group)]
            gathered[name] = group(**{field: given.pop(field) for field in fields})
        command(**given, **gathered)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # PEP 362
    return run


def duration(text: str, *, option: str = "--older-than") -> timedelta:
    """`90s`, `15m`, `12h`, `7d` or `2w`, given as this option.

    Raises:
        ConfigurationError: It is none of these.
    """
    found = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip())
    if found is None:
        raise ConfigurationError(
            f"{option} {text!r} is no duration: write a number and s, m, h, d or w, as in 7d"
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def byte_count(text: str) -> float:
    """`500kB`, `64MB`, `1.5GB`, or a number of bytes; steps of a thousand.

    Raises:
        ConfigurationError: It is none of these, or 0.
    """
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kMG]?)B?", text.strip())
    size = float(found[1]) * 1000 ** " kMG".index(found[2] or " ") if found else 0.0
    if not size:
        raise ConfigurationError(f"{text!r} is no size: write bytes, or kB, MB or GB, as in 64MB")
    return size
