"""Cheap, explainable refusals: a near text that asks something else does not get the answer."""

from dataclasses import replace

from langchain_semcache.guards import (
    asking,
    identifiers,
    instruction,
    language,
    moment,
    numeric,
    order,
    polarity,
    rearrangement,
    rearrangement_han,
    roles,
    scope,
)
from langchain_semcache.guards._reading import Reading, Refusal, read, reworded, weightiest
from langchain_semcache.guards.asker import personal
from langchain_semcache.guards.asking import KINDS
from langchain_semcache.guards.moment import volatile

_GUARDS = (
    numeric.check,
    identifiers.check,
    polarity.check,
    language.check,
    instruction.check,
    moment.check,
    asking.check,
    scope.check,
    order.check,
    roles.check,
    rearrangement.check,
    rearrangement_han.check,
)
"""From the cheapest and surest to the dearest."""


def check(question: str, stored: str) -> Refusal | None:
    """Whether the answer to `stored` must not be served for `question`, and why.

    Refuses only for a difference that it can name; a paraphrase or a typing error passes. Texts
    that differ in case, width or closing punctuation alone always pass. Symmetric in its verdict.
    A refusal that is `final` goes before one that confidence may outweigh.
    """
    if question == stored:
        return None
    ours, theirs = read(question), read(stored)
    if ours.core == theirs.core:
        return None
    refusal = weightiest(guard(ours, theirs) for guard in _GUARDS)
    if refusal is not None and refusal.one_sided and reworded(ours, theirs):
        return replace(refusal, final=False)
    return refusal


def kind(question: str) -> str:
    """The class a question is counted in, one of `KINDS`: its script and what it asks for."""
    reading = read(question)
    return f"{'han' if reading.has_han else 'other'} {asking.asked(reading) or 'unclear'}"


__all__ = ["KINDS", "Reading", "Refusal", "check", "kind", "personal", "volatile"]
