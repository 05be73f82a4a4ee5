"""What is found out about a question only when its exact entry is not there.

All of this reads the words of the question, and a request that comes back word for word does not
need it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from langchain_semcache.context import asked_part, asks_for_a_fact, is_standalone
from langchain_semcache.guards import personal
from langchain_semcache.records import Query, Reason
from langchain_semcache.request import was_told, with_exact_history

WINDOWS = "-windows"
"""Ends the partition of long questions, which are searched by another kind of vector."""

LONGEST = 4_000
"""Characters of a question that is compared by meaning at all, window by window."""


def refine(query: Query, *, split: Callable[[str], tuple[str, ...]] | None) -> Query:
    """Whose question it is, and how it can be compared.

    Args:
        split: A long question in windows that fit the encoder; None compares no long ones.
    """
    if query.exact_only is Reason.BEYOND_WINDOW and split is not None:
        query = _in_windows(query, split)
    if query.exact_only is None and personal(query.text):
        return replace(query, exact_only=Reason.PERSONAL_QUESTION)
    if not query.turns:
        return query
    alone = is_standalone(query.text)
    if alone and was_told(query) and not asks_for_a_fact(query.text):
        # What the question refers to is compared, but not for whom it is asked.
        return with_exact_history(query)
    return query if query.windows else replace(query, asks=asked_part(query.text))


def _in_windows(query: Query, split: Callable[[str], tuple[str, ...]]) -> Query:
    """A long question in windows; in a partition of its own, where no short one is met."""
    windows = split(query.text) if len(query.text) <= LONGEST else ()
    if not windows:
        return query
    partition = query.partition + WINDOWS
    return replace(query, windows=windows, partition=partition, exact_only=None)
