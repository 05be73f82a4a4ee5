"""Answers in pieces: the fingerprint of a sequence that is still growing."""

from langchain_semcache.streaming.fingerprint import (
    TextFingerprint,
    TokenFingerprint,
    Trail,
    common_prefix,
    is_whole,
)

__all__ = ["TextFingerprint", "TokenFingerprint", "Trail", "common_prefix", "is_whole"]
