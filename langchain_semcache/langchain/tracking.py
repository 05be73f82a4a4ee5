"""What a model call rests on, picked up from LangChain's own events.

A `BaseCache` sees two strings. A callback sees every run with the run it is part of, so the
documents that a retriever returned are kept with the outermost run, and a model call below the same
one finds them. The handler is on every run once there is a cache that wants it; a run in which
nothing is retrieved costs it an entry in a dictionary.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.runnables.config import ensure_config
from langchain_core.tracers.context import register_configure_hook

from langchain_semcache.langchain.documents import Retrieved, retrieved
from langchain_semcache.lineage import prompt_tags
from langchain_semcache.recent import Recent

MOST_DOCUMENTS: Final = 256
"""Documents that are kept of one run or conversation; beyond that the oldest is forgotten."""

MOST_LOOSE: Final = 64
"""The same of a task or thread that retrieves outside of any run, and may go on for ever."""

MOST_THREADS: Final = 1_024
"""Conversations (LangGraph's `thread_id`) whose documents are kept from one run to the next."""

MOST_PROMPTS: Final = 256
"""Prompts of completion models that are remembered until their answers are stored."""

MOST_RUNS: Final = 65_536
"""Runs at a time. LangChain reports the end of each, unless a consumer was lost on the way."""


class Shelf:
    """The documents of one outermost run, or of one conversation, by their hash.

    Args:
        capacity: How many are kept; those that were found longest ago go first.
        forgetful: Whether a text that is found again is known by its last names only.
    """

    __slots__ = ("_capacity", "_documents", "_forgetful", "_lock")

    def __init__(self, capacity: int = MOST_DOCUMENTS, *, forgetful: bool = False) -> None:
        self._capacity = capacity
        self._forgetful = forgetful
        self._documents: OrderedDict[str, Retrieved] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, documents: Iterable[Retrieved]) -> None:
        """Keep what one retriever has found."""
        found: dict[str, Retrieved] = {}
        for document in documents:
            found[document.digest] = document.named_like(found.get(document.digest))
        with self._lock:
            for digest, document in found.items():
                known = self._documents.pop(digest, None)
                self._documents[digest] = document.named_like(None if self._forgetful else known)
            while len(self._documents) > self._capacity:
                self._documents.popitem(last=False)

    def all(self) -> tuple[Retrieved, ...]:
        """What is kept, in the order in which it was found."""
        with self._lock:
            return tuple(self._documents.values())


@dataclass(frozen=True, slots=True)
class _Loose:
    """What one task or thread has retrieved outside of any run, and what the one before it has."""

    owner: weakref.ref[object]
    shelf: Shelf
    outer: Shelf | None

    def shelves(self) -> tuple[Shelf, ...]:
        return (self.shelf,) if self.outer is None else (self.shelf, self.outer)


