"""A Hypothesis state machine: any sequence of operations against a model of a few dictionaries.

Inherit, say how a cache is opened over the same store again and again, and run
`run_state_machine_as_test`. The model knows no index, no codec and no flow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from langchain_semcache.client import Semcache
from langchain_semcache.clock import ManualClock
from langchain_semcache.engine.dictionaries import FIRST_ANSWERS
from langchain_semcache.eviction import entry_bytes
from langchain_semcache.ports import Vectors
from langchain_semcache.records import Reason, Request, Response
from langchain_semcache.responses.codec import to_raw
from langchain_semcache.responses.parts import Owner

SUBJECTS = ("tea", "rain", "bread", "glass")
WORDINGS = ("how is {} made", "how is {} actually made", "please tell me how {} is made")
TEXTS = tuple(wording.format(subject) for subject in SUBJECTS for wording in WORDINGS)
THRESHOLD = 0.9
_LONG = {
    subject: " ".join(
        hashlib.blake2b(f"{subject} {word}".encode(), digest_size=6).hexdigest()
        for word in range(80)
    )
    for subject in SUBJECTS
}


class TableEncoder:
    """One vector a text of `TEXTS`: about 0.95 within a subject, 0 between subjects."""

    dimension = len(SUBJECTS) + len(WORDINGS)
    identity = "table"
    max_tokens = 1000

    def count_tokens(self, text: str) -> int:
        return len(text)

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._vector(TEXTS.index(text)) for text in texts], dtype=np.float32)

    def _vector(self, position: int) -> list[float]:
        subject, wording = divmod(position, len(WORDINGS))
        vector = np.zeros(self.dimension)
        vector[subject] = 1.0
        # Lengths differ, so that no two wordings are equally near to a third.
        vector[len(SUBJECTS) + wording] = 0.2 + 0.05 * wording
        return list(vector / np.linalg.norm(vector))


@dataclass
class Kept:
    answer: str
    stored_at: float
    expires_at: float | None
    tag: str


Key = tuple[str, str, str]


class CacheMachine(RuleBasedStateMachine):
    """Stores, lookups, time, feedback, invalidation, clearing and reopening in any order.

    Attributes:
        max_entries, max_bytes: What `open_cache` bounds the cache to; None where it does not.
    """

    max_entries: int | None = None
    max_bytes: int | None = None

    def open_cache(self) -> Semcache:
        """Open the one store of this run, again after every close, with `self.clock`."""
        raise TypeError(f"{type(self).__name__} must say how its cache is opened")

    @initialize()
    def start(self) -> None:
        self.clock = ManualClock()
        self.kept: dict[Key, Kept] = {}
        self.answers = 0
        self.cache = self.open_cache()

    def teardown(self) -> None:
        if hasattr(self, "cache"):
            self.cache.close()

    tenants = st.sampled_from(["", "a", "b"])
    models = st.sampled_from(["m1", "m2"])
    texts = st.sampled_from(TEXTS)
    tags = st.sampled_from(["red", "blue"])

    @rule(
        tenant=tenants,
        model=models,
        text=texts,
        tag=tags,
        ttl=st.sampled_from([None, 0, 5, 50]),
    )
    def store(self, tenant: str, model: str, text: str, tag: str, ttl: int | None) -> None:
        self.answers += 1
        # Long enough, and alike enough within a subject, that answers lean on one another.
        answer = f"{_LONG[SUBJECTS[TEXTS.index(text) // len(WORDINGS)]]} answer {self.answers}"
        result = self.cache.store(
            _request(tenant, model, text), Response.from_text(answer), ttl=ttl, tags=[tag]
        )
        assert result.stored is (ttl != 0)
        if ttl != 0:
            now = self.clock.now()
            expires = None if ttl is None else now + ttl
            self.kept[tenant, model, text] = Kept(answer, now, expires, tag)
            if self.max_entries is not None or self.max_bytes is not None:
                self._make_room((tenant, model, text))

    @rule(tenant=tenants, model=models, text=texts)
    def lookup(self, tenant: str, model: str, text: str) -> None:
        decision = self.cache.lookup(_request(tenant, model, text))
        expected = self._expected((tenant, model, text))
        found = (decision.response.text, decision.reason) if decision.response else None
        assert found == expected
        assert decision.hit is (expected is not None)

    @rule(seconds=st.sampled_from([0.0, 0.5, 4.5, 5.0, 60.0, 2000.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(tenant=tenants, model=models, text=texts)
    def report_wrong(self, tenant: str, model: str, text: str) -> None:
        """A served answer that is reported as wrong is gone."""
        decision = self.cache.lookup(_request(tenant, model, text))
        if decision.hit and decision.entry_id:
            assert self.cache.report(decision.entry_id, wrong=True)
            answer = _text(decision.response)
            del self.kept[next(key for key, kept in self.kept.items() if kept.answer == answer)]

    @rule(tag=tags, dry_run=st.booleans())
    def invalidate_by_tag(self, tag: str, dry_run: bool) -> None:
        count = self.cache.invalidate(tags=[tag], dry_run=dry_run)
        self._forget([key for key, kept in self.kept.items() if kept.tag == tag], count, dry_run)

    @rule(tenant=tenants, model=models)
    def invalidate_by_tenant_and_model(self, tenant: str, model: str) -> None:
        count = self.cache.invalidate(tenant=tenant, model=model)
        self._forget([key for key in self.kept if key[:2] == (tenant, model)], count, False)

    @rule(seconds=st.sampled_from([0, 5, 50]))
    def invalidate_by_age(self, seconds: int) -> None:
        count = self.cache.invalidate(older_than=timedelta(seconds=seconds))
        limit = self.clock.now() - seconds
        old = [key for key, kept in self.kept.items() if kept.stored_at < limit]
        self._forget(old, count, False)

    @precondition(lambda self: len(self.kept) > 2)
    @rule()
    def clear(self) -> None:
        self.cache.clear()
        self.kept.clear()
        assert self.cache.stats().entries == 0

    @rule(grace=st.sampled_from([0, 60, 3600]))
    def compact(self, grace: int) -> None:
        """Whatever is swept out, every answer stays readable."""
        self.cache.compact(grace=grace)
        self._all_can_be_read()

    @rule()
    def learn(self) -> None:
        """A dictionary is learned from what is there, and written with from then on."""
        core = self.cache.core
        dictionaries = core.policy.dictionaries
        if dictionaries is None:
            return
        for entry in list(self.cache.entries()):
            raw = to_raw(self.cache.read(entry))
            for copy in range(FIRST_ANSWERS):
                dictionaries.saw(Owner.of(entry), "text", raw + b" " * (copy % 7))
        dictionaries.settle()
        self._all_can_be_read()

    @rule()
    def sizes_add_up(self) -> None:
        stats = self.cache.stats()
        raw = [to_raw(self.cache.read(entry)) for entry in self.cache.entries()]
        assert stats.raw_response_bytes == sum(map(len, raw))
        assert (stats.stored_response_bytes or 0) >= len(raw)

    @rule()
    def reopen(self) -> None:
        self.cache.close()
        self.cache = self.open_cache()

    @invariant()
    def one_key_is_one_entry(self) -> None:
        if hasattr(self, "cache"):
            entries = list(self.cache.entries())
            assert len({entry.id for entry in entries}) == len(entries) == len(self.kept)

    @invariant()
    def books_are_what_the_store_holds(self) -> None:
        capacity = self.cache.core.workplace.capacity if hasattr(self, "cache") else None
        if capacity is not None:
            booked = capacity.booked(self.cache.config.namespace)
            entries = list(self.cache.entries())
            assert booked == {one.id: entry_bytes(one, TableEncoder.dimension) for one in entries}

    def _make_room(self, stored: Key) -> None:
        """What has expired is gone; of the rest as many as are too much, and never the newcomer."""
        alive = [key for key, kept in self.kept.items() if self._live(kept)]
        there = [key for key in alive if self.cache.explain(_request(*key)).reason is Reason.EXACT]
        entries = list(self.cache.entries())
        assert stored in there
        assert len(there) == len(entries)
        if self.max_bytes is None:
            assert len(there) == min(len(alive), self.max_entries or len(alive))
        else:
            assert (
                sum(entry_bytes(one, TableEncoder.dimension) for one in entries) <= self.max_bytes
            )
        self.kept = {key: self.kept[key] for key in there}

    def _all_can_be_read(self) -> None:
        texts = {self.cache.read(entry).text for entry in self.cache.entries()}
        assert texts == {kept.answer for kept in self.kept.values()}

    def _forget(self, keys: list[Key], count: int, dry_run: bool) -> None:
        assert count == len(keys)
        if not dry_run:
            for key in keys:
                del self.kept[key]

    def _live(self, kept: Kept) -> bool:
        return kept.expires_at is None or kept.expires_at > self.clock.now()

    def _expected(self, key: Key) -> tuple[str, Reason] | None:
        if key in self.kept and self._live(self.kept[key]):
            return self.kept[key].answer, Reason.EXACT
        encoder = TableEncoder()
        asked = encoder.encode([key[2]])[0]
        near = [
            (float(encoder.encode([other[2]])[0] @ asked), kept.answer)
            for other, kept in self.kept.items()
            if other[:2] == key[:2] and self._live(kept)
        ]
        similarity, answer = max(near, default=(0.0, ""))
        return (answer, Reason.SEMANTIC) if similarity >= THRESHOLD else None


def _request(tenant: str, model: str, text: str) -> Request:
    return Request(messages=text, model=model, tenant=tenant)


def _text(response: Response | None) -> str:
    return response.text if response else ""
