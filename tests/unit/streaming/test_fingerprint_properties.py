"""Laws of the fingerprints, on sequences nobody would think of."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.streaming import (
    TextFingerprint,
    TokenFingerprint,
    Trail,
    common_prefix,
    is_whole,
)

SEQUENCES = 100_000

texts = st.text(st.characters(exclude_categories=()), max_size=12)
tokens = st.lists(st.integers(0, 3) | st.integers(0, 2**63 - 1) | texts, max_size=12)


def grown(sequence) -> TokenFingerprint:
    made = TokenFingerprint()
    for token in sequence:
        made.append(token)
    return made


@given(tokens, tokens)
def test_growing_is_the_same_as_reading_at_once(first, second) -> None:
    growing = grown(first)
    growing.extend(second)
    assert growing == TokenFingerprint(first + second) == grown(first + second)


def test_growing_is_the_same_as_reading_at_once_a_hundred_thousand_times() -> None:
    rng = random.Random(0)
    for number in range(SEQUENCES):
        length = int(rng.expovariate(1 / 8))
        sequence: list[int | str] = [
            rng.getrandbits(rng.choice((1, 17, 63))) for _ in range(length)
        ]
        if number % 4 == 0:
            sequence = [str(token) if rng.random() < 0.5 else token for token in sequence]
        assert grown(sequence).hex == TokenFingerprint(sequence).hex, sequence


@given(tokens, tokens)
def test_two_sequences_are_equal_when_their_fingerprints_are(first, second) -> None:
    """A digit may neither be lost between two tokens nor be read as part of the other one."""
    assert (TokenFingerprint(first) == TokenFingerprint(second)) is (first == second)
    assert (grown(first).hex == grown(second).hex) is (first == second)


@given(st.lists(tokens, min_size=1, max_size=4).flatmap(st.permutations), st.data())
def test_a_trail_knows_what_the_fingerprint_of_a_prefix_is(parts, data) -> None:
    sequence = [token for part in parts for token in part]
    length = data.draw(st.integers(0, len(sequence)))
    assert Trail(sequence)[length] == TokenFingerprint(sequence[:length]).hex


@given(tokens, tokens, tokens)
def test_the_common_prefix_is_what_comparing_token_by_token_finds(both, first, second) -> None:
    a, b = both + first, both + second
    common = 0
    while common < min(len(a), len(b)) and a[common] == b[common]:
        common += 1
    assert common_prefix(Trail(a), Trail(b)) == common_prefix(Trail(b), Trail(a)) == common


@given(tokens, st.integers(0, 11), st.integers(0, 11))
def test_tokens_that_change_places_show(sequence, first, second) -> None:
    if max(first, second) < len(sequence):
        swapped = sequence.copy()
        swapped[first], swapped[second] = swapped[second], swapped[first]
        same = sequence[first] == sequence[second]
        assert (TokenFingerprint(swapped) == TokenFingerprint(sequence)) is same


@given(texts, st.lists(st.integers(0, 12)))
def test_a_text_is_the_same_however_it_is_cut(text, places) -> None:
    cuts = sorted(min(place, len(text)) for place in places)
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    growing = TextFingerprint()
    for piece in pieces:
        growing.append(piece)
    assert growing == TextFingerprint(text)
    assert is_whole(pieces, TextFingerprint(text).hex)


@given(texts, texts)
def test_two_texts_are_equal_when_their_fingerprints_are(first, second) -> None:
    assert (TextFingerprint(first) == TextFingerprint(second)) is (first == second)
