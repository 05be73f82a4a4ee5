"""What a policy is, and the plainest one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Protocol


class Policy(Protocol):
    """Says which of the entries it was told of is to go first. Not thread-safe."""

    def stored(self, entry_id: str, value: float) -> None:
        """The entry is there now, or was replaced. `value` is what a hit of it saves, for its room.

        Values are compared with each other only; 1.0 for all of them counts hits.
        """
        ...

    def touched(self, entry_id: str) -> None:
        """The entry was served; nothing happens when it is not there."""
        ...

    def forgotten(self, entry_id: str) -> None:
        """The entry is gone, whoever removed it; nothing happens when it was not there."""
        ...

    def worst_first(self) -> Iterator[str]:
        """The entries, the first to go first. Taken up to the first change, and then anew."""
        ...


class LRU:
    """What was stored or served longest ago goes first."""

    def __init__(self) -> None:
        self._order: OrderedDict[str, None] = OrderedDict()

    def stored(self, entry_id: str, value: float) -> None:  # noqa: ARG002 - as the protocol says
        """See `Policy.stored`; the value counts for nothing here."""
        self._order[entry_id] = None
        self._order.move_to_end(entry_id)

    def touched(self, entry_id: str) -> None:
        """See `Policy.touched`."""
        if entry_id in self._order:
            self._order.move_to_end(entry_id)

    def forgotten(self, entry_id: str) -> None:
        """See `Policy.forgotten`."""
        self._order.pop(entry_id, None)

    def worst_first(self) -> Iterator[str]:
        """See `Policy.worst_first`."""
        return iter(self._order)
