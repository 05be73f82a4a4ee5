"""Entropy of whole and truncated distributions, on numbers that can be checked by hand."""

from __future__ import annotations

import json
import math

import pytest

from langchain_semcache.eviction import (
    Bounds,
    Token,
    entropy,
    entropy_bounds,
    mean,
    read_tokens,
    signals,
    top_difference,
)

UNKNOWN = Bounds(0.0, math.log(1000))


def near(bounds: Bounds) -> Bounds:
    return Bounds(pytest.approx(bounds.lower, abs=1e-9), pytest.approx(bounds.upper, abs=1e-9))


@pytest.mark.parametrize(
    ("whole", "nats"),
    [
        ([1.0], 0.0),
        ([0.5, 0.5], math.log(2)),
        ([0.25] * 4, math.log(4)),
        ([0.5, 0.25, 0.25], 1.5 * math.log(2)),
        ([0.0, 1.0, 0.0], 0.0),
    ],
)
def test_entropy_is_shannon_s_in_nats(whole, nats):
    assert entropy(whole) == pytest.approx(nats)


@pytest.mark.parametrize("whole", [[], [0.5], [1.5, -0.5], [math.nan, 1.0], [0.7, 0.7]])
def test_what_is_no_distribution_has_no_entropy(whole):
    with pytest.raises(ValueError, match="sum to 1"):
        entropy(whole)


def h(*values: float) -> float:
    return sum(-value * math.log(value) for value in values if value)


@pytest.mark.parametrize(
    ("token", "lower", "upper"),
    [
        # 0.2 is left, at most 0.1 each: two more such at least, or spread over 998 others.
        (Token(top=(0.7, 0.1)), h(0.7, 0.1, 0.1, 0.1), h(0.7, 0.1) + 0.2 * math.log(998 / 0.2)),
        # 0.25 is left, at most 0.15 each.
        (
            Token(top=(0.6, 0.15)),
            h(0.6, 0.15, 0.15, 0.1),
            h(0.6, 0.15) + 0.25 * math.log(998 / 0.25),
        ),
        # Only the written token: the rest may be on one other.
        (Token(chosen=0.8), h(0.8, 0.2), h(0.8) + 0.2 * math.log(999 / 0.2)),
        # An improbable token was drawn; one other may have all the rest.
        (Token(chosen=0.1), h(0.1, 0.9), h(0.1) + 0.9 * math.log(999 / 0.9)),
        # The written token is none of the two most probable: it is known as well.
        (
            Token(chosen=0.05, top=(0.7, 0.1), apart=True),
            h(0.7, 0.1, 0.05, 0.1, 0.05),
            h(0.7, 0.1, 0.05) + 0.15 * math.log(997 / 0.15),
        ),
        (Token(chosen=1.0), 0.0, 0.0),
        (Token(top=(0.5, 0.5)), math.log(2), math.log(2)),
        # Where the others were cut off before (top-p), there is no rest.
        (Token(top=(0.5, 0.5, 0.0)), math.log(2), math.log(2)),
    ],
)
def test_the_bounds_are_those_that_the_rest_allows(token, lower, upper):
    assert entropy_bounds(token, 1000) == near(Bounds(lower, upper))


@pytest.mark.parametrize(
    "token",
    [
        Token(),
        Token(top=(0.9, 0.9)),
        Token(chosen=0.5, top=(0.6, 0.1), apart=True),  # more probable than the second of two
        Token(top=(0.5, 0.0)),  # half of it is missing, and no other may have any
        Token(top=(0.5, 1e-9)),
        Token(chosen=0.0, top=()),
    ],
)
def test_what_contradicts_itself_tells_nothing(token):
    found = entropy_bounds(token, 1000)
    assert found.lower == 0
    assert found.upper == pytest.approx(UNKNOWN.upper, abs=1e-2)


def test_a_sure_token_stays_sure_however_its_numbers_were_rounded():
    """The rest of 1e-7 is rounding: the others are known to have next to nothing."""
    found = entropy_bounds(Token(top=(0.9999999, 1e-12, 1e-13)))
    assert found.upper < 1e-5


def test_there_is_no_mean_of_nothing():
    with pytest.raises(ValueError, match="nothing"):
        mean([])


@pytest.mark.parametrize(
    ("tops", "lower", "upper"),
    [
        ([(0.5, 0.5)], 0.0, 0.0),
        ([(1.0, 0.0)], math.log(2), math.log(2)),
        ([(0.2, 0.2, 0.2)], 0.0, 0.0),
        ([(0.5, 0.5), (1.0, 0.0)], math.log(2) / 2, math.log(2) / 2),
        ([(0.5, 0.5), ()], 0.0, math.log(2) / 2),
    ],
)
def test_the_difference_is_how_far_the_top_is_from_even(tops, lower, upper):
    assert top_difference([Token(top=top) for top in tops]) == near(Bounds(lower, upper))


