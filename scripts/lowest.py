"""Write, as pip constraints, the lowest version that pyproject.toml allows of each dependency.

A lower bound that nobody installs is a guess: `make lowest` runs the tests against these.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

BOUND = re.compile(r"^(?P<name>[\w.-]+)(\[[\w,.-]+\])?[^;]*?(>=|==)\s*(?P<version>[\w.]+)")
TOOLS = {"dev", "docs"}  # what only this repository uses may be as new as it likes


def lowest(project: dict[str, object]) -> Iterator[str]:
    """One constraint for each dependency that users can get."""
    extras = project["optional-dependencies"]
    wanted = [project["dependencies"]]
    wanted += [names for extra, names in extras.items() if extra not in TOOLS]
    for requirement in sorted({line for group in wanted for line in group}):
        if bound := BOUND.match(requirement):
            yield f"{bound['name']}=={bound['version']}"


if __name__ == "__main__":
    settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    print("\n".join(lowest(settings["project"])))
