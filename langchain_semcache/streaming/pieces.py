"""What one chunk of a stream brings, whichever host it came through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

TEXT, REASONING, CALLS = 0, 1, 2
"""Tracks: the answer, the reasoning, and from 2 on the arguments of the first call, the second …"""

Run: TypeAlias = tuple[object, str]
"""Some text, and what it belongs to: a track, or the name or id of a call."""


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A part of a call to a tool. `arguments` is a part of its JSON text."""

    index: int = 0
    id: str = ""
    name: str = ""
    arguments: str = ""


class Piece(NamedTuple):
    """One chunk, reduced to what every host has. A tuple: one is made of every chunk that passes.

    Attributes:
        usage: Token counts by name, where this chunk tells them.
        finish_reason: Why the model stops, where this chunk says so.
        refused: Whether it is a part of a refusal.
        other: What else a reader is given by it, as text to compare.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[CallPiece, ...] = ()
    role: str = ""
    usage: Mapping[str, object] | None = None
    finish_reason: str | None = None
    refused: bool = False
    other: str = ""

    @property
    def size(self) -> int:
        """Code points that the chunk adds to the answer."""
        size = len(self.text) + len(self.reasoning) + len(self.other)
        for call in self.calls:
            size += len(call.name) + len(call.arguments)
        return size

    def tracks(self) -> list[tuple[int, int]]:
        """For each track that the chunk adds to, how many code points."""
        found = []
        if self.reasoning:
            found.append((REASONING, len(self.reasoning)))
        if self.text:
            found.append((TEXT, len(self.text)))
        found += [(CALLS + c.index, len(c.arguments)) for c in self.calls if c.arguments]
        return found

    def runs(self) -> list[Run]:
        """Everything that a reader is given by it, in order; ids of calls are left out.

        Providers draw a new id for every call, so two answers that are the same differ in them.
        """
        found: list[Run] = [(REASONING, self.reasoning), (TEXT, self.text)]
        for call in self.calls:
            found += [(("name", call.index), call.name), (CALLS + call.index, call.arguments)]
        found.append(("other", self.other))
        return [run for run in found if run[1]]
