"""One call for many identical requests at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Generic, TypeVar

Result = TypeVar("Result")


class _Abandoned(Exception):
    """The leader was interrupted; whoever waited starts again."""


class _Flight(Generic[Result]):
    def __init__(self) -> None:
        self.future: Future[Result] = Future()


_led: ContextVar[tuple[object, ...]] = ContextVar("langchain_semcache_led", default=())
"""The flights that the work under way is leading: to wait for one of them would never end."""


class _Table(Generic[Result]):
    """Flights by key; the first to ask for a key leads, the others join."""

    def __init__(self) -> None:
        self._flights: dict[str, _Flight[Result]] = {}
        self._lock = threading.Lock()

    def join(self, key: str) -> tuple[_Flight[Result], bool]:
        """The flight of this key, and whether the caller leads it."""
        with self._lock:
            flight = self._flights.get(key)
            if flight is not None:
                return flight, False
            flight = self._flights[key] = _Flight()
            return flight, True

    def land(self, key: str) -> None:
        with self._lock:
            self._flights.pop(key, None)


class SingleFlight(Generic[Result]):
    """For threads. An error of the leader is everybody's error; an interrupt is only its own."""

    def __init__(self) -> None:
        self._table: _Table[Result] = _Table()

    def run(self, key: str, work: Callable[[], Result]) -> Result:
        """The result of `work`, which runs once for all callers of the same key at a time."""
        while True:
            flight, leads = self._table.join(key)
            if leads:
                return self._lead(key, flight, work)
            if flight in _led.get():
                return work()
            try:
                return flight.future.result()
            except _Abandoned:
                continue

    def _lead(self, key: str, flight: _Flight[Result], work: Callable[[], Result]) -> Result:
        token = _led.set((*_led.get(), flight))
        try:
            result = work()
        except Exception as error:
            self._table.land(key)
            flight.future.set_exception(error)
            raise
        except BaseException:
            self._table.land(key)
            flight.future.set_exception(_Abandoned())
            raise
        finally:
            _led.reset(token)
        self._table.land(key)
        flight.future.set_result(result)
        return result


class AsyncSingleFlight(Generic[Result]):
    """For tasks, also of several event loops. A cancelled leader hands over to a follower."""

    def __init__(self) -> None:
        self._table: _Table[Result] = _Table()

    async def run(self, key: str, work: Callable[[], Awaitable[Result]]) -> Result:
        """The result of `work`, which runs once for all callers of the same key at a time."""
        while True:
            flight, leads = self._table.join(key)
            if leads:
                return await self._lead(key, flight, work)
            if flight in _led.get():
                return await work()
            try:
                # Shielded: a follower that gives up must not cancel what the others wait for.
                outcome = asyncio.wrap_future(flight.future)
                outcome.add_done_callback(_seen)
                return await asyncio.shield(outcome)
            except _Abandoned:
                continue

    async def _lead(
        self, key: str, flight: _Flight[Result], work: Callable[[], Awaitable[Result]]
    ) -> Result:
        token = _led.set((*_led.get(), flight))
        try:
            result = await work()
        except Exception as error:
            self._table.land(key)
            flight.future.set_exception(error)
            raise
        except BaseException:
            self._table.land(key)
            flight.future.set_exception(_Abandoned())
            raise
        finally:
            _led.reset(token)
        self._table.land(key)
        flight.future.set_result(result)
        return result


def _seen(outcome: asyncio.Future[Result]) -> None:
    """Look at an error nobody waits for any more; asyncio would log it, prompt and all."""
    if not outcome.cancelled():
        outcome.exception()
