"""One value for each process: made once, tried again after a failure, made anew after a fork."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from langchain_semcache.processes import PerProcess, shared


def test_threads_make_one_value():
    made = []
    start = threading.Barrier(8)
    holder = PerProcess(lambda _: made.append(1) or object())

    def get(_):
        start.wait(10)
        return holder.get()

    with ThreadPoolExecutor(8) as pool:
        values = set(pool.map(get, range(8)))
    assert len(values) == len(made) == 1


def test_a_failure_is_tried_again():
    attempts = []

    def make(_):
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("not yet")
        return "made"

    holder = PerProcess(make)
    with pytest.raises(ValueError, match="not yet"):
        holder.get()
    assert holder.get() == "made"


def test_equal_keys_share_a_holder():
    first = shared(("test", "a"), lambda _: object())
    assert shared(("test", "a"), lambda _: object()).get() is first.get()
    assert shared(("test", "b"), lambda _: object()).get() is not first.get()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_makes_its_own_from_what_it_inherits():
    holder = PerProcess(lambda inherited: [os.getpid(), *(inherited or [])])
    parent = holder.get()
    child = os.fork()
    if child == 0:
        os._exit(0 if holder.get() == [os.getpid(), *parent] else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert holder.get() is parent


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_is_not_stopped_by_a_lock_that_a_thread_held_while_forking():
    entered, release = threading.Event(), threading.Event()

    def make(_):
        entered.set()
        assert release.wait(10)
        return "made"

    holder = PerProcess(make)
    thread = threading.Thread(target=holder.get)
    thread.start()
    assert entered.wait(10)
    child = os.fork()
    if child == 0:
        release.set()
        os._exit(0 if holder.get() == "made" else 1)
    _, status = os.waitpid(child, 0)
    release.set()
    thread.join(10)
    assert os.waitstatus_to_exitcode(status) == 0
