"""Every Python block on every page runs, in order, as a reader would type it.

The blocks of one page share their names and an empty working directory. A block that cannot run
here carries a comment just above its fence, and the comment says why. A text block right after a
Python block is what that block prints. The marker is:

    <!-- not run: needs a Qdrant server -->
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
import typer
from pydantic import BaseModel

from langchain_semcache import Reason, Request, Response, Semcache, SemcacheConfig

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w{}-]*)[^\n]*$")
NOT_RUN = re.compile(r"^ *<!-- not run: (?P<reason>.*) -->$")


@dataclass(frozen=True)
class Block:
    """A fenced block: `line` is that of its first line of code, counted from 1."""

    language: str
    line: int
    code: str
    skipped: str | None

    @property
    def end(self) -> int:
        """The last line of code."""
        return self.line + self.code.count("\n")


def blocks(text: str) -> list[Block]:
    found: list[Block] = []
    lines = text.splitlines()
    position = 0
    while position < len(lines):
        opening = FENCE.match(lines[position])
        if opening is None:
            position += 1
            continue
        indent, start = opening["indent"], position + 1
        end = start
        while lines[end].strip() != "```":
            end += 1
        above = NOT_RUN.match(lines[position - 1]) if position else None
        found.append(
            Block(
                language=opening["language"],
                line=start + 1,
                code="\n".join(line.removeprefix(indent) for line in lines[start:end]),
                skipped=above["reason"] if above else None,
            )
        )
        position = end + 1
    return found


def _python(page: Path) -> list[Block]:
    return [block for block in blocks(page.read_text()) if block.language == "python"]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if _python(page)], ids=_name)
def test_the_code_on_a_page_runs(page: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block, after in pairwise([*blocks(page.read_text()), None]):
        if block.language == "python" and block.skipped is None:
            # Blank lines in front make a traceback point at the line of the page.
            source = "\n" * (block.line - 1) + block.code
            exec(compile(source, str(page), "exec"), names)
            printed = capsys.readouterr().out
            if after is not None and after.language == "text" and after.line == block.end + 4:
                assert printed == after.code + "\n"


README_ROW = re.compile(
    r"^\| (?P<before>[A-Z].*\?) \| (?P<now>[A-Z].*\?) \|.*`(?P<reason>\w+)` \|$"
)


@pytest.mark.parametrize(
    "row",
    [row for line in PAGES[0].read_text().splitlines() if (row := README_ROW.match(line))],
    ids=lambda row: row["reason"],
)
def test_what_the_readme_says_about_two_questions_is_so(row: re.Match[str]) -> None:
    with Semcache.open(":memory:") as cache:
        cache.store(Request(messages=row["before"]), Response.from_text("An answer."))
        assert cache.lookup(Request(messages=row["now"])).reason == row["reason"]


def test_the_readme_has_such_rows() -> None:
    assert sum(1 for line in PAGES[0].read_text().splitlines() if README_ROW.match(line)) >= 5


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_the_settings_on_a_page_are_accepted(page: Path, tmp_path: Path) -> None:
    for block in blocks(page.read_text()):
        if block.language == "toml":
            (tmp_path / "semcache.toml").write_text(block.code)
            SemcacheConfig.from_file(tmp_path / "semcache.toml")


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_a_block_that_is_not_run_says_why(page: Path) -> None:
    for block in blocks(page.read_text()):
        assert block.skipped is None or len(block.skipped.split()) >= 3, block.line


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_python_is_written_in_blocks_that_are_run(page: Path) -> None:
    """No other spelling of a Python block slips past the test above."""
    for block in blocks(page.read_text()):
        assert block.language not in {"py", "python3", "pycon", "{code-block}"}, block.line


def test_a_block_knows_its_line_and_its_excuse() -> None:
    text = (
        "words\n\n<!-- not run: needs a server -->\n```python\na = 1\n```\n\n```console\n$ ls\n```"
    )
    assert blocks(text) == [
        Block(language="python", line=5, code="a = 1", skipped="needs a server"),
        Block(language="console", line=9, code="$ ls", skipped=None),
    ]


def test_an_indented_block_is_read_without_its_indent() -> None:
    assert blocks("1. do\n\n   ```python\n   if a:\n       b\n   ```")[0].code == "if a:\n    b"


def test_the_page_of_reasons_lists_every_reason_once_and_no_other() -> None:
    assert sorted(_rows("reasons.md")) == sorted(reason.value for reason in Reason)


def test_the_page_of_settings_lists_every_setting_once_and_no_other() -> None:
    assert sorted(_rows("settings.md")) == sorted(_settings(SemcacheConfig))


def test_the_page_of_the_command_line_lists_every_command_once_and_no_other() -> None:
    from langchain_semcache.cli.app import app

    commands = typer.main.get_group(app).commands
    assert sorted(_rows("command-line.md")) == sorted(commands)


def _rows(page: str) -> list[str]:
    text = (ROOT / "docs/reference" / page).read_text()
    return re.findall(r"^\| `(\w[\w.-]*)` \|", text, re.MULTILINE)


def _settings(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _settings(field.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name
