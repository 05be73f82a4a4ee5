"""Uses to learn from, small enough for seconds, and a network that learned from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def log(tmp_path_factory) -> Path:
    """A decision log of two hours: some entries come every ten minutes, some never again."""
    path = tmp_path_factory.mktemp("uses") / "decisions.jsonl"
    rows = [
        {"t": 60.0 * minute + 1, "entry_id": f"regular-{phase}"}
        for minute in range(120)
        for phase in range(10)
        if (minute + phase) % 10 == 0
    ]
    rows += [{"t": 60.0 * minute, "entry_id": f"once-{minute}"} for minute in range(120)]
    rows += [{"t": 5.0, "entry_id": None}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="session")
def one_thread() -> Iterator[None]:
    """Tests run beside each other: threads of torch that wait for a core cost more than they do."""
    torch = pytest.importorskip("torch", reason="needs torch: make tests installs it")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def model(tmp_path_factory, log, one_thread) -> Path:
    """A network after two passes, on disk."""
    from langchain_semcache.hotness.accesses import read_accesses
    from langchain_semcache.hotness.torchscript import save
    from langchain_semcache.hotness.training import TrainingSettings, train

    path = tmp_path_factory.mktemp("model") / "heat.pt"
    settings = TrainingSettings(epochs=2, batch=64, max_windows=600)
    save(train(read_accesses(log), settings), path)
    return path


@pytest.fixture
def windows() -> np.ndarray:
    """Some that differ, some that are alike, one that is empty and one that is large."""
    chance = np.random.default_rng(3)
    made = chance.poisson(0.3, (40, 64)).astype(np.float32)
    made[10:20] = made[0]
    made[20] = 0
    made[21] = 65_535
    return made
