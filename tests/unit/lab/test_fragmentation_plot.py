"""`fragmentation_plot`: a picture in a file."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from langchain_semcache.lab.avalanche import Sweep, sweep
from langchain_semcache.lab.fragmentation import Costs
from langchain_semcache.lab.fragmentation_plot import plot_sweep
from langchain_semcache.lab.traffic import demo_traffic

drawn = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra lab")


@pytest.fixture(scope="module")
def swept() -> Sweep:
    return sweep(demo_traffic(requests=200).arrivals, [2e4, 1e5, 1e6], Costs())


@drawn
@pytest.mark.parametrize(("ending", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_a_picture_is_drawn(swept, tmp_path: Path, ending: str, magic: bytes) -> None:
    path = tmp_path / f"sweep{ending}"
    plot_sweep(swept, path, title="退款 $x^{.jsonl")
    assert path.read_bytes().startswith(magic)


@drawn
def test_the_avalanche_is_in_it(swept, tmp_path: Path) -> None:
    plot_sweep(swept, tmp_path / "a.svg", title="t")
    assert swept.avalanche is not None
    drawing = (tmp_path / "a.svg").read_text()
    assert f"avalanche {swept.avalanche.memory / 1e6:,.2f} MB" in drawing


@drawn
def test_traffic_without_a_repetition_is_drawn_without_a_warning(tmp_path: Path) -> None:
    lonely = sweep(demo_traffic(requests=1).arrivals, [10, 1000], Costs())
    plot_sweep(lonely, tmp_path / "a.png", title="t")
    assert (tmp_path / "a.png").is_file()
