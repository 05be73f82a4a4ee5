"""Calls under way: whose they are and what they ask, noted while that is certain."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

from langchain_semcache.request import Resolved

UNDER_WAY = 256
"""Calls between their beginning and their store that are remembered; of more, answers are not
kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A call as it began.

    Attributes:
        tenant: Who asked.
        conversation: What was asked; a program may go on to write into its own.
    """

    tenant: str
    conversation: object

    def call(self, kwargs: Mapping[str, object]) -> dict[str, object]:
        """The arguments of the call, with the conversation as it began."""
        name = "messages" if "messages" in kwargs else "input"
        return {**kwargs, name: self.conversation}


class Calls:
    """Calls under way: the identities that were looked up, and who has stored already.

    A call is known by its id and by the very object that holds its conversation: clients choose
    ids, and one that used an id twice must not store an answer under the other question.
    """

    def __init__(self) -> None:
        self._asked: OrderedDict[_Call, tuple[object, Resolved | Begun]] = OrderedDict()
        self._stored: OrderedDict[_Call, None] = OrderedDict()
        self._lock = Lock()

    def began(self, kwargs: Mapping[str, object], tenant: str) -> None:
        """Remember whose call this is; LiteLLM does not have every call looked up."""
        _, conversation = _call(kwargs)
        if kwargs.get("litellm_call_id") and conversation is not None:
            self._note(kwargs, Begun(tenant=tenant, conversation=_copied(conversation)))

    def asked(self, kwargs: Mapping[str, object], resolved: Resolved) -> None:
        """Remember the identity of a call until it is stored."""
        self._note(kwargs, resolved)

    def answered(self, kwargs: Mapping[str, object]) -> Resolved | Begun | None:
        """What is known of a call that is over: its identity, if it was looked up."""
        with self._lock:
            held = self._asked.pop(_call(kwargs)[0], None)
        return None if held is None else held[1]

    def stores_first(self, kwargs: Mapping[str, object]) -> bool:
        """Whether this call has not stored before: LiteLLM hands some streams over twice."""
        call, _ = _call(kwargs)
        with self._lock:
            if call in self._stored:
                return False
            self._stored[call] = None
            if len(self._stored) > UNDER_WAY:
                self._stored.popitem(last=False)
            return True

    def _note(self, kwargs: Mapping[str, object], known: Resolved | Begun) -> None:
        call, conversation = _call(kwargs)
        with self._lock:
            # The conversation is held, so that its address belongs to nothing else meanwhile.
            self._asked[call] = (conversation, known)
            self._stored.pop(call, None)
            if len(self._asked) > UNDER_WAY:
                self._asked.popitem(last=False)


_Call: TypeAlias = tuple[object, int]


def _call(kwargs: Mapping[str, object]) -> tuple[_Call, object]:
    conversation = kwargs.get("messages", kwargs.get("input"))
    return (kwargs.get("litellm_call_id"), id(conversation)), conversation


def _copied(conversation: object) -> object:
    if not isinstance(conversation, list):
        return conversation
    return [dict(turn) if isinstance(turn, dict) else turn for turn in conversation]
