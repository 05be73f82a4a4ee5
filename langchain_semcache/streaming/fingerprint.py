"""Fingerprints that grow with a sequence: of tokens, or of a text however it is cut.

A sequence is read as the digits of one large number, and what is kept of it is the remainder modulo
a fixed prime (R. M. Karp and M. O. Rabin, Efficient randomized pattern-matching algorithms, IBM
Journal of Research and Development 31, 1987). Appending shifts all earlier digits by one place,
which is a rotation of each of them by its distance from the end: the sketch this goes back to
rotates floating-point vectors as RoPE does, and gets another result on another machine. Remainders
of integers are the same everywhere, and one division does for a whole sequence what it does for
each of its tokens.

Two different sequences of n tokens share a remainder with a chance of about n in 2¹¹⁹, for a prime
that was not chosen to make them; the 64 bits that are shown collide with one of 2⁶⁴. Nobody's
permission should hang on them: whoever wants a collision can calculate one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from sys import byteorder
from typing import Self, cast

PRIME = 0x243F6A8885A308D313198A2E03708E53
"""The first safe prime from the hexadecimal digits of π on: (PRIME - 1) / 2 is prime as well.

So the powers of 2, by which digits are shifted, repeat after no less than (PRIME - 1) / 2 of them:
no two places of a sequence weigh the same. A Mersenne prime would be quicker to divide by and
useless, for modulo 2ⁿ - 1 the powers of 2 repeat after n.
"""

_EMPTY = 1
"""A one before the first digit: sequences that begin with zeros differ in how many."""

_IDS = 1 << 63
_EDGE = b"\xff"
_number = int.from_bytes  # the most significant digit first
_MASK = (1 << 64) - 1


class _Remainder:
    """What is kept of a sequence: the remainder, and how many pieces there were."""

    __slots__ = ("_count", "_state")

    def __init__(self) -> None:
        self._state, self._count = _EMPTY, 0

    @property
    def state(self) -> int:
        """The remainder itself, below `PRIME`: 126 bits."""
        return self._state

    @property
    def value(self) -> int:
        """The fingerprint: 64 bits, each of which depends on all of the state."""
        return _mixed(self._state)

    @property
    def hex(self) -> str:
        """The fingerprint as 16 hexadecimal digits."""
        return f"{self.value:016x}"

    def __len__(self) -> int:
        return self._count

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not isinstance(other, _Remainder):
            return NotImplemented
        return (self._state, self._count) == (other._state, other._count)

    __hash__ = None  # type: ignore[assignment]  # it changes while it grows

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.hex}, {self._count})"

    def __copy__(self) -> Self:
        """The fingerprint as it is now, which grows on its own."""
        made = type(self)()
        made._state, made._count = self._state, self._count  # noqa: SLF001 - its own kind
        return made


class TokenFingerprint(_Remainder):
    """The fingerprint of a sequence of tokens, which depends on each token and on its place.

    A token is an id from 0 to 2⁶³ - 1, or a piece of text. `["ab", "c"]` and `["a", "bc"]` are two
    sequences. `len()` is the number of tokens.
    """

    __slots__ = ()

    def __init__(self, tokens: Iterable[int | str] = ()) -> None:
        super().__init__()
        self.extend(tokens)

    def append(self, token: int | str) -> None:
        """One token more; takes the same time however many there are.

        Raises:
            ValueError: An id below 0 or from 2⁶³ on.
        """
        if isinstance(token, str):
            digits = b"\xff%b\xff" % _utf8(token)
            # Written out rather than called: a stream waits for it with every token.
            self._state = (self._state << 8 * len(digits) | _number(digits)) % PRIME
        elif 0 <= token < _IDS:
            self._state = (self._state << 64 | token) % PRIME
        else:
            raise _no_id(token)
        self._count += 1

    def extend(self, tokens: Iterable[int | str]) -> None:
        """Many tokens more, with one division for all of them.

        Raises:
            ValueError: An id below 0 or from 2⁶³ on; then none of them is appended.
        """
        tokens = tokens if isinstance(tokens, Sequence) else list(tokens)
        self._state = _appended(self._state, _digits(tokens))
        self._count += len(tokens)


class TextFingerprint(_Remainder):
    """The fingerprint of a text, the same in whatever pieces it comes.

    `len()` is the number of bytes in UTF-8.
    """

    __slots__ = ()

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.append(text)

    def append(self, piece: str) -> None:
        """The text goes on; takes time by the length of the piece alone."""
        data = _utf8(piece)
        self._state = _appended(self._state, data)
        self._count += len(data)


class Trail:
    """Every prefix of a sequence of tokens by its fingerprint: `trail[n]` is that of the first n.

    About 50 bytes a token. `len()` is the number of tokens.
    """

    __slots__ = ("_growing", "_states")

    def __init__(self, tokens: Iterable[int | str] = ()) -> None:
        self._growing = TokenFingerprint()
        self._states = [self._growing.state]
        for token in tokens:
            self.append(token)

    def append(self, token: int | str) -> None:
        """One token more.

        Raises:
            ValueError: An id below 0 or from 2⁶³ on.
        """
        self._growing.append(token)
        self._states.append(self._growing.state)

    def __len__(self) -> int:
        return len(self._states) - 1

    def __getitem__(self, length: int) -> str:
        """`TokenFingerprint.hex` of the first `length` tokens.

        Raises:
            IndexError: There are not as many, or it is below 0.
        """
        if not 0 <= length < len(self._states):
            raise IndexError(f"{length} tokens of {len(self)}")
        return f"{_mixed(self._states[length]):016x}"

    def shares(self, other: Trail, length: int) -> bool:
        """Whether both have as many tokens and begin with the same ones."""
        ours, theirs = self._states, other._states
        return length < min(len(ours), len(theirs)) and ours[length] == theirs[length]


def common_prefix(a: Trail, b: Trail) -> int:
    """How many tokens two sequences have in common from the beginning on, in log n comparisons."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a.shares(b, middle):
            low = middle
        else:
            high = middle - 1
    return low


