"""The models that an experiment measures with, and the measuring, with a bar that shows how far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from langchain_semcache.backends import make_encoder, make_verifier
from langchain_semcache.cli import screen
from langchain_semcache.cli.options import AsJson, ConfigFile, EncoderName, chosen
from langchain_semcache.config import SemcacheConfig
from langchain_semcache.lab.pairs import Measured, Pair, measure
from langchain_semcache.ports import Encoder, Verifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Which encoder and verifier, as in the settings of a cache."""

    config: ConfigFile = None
    encoder: EncoderName = None
    verifier: Annotated[
        str | None, typer.Option(help="auto, none, local, or cross-encoder:NAME_OR_PATH.")
    ] = None
    json: AsJson = False

    def settings(self, **more: object) -> SemcacheConfig:
        """What was said on the command line, then the file.

        Raises:
            ConfigurationError: The file cannot be read, or a setting is wrong.
        """
        return chosen(self.config, {"encoder": self.encoder, "verifier": self.verifier, **more})


@dataclass(frozen=True, slots=True)
class Loaded:
    """The models a configuration names."""

    config: SemcacheConfig
    encoder: Encoder
    verifier: Verifier | None

    @property
    def named(self) -> str:
        """Both, for a heading."""
        second = self.verifier.identity if self.verifier else "none"
        return f"{self.encoder.identity}, verifier {second}"


def load(config: SemcacheConfig) -> Loaded:
    """Load what the configuration names.

    Raises:
        ConfigurationError: There is no such model, or what it needs is not installed.
    """
    encoder = make_encoder(config.encoder)
    return Loaded(config, encoder, make_verifier(config.verifier, encoder))


def measured(pairs: Sequence[Pair], models: Loaded) -> list[Measured]:
    """Measure every pair while a bar on standard error says how many are done."""
    with screen.progress() as bar:
        task = bar.add_task("measuring pairs", total=len(pairs))
        return measure(
            pairs,
            models.encoder,
            models.verifier,
            progress=lambda done: bar.update(task, completed=done),
        )
