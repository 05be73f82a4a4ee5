"""What workers know of lifetimes, put together."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.engine.ttl_books import Known, merge
from langchain_semcache.ttl import DAY

GROUP = ("rare", "how")


def looked(known: Known, gap: float, now: float) -> Known:
    known.group(GROUP).look(gap, now, changed=False, believed=1 / DAY)
    return known


def test_a_look_after_a_long_pause_is_not_lost_to_the_record_from_before_it():
    """What was watched fades: the newer account may be the smaller one."""
    ours = looked(Known(), 20 * DAY, 0.0)
    written = copy.deepcopy(ours)
    looked(ours, 60.0, 10 * DAY)
    assert ours.group(GROUP).watched.value < written.group(GROUP).watched.value
    merged = merge(ours, written)
    assert merged.group(GROUP).watched.at == 10 * DAY


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(0, 1e6)), min_size=1, max_size=8), st.data())
def test_whoever_has_gone_on_from_a_record_wins_over_it(looks, data):
    ours, now = Known(), 0.0
    written = Known()
    cut = data.draw(st.integers(0, len(looks)))
    for number, (gap, pause) in enumerate(looks):
        if number == cut:
            written = copy.deepcopy(ours)
        now += pause
        looked(ours, gap, now)
    for merged in (merge(ours, written), merge(written, ours)):
        assert merged.group(GROUP).watched == ours.group(GROUP).watched
