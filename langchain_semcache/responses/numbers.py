"""Whole numbers in as few bytes as they need: seven bits a byte, the lowest first."""

from __future__ import annotations

_MOST_BYTES = 9


def write_number(number: int) -> bytes:
    """The bytes of a number that is not negative."""
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)


def read_number(data: bytes, place: int) -> tuple[int, int]:
    """The number at a place, and the place after it.

    Raises:
        ValueError: It does not end, or is longer than any that is written.
    """
    number = 0
    for position in range(_MOST_BYTES):
        if place + position >= len(data):
            break
        byte = data[place + position]
        number |= (byte & 127) << (7 * position)
        if byte < 128:
            return number, place + position + 1
    raise ValueError("a number that does not end")
