"""`semcache doctor`: is everything there, and does it work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import typer
from rich.table import Table
from rich.text import Text

from langchain_semcache.cli import checks, screen
from langchain_semcache.cli.checks import Finding
from langchain_semcache.cli.options import Where, spread
from langchain_semcache.config import SemcacheConfig

FAILED = 1


@spread
def doctor(where: Where) -> None:
    """Check what is installed, the models, the place, and that a cache really works."""
    findings: list[Finding] = []
    out = screen.out()
    for finding in _findings(where.settings()):
        findings.append(finding)
        if not where.json:
            out.print(_line(finding))
    failed = [finding for finding in findings if finding.good is False]
    if where.json:
        found = [asdict(finding) for finding in findings]
        screen.write_json({"ok": not failed, "checks": [*found]})
    else:
        out.print(screen.heading("Everything works." if not failed else f"{len(failed)} failed."))
    if failed:
        raise typer.Exit(FAILED)


def _findings(config: SemcacheConfig) -> Iterator[Finding]:
    yield from checks.packages()
    finding, encoder = checks.encoder(config)
    yield finding
    if encoder is None:
        return
    second = checks.verifier(config, encoder)
    yield second
    if second.good is not False:  # otherwise no cache opens
        yield checks.place(config, encoder)
        yield from checks.self_test(config, encoder)


def _line(finding: Finding) -> Table:
    sign = Text("–", style="dim") if finding.good is None else screen.mark(finding.good)
    text = Text.assemble((finding.what, "bold"), "  ", screen.clean(finding.detail))
    if finding.fix and finding.good is None:
        text.append(f"; {screen.clean(finding.fix)}", style="dim")
    elif finding.fix:
        text.append(f"\n→ {screen.clean(finding.fix)}", style="yellow")
    line = Table.grid(padding=(0, 1))
    line.add_row(sign, text)
    return line
