"""Every notebook of the documentation runs as it stands, and shows what is stored in it.

Nothing needs an exception from the rules that hold for all tests. The kernel is a process of its
own, reached over the loopback interface: pytest-socket allows that host, and would not see ZeroMQ's
sockets in any case. `conftest` sets HF_HUB_OFFLINE, and the kernel inherits it.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from scripts.notebooks import NOTEBOOKS, executed

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(NOTEBOOKS.glob("*.ipynb"))
MOST_BYTES = 150_000

each = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


@pytest.fixture
def _own_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is this interpreter with this source, whatever its user has set up."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.delenv("MPLBACKEND", raising=False)


def _printed(notebook: nbformat.NotebookNode) -> list[str]:
    """What each cell prints; pictures differ with the version that draws them, and are left out."""
    return [
        "".join(part.text for part in cell.outputs if part.get("name") == "stdout")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@each
@pytest.mark.weights
@pytest.mark.usefixtures("_own_surroundings")
def test_a_notebook_runs_and_prints_what_is_stored_in_it(page: Path, tmp_path: Path) -> None:
    """`executed` raises when a cell does."""
    directory = tmp_path / "empty"
    directory.mkdir()
    stored = nbformat.read(page, as_version=4)
    assert _printed(executed(page, directory)) == _printed(stored), "run `make notebooks`"


@each
def test_a_notebook_is_stored_with_its_outputs_and_is_small(page: Path) -> None:
    notebook = nbformat.read(page, as_version=4)
    nbformat.validate(notebook)
    assert any(_printed(notebook))
    assert page.stat().st_size < MOST_BYTES


@each
def test_a_stored_notebook_shows_no_error_and_no_warning(page: Path) -> None:
    for cell in nbformat.read(page, as_version=4).cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr"


def test_there_is_a_notebook() -> None:
    assert PAGES
