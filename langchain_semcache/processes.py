"""Values that belong to one process: loaded once, shared by threads, loaded anew after a fork.

Inference sessions and torch models own native threads, and those do not survive `os.fork()`: a
child that goes on using its parent's session waits for ever. So nothing here is handed out in a
process that did not make it.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class PerProcess(Generic[T]):
    """One lazily made value for each process. Safe to call from several threads.

    Args:
        make: Makes the value. In a forked child it is given the parent's value, whose plain memory
            (never its threads) may be used again; otherwise None. What it raises reaches the
            caller, and the next call tries again.
    """

    def __init__(self, make: Callable[[T | None], T]) -> None:
        self._make = make
        self._made: tuple[int, T] | None = None
        # One lock a process: a lock that another thread held while forking stays held in the
        # child. `setdefault` is atomic, so no lock is needed to get at the locks.
        self._locks: dict[int, threading.Lock] = {}

    def get(self) -> T:
        """This process's value, made on the first call."""
        made = self._made
        pid = os.getpid()
        if made is not None and made[0] == pid:
            return made[1]
        with self._locks.setdefault(pid, threading.Lock()):
            made = self._made
            if made is None or made[0] != pid:
                made = (pid, self._make(made[1] if made is not None else None))
                self._made = made
            return made[1]

    @property
    def made(self) -> bool:
        """Whether this process has its value."""
        return self._made is not None and self._made[0] == os.getpid()

    def keep_inherited(self) -> None:
        """In a forked child: never destroy the parent's value.

        The destructor of a thread pool joins its threads, and in the child there are none to join.
        """
        if self._made is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._made[1]))


_shared: dict[tuple[str, ...], object] = {}


def shared(key: tuple[str, ...], make: Callable[[T | None], T]) -> PerProcess[T]:
    """The holder that everyone in the interpreter with this `key` shares; it lives for good.

    Models are large and read-only, so two caches with the same encoder load it once. `key` has to
    name the kind of value and everything that `make` depends on.
    """
    return cast("PerProcess[T]", _shared.setdefault(key, PerProcess(make)))


def _after_fork() -> None:
    for holder in list(_shared.values()):
        if isinstance(holder, PerProcess):
            holder.keep_inherited()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_after_fork)
