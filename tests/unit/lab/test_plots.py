"""`plots`: a picture in a file, or one line that says why not."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from langchain_semcache import ConfigurationError, MissingExtra
from langchain_semcache.lab import plots
from langchain_semcache.lab.curve import Curve, by_similarity, sweep

drawn = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra lab")


@pytest.fixture
def curve(pair) -> Curve:
    measured = [pair(n % 3 != 0, 0.3 + n / 200 - (n % 3 == 0) / 5) for n in range(120)]
    return sweep(measured, by_similarity)


@drawn
@pytest.mark.parametrize(("ending", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_a_picture_is_drawn(curve, tmp_path: Path, ending: str, magic: bytes) -> None:
    path = tmp_path / f"curve{ending}"
    plots.plot_curve(curve, path, by="similarity", title="pairs.jsonl: hash")
    assert path.read_bytes().startswith(magic)


@drawn
def test_a_title_of_any_name_is_drawn_without_a_warning(curve, tmp_path: Path) -> None:
    plots.plot_curve(curve, tmp_path / "a.png", by="similarity", title="退款 $x^{ \n.jsonl")
    assert (tmp_path / "a.png").is_file()


@drawn
def test_no_window_is_prepared(curve, tmp_path: Path) -> None:
    """pyplot keeps figures and chooses a window system; neither is a library's business."""
    import sys

    before = "matplotlib.pyplot" in sys.modules
    plots.plot_curve(curve, tmp_path / "a.png", by="similarity", title="t")
    assert (tmp_path / "a.png").is_file()
    assert ("matplotlib.pyplot" in sys.modules) is before


@pytest.mark.parametrize("name", ["curve.gif", "curve", "none/curve.png"])
def test_what_cannot_be_drawn_is_said_first(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="curve"):
        plots.check_plot(tmp_path / name)


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"langchain-semcache\[lab\]"):
        plots.check_plot(tmp_path / "curve.png")
