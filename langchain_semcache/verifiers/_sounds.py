"""Which Chinese characters sound alike, tones aside: what an input method mistypes.

`sounds.txt` is made by `scripts/build_sounds.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources


def sound(char: str) -> str:
    """The syllable of a character, or the character itself where none is known."""
    return _syllables().get(char, char)


def same_sound(char: str) -> str:
    """All characters that sound like this one, itself among them, the commonest first."""
    syllable = _syllables().get(char)
    return char if syllable is None else _characters()[syllable]


@lru_cache(maxsize=1)
def _characters() -> Mapping[str, str]:
    text = resources.files(__package__).joinpath("sounds.txt").read_text("utf-8")
    lines = (line.split(" ", 1) for line in text.splitlines())
    return dict(lines)


@lru_cache(maxsize=1)
def _syllables() -> Mapping[str, str]:
    return {char: syllable for syllable, chars in _characters().items() for char in chars}
