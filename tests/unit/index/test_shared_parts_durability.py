"""No kill at any moment leaves an answer that cannot be read: not between the writes of one store,
and not in the middle of a sweep."""

import os
import random
import signal
import subprocess
import sys
import textwrap

import pytest

from langchain_semcache import Semcache

WRITER = r"""
    import hashlib, os, sys
    from langchain_semcache import Request, Response, Semcache
    from langchain_semcache.engine import workplace
    from langchain_semcache.records import PARTS, Selection

    directory, first, moment = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    cache = Semcache.open(directory, encoder="hash", similarity_threshold=0.999, ttl=None)
    index = cache.core.workplace.index

    def told(name, put):
        def call(*given, **named):
            done = put(*given, **named)
            os.write(1, f"{name}\n".encode())
            return done
        return call

    put = index.put
    index.put = lambda entry, vector: told("part" if entry.namespace == PARTS else "entry", put)(
        entry, vector
    )
    index.rewrite = told("rewrite", index.rewrite)
    index.remove = told("remove", index.remove)

    number = first
    while True:
        noise = [hashlib.blake2b(f"{number} {n}".encode(), digest_size=5).hexdigest()
                 for n in range(80)]
        for wording in ("how is item {} made", "how is item {} made now", "item {}: how made"):
            cache.store(Request(messages=wording.format(number), model="m"),
                        Response.from_text(" ".join([wording, *noise])))
            os.write(1, b"stored\n")
        if moment == "remove" and number % 3 == 2:
            for entry in list(cache.entries())[::3]:
                cache.remove(entry.id)
            cache.compact(grace=0)
        number += 1
"""


def killed_at(directory, first, moment, count):
    """Run the writer until it has said `moment` so many times; the answers it acknowledged."""
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITER), directory, str(first), moment],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    stored = seen = 0
    with child:
        for line in child.stdout:
            stored += line.strip() == "stored"
            seen += line.strip() == moment
            if seen >= count:
                child.send_signal(signal.SIGKILL)
                break
    assert seen >= count
    return stored


@pytest.mark.parametrize("moment", ["part", "entry", "rewrite", "remove"])
def test_every_answer_can_be_read_after_a_kill(tmp_path, moment):
    dice = random.Random(moment)
    directory, stored = str(tmp_path / "store"), 0
    for kill in range(3):
        stored += killed_at(directory, 1_000 * kill, moment, dice.randint(1, 12))
        with Semcache.open(directory, encoder="hash", ttl=None) as cache:
            entries = list(cache.entries())
            for entry in entries:
                assert cache.read(entry).text
            if moment != "remove":
                assert len(entries) >= stored
            shared = cache.stats()
    assert shared.stored_response_bytes < shared.raw_response_bytes
