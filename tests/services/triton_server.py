"""A real Triton Inference Server on loopback, from the wheel `nvidia-pytriton`.

Nothing of that package is imported: it is unpacked into a folder (`make triton`, or
`pip install --no-deps --target DIRECTORY nvidia-pytriton==0.7.0`), whose name is in the variable
SEMCACHE_TRITON. Its Python backend runs the interpreter's own environment, found by PATH.

In a test::

    with TritonServer(repository, logs) as server:
        TritonHotness(server.grpc)
        server.kill()
        server.start()
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Self

VARIABLE = "SEMCACHE_TRITON"
REASON = f"needs a Triton server: run it with `make tests`, or name its folder in {VARIABLE}"
READY_SECONDS = 120.0


def unpacked() -> Path | None:
    """The folder of the server, if there is one for this interpreter."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    folder = Path(named)
    return folder if _stub(folder).is_file() else None


def _stub(folder: Path) -> Path:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    stubs = folder / "pytriton" / "tritonserver" / "python_backend_stubs"
    return stubs / version / "triton_python_backend_stub"


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


class TritonServer:
    """The server of one repository, with the ports it keeps over a restart.

    Args:
        repository: What it serves.
        work: A folder of its own, for its backend and its log.
    """

    def __init__(self, repository: Path, work: Path) -> None:
        folder = unpacked()
        if folder is None:
            raise RuntimeError(REASON)
        self._folder, self._repository, self._work = folder, repository, work
        self._ports = free_port(), free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.http = f"http://127.0.0.1:{self._ports[0]}"
        self.grpc = f"grpc://127.0.0.1:{self._ports[1]}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.kill()

    @property
    def log(self) -> str:
        return (self._work / "triton.log").read_text("utf-8", "replace")

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> float:
        """Start, and wait until it serves; the seconds it took."""
        begun = time.perf_counter()
        server = self._folder / "pytriton" / "tritonserver"
        backends = self._work / "backends"
        if not backends.exists():
            # The backend looks for the program that runs Python beside itself.
            shutil.copytree(server / "backends", backends)
            shutil.copy(_stub(self._folder), backends / "python")
        libraries = [str(self._folder / "nvidia_pytriton.libs"), sysconfig.get_config_var("LIBDIR")]
        http, grpc = map(str, self._ports)
        with (self._work / "triton.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    str(server / "bin" / "tritonserver"),
                    *("--model-repository", str(self._repository)),
                    *("--backend-directory", str(backends)),
                    *("--http-address", "127.0.0.1", "--http-port", http),
                    *("--grpc-address", "127.0.0.1", "--grpc-port", grpc),
                    *("--allow-metrics", "false"),
                ],
                env={
                    # The first python3 on the path is whose packages the backend has.
                    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}",
                    "LD_LIBRARY_PATH": os.pathsep.join(libraries),
                    "HOME": str(self._work),
                },
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        until = begun + READY_SECONDS
        while not self._ready():
            if self._process.poll() is not None or time.perf_counter() > until:
                self.kill()
                raise RuntimeError(f"Triton did not start:\n{self.log[-4_000:]}")
            time.sleep(0.1)
        return time.perf_counter() - begun

    def kill(self) -> None:
        """End it as a crash would, with the processes of its backend; harmless when it is ended."""
        process, self._process = self._process, None
        if process is not None:
            # Its own group, which `start_new_session` made: its backend's processes are in it.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.http}/v2/health/ready", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
