"""Which of many things fall into a share of them: the same ones in every process."""

from __future__ import annotations

from hashlib import blake2b


def falls_in(key: bytes, share: float) -> bool:
    """Whether the key is one of the `share` (in [0, 1]) of all keys that are chosen.

    What is in a share is in every larger one too.
    """
    return int.from_bytes(blake2b(key, digest_size=6).digest()) < share * 2**48
