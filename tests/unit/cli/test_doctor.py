"""`doctor`: what is there, what works, and what to do about the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langchain_semcache.cli import checks
from langchain_semcache.threshold.confidence import Calibration


def report(result) -> dict[str, dict]:
    return {check["what"]: check for check in json.loads(result.stdout)["checks"]}


@pytest.mark.weights
def test_a_healthy_place_passes_and_stays_untouched(semcache, tmp_path) -> None:
    ran = semcache("doctor", "--location", tmp_path / "new")
    assert ran.exit_code == 0, ran.output
    assert "✗" not in ran.stdout
    assert "Everything works." in ran.stdout
    assert "dimensions" in ran.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.weights
def test_the_self_test_stores_hits_and_refuses(semcache, tmp_path) -> None:
    ran = semcache("doctor", "--location", tmp_path / "new", "--json")
    found = report(ran)
    assert json.loads(ran.stdout)["ok"] is True
    for what, _, _ in checks.TRIALS:
        assert found[what]["good"] is True, found[what]


def test_what_fails_is_marked_with_its_fix_and_the_exit_code(semcache, kept) -> None:
    """The hash encoder knows no meaning, so rewordings in other words do not hit."""
    ran = semcache("doctor", "--location", kept, "--encoder", "hash")
    assert ran.exit_code == 1
    assert "✗ a rewording in Chinese hits" in ran.stdout
    assert "→ use --encoder local" in ran.stdout
    assert "failed." in ran.stdout
    assert "✓ the same words hit" in ran.stdout
    assert "backend qdrant-edge" in ran.stdout


def test_a_directory_that_holds_something_else_is_refused_untouched(semcache, tmp_path) -> None:
    tmp_path.joinpath("file.txt").write_text("mine")
    ran = semcache("doctor", "--location", tmp_path, "--encoder", "hash", "--json")
    assert ran.exit_code == 1
    assert report(ran)[f"place {tmp_path}"]["good"] is False
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_a_place_that_is_a_file_is_said(semcache, tmp_path) -> None:
    place = tmp_path / "file.txt"
    place.write_text("mine")
    ran = semcache("doctor", "--location", place, "--encoder", "hash", "--json")
    assert ran.exit_code == 1
    assert report(ran)[f"place {place}"]["good"] is False
    assert "Traceback" not in ran.output


def test_a_place_that_cannot_be_written_is_said(semcache, tmp_path, monkeypatch) -> None:
    real = checks.tempfile.TemporaryDirectory

    def full(*args, **options):
        if options.get("dir") is not None:
            raise OSError(28, "No space left on device")
        return real(*args, **options)

    monkeypatch.setattr(checks.tempfile, "TemporaryDirectory", full)
    ran = semcache("doctor", "--location", tmp_path / "a/b", "--encoder", "hash", "--json")
    place = report(ran)[f"place {tmp_path / 'a/b'}"]
    assert place["good"] is False
    assert "No space left on device" in place["detail"]
    assert "--location" in place["fix"]


def test_an_encoder_that_is_not_installed_names_its_extra(semcache, monkeypatch) -> None:
    from langchain_semcache import MissingExtra

    def missing(name: str):
        raise MissingExtra("OnnxEncoder", "local", "onnxruntime")

    monkeypatch.setattr(checks, "make_encoder", missing)
    ran = semcache("doctor", "--location", ":memory:", "--json")
    assert ran.exit_code == 1
    encoder = report(ran)["encoder local"]
    assert encoder["good"] is False
    assert encoder["fix"] == 'pip install "langchain-semcache[local]"'


@pytest.mark.weights
def test_the_shipped_verifier_is_named(semcache, tmp_path) -> None:
    found = report(semcache("doctor", "--location", tmp_path / "new", "--json"))["verifier auto"]
    assert found["good"] is True
    assert found["detail"].startswith("pairs-3, hits from confidence 0.")


def test_without_a_verifier_similarity_decides(semcache, tmp_path) -> None:
    asked = ("doctor", "--location", tmp_path / "new", "--encoder", "hash", "--json")
    found = report(semcache(*asked))["verifier auto"]
    assert found["good"] is None
    assert "similarity alone decides" in found["detail"]


def test_a_calibration_that_does_not_fit_is_one_failure(semcache, tmp_path) -> None:
    """No cache opens with it, so nothing else is tried."""
    file, settings = tmp_path / "calibration.json", tmp_path / "semcache.toml"
    made = Calibration(encoder="x", verifier=None, floor=0.5, bar=0.9, least=0.8, weights={})
    file.write_text(made.to_json())
    settings.write_text(f"calibration = {json.dumps(str(file))}\n")
    asked = ("doctor", "--location", tmp_path / "new", "--encoder", "hash", "--config", settings)
    ran = semcache(*asked, "--json")
    assert ran.exit_code == 1
    (failure,) = [one for one in report(ran).values() if one["good"] is False]
    assert failure["what"] == "verifier auto"
    assert "semcache calibrate" in failure["fix"]


def test_every_extra_that_can_be_looked_for_is(semcache) -> None:
    """A new extra in pyproject.toml must turn up in the doctor's list."""
    import tomllib

    project = tomllib.loads(Path(__file__).parents[3].joinpath("pyproject.toml").read_text())
    extras = set(project["project"]["optional-dependencies"]) - {"all", "dev", "docs", "testing"}
    assert set(checks.EXTRAS) == extras
