"""What becomes of an answer: every level with every score, and every line from both sides."""

from __future__ import annotations

import math

import pytest

from langchain_semcache.eviction import (
    Action,
    Assessment,
    Bounds,
    Level,
    Ruling,
    Signals,
    Thresholds,
    Unscored,
    decide,
    falls_in,
    level_of,
)

LINES = Thresholds()
KEEP, ONCE, TWICE, EVICT = (
    Ruling(Action.KEEP),
    Ruling(Action.SHORTEN, 1),
    Ruling(Action.SHORTEN, 2),
    Ruling(Action.EVICT),
)
SCORES = (Unscored.NOT_ASKED, 5, 4, 3, 2, 1, 0, Unscored.UNREADABLE)
TABLE = {
    None: (KEEP, KEEP, KEEP, ONCE, ONCE, ONCE, ONCE, EVICT),
    Level.SURE: (KEEP, KEEP, KEEP, ONCE, ONCE, ONCE, ONCE, EVICT),
    Level.UNCLEAR: (ONCE, ONCE, ONCE, TWICE, TWICE, TWICE, TWICE, EVICT),
    Level.SUSPICIOUS: (ONCE, ONCE, ONCE, TWICE, TWICE, TWICE, TWICE, EVICT),
    Level.SEVERE: (ONCE, ONCE, ONCE, TWICE, EVICT, EVICT, EVICT, EVICT),
}


@pytest.mark.parametrize("level", TABLE)
@pytest.mark.parametrize("place", range(len(SCORES)), ids=[str(score) for score in SCORES])
def test_the_whole_table(level, place):
    assert decide(level, SCORES[place], LINES) == TABLE[level][place]


def test_the_table_is_whole():
    assert set(TABLE) == {None, *Level}
    assert set(SCORES) == {*Unscored, *range(6)}
    assert all(len(row) == len(SCORES) for row in TABLE.values())


def at(entropy: float) -> Bounds:
    return Bounds(entropy, entropy)


@pytest.mark.parametrize(
    ("entropy", "difference", "level"),
    [
        (None, None, None),
        # Known exactly: each line on the side that it names.
        (at(0.0), at(1.0), Level.SURE),
        (at(1.4999), at(1.0), Level.SURE),
        (at(1.5), at(1.0), Level.UNCLEAR),
        (at(2.1), at(1.0), Level.UNCLEAR),
        (at(2.1001), at(1.0), Level.SUSPICIOUS),
        (at(2.2999), at(1.0), Level.SUSPICIOUS),
        (at(2.3), at(1.0), Level.SEVERE),
        (at(0.1), at(0.2999), Level.SUSPICIOUS),
        (at(0.1), at(0.3), Level.SURE),
        (at(2.3), at(0.0), Level.SEVERE),
        # Without alternatives there is no difference, and nothing follows from that.
        (at(1.4), None, Level.SURE),
        # What straddles is unclear: not kept by the lower, not evicted by the upper.
        (Bounds(0.0, 1.5), at(1.0), Level.UNCLEAR),
        (Bounds(1.0, 12.0), at(1.0), Level.UNCLEAR),
        (Bounds(2.0, 12.0), at(1.0), Level.UNCLEAR),
        (Bounds(2.1, 12.0), at(1.0), Level.UNCLEAR),
        (Bounds(2.2, 12.0), at(1.0), Level.SUSPICIOUS),
        (Bounds(2.3, 12.0), at(1.0), Level.SEVERE),
        (at(0.1), Bounds(0.0, 1.0), Level.UNCLEAR),
        (at(0.1), Bounds(0.3, 1.0), Level.SURE),
        (at(0.1), Bounds(0.0, 0.2), Level.SUSPICIOUS),
    ],
)
def test_every_line_from_both_sides(entropy, difference, level):
    assert level_of(entropy, difference, LINES) is level


def test_the_lines_can_be_moved():
    lines = Thresholds(sure_entropy=0.1, suspicious_entropy=0.2, severe_entropy=0.3, good_score=5)
    assert level_of(at(0.15), None, lines) is Level.UNCLEAR
    assert level_of(at(0.3), None, lines) is Level.SEVERE
    assert decide(Level.SURE, 4, lines) == ONCE


ASSESSMENT = Assessment(signals=Signals(Bounds(0.1, 2.3), Bounds(0.25, 0.25)), score=3, factor=0.25)


@pytest.mark.parametrize(
    "assessment",
    [
        ASSESSMENT,
        Assessment(),
        Assessment(score=0),
        Assessment(score=Unscored.UNREADABLE),
        Assessment(factor=0.5),
        Assessment(signals=Signals(Bounds(0.0, math.log(262_144)))),
    ],
)
def test_what_is_stored_comes_back_as_it_was(assessment):
    assert Assessment.from_json(assessment.to_json()) == assessment


def test_the_stored_form_is_the_documented_one():
    assert ASSESSMENT.to_json() == (
        '{"v":1,"factor":0.25,"entropy":[0.1,2.3],"difference":[0.25,0.25],"score":3}'
    )
    assert Assessment().to_json() == ""
    assert ASSESSMENT.trace == ("confidence", 0.25)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        '{"v":2,"factor":1}',
        '{"v":1}',
        '{"v":1,"factor":0}',
        '{"v":1,"factor":2}',
        '{"v":1,"factor":NaN}',
        '{"v":1,"factor":true}',
        '{"v":1,"factor":1,"entropy":[0,1' + "0" * 400 + "]}",
        '{"v":1,"factor":1,"score":6}',
        '{"v":1,"factor":1,"score":"4"}',
        '{"v":1,"factor":1,"score":true}',
        '{"v":1,"factor":1,"entropy":[1]}',
        '{"v":1,"factor":1,"entropy":[2,1]}',
        '{"v":1,"factor":1,"entropy":["a","b"]}',
        "[" * 100_000,
    ],
)
def test_what_cannot_be_read_tells_nothing(text):
    assert Assessment.from_json(text) == Assessment()


def test_in_words_there_are_only_numbers():
    assert ASSESSMENT.in_words() == (
        "mean entropy 0.10 to 2.30 nats, top-k difference 0.25 nats, scored 3 of 5, lifetime x 0.25"
    )
    assert Assessment(score=Unscored.UNREADABLE).in_words() == "no score in the reply"
    assert Assessment().in_words() == ""


def test_a_share_is_about_its_size_and_within_every_larger_one():
    keys = [str(number).encode() for number in range(4000)]
    chosen = {share: {key for key in keys if falls_in(key, share)} for share in (0, 0.1, 0.5, 1)}
    assert chosen[0] < chosen[0.1] < chosen[0.5] < chosen[1] == set(keys)
    assert len(chosen[0.1]) == pytest.approx(400, abs=80)