@pytest.mark.parametrize("tops", [[], [()], [(1.0,)], [(0.5,), ()]])
def test_of_fewer_than_two_alternatives_there_is_no_difference(tops):
    assert top_difference([Token(top=top) for top in tops]) is None


def item(token: str, logprob: object, **top: float) -> dict[str, object]:
    tops = [
        {"token": name, "logprob": value, "bytes": list(name.encode())}
        for name, value in top.items()
    ]
    return {
        "token": token,
        "logprob": logprob,
        "bytes": list(token.encode()),
        "top_logprobs": tops,
    }


LOG = math.log
CHAT = {"content": [item("Paris", LOG(0.9), Paris=LOG(0.9), Lyon=LOG(0.05))], "refusal": None}


def test_a_chat_s_log_probabilities_are_read():
    (token,) = read_tokens(CHAT)
    assert token.chosen == pytest.approx(0.9)
    assert token.top == pytest.approx((0.9, 0.05))
    assert not token.apart


def test_the_responses_api_gives_the_list_by_itself():
    assert read_tokens(CHAT["content"]) == read_tokens(CHAT)


def test_a_token_that_is_not_among_the_top_is_apart():
    (token,) = read_tokens({"content": [item("Rome", LOG(0.01), Paris=LOG(0.9), Lyon=LOG(0.05))]})
    assert token.apart


def test_bytes_tell_apart_what_looks_the_same():
    one = item("?", LOG(0.01), Paris=LOG(0.9))
    one["top_logprobs"].append({"token": "?", "logprob": LOG(0.05), "bytes": [240]})
    assert read_tokens({"content": [one]})[0].apart
    one["bytes"] = [240]
    assert not read_tokens({"content": [one]})[0].apart


def test_without_names_a_token_is_taken_to_be_among_the_top():
    """Then it is counted once, and the bounds hold whichever it is."""
    told = {"logprob": LOG(0.1), "top_logprobs": [{"logprob": LOG(0.8)}, {"logprob": LOG(0.1)}]}
    assert not read_tokens([told])[0].apart


def test_old_completions_are_read():
    told = {
        "tokens": ["a", "b", "c"],
        "token_logprobs": [None, LOG(0.6), LOG(0.1)],
        "top_logprobs": [None, {"b": LOG(0.6), "x": LOG(0.3)}, {"y": LOG(0.8), "c": LOG(0.1)}],
        "text_offset": [0, 1, 2],
    }
    first, second, third = read_tokens(told)
    assert first == Token()
    assert (second.top, second.apart) == (pytest.approx((0.6, 0.3)), False)
    # The last of those listed may be there only because it was written.
    assert (third.top, third.apart) == (pytest.approx((0.8,)), True)


def test_minus_9999_is_how_openai_says_never():
    (token,) = read_tokens([item("x", -9999.0, Paris=0.0, Lyon=-9999.0)])
    assert token.top == (1.0, 0.0)
    assert entropy_bounds(token) == Bounds(0.0, 0.0)


@pytest.mark.parametrize(
    "told",
    [None, {}, [], "logprobs", 1, {"content": None}, {"content": "x"}, {"token_logprobs": None}],
)
def test_what_tells_nothing_has_no_tokens(told):
    assert read_tokens(told) == ()


@pytest.mark.parametrize(
    "told",
    [None, 1, {}, {"logprob": "x"}, {"logprob": True}, {"logprob": math.nan}, {"logprob": 3}],
)
def test_a_token_that_cannot_be_read_is_one_of_which_nothing_is_known(told):
    assert read_tokens([told]) == (Token(),)
    assert entropy_bounds(Token(), 1000) == UNKNOWN


def test_a_gap_in_the_alternatives_leaves_none():
    told = item("a", LOG(0.5), a=LOG(0.5), b=LOG(0.4))
    told["top_logprobs"][0]["logprob"] = None
    (token,) = read_tokens([told])
    assert (token.top, token.chosen, token.apart) == ((), 0.5, False)


def test_of_several_choices_the_least_sure_one_counts():
    sure, torn = (
        {"content": [item("a", LOG(top), a=LOG(top), b=LOG(1 - top))]} for top in (0.99, 0.5)
    )
    both = signals([sure, torn])
    assert both.entropy == signals([torn]).entropy
    assert both.difference == signals([torn]).difference == near(Bounds(0.0, 0.0))


def test_nothing_told_is_nothing_known():
    assert signals([]).entropy is signals([None, {"content": []}]).entropy is None


def test_what_is_read_is_what_json_brings():
    assert read_tokens(json.loads(json.dumps(CHAT))) == read_tokens(CHAT)
