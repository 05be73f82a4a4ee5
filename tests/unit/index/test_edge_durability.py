"""What was acknowledged is there after a kill at any moment."""

import os
import random
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from langchain_semcache.index._edge_directory import StoreDirectory
from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
from langchain_semcache.records import Selection
from langchain_semcache.testing.index_values import NOW, make_entry

WRITER = r"""
    import os, sys, threading
    import numpy as np
    from langchain_semcache.index.qdrant_edge import QdrantEdgeIndex
    from langchain_semcache.testing.index_values import make_entry

    directory, first, build = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "build"
    rng = np.random.default_rng(first)
    index = QdrantEdgeIndex(directory, dimension=16, graph_from=None)
    index.open()

    def build_again_and_again():
        while True:
            index.build_graph()
            os.write(1, b"built\n")

    if build:
        threading.Thread(target=build_again_and_again, daemon=True).start()
    number, pause = first, threading.Event()
    while True:
        vector = rng.standard_normal(16).astype(np.float32)
        vector /= np.linalg.norm(vector)
        index.put(make_entry(number, id=f"entry {number}", expires_at=None), vector)
        os.write(1, f"put {number}\n".encode())  # in one piece, whatever the other thread does
        number += 1
        pause.wait(0.003 if build else 0)  # or a build has too much to copy
"""


def write_until_killed(directory, first, *, build, lines, builds_first):
    """Numbers a child acknowledged before it was killed, after so many of them and builds."""
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITER), directory, str(first), build],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    acknowledged, builds = [], 0
    with child:
        for line in child.stdout:
            word, _, number = line.strip().partition(" ")
            if word == "put":
                acknowledged.append(int(number))
            builds += word == "built"
            if len(acknowledged) >= lines and builds >= builds_first:
                child.send_signal(signal.SIGKILL)
                break
        # What it still wrote to the pipe was acknowledged as well.
        acknowledged += [int(text.split()[1]) for text in child.stdout if text.startswith("put")]
    assert len(acknowledged) >= lines
    return acknowledged


def entry(number):
    """Never expired, since a build leaves those out; with an id that is spread by a digest."""
    return make_entry(number, id=f"entry {number}", expires_at=None)


@pytest.mark.parametrize("build", ["no", "build"])
def test_every_acknowledged_entry_survives_a_kill(tmp_path, build):
    dice = random.Random(11)
    stored = []
    for kill in range(1, 4):
        first = stored[-1] + 10 if stored else 0
        lines = dice.randint(1, 600)
        stored += write_until_killed(
            str(tmp_path / "store"),
            first,
            build=build,
            lines=lines,
            builds_first=1 if build == "build" and kill == 2 else 0,  # else amid the first one
        )
        index = QdrantEdgeIndex(tmp_path / "store", dimension=16, graph_from=None)
        missing = [n for n in stored if index.fetch(entry(n).id, now=NOW) != entry(n)]
        found = {found.id for found in index.scan(Selection())}
        index.close()
        assert missing == []
        # At each kill one more may have been stored before the child could say so.
        assert 0 <= len(found) - len(stored) <= kill
        assert left_alone(tmp_path / "store")


def left_alone(directory):
    """Whether one generation is left, once a worker whose parent was killed has noticed it."""
    give_up_at, pause = time.monotonic() + 30, threading.Event()
    while len(generations := [child for child in directory.iterdir() if child.is_dir()]) != 1:
        if time.monotonic() > give_up_at:
            return False
        pause.wait(0.05)
    return generations[0].name in (directory / "manifest.json").read_text("utf-8")


@pytest.mark.parametrize("sent", [b"", struct.pack(">II", 0, 0)], ids=["nothing", "all"])
def test_a_graph_worker_without_its_parent_leaves_nothing(tmp_path, sent):
    path = StoreDirectory(tmp_path).new_generation()
    code = "import sys; from langchain_semcache.index._graph_worker import main; "
    subprocess.run(
        [sys.executable, "-c", f"{code} main({str(path)!r}, 16, {os.getppid()})"],
        input=sent,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert not path.exists()
