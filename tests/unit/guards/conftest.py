"""Pairs of questions, written one a line with a bar between, and what is promised of them."""

from __future__ import annotations

from langchain_semcache.guards import check
from langchain_semcache.records import Reason


def pairs(text: str) -> list[tuple[str, str]]:
    """The two questions of each line."""
    lines = [line.split(" | ") for line in text.strip().splitlines()]
    return [(one.strip(), other.strip()) for one, other in lines]


def refused(texts: dict[Reason, str]) -> list[tuple[str, str, Reason]]:
    """The pairs of all texts, each with the reason of its text."""
    return [(*pair, reason) for reason, text in texts.items() for pair in pairs(text)]


def assert_refused(question: str, stored: str, reason: Reason) -> None:
    """For that reason, which is explained; and whichever of the two was stored."""
    refusal = check(question, stored)
    assert refusal is not None
    assert refusal.reason is reason
    assert refusal.detail
    assert check(stored, question) is not None


def assert_passes(question: str, stored: str) -> None:
    """Whichever of the two was stored."""
    assert check(question, stored) is None
    assert check(stored, question) is None
