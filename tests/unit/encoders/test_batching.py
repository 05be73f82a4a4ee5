"""Concurrent callers share a forward pass, and nothing else."""

import asyncio
import gc
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

from langchain_semcache.encoders import BatchingEncoder, TokenizerHashEncoder
from langchain_semcache.errors import ConfigurationError, EncoderUnavailable
from langchain_semcache.testing.encoder_conformance import EncoderSuite

HASH = TokenizerHashEncoder()


class Recorder:
    """Hashes, remembers its batches, and can be held shut by clearing `gate`."""

    dimension = HASH.dimension
    identity = "recorder"
    max_tokens = 7

    def __init__(self):
        self.batches = []
        self.threads = set()
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def count_tokens(self, text):
        return len(text)

    def encode(self, texts):
        self.batches.append(list(texts))
        self.threads.add(threading.current_thread().name)
        self.entered.set()
        assert self.gate.wait(10)
        if "poison" in texts:
            raise ValueError("secret poison text")
        return HASH.encode(texts)

    def hold(self):
        self.gate.clear()
        self.entered.clear()


@pytest.fixture
def inner():
    return Recorder()


@pytest.fixture
def encoder(inner):
    encoder = BatchingEncoder(inner)
    yield encoder
    inner.gate.set()
    encoder.close()


def queue_behind_a_running_batch(encoder, inner, *jobs):
    """Submit one job, and the others while it runs; let go and return all futures."""
    inner.hold()
    first = encoder.submit(["first"])
    assert inner.entered.wait(10)
    rest = [encoder.submit(texts) for texts in jobs]
    return [first, *rest]


class TestBatchingEncoder(EncoderSuite):
    @pytest.fixture
    def encoder(self):
        encoder = BatchingEncoder(HASH)
        yield encoder
        encoder.close()


def test_what_waits_while_the_encoder_is_busy_is_one_batch(encoder, inner):
    futures = queue_behind_a_running_batch(encoder, inner, ["a"], ["b", "c"], ["d"])
    inner.gate.set()
    rows = [future.result(10) for future in futures]
    assert inner.batches == [["first"], ["a", "b", "c", "d"]]
    np.testing.assert_array_equal(rows[2], HASH.encode(["b", "c"]))
    np.testing.assert_array_equal(rows[3], HASH.encode(["d"]))


def test_batches_have_a_limit_and_one_large_job_passes_whole(inner):
    encoder = BatchingEncoder(inner, max_batch=3)
    large = [f"large{number}" for number in range(5)]
    futures = queue_behind_a_running_batch(encoder, inner, ["a", "b"], ["c", "d"], ["e"], large)
    inner.gate.set()
    assert [len(future.result(10)) for future in futures] == [1, 2, 2, 1, 5]
    assert inner.batches == [["first"], ["a", "b"], ["c", "d", "e"], large]
    encoder.close()


def test_a_poisoned_text_fails_only_its_caller(encoder, inner):
    futures = queue_behind_a_running_batch(encoder, inner, ["a"], ["poison"], ["b"])
    inner.gate.set()
    np.testing.assert_array_equal(futures[1].result(10), HASH.encode(["a"]))
    np.testing.assert_array_equal(futures[3].result(10), HASH.encode(["b"]))
    with pytest.raises(EncoderUnavailable, match="ValueError") as caught:
        futures[2].result(10)
    assert "secret" not in str(caught.value)


def test_an_error_leaves_the_thread_working(encoder):
    with pytest.raises(EncoderUnavailable):
        encoder.encode(["poison"])
    assert encoder.encode(["fine"]).shape == (1, 64)


class Panic(BaseException):
    """What a tokenizer written in Rust raises when it panics."""


@pytest.mark.parametrize("error", [Panic, SystemExit, KeyboardInterrupt, GeneratorExit])
def test_nothing_that_an_encoder_raises_ends_the_thread(encoder, inner, monkeypatch, error):
    def fail(texts):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(inner, "encode", fail)
        future = encoder.submit(["a"])
        with pytest.raises(EncoderUnavailable, match=error.__name__) as caught:
            future.result(10)
    assert isinstance(caught.value.__cause__, error)
    assert encoder.encode(["fine"], timeout=10).shape == (1, 64)


def test_a_panic_over_one_text_fails_only_its_caller(encoder, inner, monkeypatch):
    def encode(texts):
        if "panic" in texts:
            raise Panic
        return HASH.encode(texts)

    futures = queue_behind_a_running_batch(encoder, inner, ["a"], ["panic"], ["b"])
    monkeypatch.setattr(inner, "encode", encode)
    inner.gate.set()
    np.testing.assert_array_equal(futures[1].result(10), HASH.encode(["a"]))
    np.testing.assert_array_equal(futures[3].result(10), HASH.encode(["b"]))
    with pytest.raises(EncoderUnavailable, match="Panic"):
        futures[2].result(10)


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (np.zeros((1, 3), dtype=np.float32), "dimension 3, expected 64"),
        (np.full((1, 64), np.nan, dtype=np.float32), "NaN"),
        ([], r"shape \[0\] for 1 texts"),
    ],
)
def test_bad_vectors_are_an_error_that_says_what_is_wrong(inner, returned, says):
    inner.encode = lambda texts: returned
    encoder = BatchingEncoder(inner)
    with pytest.raises(EncoderUnavailable, match=says):
        encoder.encode(["a"])
    encoder.close()