@dataclass(slots=True)
class _Run:
    """A run under way: its documents, and the tags of the prompt last made in it."""

    shelf: Shelf
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a model call is made: the documents at hand, and the prompt it is asked with."""

    shelves: tuple[Shelf, ...] = ()
    tags: tuple[str, ...] = ()

    def documents(self) -> tuple[Retrieved, ...]:
        """Everything that was retrieved up to now and may be in the prompt.

        A text goes by the names under which it was found nearest to the call.
        """
        found: dict[str, Retrieved] = {}
        for shelf in self.shelves:
            for document in shelf.all():
                found.setdefault(document.digest, document)
        return tuple(found.values())


_NOWHERE = Surroundings()

_call: ContextVar[Surroundings] = ContextVar("langchain_semcache_call", default=_NOWHERE)
"""Around the model call that this context has begun last."""

_loose: ContextVar[_Loose | None] = ContextVar("langchain_semcache_loose", default=None)
"""Tasks and threads that others have started inherit the value: each writes into its own only."""


class SourceTracker(BaseCallbackHandler):
    """Hears of every run, and keeps what was retrieved until the outermost one has ended.

    There is no lock: every step is one operation of a dictionary, and a lock would have to survive
    a fork.
    """

    run_inline = True  # in asyncio too: what is set must be set where the model is called
    ignore_retry = True
    ignore_custom_event = True

    def __init__(self) -> None:
        self._runs: OrderedDict[UUID, _Run] = OrderedDict()
        self._threads: Recent[Shelf] = Recent(MOST_THREADS)
        self._prompted: Recent[Surroundings] = Recent(MOST_PROMPTS)

    def on_chain_start(
        self,
        serialized: object,
        inputs: object,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        parent = self._began(run_id, parent_run_id, metadata)
        if parent is not None and kwargs.get("run_type") == "prompt":
            # The model that follows in the same sequence is asked with this prompt.
            parent.tags = tags_of(metadata)

    def on_tool_start(
        self,
        serialized: object,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._began(run_id, parent_run_id, metadata)

    def on_retriever_start(
        self,
        serialized: object,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        parent = self._run(parent_run_id)
        if parent is None:
            # Found out now: in asyncio the end is reported in a task of its own.
            parent = _Run(_own_shelf())
        self._runs[run_id] = _Run(parent.shelf)

    def on_chain_end(self, outputs: object, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_tool_end(self, output: object, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_retriever_end(
        self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any
    ) -> None:
        run = self._runs.pop(run_id, None)
        if run is not None:
            run.shelf.add(retrieved(document) for document in documents)

    def on_chat_model_start(
        self,
        serialized: object,
        messages: object,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        _call.set(self.around(parent_run_id, metadata))

    def on_llm_start(
        self,
        serialized: object,
        prompts: Sequence[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        # A completion model is announced after the cache was asked, a whole batch at once.
        around = self.around(parent_run_id, metadata)
        if around is not _NOWHERE:
            for prompt in prompts:
                self._prompted.put(prompt, around)

    def prompted(self, prompt: str) -> Surroundings:
        """Around the completion that was asked with this prompt last."""
        return self._prompted.get(prompt) or _NOWHERE

    def around(self, run_id: UUID | None, metadata: Mapping[str, Any] | None) -> Surroundings:
        """What there is for a model call that is a part of this run."""
        run, loose = self._run(run_id), _loose.get()
        tags = tags_of(metadata) or (run.tags if run else ())
        shelves = ((run.shelf,) if run else ()) + (loose.shelves() if loose else ())
        return Surroundings(shelves, tags) if shelves or tags else _NOWHERE

    def _run(self, run_id: UUID | None) -> _Run | None:
        return None if run_id is None else self._runs.get(run_id)

    def _began(
        self, run_id: UUID, parent: UUID | None, metadata: Mapping[str, Any] | None
    ) -> _Run | None:
        """Keep the run; the one that it is a part of."""
        outer = self._run(parent)
        shelf = outer.shelf if outer else self._of_thread(metadata)
        self._runs[run_id] = _Run(shelf)
        if len(self._runs) > MOST_RUNS:
            self._runs.popitem(last=False)
        return outer

    def _of_thread(self, metadata: Mapping[str, Any] | None) -> Shelf:
        """A later turn is asked with what earlier ones have retrieved: it is in the history."""
        thread_id = metadata.get("thread_id") if metadata else None
        if not isinstance(thread_id, str) or not thread_id:
            return Shelf()
        shelf = self._threads.get(thread_id)
        if shelf is None:
            shelf = Shelf()
            self._threads.put(thread_id, shelf)
        return shelf

    def _ended(self, run_id: UUID) -> None:
        self._runs.pop(run_id, None)


def _own_shelf() -> Shelf:
    """Where this task or thread keeps what it retrieves outside of any run."""
    try:
        me: object = asyncio.current_task() or threading.current_thread()
    except RuntimeError:
        me = threading.current_thread()
    held = _loose.get()
    if held is None or held.owner() is not me:
        shelf = Shelf(MOST_LOOSE, forgetful=True)
        held = _Loose(weakref.ref(me), shelf, held.shelf if held else None)
        _loose.set(held)
    return held.shelf


def with_artifacts(around: Surroundings, messages: Iterable[object]) -> Surroundings:
    """The same, and the documents that retriever tools have left in their messages."""
    shelf = Shelf()
    for message in messages:
        artifact = message.artifact if isinstance(message, ToolMessage) else None
        for one in artifact if isinstance(artifact, list | tuple) else ():
            if isinstance(one, Document):
                shelf.add((retrieved(one),))
    return replace(around, shelves=(*around.shelves, shelf)) if shelf.all() else around


def tags_of(metadata: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The tags of the prompt that metadata names, as `prompt_id` and `prompt_version`.

    Prompts that were pulled from LangSmith's hub say it in their own words.
    """
    if not metadata:
        return ()
    if name := metadata.get("prompt_id"):
        return prompt_tags(str(name), metadata.get("prompt_version"))
    if name := metadata.get("lc_hub_repo"):
        owner = metadata.get("lc_hub_owner")
        full = f"{owner}/{name}" if owner and owner != "-" else str(name)
        return prompt_tags(full, metadata.get("lc_hub_commit_hash"))
    return ()


_tracker = SourceTracker()
_hook: ContextVar[SourceTracker | None] = ContextVar("langchain_semcache_hook", default=_tracker)
_registering = threading.Lock()
_registered = False


def track() -> None:
    """From now on hear of every run in this process; once is enough."""
    global _registered  # noqa: PLW0603 - LangChain's list of hooks is one for the process
    with _registering:
        if not _registered:
            register_configure_hook(_hook, inheritable=True)
            _registered = True


def around_this_call(prompt: str, *, chat: bool) -> Surroundings:
    """For a cache that LangChain asks: around the model call under way."""
    if chat:
        return _call.get()
    here, then = around_this_run(), _tracker.prompted(prompt)
    return Surroundings((*then.shelves, *here.shelves), then.tags or here.tags)


def around_this_run() -> Surroundings:
    """For a middleware: around the run that it is called in; the model has not begun yet."""
    config = ensure_config()
    run_id = getattr(config.get("callbacks"), "parent_run_id", None)
    return _tracker.around(run_id, config.get("metadata"))
