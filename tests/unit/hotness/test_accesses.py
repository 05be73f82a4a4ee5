"""What is read from a file of uses, and what a model gets to see of it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.hotness import HORIZON, STEPS
from langchain_semcache.hotness.accesses import accesses, moments, read_accesses


def write(path: Path, *rows: object) -> Path:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def test_a_log_of_decisions_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    uses = read_accesses(
        write(
            tmp_path / "log.jsonl",
            {"t": 1_000_130.0, "entry_id": "b", "hit": True},
            {"t": 1_000_000.0, "entry_id": "a"},
            {"t": 1_000_060.0, "entry_id": None},
            "",
            {"t": 1_000_059.9, "entry_id": "b"},
        )
    )
    assert uses.steps.tolist() == [0, 0, 2]
    assert uses.entries.tolist() == [1, 0, 0]
    assert (uses.end, uses.keys, uses.name) == (3, 2, "log.jsonl")


def test_traffic_and_traces_of_mooncake_are_read_as_they_are(tmp_path: Path) -> None:
    traffic = write(
        tmp_path / "a.jsonl.gz", *({"t": n, "prompt": "p", "out_tok": 1} for n in (0, 30))
    )
    assert read_accesses(traffic, step_seconds=10).steps.tolist() == [0, 3]
    trace = write(
        tmp_path / "b.jsonl",
        {"t_ms": 0, "in_tok": 9, "out_tok": 9, "hash_ids": [7, 8]},
        {"t_ms": 60_000, "in_tok": 9, "out_tok": 9, "hash_ids": [7]},
    )
    assert read_accesses(trace).entries.tolist() == [0, 1, 0]
    assert read_accesses(trace, limit=1).steps.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ((), "holds no uses"),
        (({"t": 1, "entry_id": None},), "holds no uses"),
        (("{",), "line 1 is no JSON"),
        (("[1]",), "line 1 is no JSON object"),
        (({"t": 1, "entry_id": "a"}, {"entry_id": "a"}), "line 2 lacks the number 't'"),
        (({"t": True, "entry_id": "a"},), "lacks the number 't'"),
        (('{"t": NaN, "entry_id": "a"}',), "lacks the number 't'"),
        (({"t": 1},), "does not say which entry"),
        (({"t": 1, "entry_id": 5},), "'entry_id' that is no text"),
        (({"t_ms": 1, "hash_ids": ["x"]},), "'hash_ids' that are no numbers"),
    ],
)
def test_what_is_no_use_is_named_by_file_and_line(tmp_path: Path, rows, says: str) -> None:
    path = write(tmp_path / "uses.jsonl", *rows)
    with pytest.raises(ConfigurationError, match=says) as caught:
        read_accesses(path)
    assert "uses.jsonl" in str(caught.value)


@pytest.mark.parametrize("name", ["absent.jsonl", "broken.jsonl.gz", "latin.jsonl"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if "absent" not in name:
        path.write_bytes(b"\xff\xfe no text")
    with pytest.raises(ConfigurationError, match=f"the uses in .*{name} cannot be read"):
        read_accesses(path)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), True])
def test_a_step_has_a_length(seconds) -> None:
    with pytest.raises(ConfigurationError, match="a step is"):
        accesses("uses", [(0.0, "a")], step_seconds=seconds)


def test_a_moment_is_what_was_known_and_what_came_then() -> None:
    uses = accesses("uses", [(60.0 * step, step % 3) for step in range(30)])
    found = list(moments(uses, start=3, end=30, every=4))
    assert [moment.step for moment in found] == [3, 7, 11, 15, 19, 23]
    for moment in found:
        assert moment.windows.shape == (3, STEPS)
        for window, coming in zip(moment.windows, moment.uses, strict=True):
            which = {int(np.flatnonzero(window)[-1]) - STEPS + moment.step}
            (last,) = which
            rest = range(moment.step, moment.step + HORIZON)
            assert coming == sum(step % 3 == last % 3 for step in rest)


def test_no_moment_looks_beyond_the_end_that_it_was_given() -> None:
    """What is tuned on the first part has seen nothing of the second."""
    before = [(60.0 * step, step % 3) for step in range(20)]
    one = accesses("one", [*before, *((60.0 * step, 0) for step in range(20, 40))])
    two = accesses("two", [*before, *((60.0 * step, 2) for step in range(20, 40))])
    for first, second in zip(
        moments(one, start=0, end=20, every=1), moments(two, start=0, end=20, every=1), strict=True
    ):
        assert first.windows.tolist() == second.windows.tolist()
        assert first.uses.tolist() == second.uses.tolist()
