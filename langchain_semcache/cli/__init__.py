"""The command `semcache`: look at a cache, explain it, empty it, check it, and see it work.

Needs the extra `cli`. This is the one place that reads the environment (SEMCACHE_LOCATION).
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from langchain_semcache.errors import MissingExtra

__all__ = ["main"]


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a check failed, 2 a setting is wrong."""
    for package in ("typer", "rich"):
        if find_spec(package) is None:
            sys.stderr.write(f"semcache: {MissingExtra('the command line', 'cli', package)}\n")
            raise SystemExit(2)
    from langchain_semcache.cli.app import app

    app(prog_name="semcache")
