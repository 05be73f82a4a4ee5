"""What goes wrong is one line on standard error that names the thing and the fix."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from langchain_semcache import MissingExtra
from langchain_semcache.cli import main
from langchain_semcache.cli.places import shown

LOOKING = [
    ("stats",),
    ("show",),
    ("explain", "Why?"),
    ("report", "0", "--wrong"),
    ("clear", "--yes"),
]


def said(result, *parts: str, code: int = 2) -> None:
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("semcache: ")
    for part in parts:
        assert part in line


@pytest.mark.parametrize("command", LOOKING, ids=lambda command: command[0])
def test_looking_at_an_empty_place_makes_nothing_there(semcache, tmp_path, command) -> None:
    place = tmp_path / "nothing"
    said(semcache(*command, "--location", place), str(place), "--location", "semcache demo")
    assert list(tmp_path.iterdir()) == []
    tmp_path.joinpath("file.txt").write_text("mine")
    said(semcache(*command, "--location", tmp_path), "there is no cache")
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_the_default_place_is_the_working_directory(semcache, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    said(semcache("stats"), "./.semcache")


def test_the_environment_names_the_place(semcache, kept, monkeypatch) -> None:
    monkeypatch.setenv("SEMCACHE_LOCATION", str(kept))
    assert semcache("stats", "--encoder", "hash").exit_code == 0


def test_the_command_line_beats_the_file_and_the_file_beats_the_environment(
    semcache, kept, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("SEMCACHE_LOCATION", str(tmp_path / "environment"))
    settings = tmp_path / "semcache.toml"
    settings.write_text('location = "/nonexistent/file"\nencoder = "hash"\n')
    said(semcache("stats"), "environment")
    said(semcache("stats", "--config", settings), "/nonexistent/file")
    assert semcache("stats", "--config", settings, "--location", kept).exit_code == 0


def test_an_empty_variable_is_none(semcache, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SEMCACHE_LOCATION", "")
    monkeypatch.chdir(tmp_path)
    said(semcache("stats"), "./.semcache")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("ttl = true", "ttl"),
        ("similarity_threshold = 2", "similarity_threshold"),
        ("loction = 'x'", "loction is not a setting"),
        ("this is no toml", "is not a TOML file"),
    ],
)
def test_a_wrong_file_is_named(semcache, tmp_path, text: str, part: str) -> None:
    settings = tmp_path / "semcache.toml"
    settings.write_text(text)
    said(semcache("stats", "--config", settings), part)


def test_a_missing_file_is_named(semcache, tmp_path) -> None:
    said(semcache("stats", "--config", tmp_path / "none.toml"), "none.toml cannot be read")


def test_a_store_in_memory_cannot_be_looked_at(semcache) -> None:
    said(semcache("stats", "--location", ":memory:"), ":memory:", "directory")


def test_another_encoder_than_the_stores_is_said(semcache, kept) -> None:
    said(semcache("stats", "--location", kept, "--encoder", "local"), "dimension 64")


def test_an_unknown_encoder_is_said(semcache, kept) -> None:
    said(semcache("stats", "--location", kept, "--encoder", "nope"), "nope", "'local'")


def test_a_server_that_is_not_there_is_said_without_its_password(semcache) -> None:
    asked = semcache("stats", "--location", "http://me:secret@127.0.0.1:9")
    said(asked, "http://127.0.0.1:9", "does not answer")
    assert "secret" not in asked.stderr


def test_a_place_is_shown_without_credentials() -> None:
    assert shown("https://me:secret@host:6333/path") == "https://host:6333/path"
    assert shown("./.semcache") == "./.semcache"
    assert shown(":memory:") == ":memory:"


@pytest.mark.parametrize(
    "arguments",
    [("--nope",), ("nope",), ("stats", "--nope"), ("explain",), ("demo", "--delay", "-1")],
    ids=" ".join,
)
def test_a_wrong_word_on_the_command_line_is_one_line_too(semcache, arguments) -> None:
    said(semcache(*arguments), "--help")


def test_help_lists_the_commands(semcache) -> None:
    for arguments in ((), ("--help",)):
        shown_help = semcache(*arguments)
        assert shown_help.exit_code == 0
        for command in (
            *("demo", "stats", "explain", "show", "report", "clear"),
            *("sweep", "calibrate", "doctor"),
        ):
            assert command in shown_help.stdout


def test_the_version_is_shown(semcache) -> None:
    assert semcache("--version").stdout.startswith("semcache 0.")


HOLD = """
import sys
from langchain_semcache import Semcache, SemcacheConfig
cache = Semcache.open(SemcacheConfig(location=sys.argv[1], encoder="hash"))
print("open", flush=True)
sys.stdin.read()
"""


def test_a_store_that_another_process_has_open_is_said(semcache, kept) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(kept)],
        cwd=Path(__file__).resolve().parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "open\n"
        for command in (*LOOKING, ("demo", "--delay", "0")):
            asked = semcache(*command, "--location", kept, "--encoder", "hash")
            said(asked, str(kept), "in use by another process")
    finally:
        holder.communicate()


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_its_extra_the_command_names_it(monkeypatch, capsys, package: str) -> None:
    monkeypatch.setattr(
        "langchain_semcache.cli.find_spec", lambda name: None if name == package else object()
    )
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    line = capsys.readouterr().err
    assert line == f"semcache: {MissingExtra('the command line', 'cli', package)}\n"
