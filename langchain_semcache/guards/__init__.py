"""Cheap, explainable refusals: a near text that asks something else does not get the answer."""

from langchain_semcache.guards import identifiers, language, numeric, order, polarity
from langchain_semcache.guards._reading import Reading, Refusal, read

_GUARDS = (numeric.check, identifiers.check, polarity.check, language.check, order.check)
"""From the cheapest and surest to the dearest."""


def check(question: str, stored: str) -> Refusal | None:
    """Whether the answer to `stored` must not be served for `question`, and why.

    Refuses only for a difference that it can name; a paraphrase or a typing error passes. Texts
    that differ in case, width or closing punctuation alone always pass. Symmetric in its verdict.
    """
    if question == stored:
        return None
    ours, theirs = read(question), read(stored)
    if ours.core == theirs.core:
        return None
    for guard in _GUARDS:
        refusal = guard(ours, theirs)
        if refusal is not None:
            return refusal
    return None


__all__ = ["Reading", "Refusal", "check"]
