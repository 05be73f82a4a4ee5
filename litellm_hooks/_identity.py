"""Whose call this is, on the proxy: read from what LiteLLM authenticated, never from the body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote

from litellm_hooks.settings import Share

TENANT = "semcache_tenant"
"""Where the proxy's hook notes the tenant among a call's metadata, over whatever stands there."""

METADATA = ("litellm_metadata", "metadata")
"""The two places where LiteLLM keeps what it knows of a call; the first, where there is one."""

FACTS = "semcache"
"""Where the facts of a decision stand among a call's metadata."""

SIMILARITY = "semantic-similarity"
"""Where LiteLLM looks for what it sends as `x-litellm-semantic-similarity`."""

CLAIMED = (FACTS, SIMILARITY, "model_group", "caching_groups")
"""What a client may not say of itself: LiteLLM writes these after it has chosen a deployment."""

_LEVELS = (Share.ORGANIZATION, Share.TEAM, Share.KEY)


class Identity(Protocol):
    """What LiteLLM says about an authenticated caller (`UserAPIKeyAuth`)."""

    api_key: str | None
    user_id: str | None
    team_id: str | None
    org_id: str | None
    end_user_id: str | None


class Noted(str):
    """A tenant that the proxy's hook has noted: no body of a call can make one."""

    __slots__ = ()


def tenant_of(identity: Identity, share: Share) -> str:
    """The name of the bucket that this caller shares; the empty text for one who has none.

    Who lacks the identity that is shared by gets a bucket of the next stricter one: a key without a
    team shares with nobody else, and who came in without a key (a JWT) is told apart by user.
    """
    if share is Share.EVERYONE:
        return "everyone"
    held = {
        Share.ORGANIZATION: identity.org_id,
        Share.TEAM: identity.team_id,
        Share.KEY: identity.api_key,
    }
    stricter = _LEVELS[_LEVELS.index(share) if share in _LEVELS else -1 :]
    name = next((_named(level, held[level]) for level in stricter if held[level]), "")
    if not name and identity.user_id:
        name = _named("user", identity.user_id)
    if name and share is Share.END_USER and identity.end_user_id:
        return f"{name}/{_named(Share.END_USER, identity.end_user_id)}"
    return name


def note(data: dict[str, Any], tenant: str) -> None:
    """Note whose call this is where LiteLLM keeps what it knows of a call, and nowhere else.

    On some routes `metadata` is the client's own and goes to the provider; there LiteLLM has a
    place beside it. What stands there under names that decide something is the client's, too.
    """
    held = [data[place] for place in METADATA if isinstance(data.get(place), dict)]
    for place in held:
        for name in (TENANT, *CLAIMED):
            place.pop(name, None)
    if held and tenant:
        held[0][TENANT] = Noted(tenant)


def noted_tenant(kwargs: Mapping[str, object]) -> str:
    """What the proxy's hook noted on this call; the empty text where it did not see it."""
    for place in METADATA:
        held = kwargs.get(place)
        if isinstance(held, Mapping) and isinstance(name := held.get(TENANT), Noted):
            return name
    return ""


def _named(level: str, value: str | None) -> str:
    """Quoted, so that no id can be read as two."""
    return f"{level}:{quote(str(value), safe='')}"
