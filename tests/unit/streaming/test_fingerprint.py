"""Fingerprints: what they are, that they stay what they are, and what they tell apart."""

from __future__ import annotations

from copy import copy

import pytest

from langchain_semcache.streaming import (
    TextFingerprint,
    TokenFingerprint,
    Trail,
    common_prefix,
    is_whole,
)
from langchain_semcache.streaming.fingerprint import PRIME

GOLDEN_TOKENS = [
    ([], "5692161d100b05e5"),
    ([0], "7ab40e090f363a7d"),
    ([0, 0], "568700dbea1a5536"),
    ([12, 45, 78], "4898a658f0456e2a"),
    ([12, 45, 79], "5d64ea6ca6e15754"),
    (["12", "45"], "47b6921c3713a91b"),
    (["Hello", ",", " world"], "2d16b418155222dc"),
    (["你", "好"], "0d198c35854aebe4"),
    ([1, "a", 2], "bf1ac3681b9af760"),
    ([2**63 - 1], "e9e5ec18ce22e01c"),
]
GOLDEN_TEXTS = [
    ("", "5692161d100b05e5"),
    ("Hello, world", "0c5f5f50db92c327"),
    ("你好，世界", "7c6b39c3a6e07e1b"),
    ("\ud83d", "fda4c8ade4ee91fc"),
]


@pytest.mark.parametrize(("tokens", "expected"), GOLDEN_TOKENS, ids=str)
def test_a_sequence_has_the_same_fingerprint_everywhere_and_for_ever(tokens, expected) -> None:
    """What is stored must be comparable with what another machine or release calculates."""
    assert TokenFingerprint(tokens).hex == expected


@pytest.mark.parametrize(("text", "expected"), GOLDEN_TEXTS, ids=ascii)
def test_a_text_has_the_same_fingerprint_everywhere_and_for_ever(text, expected) -> None:
    assert TextFingerprint(text).hex == expected


def is_prime(number: int) -> bool:
    """Miller and Rabin, with the first 40 primes as witnesses."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    small = [p for p in range(2, 174) if all(p % q for q in range(2, p))]
    for base in small:
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def test_the_prime_is_safe_and_the_first_one_from_pi_on() -> None:
    pi = 0x243F6A8885A308D313198A2E03707344
    safe = (n for n in range(pi | 3, PRIME + 1, 4) if is_prime(n) and is_prime(n // 2))
    assert next(safe) == PRIME


def test_the_order_counts() -> None:
    assert TokenFingerprint([1, 2]) != TokenFingerprint([2, 1])
    assert TokenFingerprint(["a", "b"]) != TokenFingerprint(["b", "a"])


def test_the_place_counts_also_where_powers_of_two_would_repeat() -> None:
    """Modulo 2¹²⁷ - 1 a token weighs the same 127 places on, and two that change places do not
    show."""
    tokens = list(range(1, 400))
    for distance in (1, 61, 64, 127, 254):
        swapped = tokens.copy()
        swapped[3], swapped[3 + distance] = swapped[3 + distance], swapped[3]
        assert TokenFingerprint(swapped) != TokenFingerprint(tokens)


def test_zeros_count() -> None:
    assert len({TokenFingerprint([0] * n).hex for n in range(50)}) == 50
    assert TextFingerprint("\0") != TextFingerprint("")


def test_where_pieces_are_cut_counts_for_tokens_and_not_for_a_text() -> None:
    whole = ["to", "kens", " and", "", " text"]
    other = ["tok", "ens", " a", "nd text"]
    assert TokenFingerprint(whole) != TokenFingerprint(other)
    assert TokenFingerprint(["a", ""]) != TokenFingerprint(["a"])
    texts = [TextFingerprint(), TextFingerprint()]
    for text, pieces in zip(texts, (whole, other), strict=True):
        for piece in pieces:
            text.append(piece)
    assert texts[0] == texts[1] == TextFingerprint("tokens and text")


def test_ids_and_pieces_can_be_mixed_and_are_told_apart() -> None:
    growing = TokenFingerprint()
    for token in (5, "5", 6, ""):
        growing.append(token)
    assert growing == TokenFingerprint([5, "5", 6, ""])
    assert TokenFingerprint(["5"]) != TokenFingerprint([5])


def test_half_a_surrogate_pair_is_a_text_too() -> None:
    """A stream may be cut within a character; JSON brings such strings."""
    assert TokenFingerprint(["\ud83d", "\ude00"]) == TokenFingerprint(iter(["\ud83d", "\ude00"]))
    assert TextFingerprint("\ud83d") != TextFingerprint("\ud83e")


@pytest.mark.parametrize("wrong", [-1, 2**63, -(2**70), 2**64])
def test_what_is_no_token_id_is_refused_and_changes_nothing(wrong: int) -> None:
    growing = TokenFingerprint([1])
    with pytest.raises(ValueError, match=f"{wrong} is no token id"):
        growing.append(wrong)
    with pytest.raises(ValueError, match=f"{wrong} is no token id"):
        growing.extend([2, wrong, 3])
    with pytest.raises(ValueError, match=f"{wrong} is no token id"):
        growing.extend(["a", wrong])
    assert growing == TokenFingerprint([1])


def test_a_copy_grows_on_its_own() -> None:
    first = TokenFingerprint([1, 2])
    second = copy(first)
    second.append(3)
    assert first == TokenFingerprint([1, 2])
    assert second == TokenFingerprint([1, 2, 3])


def test_it_shows_itself_and_its_length() -> None:
    assert repr(TokenFingerprint([0])) == f"TokenFingerprint({TokenFingerprint([0]).hex}, 1)"
    assert len(TextFingerprint("你好")) == 6
    assert TokenFingerprint() != TextFingerprint()
    with pytest.raises(TypeError):
        hash(TokenFingerprint())


def test_a_trail_knows_every_prefix() -> None:
    trail = Trail([7, "a", 9])
    assert [trail[n] for n in range(4)] == [TokenFingerprint([7, "a", 9][:n]).hex for n in range(4)]
    for beyond in (-1, 4):
        with pytest.raises(IndexError, match=f"{beyond} tokens of 3"):
            trail[beyond]


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        ([], [], 0),
        ([1], [], 0),
        ([1, 2, 3], [1, 2, 3], 3),
        ([1, 2, 3], [1, 2, 3, 4], 3),
        ([1, 2, 3], [0, 2, 3], 0),
        ([1, 2, 3, 9], [1, 2, 4, 9], 2),
    ],
)
def test_the_common_prefix_of_two_trails(a, b, common: int) -> None:
    assert common_prefix(Trail(a), Trail(b)) == common


def test_a_replay_is_whole_or_not() -> None:
    stored = TextFingerprint("An answer in pieces.").hex
    assert is_whole(["An answer", " in", " pieces", "."], stored)
    assert is_whole(iter(["An answer in pieces."]), stored)
    assert not is_whole(["An answer", " pieces", " in", "."], stored)
    assert not is_whole(["An answer in pieces"], stored)
    assert is_whole([], TextFingerprint().hex)
