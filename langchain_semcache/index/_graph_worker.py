"""The process that builds the next generation of a shard.

The engine holds the interpreter's lock while it builds a graph (30 s at 100,000 entries), so that
must not happen in the process that answers. The parent sends the points through stdin, in frames
of a header (`>II`: bytes of JSON, bytes of vectors), JSON, and raw float32 vectors. A frame of no
bytes at all ends the stream; a stream that ends without it belongs to a parent that died.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final, TypeAlias

import numpy as np
import qdrant_edge as edge

from langchain_semcache.index import _edge_shard, schema
from langchain_semcache.index._edge_directory import remove_generation

_HEADER: Final = struct.Struct(">II")
_COMPLETE: Final = _HEADER.pack(0, 0)

Row: TypeAlias = tuple[str, list[float] | None, dict[str, object]]
"""Point id, vector and payload."""


def send(stream: IO[bytes], rows: Sequence[Row]) -> None:
    """Write one frame."""
    vectors = np.array([vector for _, vector, _ in rows if vector is not None], dtype=np.float32)
    records = [[point_id, vector is not None, payload] for point_id, vector, payload in rows]
    header = json.dumps(records).encode("ascii")
    stream.write(_HEADER.pack(len(header), vectors.nbytes) + header)
    stream.write(vectors.tobytes())


def send_end(stream: IO[bytes]) -> None:
    """Say that everything was sent."""
    stream.write(_COMPLETE)
    stream.flush()


def receive(stream: IO[bytes], dimension: int) -> Iterator[list[edge.Point]]:
    """The points of each frame.

    Raises:
        EOFError: The sender went away before the end.
    """
    while (head := _exactly(stream, _HEADER.size)) != _COMPLETE:
        size, floats = _HEADER.unpack(head)
        records = json.loads(_exactly(stream, size))
        vectors = np.frombuffer(_exactly(stream, floats), dtype=np.float32)
        rows = iter(vectors.reshape(-1, dimension).tolist())
        yield [
            edge.Point(point_id, {schema.VECTOR: next(rows)} if embedded else {}, payload)
            for point_id, embedded, payload in records
        ]


def build(path: Path, dimension: int, stream: IO[bytes]) -> None:
    """Fill a new shard with what the stream brings, build its graphs, and close it."""
    shard = _edge_shard.create(path, dimension)
    for points in receive(stream, dimension):
        shard.update(edge.UpdateOperation.upsert_points(points))
    shard.optimize()
    shard.flush()
    shard.close()


def main(path: str, dimension: int, parent: int) -> None:
    """Entry point; the parent's answers go before this process's work.

    Of a parent that died nobody is left who would use the shard. It may be dead before this process
    looks for the first time, which is why `parent` is told; and whoever opens the store next may
    remove the directory while this process still writes into it, so it goes once more.
    """
    if hasattr(os, "nice"):
        os.nice(10)
    try:
        if os.getppid() == parent:
            build(Path(path), dimension, sys.stdin.buffer)
    finally:
        if os.getppid() != parent:
            remove_generation(Path(path))


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise EOFError("the sending process went away")
    return data
