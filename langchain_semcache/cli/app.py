"""The command tree, and the one place where errors become one line and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any, Protocol, runtime_checkable

import typer
from typer.core import TyperGroup

import langchain_semcache
from langchain_semcache.cli import screen
from langchain_semcache.cli.calibrate import calibrate
from langchain_semcache.cli.clear import clear
from langchain_semcache.cli.compact import compact
from langchain_semcache.cli.demo import demo
from langchain_semcache.cli.doctor import doctor
from langchain_semcache.cli.entries import show
from langchain_semcache.cli.explain import explain
from langchain_semcache.cli.fragmentation import fragmentation
from langchain_semcache.cli.history import history
from langchain_semcache.cli.hotness_evaluate import evaluated
from langchain_semcache.cli.hotness_export import export_triton
from langchain_semcache.cli.hotness_train import train
from langchain_semcache.cli.invalidate import invalidate, source_changed
from langchain_semcache.cli.report import report
from langchain_semcache.cli.stats import stats
from langchain_semcache.cli.sweep import sweep
from langchain_semcache.errors import ConfigurationError, SemcacheError

FAILED = 1
MISCONFIGURED = 2


@runtime_checkable
class _UsageError(Protocol):
    """What typer raises for a wrong option, whichever click it is built on."""

    exit_code: int

    def format_message(self) -> str: ...


class _Group(TyperGroup):
    """Says what is wrong in one line, and never with a traceback."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> int:  # noqa: ANN401 - handed on as they came
        extra["standalone_mode"] = False
        code = _guarded(lambda: super(_Group, self).main(*args, **extra))
        if standalone_mode:
            sys.exit(code)
        return code


def _guarded(run: Callable[[], object]) -> int:
    try:
        code = run()
    except ConfigurationError as error:
        screen.complain(str(error))
        return MISCONFIGURED
    except SemcacheError as error:
        screen.complain(f"{error} (`semcache doctor` checks the parts)")
        return FAILED
    except typer.Abort:
        screen.complain("stopped; nothing more was done")
        return FAILED
    except Exception as error:
        if not isinstance(error, _UsageError):
            raise
        screen.complain(
            f"{error.format_message().rstrip('.')} (`semcache --help` lists what there is)"
        )
        return MISCONFIGURED
    return code if isinstance(code, int) else 0


app = typer.Typer(cls=_Group, add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """A semantic cache that hits on meaning and can be trusted."""
    if version:
        screen.out().print(f"semcache {langchain_semcache.__version__}")
    elif context.invoked_subcommand is None:
        screen.out().print(context.get_help())


lab = typer.Typer()
app.add_typer(lab, name="lab")


@lab.callback(invoke_without_command=True)
def _lab(context: typer.Context) -> None:
    """Experiments: what a way to keep answers does to a cache."""
    if context.invoked_subcommand is None:
        screen.out().print(context.get_help())


lab.command()(fragmentation)

hotness = typer.Typer()
app.add_typer(hotness, name="hotness")


@hotness.callback(invoke_without_command=True)
def _hotness(context: typer.Context) -> None:
    """Models of what is asked for next: train one, measure it, have it served."""
    if context.invoked_subcommand is None:
        screen.out().print(context.get_help())


hotness.command()(train)
hotness.command("evaluate")(evaluated)
hotness.command()(export_triton)

for _command in (
    *(demo, stats, explain, show, history, report),
    *(clear, invalidate, source_changed, compact),
    *(sweep, calibrate, doctor),
):
    app.command()(_command)
