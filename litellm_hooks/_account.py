"""Whose account at a provider a program's call goes by, where its arguments do not say."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from langchain_semcache.errors import MissingExtra

try:
    import litellm
except ImportError as error:
    raise MissingExtra("litellm_hooks", "litellm", "litellm") from error

_OF_A_CLIENT = ("base_url", "api_key", "organization", "project")

_GLOBAL = tuple(
    sorted(
        name
        for name in vars(litellm)
        if name in ("api_base", "organization") or name.endswith(("_key", "_project"))
    )
)
"""`litellm.api_key`, `litellm.openai_key` and the like: they hold for calls that bring none."""


def account_of(kwargs: Mapping[str, object]) -> str:
    """A digest of the client that a call brings and of what is set on `litellm` itself.

    The empty text where there is neither.
    """
    client = kwargs.get("client")
    found = {f"client.{name}": getattr(client, name, None) for name in _OF_A_CLIENT}
    found |= {name: getattr(litellm, name, None) for name in _GLOBAL}
    told = {name: str(value) for name, value in found.items() if _says(value)}
    if not told:
        return ""
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]


def _says(value: object) -> bool:
    # A client's URL is an object; what is callable makes a key and is none.
    return bool(value) and not callable(value) and not isinstance(value, bool)
