"""The example runs with its one command, and shows what it promises."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "litellm_proxy"


@pytest.mark.usefixtures("upstream")
def test_the_example_answers_repeats_and_rewordings_and_keeps_the_router_apart(tmp_path):
    copy = shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns(".*"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ran = subprocess.run(
        ["bash", "run.sh", "--once"],
        cwd=copy,
        env={**os.environ, "PYTHON": sys.executable, "PORT": str(port)},
        capture_output=True,
        check=False,
        text=True,
        timeout=150,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    reasons = [line.split()[0] for line in ran.stdout.splitlines() if "？" in line or "?" in line]
    assert reasons[:3] == ["no_candidate", "exact", "semantic"]
    assert reasons[3] not in ("exact", "semantic")
    assert reasons[4] not in ("exact", "semantic")
    assert reasons[5] == "semantic"
