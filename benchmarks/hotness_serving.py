"""Measures what it takes to have a model of heat served: Flask with PyTorch against Triton.

    pip install flask==3.1.2 waitress==3.0.2 "langchain-semcache[hotness,triton]"
    make triton
    SEMCACHE_TRITON=.venv/triton-server python benchmarks/hotness_serving.py

The same TorchScript network on the same machine behind five servers, one after the other, each on
loopback and ended by its process id: Flask with the server it comes with, Flask behind waitress,
both with JSON, and Triton over HTTP and gRPC, once with and once without dynamic batching. Clients
are threads of one process on the same machine, which send their next request when they have the
answer to the last one; so they take part of its cores, as much for each server. `--device gpu`
moves all models there. A run ends after `--requests` or `--seconds`, whichever comes first.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from _quality_setup import table

from langchain_semcache.hotness.repository import Serving, export
from tests.services.triton_server import TritonServer, free_port

Row = dict[str, object]
Ask = Callable[[np.ndarray], object]
WARM = 50
READY_SECONDS = 60.0

FLASK = """
import sys, threading
import torch
from flask import Flask, jsonify, request

path, port, device, server, threads = sys.argv[1:]
torch.set_num_threads(1)
network = torch.jit.load(path, map_location=device).eval()
app = Flask(__name__)

@app.post("/predict")
def predict():
    with torch.inference_mode():
        windows = torch.tensor(request.get_json()["windows"], dtype=torch.float32, device=device)
        return jsonify(heat=network(windows)[:, 0].tolist())

if server == "waitress":
    from waitress import serve
    serve(app, host="127.0.0.1", port=int(port), threads=int(threads))
else:
    from werkzeug.serving import WSGIRequestHandler
    WSGIRequestHandler.protocol_version = "HTTP/1.1"
    app.run(host="127.0.0.1", port=int(port), threaded=True)
"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", type=Path, help="of semcache hotness train; else a new network")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--windows", type=int, nargs="+", default=[1, 32], help="in a request")
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--json", type=Path, help="write the rows there")
    return parser.parse_args(arguments)


def new_network(place: Path) -> Path:
    """A network as it is before training: how long it takes does not depend on what it knows."""
    from langchain_semcache.hotness.lstm import HeatLSTM
    from langchain_semcache.hotness.torchscript import save
    from langchain_semcache.hotness.training import Epoch, Trained

    epoch = Epoch(0, 0.0, 0.0)
    save(Trained(HeatLSTM(), (epoch,), epoch, 0, 60.0, "nothing"), place / "heat.pt")
    return place / "heat.pt"


@contextmanager
def flask(model: Path, device: str, server: str, threads: int) -> Iterator[Callable[[], Ask]]:
    port = free_port()
    command = [sys.executable, "-c", FLASK, str(model), str(port)]
    command += ["cuda:0" if device == "gpu" else "cpu", server, str(threads)]
    process = subprocess.Popen(
        command,
        # Each of its threads starts as many as this for itself, whatever the first one has set.
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.perf_counter() + READY_SECONDS
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None or time.perf_counter() > until:
                    raise RuntimeError("Flask did not start: is it installed?") from None
                time.sleep(0.1)
        yield lambda: _asking_flask(port)
    finally:
        process.kill()
        process.wait()


def _asking_flask(port: int) -> Ask:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(windows: np.ndarray) -> object:
        body = json.dumps({"windows": windows.tolist()})
        connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        said = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(said)
        return said["heat"]

    return ask


@contextmanager
def triton(model: Path, device: str, *, batching: bool) -> Iterator[TritonServer]:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        serving = Serving(device="gpu" if device == "gpu" else "cpu")
        export(model, work / "models", serving)
        if not batching:
            config = work / "models" / serving.name / "config.pbtxt"
            lines = config.read_text().splitlines(keepends=True)
            config.write_text("".join(one for one in lines if "dynamic_batching" not in one))
        with TritonServer(work / "models", work) as server:
            yield server


def _asking_triton(url: str) -> Callable[[], Ask]:
    from langchain_semcache.hotness.triton import TritonHotness

    model = TritonHotness(url, deadline_seconds=60.0)

    def ask(windows: np.ndarray) -> object:
        answer = model.predict(windows)
        if model.fell_back:
            raise RuntimeError("Triton did not answer")
        return answer

    return lambda: ask


def load(make: Callable[[], Ask], options: argparse.Namespace, clients: int, windows: int) -> Row:
    """Closed loop: so many clients, each with one request on its way."""
    chance = np.random.default_rng(1)
    asked = [chance.poisson(0.5, (windows, 64)).astype(np.float32) for _ in range(64)]
    each = max(1, options.requests // clients)
    times: list[list[float]] = [[] for _ in range(clients)]
    failed: list[Exception] = []
    start = threading.Barrier(clients + 1)
    until = [0.0]

    def run(place: int) -> None:
        try:
            ask = make()
            for number in range(WARM // clients + 1):
                ask(asked[number % 64])
        except Exception as error:  # noqa: BLE001 - raised again when all have ended
            failed.append(error)
            start.abort()
            return
        start.wait()
        for number in range(each):
            begun = time.perf_counter()
            if begun > until[0]:
                return
            try:
                ask(asked[(number + place) % 64])
            except Exception as error:  # noqa: BLE001 - the same
                failed.append(error)
                return
            times[place].append(time.perf_counter() - begun)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(clients)]
    for thread in threads:
        thread.start()
    until[0] = time.perf_counter() + options.seconds + READY_SECONDS
    try:
        start.wait(READY_SECONDS)
        begun = time.perf_counter()
        until[0] = begun + options.seconds
    finally:
        for thread in threads:
            thread.join()
    took = time.perf_counter() - begun
    if failed:
        raise failed[0]
    all_times = np.array([one for part in times for one in part])
    return {
        "clients": clients,
        "windows": windows,
        "requests": len(all_times),
        "requests/s": round(len(all_times) / took, 1),
        "windows/s": round(len(all_times) * windows / took),
        "P50 ms": round(1000 * float(np.quantile(all_times, 0.5)), 2),
        "P99 ms": round(1000 * float(np.quantile(all_times, 0.99)), 2),
    }


def measured(model: Path, options: argparse.Namespace) -> Iterator[Row]:
    shapes = [(clients, windows) for windows in options.windows for clients in options.clients]
    most = max(options.clients)
    for server in ("its own server", "waitress"):
        with flask(model, options.device, server, most) as make:
            for clients, windows in shapes:
                yield {"served by": f"Flask, {server}"} | load(make, options, clients, windows)
    for batching in (True, False):
        with triton(model, options.device, batching=batching) as server:
            for way, url in (("HTTP", server.http), ("gRPC", server.grpc)):
                name = f"Triton, {way}" + ("" if batching else ", no batching")
                for clients, windows in shapes:
                    yield {"served by": name} | load(_asking_triton(url), options, clients, windows)


def main(arguments: Sequence[str]) -> None:
    import torch

    options = parse(arguments)
    torch.set_num_threads(1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or new_network(Path(folder))
        for row in measured(model, options):
            rows.append(row)
            print(row, file=sys.stderr)
    print(table(list(rows[0]), rows))
    where = torch.cuda.get_device_name(0) if options.device == "gpu" else f"{os.cpu_count()} cores"
    print(where)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
