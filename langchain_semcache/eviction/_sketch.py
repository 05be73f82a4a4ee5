"""How often something was seen, in a table of fixed size: a count-min sketch that ages."""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np

_ROWS: Final = 4
_MOST: Final = 255


def digest(entry_id: str) -> int:
    """128 bits of an id, the same in every process; Python's own hash is not."""
    text = entry_id.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=16).digest())


class Sketch:
    """Counts up to 255, never too low since the last ageing, and too high only by collisions.

    Args:
        bits: The sketch has four rows of 2**bits bytes. All counts are halved after as many
            additions as a row has bytes, so that what was popular once does not stay so for ever.
    """

    def __init__(self, bits: int = 17) -> None:
        self._bits = bits
        self._mask = (1 << bits) - 1
        self._rows = [bytearray(1 << bits) for _ in range(_ROWS)]
        self._added = 0

    def add(self, key: int) -> int:
        """Count one more, and say how many that are. `key` is a `digest`."""
        places = self._places(key)
        count = min(row[place] for row, place in zip(self._rows, places, strict=True))
        if count < _MOST:
            for row, place in zip(self._rows, places, strict=True):
                # Only the lowest counters grow: the others hold somebody else's counts already.
                if row[place] == count:
                    row[place] = count + 1
        self._added += 1
        if self._added > self._mask:
            self._age()
        return self.count(key)

    def count(self, key: int) -> int:
        """How often `key` was added, as far as it is remembered."""
        return min(row[at] for row, at in zip(self._rows, self._places(key), strict=True))

    def _places(self, key: int) -> tuple[int, int, int, int]:
        mask = self._mask
        return key & mask, (key >> 32) & mask, (key >> 64) & mask, (key >> 96) & mask

    def _age(self) -> None:
        self._added = 0
        for row in self._rows:
            counts = np.frombuffer(row, dtype=np.uint8)
            counts >>= 1
