"""The policy that goes by what somebody else expects of each entry."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Final

_ANEW: Final = 64
"""The order is made anew once this part of the entries, or this many, has gone or come."""


class Predicted:
    """What is expected to save least goes first: uses that are expected, times what each is worth.

    Among equals the one goes first that was stored or served longest ago. The order is made anew
    now and then, and not for each entry that goes: that takes about a microsecond an entry.

    Args:
        uses: Expected uses of an entry; of one that is new, what is expected of new ones.
    """

    def __init__(self, uses: Callable[[str], float]) -> None:
        self._uses = uses
        self._values: OrderedDict[str, float] = OrderedDict()
        self._order: list[str] = []
        self._changes = 0

    def stored(self, entry_id: str, value: float) -> None:
        """See `Policy.stored`."""
        self._values[entry_id] = value
        self._values.move_to_end(entry_id)
        self._changes += 1

    def touched(self, entry_id: str) -> None:
        """See `Policy.touched`."""
        if entry_id in self._values:
            self._values.move_to_end(entry_id)

    def forgotten(self, entry_id: str) -> None:
        """See `Policy.forgotten`."""
        if self._values.pop(entry_id, None) is not None:
            self._changes += 1

    def worst_first(self) -> Iterator[str]:
        """See `Policy.worst_first`."""
        if self._changes > max(_ANEW, len(self._values) // _ANEW) or not self._order:
            self._order = self._ranked()
            self._changes = 0
        for entry_id in self._order:
            if entry_id in self._values:
                yield entry_id
        ranked = set(self._order)
        yield from [entry_id for entry_id in self._values if entry_id not in ranked]

    def _ranked(self) -> list[str]:
        worth = {one: value * self._uses(one) for one, value in self._values.items()}
        return sorted(worth, key=worth.__getitem__)
