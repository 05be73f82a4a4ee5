"""Run the notebooks of the documentation and keep what they show.

    python scripts/notebooks.py            # all of them
    python scripts/notebooks.py PATH …     # these

A test runs them too, and fails when what is stored is no longer what they print.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "docs/notebooks"


def executed(path: Path, directory: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs, run in `directory` by a kernel of this environment.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell failed.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=120,  # seconds for one cell
        resources={"metadata": {"path": str(directory)}},
        record_timing=False,  # times would change the file on every run
    ).execute()
    return notebook


def main(names: list[str]) -> None:
    for path in [Path(name) for name in names] or sorted(NOTEBOOKS.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as directory:
            notebook = executed(path, Path(directory))
        # The version of the interpreter is that of whoever ran it last, and says nothing.
        notebook.metadata["language_info"] = {"name": "python"}
        nbformat.write(notebook, path)
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
