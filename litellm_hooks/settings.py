"""The settings that only LiteLLM users have, beside those of the cache itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Self, TypeVar, get_args

from pydantic import BaseModel

from langchain_semcache.config import SemcacheConfig, without_password
from langchain_semcache.errors import ConfigurationError

_SCALARS = frozenset({int, float, bool, timedelta})
_FROM_ENVIRONMENT = "os.environ/"

Kind = TypeVar("Kind", bound=StrEnum)


class Share(StrEnum):
    """Who may get an answer that was given to somebody else."""

    EVERYONE = "everyone"
    ORGANIZATION = "organization"
    TEAM = "team"
    KEY = "key"
    END_USER = "end_user"


class Mode(StrEnum):
    """Whether a request is cached that says nothing about it."""

    DEFAULT_ON = "default_on"
    DEFAULT_OFF = "default_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSettings:
    """What LiteLLM users can choose beyond `SemcacheConfig`.

    Attributes:
        share: On the proxy, who shares answers: "end_user" (each end user of each key, the
            default), "key", "team", "organization" or "everyone". Who lacks the identity that is
            shared by gets the next stricter one.
        mode: "default_on", or "default_off": then only requests with `cache={"use-cache": True}`.
        evaluator: The model that is asked about its answers, by its name in the proxy's config or
            LiteLLM's; needs the setting `confidence_eviction.enabled`. Nobody by default.
        cache: The settings of the cache itself.
    """

    share: Share = Share.END_USER
    mode: Mode = Mode.DEFAULT_ON
    evaluator: str = ""
    cache: SemcacheConfig

    @classmethod
    def of(cls, settings: object) -> Self:
        """Read what stands under `callback_settings: semcache:` in the proxy's config.

        Raises:
            ConfigurationError: One line that names each wrong setting and what it accepts.
        """
        if settings is None:
            settings = {}
        if not isinstance(settings, Mapping) or not all(isinstance(name, str) for name in settings):
            # Not shown: it may be a URL with a password.
            raise ConfigurationError(
                "callback_settings.semcache must be a mapping of settings, such as "
                f"{{location: ./.semcache}}, not {type(settings).__name__}"
            )
        given = numbers_from_text(settings, SemcacheConfig)
        share = one_of(Share, given.pop("share", Share.END_USER), "share")
        mode = one_of(Mode, given.pop("mode", Mode.DEFAULT_ON), "mode")
        evaluator = given.pop("evaluator", None) or ""
        if not isinstance(evaluator, str):
            kind = type(evaluator).__name__
            raise ConfigurationError(f"evaluator must be the name of a model, not {kind}")
        try:
            cache = SemcacheConfig.of(**given)
            return cls(share=share, mode=mode, evaluator=evaluator, cache=cache)
        except ConfigurationError as error:
            own = "the settings are evaluator, mode, share, "
            told = str(error).replace("the settings are ", own)
            raise ConfigurationError(told) from error


def one_of(kind: type[Kind], value: object, name: str) -> Kind:
    """The value as one of its kind.

    Raises:
        ConfigurationError: It is none; the message says which there are.
    """
    try:
        return kind(str(value))
    except ValueError as error:
        known = ", ".join(kind)
        told = without_password(repr(value))
        raise ConfigurationError(f"{name} must be one of {known}, not {told}") from error


def numbers_from_text(settings: Mapping[str, object], config: type[BaseModel]) -> dict[str, object]:
    """The settings, with "3600" as 3600 and "true" as true where a number or a flag is expected.

    What the proxy's config takes from the environment (`os.environ/NAME`) arrives as text.
    """
    read = dict(settings)
    for name, value in settings.items():
        kinds = _kinds(config.model_fields[name].annotation) if name in config.model_fields else ()
        inner = next((k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), None)
        if inner is not None and isinstance(value, Mapping):
            read[name] = numbers_from_text(value, inner)
        elif isinstance(value, str) and _SCALARS.intersection(kinds) and str not in kinds:
            with suppress(ValueError):
                read[name] = json.loads(value.strip().lower())
    return read


def unset_variables(written: Mapping[str, object], read: Mapping[str, object]) -> dict[str, str]:
    """The settings that the proxy's config takes from variables that are not set, with those."""
    found: dict[str, str] = {}
    for name, value in written.items():
        resolved = read.get(name)
        if isinstance(value, Mapping) and isinstance(resolved, Mapping):
            inner = unset_variables(value, resolved)
            found |= {f"{name}.{one}": variable for one, variable in inner.items()}
        elif isinstance(value, str) and value.startswith(_FROM_ENVIRONMENT) and not resolved:
            found[name] = value.removeprefix(_FROM_ENVIRONMENT)
    return found


def _kinds(annotation: object) -> frozenset[object]:
    """A type and all that it is made of."""
    inner = (_kinds(one) for one in get_args(annotation))
    hashable = annotation if isinstance(annotation, type) else type(annotation)
    return frozenset({hashable}).union(*inner)
