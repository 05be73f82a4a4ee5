"""`sweep`: thresholds in a table, two of them named, as JSON and as a picture."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from langchain_semcache.cli import models
from langchain_semcache.threshold.confidence import Calibration

HASH = "tokenizer-hash-v1;salt=cbf29ce484222325"


def written(path: Path, count: int = 40) -> Path:
    """Pairs that the hash encoder can tell: a word more, or another question; some with numbers."""
    rows = []
    for n in range(count):
        topic = f"the colour of box {chr(97 + n % 26)}{chr(97 + n // 26)}"
        rows += [
            {"a": f"What is {topic}?", "b": f"What is {topic} please?", "same": 1, "kind": "word"},
            {"a": f"What is {topic}?", "b": "What is a good wine?", "same": 0, "kind": "other"},
            {"a": f"Where is {topic} 1?", "b": f"Where is {topic} 2?", "same": 0, "kind": "number"},
        ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return written(tmp_path / "pairs.jsonl")


def told(result) -> dict:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def failed(result) -> str:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def test_the_table_names_the_balance_and_the_best(semcache, pairs) -> None:
    ran = semcache("sweep", pairs, "--encoder", "hash", "--no-guards")
    assert ran.exit_code == 0, ran.output
    assert "pairs.jsonl by similarity" in ran.stdout
    assert "40 same and 80 different pairs, guards off" in ran.stdout
    assert "◆ balance" in ran.stdout
    assert "★ best F1" in ran.stdout
    assert "equal error rate" in ran.stdout
    assert "█" in ran.stdout


def test_it_is_readable_in_eighty_columns(semcache, pairs, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = semcache("sweep", pairs, "--encoder", "hash")
    assert "…" not in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80
    for title in ("false-pass", "coverage", "precision", "F1"):
        assert title in ran.stdout


def test_the_guards_keep_other_numbers_out(semcache, pairs) -> None:
    on = told(semcache("sweep", pairs, "--encoder", "hash", "--json"))
    off = told(semcache("sweep", pairs, "--encoder", "hash", "--json", "--no-guards"))
    assert on["kinds"]["number"]["false_pass"] == 0.0
    assert off["points"][0]["false_pass"] == 1.0
    assert on["points"][0]["false_pass"] == pytest.approx(0.5)
    assert on["balance"]["equal_error_rate"] <= off["balance"]["equal_error_rate"]


def test_the_document_holds_everything_a_plot_needs(semcache, pairs) -> None:
    found = told(semcache("sweep", pairs, "--encoder", "hash", "--json"))
    assert (found["by"], found["encoder"], found["verifier"]) == ("similarity", HASH, None)
    assert len(found["points"]) == 101
    for point in (*found["points"], found["balance"], found["best_f1"]):
        low, high = point["false_pass_interval"]
        assert low <= point["false_pass"] <= high


def test_confidence_needs_a_calibration_and_says_so(semcache, pairs) -> None:
    asked = ("sweep", pairs, "--encoder", "hash", "--by", "confidence")
    line = failed(semcache(*asked))
    assert "semcache calibrate" in line
    assert "--calibration" in line


def test_confidence_comes_from_a_file(semcache, pairs, tmp_path) -> None:
    file = tmp_path / "calibration.json"
    weights = {"similarity": 10.0, "bias": -5.0}
    made = Calibration(
        encoder=HASH, verifier=None, floor=0.1, bar=0.5, least=0.5, weights=weights
    )  # fmt: skip
    file.write_text(made.to_json())
    asked = ("sweep", pairs, "--encoder", "hash", "--by", "confidence", "--calibration", file)
    found = told(semcache(*asked, "--json"))
    assert found["by"] == "confidence"
    # Nothing that passes at all is less sure than 1 / (1 + e⁵).
    assert found["points"][1]["coverage"] == 1.0
    assert found["points"][-1]["coverage"] == 0.0  # nor surer than 1 / (1 + e⁻⁵)
    assert "pairs.jsonl by confidence" in semcache(*asked).stdout


@pytest.mark.weights
def test_the_models_that_ship_have_a_calibration(semcache, pairs) -> None:
    found = told(semcache("sweep", pairs, "--by", "confidence", "--json"))
    assert found["verifier"] == "pairs-3"
    assert found["points"][0]["coverage"] == 1.0


def test_a_verifier_is_asked_only_where_its_opinion_counts(semcache, pairs, monkeypatch) -> None:
    class Sure:
        identity = "sure"
        asked = 0

        def judge(self, question, stored):
            Sure.asked += 1
            return [0.9 if "please" in one else 0.1 for one in stored]

    made = Sure()
    monkeypatch.setattr(
        models, "make_verifier", lambda name, encoder: None if name == "none" else made
    )
    semcache("sweep", pairs, "--encoder", "hash", "--verifier", "auto")
    assert Sure.asked == 0
    found = told(semcache("sweep", pairs, "--encoder", "hash", "--by", "confidence", "--json"))
    assert Sure.asked == 120
    assert found["verifier"] == "sure"


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra lab")
def test_a_picture_is_drawn(semcache, pairs, tmp_path) -> None:
    picture = tmp_path / "curve.png"
    ran = semcache("sweep", pairs, "--encoder", "hash", "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "The picture is in" in ran.stdout


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--plot", "curve.gif"), "let it end in .png"),
        (("--encoder", "nope"), "no encoder is called 'nope'"),
        (("--by", "luck"), "luck"),
        (("--config", "none.toml"), "none.toml cannot be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_what_is_wrong_is_one_line(semcache, pairs, options, part: str) -> None:
    assert part in failed(semcache("sweep", pairs, *options))


def test_a_file_without_both_labels_is_one_line(semcache, tmp_path) -> None:
    file = tmp_path / "same.jsonl"
    file.write_text('{"a": "x", "b": "y", "same": 1}\n')
    assert "labelled same" in failed(semcache("sweep", file, "--encoder", "hash"))
    assert "none.jsonl" in failed(semcache("sweep", tmp_path / "none.jsonl"))


def test_the_settings_of_a_cache_are_read_from_its_file(semcache, pairs, tmp_path) -> None:
    settings = tmp_path / "semcache.toml"
    settings.write_text('encoder = "hash"\n')
    assert told(semcache("sweep", pairs, "--config", settings, "--json"))["encoder"] == HASH