def test_cancelled_texts_are_never_encoded(encoder, inner):
    futures = queue_behind_a_running_batch(encoder, inner, ["a"], ["b"])
    assert futures[1].cancel()
    inner.gate.set()
    futures[2].result(10)
    assert inner.batches == [["first"], ["b"]]


def test_a_deadline_ends_the_wait_and_not_the_encoder(encoder, inner):
    inner.hold()
    with pytest.raises(EncoderUnavailable, match=r"within 0\.05 s"):
        encoder.encode(["slow"], timeout=0.05)
    inner.gate.set()
    assert encoder.encode(["next"], timeout=10).shape == (1, 64)


async def test_the_event_loop_can_wait_for_it(encoder, inner):
    """The loop runs on while the encoder works, and cancelling reaches the queue."""
    inner.hold()
    busy = asyncio.wrap_future(encoder.submit(["busy"]))
    assert await asyncio.to_thread(inner.entered.wait, 10)
    queued = encoder.submit(["queued"])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.wrap_future(queued), 0.05)
    assert queued.cancelled()
    inner.gate.set()
    assert (await busy).shape == (1, 64)
    assert inner.batches == [["busy"]]


def test_the_encoder_is_called_from_one_thread_that_starts_when_needed(encoder, inner):
    before = threading.active_count()
    assert encoder.dimension == 64
    assert (encoder.identity, encoder.max_tokens, encoder.count_tokens("abc")) == ("recorder", 7, 3)
    assert threading.active_count() == before
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(encoder.encode, [[str(number)] for number in range(200)]))
    assert inner.threads == {"semcache-encoder"}


def test_close_finishes_what_is_queued_and_refuses_the_rest(inner):
    encoder = BatchingEncoder(inner)
    futures = queue_behind_a_running_batch(encoder, inner, ["a"])
    inner.gate.set()
    encoder.close()
    encoder.close()
    assert all(future.done() for future in futures)
    with pytest.raises(EncoderUnavailable, match="closed"):
        encoder.submit(["late"])


def test_close_before_the_first_text_starts_nothing(inner):
    before = threading.active_count()
    BatchingEncoder(inner).close()
    assert threading.active_count() == before


def test_a_forgotten_encoder_ends_its_thread(inner):
    before = set(threading.enumerate())
    encoder = BatchingEncoder(inner)
    encoder.encode(["a"])
    (thread,) = set(threading.enumerate()) - before
    gone = weakref.ref(encoder)
    del encoder
    gc.collect()
    assert gone() is None
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_gets_a_thread_of_its_own(encoder):
    encoder.encode(["parent"])
    child = os.fork()
    if child == 0:
        good = encoder.encode(["child"], timeout=10).shape == (1, 64)
        os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert encoder.encode(["parent"]).shape == (1, 64)


@pytest.mark.parametrize("wrong", [0, -1, True])
def test_max_batch_is_checked(inner, wrong):
    with pytest.raises(ConfigurationError, match="max_batch"):
        BatchingEncoder(inner, max_batch=wrong)


@pytest.fixture
def prompt(inner):
    """An encoder that says of itself that it never hangs."""
    inner.may_block = False
    with closing(BatchingEncoder(inner)) as encoder:
        yield encoder
        inner.gate.set()


def test_an_idle_encoder_that_cannot_hang_is_run_by_the_caller(inner, prompt):
    assert prompt.encode_if_idle(["a"]).shape == (1, HASH.dimension)
    assert inner.threads == {threading.current_thread().name}


def test_an_encoder_that_may_hang_is_never_run_by_the_caller(inner, encoder):
    assert encoder.encode_if_idle(["a"]) is None
    assert not inner.batches


def test_a_busy_encoder_is_left_to_its_thread(inner, prompt):
    inner.hold()
    first = prompt.submit(["a"])
    assert inner.entered.wait(10)
    assert prompt.encode_if_idle(["b"]) is None
    inner.gate.set()
    assert first.result(10).shape == (1, HASH.dimension)
    assert inner.batches == [["a"]]


def test_an_idle_encoder_fails_as_a_queued_one_does(inner, prompt):
    with pytest.raises(EncoderUnavailable, match="ValueError") as failure:
        prompt.encode_if_idle(["poison"])
    assert "secret" not in str(failure.value)
    assert prompt.encode_if_idle(["a"]) is not None
    prompt.close()
    with pytest.raises(EncoderUnavailable, match="closed"):
        prompt.encode_if_idle(["a"])
