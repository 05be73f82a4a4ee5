"""Whose call this is, on the proxy: read from what LiteLLM authenticated, never from the body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol
from urllib.parse import quote

from litellm_hooks.settings import Share

TENANT = "semcache_tenant"
"""Where the proxy's hook notes the tenant among a call's metadata, over whatever stands there."""

METADATA = ("metadata", "litellm_metadata")
"""The two places where LiteLLM keeps what it knows of a call; which one depends on the route."""

_WIDER = (Share.ORGANIZATION, Share.TEAM, Share.KEY)


class Identity(Protocol):
    """What LiteLLM says about an authenticated caller (`UserAPIKeyAuth`)."""

    api_key: str | None
    team_id: str | None
    org_id: str | None
    end_user_id: str | None


def tenant_of(identity: Identity, share: Share) -> str:
    """The name of the bucket that this caller shares.

    Who lacks the identity that is shared by gets a bucket of the next stricter one, never one that
    matches everybody: a key without a team shares with nobody else.
    """
    if share is Share.EVERYONE:
        return "everyone"
    held = {
        Share.ORGANIZATION: identity.org_id,
        Share.TEAM: identity.team_id,
        Share.KEY: identity.api_key,
    }
    wanted = _WIDER[min(_place(share), len(_WIDER) - 1) :]
    name = next((_named(level, held[level]) for level in wanted if held[level]), "key:none")
    if share is Share.END_USER and identity.end_user_id:
        return f"{name}/{_named(Share.END_USER, identity.end_user_id)}"
    return name


def noted_tenant(kwargs: Mapping[str, object]) -> str:
    """What the proxy's hook noted on this call; the empty text where it did not see it."""
    for place in METADATA:
        held = kwargs.get(place)
        if isinstance(held, Mapping) and isinstance(name := held.get(TENANT), str):
            return name
    return ""


def _place(share: Share) -> int:
    return _WIDER.index(share) if share in _WIDER else len(_WIDER)


def _named(level: Share, value: str | None) -> str:
    """Quoted, so that no id can be read as two."""
    return f"{level}:{quote(str(value), safe='')}"
