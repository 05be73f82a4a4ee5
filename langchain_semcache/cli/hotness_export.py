"""`semcache hotness export-triton`: a repository that a Triton server reads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from langchain_semcache.cli import screen
from langchain_semcache.cli.options import AsJson, spread
from langchain_semcache.hotness.repository import MAX_BATCH, NAME, Serving, export


class _Backend(StrEnum):
    PYTHON = "python"
    PYTORCH = "pytorch"


class _Device(StrEnum):
    CPU = "cpu"
    GPU = "gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How the server is to serve."""

    backend: Annotated[
        _Backend, typer.Option(help="python: torch is beside the server; pytorch: it is inside.")
    ] = _Backend.PYTHON
    device: Annotated[_Device, typer.Option(help="Where it runs.")] = _Device.CPU
    name: Annotated[str, typer.Option(help="Name of the model.")] = NAME
    instances: Annotated[int, typer.Option(min=1, help="How many run; of GPUs, on each.")] = 1
    max_batch: Annotated[int, typer.Option(min=1, help="Windows in one pass.")] = MAX_BATCH
    queue_delay: Annotated[
        int, typer.Option(min=0, help="Microseconds that a request waits for others.")
    ] = 500
    threads: Annotated[int, typer.Option(min=1, help="Of one pass on a CPU.")] = 1

    def settings(self) -> Serving:
        """What the repository says of it.

        Raises:
            ConfigurationError: The name is none.
        """
        return Serving(
            name=self.name,
            backend=self.backend.value,
            device=self.device.value,
            instances=self.instances,
            max_batch=self.max_batch,
            queue_delay_microseconds=self.queue_delay,
            threads=self.threads,
        )


@spread
def export_triton(
    served: Served,
    *,
    out: Annotated[Path, typer.Argument(help="The repository; made when absent.")],
    model: Annotated[
        Path, typer.Option("--model", "-m", help="A model of semcache hotness train.")
    ],
    json: AsJson = False,
) -> None:
    """Write a trained model as the next version of a Triton repository."""
    version = export(model, out, served.settings())
    if json:
        screen.write_json({"name": served.name, "version": int(version.name), "path": str(version)})
        return
    say = screen.out()
    say.print(f"Version {version.name} of {served.name} is in {version}.", soft_wrap=True)
    say.print(f"\nServe it with  tritonserver --model-repository {out}", soft_wrap=True)