def is_whole(pieces: Iterable[str], fingerprint: str) -> bool:
    """Whether the pieces, joined, are the text whose `TextFingerprint.hex` this is."""
    seen = TextFingerprint()
    for piece in pieces:
        seen.append(piece)
    return seen.hex == fingerprint


def _appended(state: int, digits: bytes) -> int:
    return (state << 8 * len(digits) | _number(digits)) % PRIME


def _digits(tokens: Sequence[int | str]) -> bytes:
    """The tokens in base 256: whoever knows where one begins can tell where it ends.

    An id has eight digits, the first of them below 128. A piece of text lies between two digits of
    255, which UTF-8 has no use for.
    """
    pieces = [token for token in tokens if isinstance(token, str)]
    if not pieces:
        return _ids(cast("Sequence[int]", tokens))
    if len(pieces) == len(tokens):
        return _EDGE + (_EDGE + _EDGE).join([_utf8(piece) for piece in pieces]) + _EDGE
    return b"".join([_digits([token]) for token in tokens])


def _ids(tokens: Sequence[int]) -> bytes:
    try:
        ids = array("q", tokens)
    except OverflowError:
        raise _no_id(max(tokens, key=abs)) from None
    if ids and min(ids) < 0:
        raise _no_id(min(ids))
    if byteorder == "little":
        ids.byteswap()
    return ids.tobytes()


def _utf8(text: str) -> bytes:
    """A text that JSON can hold is not always one that UTF-8 can: half a surrogate pair is kept."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _no_id(token: int) -> ValueError:
    return ValueError(f"{token} is no token id: they go from 0 to 2**63 - 1")


def _mixed(state: int) -> int:
    """64 bits of 126: both halves through the finaliser of SplitMix64.

    The multipliers and shifts are David Stafford's thirteenth mix, as printed in G. L. Steele,
    D. Lea and C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    return _mix(_mix(state >> 64) ^ state & _MASK)


def _mix(bits: int) -> int:
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & _MASK
    return bits ^ bits >> 31
