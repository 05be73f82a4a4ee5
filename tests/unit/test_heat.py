"""From settings to a tracker, and from what a cache does to what is counted."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from pydantic import ValidationError

from langchain_semcache import ConfigurationError, Request, Response, Semcache
from langchain_semcache.clock import ManualClock
from langchain_semcache.config import HotnessSettings
from langchain_semcache.heat import HeatSink, make_heat, make_hotness
from langchain_semcache.hotness import HORIZON, PopularityHotness, WindowedHeat
from langchain_semcache.testing.fakes import ScriptedEncoder


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.mark.parametrize(
    ("model", "identity"), [("popularity", "popularity-64"), ("ewma", "ewma-8")]
)
def test_settings_name_a_tracker(clock, model: str, identity: str) -> None:
    settings = HotnessSettings(model=model, half_life=8, max_entries=1, step_seconds=10)
    heat = make_heat(settings, clock=clock)
    heat.used("a")
    heat.used("b")
    clock.advance(10)
    assert heat.identity == identity
    assert len(heat) == 1
    assert heat.heat(["b"])[0] > 0


def test_none_is_none(clock) -> None:
    assert make_heat(HotnessSettings(model="none"), clock=clock) is None


@pytest.mark.skipif(find_spec("tritonclient") is None, reason="needs the extra triton")
def test_a_server_has_a_moving_average_behind_it(clock) -> None:
    settings = HotnessSettings(model="triton:grpc://heat:8001", half_life=4)
    identity = make_hotness(settings, clock=clock).identity
    assert identity == "triton-grpc://heat:8001/semcache_heat or ewma-4"


@pytest.mark.skipif(find_spec("tritonclient") is None, reason="needs the extra triton")
def test_a_place_that_is_none_is_said_when_it_is_made(clock) -> None:
    with pytest.raises(ConfigurationError, match="write grpc://HOST:8001"):
        make_hotness(HotnessSettings(model="triton:grpc://heat"), clock=clock)


def test_a_file_that_is_not_there_is_said_when_it_is_made(clock, tmp_path) -> None:
    """Without torch it is the extra that is missing, which is said first."""
    settings = HotnessSettings(model=f"torchscript:{tmp_path}/absent.pt")
    with pytest.raises(ConfigurationError, match=r"absent\.pt|langchain-semcache\[hotness\]"):
        make_hotness(settings, clock=clock)


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch: make tests installs it")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_network_and_a_tracker_agree_on_what_a_step_is(clock, tmp_path) -> None:
    from langchain_semcache.hotness.lstm import HeatLSTM
    from langchain_semcache.hotness.torchscript import save
    from langchain_semcache.hotness.training import Epoch, Trained

    epoch = Epoch(1, 0.0, 0.0)
    save(Trained(HeatLSTM(), (epoch,), epoch, 1, 10.0, "uses"), tmp_path / "heat.pt")
    model = f"torchscript:{tmp_path}/heat.pt"
    heat = make_heat(HotnessSettings(model=model, step_seconds=10), clock=clock)
    heat.used("a")
    clock.advance(10)
    assert heat.heat(["a"])[0] > 0
    with pytest.raises(ConfigurationError, match=r"steps of 10 s, and step_seconds is 60"):
        make_heat(HotnessSettings(model=model), clock=clock)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("model", value) for value in ("", "lstm", "ewma:4", "torchscript:", "triton:heat:8001")],
        *[("half_life", value) for value in (0, float("inf"), True)],
        *[("step_seconds", value) for value in (0, -1, float("nan"))],
        *[("max_entries", value) for value in (0, True, 1.5)],
        *[("deadline_seconds", value) for value in (0, 601)],
        ("unknown", 1),
    ],
)
def test_settings_that_cannot_be_are_refused(name: str, value: object) -> None:
    with pytest.raises(ValidationError, match=name):
        HotnessSettings(**{name: value})


def test_what_a_cache_serves_and_stores_is_counted(clock) -> None:
    """A miss is none of an entry's uses; a hit and a stored answer are."""
    heat = WindowedHeat(PopularityHotness(1), clock=clock)
    same = ScriptedEncoder({"one": 1.0, "two": 1.0})
    with Semcache.open(
        ":memory:", encoder=same, verifier="none", clock=clock, sinks=[HeatSink(heat)]
    ) as cache:
        asked = Request(messages="one")
        assert not cache.lookup(asked).hit
        assert len(heat) == 0
        entry = cache.store(asked, Response.from_text("An answer.")).entry_id
        assert cache.lookup(asked).entry_id == entry
        assert not cache.lookup(Request(messages="other")).hit
    clock.advance(60)
    assert len(heat) == 1
    assert heat.heat([entry]).tolist() == [2 * HORIZON]
