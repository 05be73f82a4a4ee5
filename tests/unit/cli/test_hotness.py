"""`hotness`: from a log to a model, figures and a repository; one line for what is wrong."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="needs torch: make tests installs it"
)
quiet = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def told(result) -> dict:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def failed(result, *parts: str) -> None:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    for part in parts:
        assert part in line


@pytest.fixture
def uses(tmp_path: Path) -> Path:
    """Two hours of ten entries, each of which comes every ten minutes, and of some passers-by."""
    rows = [
        {"t": 60 * minute, "entry_id": f"regular-{minute % 10}" if minute % 3 else f"once-{minute}"}
        for minute in range(120)
    ]
    path = tmp_path / "decisions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def model(semcache, uses, tmp_path) -> Path:
    out = tmp_path / "heat.pt"
    ran = semcache("hotness", "train", uses, "--out", out, "--epochs", 1, "--threads", 1)
    assert ran.exit_code == 0, ran.output
    return out


@quiet
@needs_torch
@pytest.mark.torch
def test_from_a_log_to_a_model_to_figures_to_a_repository(semcache, uses, model, tmp_path) -> None:
    found = told(semcache("hotness", "evaluate", uses, "--model", model, "--top", 5, "--json"))
    assert set(found["models"]) == {"popularity-64", "ewma-4", "ewma-16", "ewma-64", "network"}
    assert all(0 <= one["ndcg"] <= 1 for one in found["models"].values())
    assert (found["uses"], found["step_seconds"], found["top"]) == (120, 60, 5)
    exported = semcache("hotness", "export-triton", tmp_path / "models", "--model", model)
    assert exported.exit_code == 0, exported.output
    assert "Version 1 of semcache_heat" in exported.stdout
    assert f"--model-repository {tmp_path / 'models'}" in exported.stdout
    again = ("hotness", "export-triton", tmp_path / "models", "--model", model, "--json")
    assert told(semcache(*again))["version"] == 2


@quiet
@needs_torch
@pytest.mark.torch
def test_training_says_what_came_of_it(semcache, uses, tmp_path) -> None:
    asked = ("hotness", "train", uses, "--out", tmp_path / "heat.pt", "--epochs", 2, "--threads", 1)
    shown = semcache(*asked)
    assert "decisions.jsonl: 120 uses of 50 entries" in shown.stdout
    assert "network" in shown.stdout
    assert f"The model is in {tmp_path / 'heat.pt'}" in "".join(shown.stdout.splitlines())
    document = told(semcache(*asked, "--step", "30s", "--until", 0.9, "--json"))
    assert document["step_seconds"] == 30
    assert [one["number"] for one in document["epochs"]] == [1, 2]
    assert set(document["validation_losses"]) >= {"network", "popularity-64"}


def test_models_that_need_no_training_are_measured_without_torch(semcache, uses) -> None:
    shown = semcache("hotness", "evaluate", uses)
    assert shown.exit_code == 0, shown.output
    assert "NDCG@100" in shown.stdout
    assert "ewma-16" in shown.stdout


def test_without_a_word_it_lists_what_there_is(semcache) -> None:
    shown = semcache("hotness")
    assert shown.exit_code == 0
    for command in ("train", "evaluate", "export-triton"):
        assert command in shown.stdout


def test_what_is_wrong_is_one_line(semcache, uses, tmp_path) -> None:
    absent = tmp_path / "absent"
    failed(semcache("hotness", "evaluate", absent), "absent", "cannot be read")
    failed(semcache("hotness", "evaluate", uses, "--step", "long"), "--step 'long' is no duration")
    failed(semcache("hotness", "evaluate", uses, "--model", absent), "no model", "absent")
    failed(semcache("hotness", "evaluate", uses, "--from", 0.99), "pass over less with --from")
    failed(semcache("hotness", "export-triton", tmp_path, "--model", absent), "no model")
    failed(semcache("hotness", "export-triton", tmp_path, "--model", uses), "is no model of")
    failed(semcache("hotness", "export-triton", tmp_path), "--model")


@needs_torch
def test_a_place_that_is_not_there_is_said_before_the_minutes(semcache, uses, tmp_path) -> None:
    nowhere = tmp_path / "nowhere" / "heat.pt"
    failed(semcache("hotness", "train", uses, "--out", nowhere), "make its directory first")


@pytest.mark.skipif(find_spec("tritonclient") is None, reason="needs the extra triton")
@quiet
def test_a_server_that_is_not_there_is_not_measured(semcache, uses) -> None:
    asked = ("hotness", "evaluate", uses, "--triton")
    failed(semcache(*asked, "http://127.0.0.1:9"), "no answer from", "127.0.0.1:9")
    failed(semcache(*asked, "heat:8000"), "write grpc://HOST:8001")
