"""Models that need no training, and the TTL that finds its length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness import (
    HORIZON,
    STEPS,
    AdaptiveTTL,
    EWMAHotness,
    PopularityHotness,
)

MODELS = [PopularityHotness(), PopularityHotness(1), EWMAHotness(), EWMAHotness(0.5)]
each = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.identity)


def window(**used: int) -> np.ndarray:
    """A window by steps ago: `window(ago_1=3)` was used three times in the last step."""
    row = np.zeros(STEPS, dtype=np.float32)
    for name, count in used.items():
        row[STEPS - int(name.removeprefix("ago_"))] = count
    return row


@each
def test_a_steady_entry_goes_on_as_it_was(model) -> None:
    windows = np.array([np.full(STEPS, 2), np.zeros(STEPS)], dtype=np.float32)
    assert model.predict(windows) == pytest.approx([2 * HORIZON, 0], rel=1e-5)
    assert model.predict(windows).dtype == np.float32
    assert model.predict(windows[:0]).shape == (0,)


@each
@given(st.lists(st.integers(0, 1000), min_size=STEPS, max_size=STEPS), st.integers(0, STEPS - 1))
def test_a_use_more_never_makes_it_colder(model, counts, where) -> None:
    more = list(counts)
    more[where] += 1
    fewer_heat, more_heat = model.predict(np.array([counts, more], dtype=np.float32))
    assert more_heat >= fewer_heat >= 0


def test_popularity_counts_its_steps_alike_and_no_others() -> None:
    windows = np.array([window(ago_1=4), window(ago_4=4), window(ago_5=4)])
    assert PopularityHotness(4).predict(windows).tolist() == [5.0, 5.0, 0.0]


def test_the_average_counts_half_after_its_half_life() -> None:
    now, then = EWMAHotness(8).predict(np.array([window(ago_1=1), window(ago_9=1)]))
    assert then == pytest.approx(now / 2)


def test_identities_tell_settings_apart() -> None:
    assert len({model.identity for model in MODELS}) == len(MODELS)


@pytest.mark.parametrize("steps", [0, -1, STEPS + 1, True])
def test_popularity_refuses_other_steps(steps) -> None:
    with pytest.raises(ConfigurationError, match="steps is"):
        PopularityHotness(steps)


@pytest.mark.parametrize("half_life", [0, -1, float("nan"), float("inf"), True])
def test_the_average_refuses_other_half_lives(half_life) -> None:
    with pytest.raises(ConfigurationError, match="half_life is"):
        EWMAHotness(half_life)


@pytest.mark.parametrize("target", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("decay", [0.0, 0.6])
def test_the_ttl_comes_to_the_hit_rate_it_should(target: float, decay: float) -> None:
    gaps = np.random.default_rng(7).exponential(100.0, 60_000)
    ttl = AdaptiveTTL(
        target_hit_rate=target, max_ttl_seconds=2_000, gain=0.5 if decay else 0.002, decay=decay
    )
    hits, lives = [], []
    for gap in gaps:
        hits.append(bool(gap <= ttl.ttl_seconds))
        lives.append(ttl.observe(hit=hits[-1]))
    assert np.mean(hits[-20_000:]) == pytest.approx(target, abs=0.02)
    # After a mean gap of 100 seconds, this is how long an entry has to live to be hit so often.
    assert np.mean(lives[-20_000:]) == pytest.approx(-100 * np.log(1 - target), rel=0.1)


def test_a_target_out_of_reach_ends_at_the_longest_ttl() -> None:
    ttl = AdaptiveTTL(target_hit_rate=0.9, max_ttl_seconds=60, gain=0.1)
    for _ in range(100):
        ttl.observe(hit=False)
    assert ttl.ttl_seconds == 60


@given(st.lists(st.booleans(), max_size=300), st.sampled_from([0.0, 0.51, 1.0]))
def test_the_ttl_stays_in_its_range_and_hits_never_lengthen_it(hits, decay) -> None:
    ttl = AdaptiveTTL(target_hit_rate=0.5, max_ttl_seconds=10, gain=1.0, decay=decay)
    for hit in hits:
        before = ttl.ttl_seconds
        after = ttl.observe(hit=hit)
        assert 0 <= after <= 10
        assert after <= before if hit else after >= before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("target_hit_rate", value) for value in (0, 1, -1, float("nan"))],
        *[("max_ttl_seconds", value) for value in (0, float("inf"), float("nan"))],
        *[("gain", value) for value in (0, 2, True)],
        *[("decay", value) for value in (0.5, 1.1, -1, float("nan"))],
    ],
)
def test_the_ttl_refuses_what_cannot_be(name: str, value: float) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is"):
        AdaptiveTTL(**{"target_hit_rate": 0.5, "max_ttl_seconds": 60, name: value})
