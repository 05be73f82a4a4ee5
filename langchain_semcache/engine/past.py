"""What an answer was before the one that is stored now."""

from __future__ import annotations

from dataclasses import dataclass

from langchain_semcache.engine.commands import Failure, Flow
from langchain_semcache.engine.packing import raw_of
from langchain_semcache.engine.policy import Policy
from langchain_semcache.errors import CorruptEntry
from langchain_semcache.records import Entry, Reason, Response
from langchain_semcache.responses import Change, history_of
from langchain_semcache.responses.codec import from_raw
from langchain_semcache.streaming import Trail, common_prefix, words


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """How an answer has changed.

    Attributes:
        current: The answer of today.
        changes: The last refreshes, the latest last: when, and how much was different.
        previous: The answer before; None when there was none, or it differed too much to be kept.
        previous_at: When that was stored, in seconds since the epoch.
    """

    current: Response
    changes: tuple[Change, ...] = ()
    previous: Response | None = None
    previous_at: float | None = None

    @property
    def words_alike(self) -> int | None:
        """With how many of the same words both answers begin; None without an answer before."""
        if self.previous is None:
            return None
        return common_prefix(Trail(words(self.previous.text)), Trail(words(self.current.text)))


def past(entry: Entry, policy: Policy) -> Flow[Past | Failure]:
    """What is known of an entry's answers."""
    raw = yield from raw_of(entry, policy)
    if isinstance(raw, Failure):
        return raw
    try:
        told = history_of(entry.id, entry.payload)
        before = told.previous(entry.id, raw)
        return Past(
            current=from_raw(entry.id, raw),
            changes=told.changes,
            previous=None if before is None else from_raw(entry.id, before),
            previous_at=told.previous_at,
        )
    except CorruptEntry as error:
        return Failure(Reason.CORRUPT_ENTRY, error)
