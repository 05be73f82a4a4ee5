"""The connections of a server index: one client for threads, one for each running event loop."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from qdrant_client import AsyncQdrantClient, QdrantClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """How to reach a server. The key never shows."""

    url: str = field(repr=False)
    api_key: str | None = field(default=None, repr=False)
    prefer_grpc: bool = False
    grpc_port: int = 6334
    timeout_seconds: float | None = None

    def client(self) -> QdrantClient:
        """A client for threads."""
        return QdrantClient(
            url=self.url,
            api_key=self.api_key,
            prefer_grpc=self.prefer_grpc,
            grpc_port=self.grpc_port,
            timeout=self._whole_seconds,
            check_compatibility=False,  # `open` asks the server itself, and says more
        )

    def async_client(self) -> AsyncQdrantClient:
        """A client for the running event loop."""
        return AsyncQdrantClient(
            url=self.url,
            api_key=self.api_key,
            prefer_grpc=self.prefer_grpc,
            grpc_port=self.grpc_port,
            timeout=self._whole_seconds,
            check_compatibility=False,
        )

    @property
    def _whole_seconds(self) -> int | None:
        return None if self.timeout_seconds is None else max(1, math.ceil(self.timeout_seconds))


class LoopClients:
    """An async client per event loop: a connection cannot move from one loop to another.

    Each client lives inside an async generator of its loop. `asyncio.run` ends those before it
    closes the loop, so the sockets are closed while that is still possible.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._held: WeakKeyDictionary[
            asyncio.AbstractEventLoop,
            tuple[AsyncGenerator[AsyncQdrantClient, None], AsyncQdrantClient],
        ] = WeakKeyDictionary()

    async def current(self) -> AsyncQdrantClient:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            held = self._held.get(loop)
        if held is None:
            lifetime = self._lifetime()
            held = lifetime, await anext(lifetime)  # does not yield to other tasks
            with self._lock:
                for ended in [known for known in self._held if known.is_closed()]:
                    del self._held[ended]
                self._held[loop] = held
        return held[1]

    def forget(self) -> None:
        """Let go of every client; each closes with its generator, on its own loop."""
        with self._lock:
            self._held.clear()

    async def _lifetime(self) -> AsyncGenerator[AsyncQdrantClient, None]:
        client = self._address.async_client()
        try:
            yield client
        finally:
            await client.close()
