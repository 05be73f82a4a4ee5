"""A real LiteLLM proxy, in processes of its own, from a config file.

    with LiteLLMProxy(folder, upstream.url, semcache={"location": "cache"}) as proxy:
        client = openai.OpenAI(base_url=proxy.url, api_key=proxy.key("alice"))

There is no database here, so that keys, teams and roles come from LiteLLM's own seam for that,
`custom_auth`: a key "sk-alice" is the user alice; `MEMBERS` says which team she is in.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

EMBEDDER = "text-embedding-3-small"
MASTER = "sk-master-7f3a9c51d2e84b60"

AUTH = f'''
from fastapi import HTTPException
from litellm.proxy._types import LitellmUserRoles, UserAPIKeyAuth

MEMBERS = {{"alice": "t1", "bob": "t1", "carol": "t2", "dave": None}}


async def authenticate(request, api_key):
    if api_key == "{MASTER}":
        return UserAPIKeyAuth(api_key="hash-of-master", user_role=LitellmUserRoles.PROXY_ADMIN)
    name = api_key.removeprefix("sk-")
    if name not in MEMBERS:
        raise HTTPException(401, detail="unknown key")
    team = MEMBERS[name]
    return UserAPIKeyAuth(
        api_key="hash-of-" + name,
        team_id=team,
        org_id="o1" if team else None,
        end_user_id=request.headers.get("x-end-user"),
        user_role=LitellmUserRoles.INTERNAL_USER,
    )
'''


NURSERY = """
import json, os, sys
import litellm.proxy.proxy_server
from litellm.proxy.proxy_cli import run_server

for line in sys.stdin:
    asked = json.loads(line)
    if "poll" in asked:
        ended, status = os.waitpid(asked["poll"], os.WNOHANG)
        print(json.dumps(os.waitstatus_to_exitcode(status) if ended else None), flush=True)
        continue
    born = os.fork()
    if not born:
        os.setsid()
        os.chdir(asked["folder"])
        log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.argv = ["litellm", *asked["arguments"]]
        code = 1
        try:
            run_server()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            sys.stdout.flush()
            os._exit(code)
    print(json.dumps(born), flush=True)
"""


class _Nursery:
    """A process that has read LiteLLM once, which takes a quarter of a minute, and forks proxies.

    What is forked is the `litellm` command as users start it, in a session of its own.
    """

    def __init__(self) -> None:
        environment = {
            **os.environ,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "DISABLE_ADMIN_UI": "True",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            start_new_session=True,
        )
        atexit.register(self._process.kill)

    def ask(self, **asked: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline()
        if not said:
            raise RuntimeError("LiteLLM's proxy cannot be imported: pip install 'litellm[proxy]'")
        return json.loads(said)


@functools.cache
def _nursery() -> _Nursery:
    return _Nursery()


class LiteLLMProxy:
    """The proxy, serving between `__enter__` and `__exit__`."""

    def __init__(
        self,
        folder: Path,
        upstream: str,
        *,
        semcache: dict[str, Any] | None = None,
        litellm_settings: dict[str, Any] | None = None,
        workers: int = 1,
        gunicorn: bool = False,
        start: bool = True,
    ) -> None:
        self.folder, self.workers, self.start = folder, workers, start
        self.gunicorn = gunicorn
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "keys.py").write_text(AUTH)
        upstream_params = {"api_base": upstream, "api_key": "sk-upstream"}
        known = {name: f"openai/{name}" for name in ("gpt-4o", "gpt-4o-mini", EMBEDDER)}
        known["instruct"] = "text-completion-openai/gpt-3.5-turbo-instruct"
        named = [
            {"model_name": name, "litellm_params": {"model": model, **upstream_params}}
            for name, model in known.items()
        ]
        settings = litellm_settings
        if settings is None:
            settings = {"callbacks": ["litellm_hooks.proxy_handler"]}
        config = {
            "model_list": named,
            "litellm_settings": {"num_retries": 0, **settings},
            "callback_settings": {"semcache": semcache or {}},
            "general_settings": {"custom_auth": "keys.authenticate", "master_key": MASTER},
        }
        self.config = folder / "config.yaml"
        self.config.write_text(json.dumps(config))  # JSON is YAML, and keeps the order of keys
        self.log = folder / "proxy.log"
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.pid = 0
        self._status: int | None = None

    def __enter__(self) -> Self:
        arguments = [
            *("--config", str(self.config), "--host", "127.0.0.1", "--port", str(self.port)),
            *("--num_workers", str(self.workers), "--telemetry", "False"),
            # A busy machine imports slowly. Early releases do not know the option.
            *("--timeout_worker_healthcheck", "60") * (self.workers > 1),
            *["--run_gunicorn"] * self.gunicorn,
        ]
        self.pid = _nursery().ask(folder=str(self.folder), log=str(self.log), arguments=arguments)
        if self.start:
            try:
                self._wait()
            except BaseException:
                self._end()
                raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._end()

    def status(self) -> int | None:
        """The exit status; None while it runs."""
        if self._status is None:
            self._status = _nursery().ask(poll=self.pid)
        return self._status

    def _end(self) -> None:
        """End the proxy, and its workers with it: their supervisor would start them again."""
        if self.status() is None:
            os.kill(self.pid, signal.SIGTERM)
            with suppress(TimeoutError):
                self.ended(20)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.ended(20)

    def said(self) -> str:
        """Everything the proxy has written so far."""
        return self.log.read_text(errors="replace")

    def ended(self, seconds: float = 90.0) -> int:
        """Wait for the proxy to end; its exit status."""
        until = time.monotonic() + seconds
        while (status := self.status()) is None:
            if time.monotonic() > until:
                raise TimeoutError("the proxy is still running")
            time.sleep(0.05)
        return status

    def key(self, name: str) -> str:
        return MASTER if name == "admin" else f"sk-{name}"

    def ask(
        self, path: str, body: object = None, *, key: str = MASTER, method: str | None = None
    ) -> tuple[int, Any]:
        """One call of an administrator's route: status and JSON."""
        request = urllib.request.Request(
            f"{self.url}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            method=method or ("GET" if body is None else "POST"),
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            return error.code, json.loads(text) if text.startswith(("{", "[")) else text

    def _wait(self, seconds: float = 120.0) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.status() is not None:
                raise RuntimeError(f"the proxy ended:\n{self.said()[-4000:]}")
            try:
                with urllib.request.urlopen(f"{self.url}/health/liveliness", timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError(f"the proxy did not start:\n{self.said()[-4000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
