from __future__ import annotations

import logging

from langchain_semcache.events import BackendFailed, EntriesRemoved, LookupHit, LookupMissed
from langchain_semcache.records import Decision, Reason
from langchain_semcache.telemetry import Counters, FanOut

HIT = LookupHit(Decision(hit=True, reason=Reason.EXACT), 0.1)
MISS = LookupMissed(Decision(hit=False, reason=Reason.NO_CANDIDATE), 0.1)


def test_decisions_are_counted_by_reason():
    counters = Counters()
    failure = BackendFailed("index", "IndexUnavailable", Reason.INDEX_UNAVAILABLE)
    for event in (HIT, HIT, MISS, EntriesRemoved(4), failure):
        counters.emit(event)
    lookups, stores, other = counters.snapshot()
    assert lookups == {"exact": 2, "no_candidate": 1}
    assert stores == {}
    assert other == {"hits": 2, "removed": 4, "index_failures": 1}


def test_a_sink_that_raises_is_logged_once_and_disturbs_nobody(caplog):
    class Broken:
        def emit(self, event):
            raise RuntimeError("a secret prompt")

    counters = Counters()
    fan_out = FanOut((Broken(), counters))
    with caplog.at_level(logging.WARNING):
        fan_out.emit(HIT)
        fan_out.emit(HIT)
    assert counters.snapshot()[2] == {"hits": 2}
    assert [record.getMessage().split(";")[0] for record in caplog.records] == [
        "event sink Broken failed (RuntimeError)"
    ]
