"""Texts of strangers in a prompt: as data, between marks that nobody can have written into them."""

from __future__ import annotations

import hashlib
import json
import unicodedata

_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Unicode's categories for what nobody sees: controls, direction marks, tags, lone surrogates."""


def mark_of(*quotations: str) -> str:
    """A digest of quotations: to close its own a text would have to hold the digest of itself."""
    return hashlib.sha256("\n".join(quotations).encode()).hexdigest()[:16]


def quoted(text: str) -> str:
    """A JSON string on one line in which everything can be seen."""
    return printable(json.dumps(text, ensure_ascii=False))


def printable(text: str) -> str:
    """The text with an escape for everything that nobody sees."""
    return "".join(
        _escaped(character) if unicodedata.category(character) in _UNSEEN else character
        for character in text
    )


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1]
