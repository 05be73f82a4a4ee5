"""The settings that only LiteLLM users have, beside those of the cache itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeVar

from langchain_semcache.config import SemcacheConfig
from langchain_semcache.errors import ConfigurationError

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
        cache: The settings of the cache itself.
    """

    share: Share = Share.END_USER
    mode: Mode = Mode.DEFAULT_ON
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
        given = dict(settings)
        share = one_of(Share, given.pop("share", Share.END_USER), "share")
        mode = one_of(Mode, given.pop("mode", Mode.DEFAULT_ON), "mode")
        try:
            return cls(share=share, mode=mode, cache=SemcacheConfig.of(**given))
        except ConfigurationError as error:
            told = str(error).replace("the settings are ", "the settings are mode, share, ")
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
        raise ConfigurationError(f"{name} must be one of {known}, not {value!r}") from error
