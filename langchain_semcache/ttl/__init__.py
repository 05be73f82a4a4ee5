"""How long an answer lives."""

from langchain_semcache.ttl.expiry import UNSET, Unset, checked_ttl, expires_at

__all__ = ["UNSET", "Unset", "checked_ttl", "expires_at"]
