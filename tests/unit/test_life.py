"""How a lifetime is told in words."""

from __future__ import annotations

import math

import pytest

from langchain_semcache.life import Life, Step


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0"), (0.25, "0.25"), (162.0, "162"), (999.96, "1000"), (86_400.0, "86400"),
     (2_592_000.0, "2592000"), (math.inf, "inf")],
)  # fmt: skip
def test_seconds_are_written_as_people_read_them(seconds, shown):
    life = Life(ttl_class="rare", because="default", first=seconds, seconds=seconds)
    assert str(life) == f"rare (default): {shown} s = {shown} s"


def test_every_step_is_named_with_its_factor():
    steps = (Step("decay", 0.75, 135.0), Step("sla", 1.2, 162.0))
    life = Life(ttl_class="rare", because="default", first=180.0, steps=steps, seconds=162.0)
    assert str(life) == "rare (default): 180 s × decay 0.75 × sla 1.2 = 162 s"
