"""Who may share an answer, and what was asked: requests to `Scope` and `Query`, by value alone."""

from langchain_semcache.request.canonical import Canonicaliser, canonical, digest, nfc
from langchain_semcache.request.resolve import (
    KEY_VERSION,
    Resolved,
    resolve,
    tenant_digest,
    was_told,
    with_exact_history,
    with_sources,
)
from langchain_semcache.request.settings import RequestSettings

__all__ = [
    "KEY_VERSION",
    "Canonicaliser",
    "RequestSettings",
    "Resolved",
    "canonical",
    "digest",
    "nfc",
    "resolve",
    "tenant_digest",
    "was_told",
    "with_exact_history",
    "with_sources",
]
