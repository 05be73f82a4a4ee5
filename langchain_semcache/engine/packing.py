"""How an answer gets into its record and out of it again, with the parts it leans on."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from langchain_semcache.engine import asking
from langchain_semcache.engine.commands import Failure, Flow, Rewrite
from langchain_semcache.engine.policy import Policy
from langchain_semcache.engine.shelf import GRACE
from langchain_semcache.errors import CorruptEntry
from langchain_semcache.ports import Vector
from langchain_semcache.records import Entry, Reason, Response
from langchain_semcache.responses import History, history_of, references
from langchain_semcache.responses.codec import from_raw
from langchain_semcache.responses.delta import Packed, leans_on_base
from langchain_semcache.responses.parts import (
    Base,
    Dictionary,
    Owner,
    Part,
    from_entry,
    part_id,
    to_entry,
)

NEIGHBOURS = 3
NEAR = 0.7
"""Answers to questions less alike than this have little in common; it saves trying."""

LEAST_SAVING = 128
"""Bytes that a new base has to save at once. Its record has some 400 bytes beside its content, and
pays when about three more answers come to lean on it."""


LASTS = 4 * GRACE
"""An answer that lives shorter founds no base. One stays for an hour and more, and pays when
several lean on it."""

SHARE_OF_BASES = 4
"""Where the number of answers is bounded, at most one new base an hour for so many of them: an
answer that goes early leaves its base behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """An answer that is to be stored.

    Attributes:
        raw: Its envelope, of this `kind`.
        entry_id: The id it will have.
        owner: Whose it is.
        partition, vector: Where its neighbours are; without a vector it has none.
        before: What is stored under that id: the answer before.
        ttl: How long it lives; None for ever.
        among: How many answers its namespace holds at most; None is unbounded.
    """

    raw: bytes
    kind: str
    entry_id: str
    owner: Owner
    partition: str
    vector: Vector | None
    before: Entry | None = None
    ttl: timedelta | None = None
    among: int | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What to store, and what to do once it is: the donor of a new base then leans on it too."""

    payload: bytes
    afterwards: Rewrite | None = None


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to write an answer down, and what it leans on, in the order of writing."""

    packed: Packed
    parts: tuple[Part, ...] = ()
    afterwards: Rewrite | None = None


def opened(entry: Entry, policy: Policy) -> Flow[Response | Failure]:
    """The answer of an entry, or why there is none."""
    raw = yield from raw_of(entry, policy)
    if isinstance(raw, Failure):
        return raw
    try:
        return from_raw(entry.id, raw)
    except CorruptEntry as error:
        return Failure(Reason.CORRUPT_ENTRY, error)


def raw_of(entry: Entry, policy: Policy) -> Flow[bytes | Failure]:
    """The envelope of an entry; what it leans on is fetched where it is not at hand."""
    parts: dict[bytes, Part] = {}
    if references(entry.payload):
        found = yield from _parts_of(entry, policy)
        if isinstance(found, Failure):
            return found
        parts = found
    try:
        return policy.codec.raw(entry.id, entry.payload, parts)
    except CorruptEntry as error:
        return Failure(Reason.CORRUPT_ENTRY, error)


def write(fresh: Fresh, policy: Policy) -> Flow[Written]:
    """The record of an answer, as small as it gets; what it leans on is stored by then."""
    if not policy.packs:
        alone = policy.codec.alone(fresh.raw, None)
        return Written(policy.codec.record(fresh.raw, alone))
    before = fresh.before
    history = yield from _followed(before, fresh.raw, policy)
    near = yield from _near(fresh)
    dictionary = _dictionary(fresh, policy)
    packed = policy.codec.alone(fresh.raw, dictionary)
    way = _Way(packed, (packed.leans_on,) if packed.leans_on else ())
    known = [entry for entry in (before, *near) if entry and leans_on_base(entry.payload)]
    if known:
        way = yield from _against_known(fresh, known[0], way, policy)
    elif near and policy.rewrites and (fresh.ttl is None or fresh.ttl >= LASTS):
        way = yield from _against_new(fresh, near[0], dictionary, way, policy)
    for part in way.parts:
        if not (yield from _leased(part, fresh, policy)):
            way = _Way(policy.codec.alone(fresh.raw, None))
            break
    return Written(policy.codec.record(fresh.raw, way.packed, history), way.afterwards)


def _near(fresh: Fresh) -> Flow[Sequence[Entry]]:
    """The entries whose answers may have something in common with this one, nearest first."""
    if fresh.vector is None:
        return []
    found = yield from asking.search(fresh.partition, fresh.vector, NEIGHBOURS)
    if isinstance(found, Failure):
        return []
    near = [one.entry for one in found if one.similarity >= NEAR]
    return [entry for entry in near if entry.id != fresh.entry_id]


def _dictionary(fresh: Fresh, policy: Policy) -> Dictionary | None:
    if policy.dictionaries is None:
        return None
    policy.dictionaries.saw(fresh.owner, fresh.kind, fresh.raw)
    return policy.dictionaries.current(fresh.owner, fresh.kind)


def _against_known(fresh: Fresh, neighbour: Entry, alone: _Way, policy: Policy) -> Flow[_Way]:
    """Against the base that a neighbour leans on, if that is smaller."""
    parts = yield from _parts_of(neighbour, policy)
    if isinstance(parts, Failure):
        return alone
    base = parts[references(neighbour.payload)[0]]
    if not isinstance(base, Base):
        return alone
    dictionary = parts.get(base.dictionary) if base.dictionary else None
    known = dictionary if isinstance(dictionary, Dictionary) else None
    packed = policy.codec.against(fresh.raw, base, known)
    if packed is None or packed.size >= alone.packed.size:
        return alone
    return _Way(packed, _both(known, base))


def _against_new(
    fresh: Fresh, donor: Entry, dictionary: Dictionary | None, alone: _Way, policy: Policy
) -> Flow[_Way]:
    """Against a neighbour that becomes a base by it, if that is smaller for the two together."""
    given = yield from raw_of(donor, policy)
    if isinstance(given, Failure):
        return alone
    base = policy.codec.base(fresh.owner, given, dictionary)
    packed = base and policy.codec.against(fresh.raw, base, dictionary)
    if not base or not packed:
        return alone
    whole = Packed(b"", base, whole=True)
    rewritten = policy.codec.record(given, whole, _told(donor))
    after = packed.size + len(rewritten) + len(base.content)
    if alone.packed.size + len(donor.payload) - after < LEAST_SAVING:
        return alone
    most = sys.maxsize if fresh.among is None else max(1, fresh.among // SHARE_OF_BASES)
    if not policy.shelf.may_found(now=policy.now(), most=most):
        return alone
    afterwards = Rewrite(donor.id, donor.payload, rewritten)
    return _Way(packed, _both(dictionary, base), afterwards)


def _both(dictionary: Dictionary | None, base: Base) -> tuple[Part, ...]:
    return (base,) if dictionary is None else (dictionary, base)


def _leased(part: Part, fresh: Fresh, policy: Policy) -> Flow[bool]:
    """Whether the part is stored and will stay; it is written where that is not known."""
    now = policy.now()
    if policy.shelf.may_lean_on(part, now=now):
        return True
    failure = yield from asking.put(to_entry(part, fresh.owner, kind=fresh.kind, now=now), None)
    if failure is None:
        policy.shelf.keep(part, fresh.owner, created_at=now)
    return failure is None


def _followed(before: Entry | None, raw: bytes, policy: Policy) -> Flow[History | None]:
    """The history that the new answer continues; None when there was no answer before it."""
    if before is None:
        return None
    old = yield from raw_of(before, policy)
    if isinstance(old, Failure):
        return None
    return _told(before).followed(old, raw, old_at=before.created_at, now=policy.now())


def _told(entry: Entry) -> History:
    try:
        return history_of(entry.id, entry.payload)
    except CorruptEntry:
        return History()  # what cannot be read is not continued


def _parts_of(entry: Entry, policy: Policy) -> Flow[dict[bytes, Part] | Failure]:
    """All that a record leans on: a part, and what that leans on itself."""
    parts: dict[bytes, Part] = {}
    missing = list(references(entry.payload))
    while missing:
        address = missing.pop()
        part = policy.shelf.get(address)
        if part is None:
            found = yield from _fetched(address, entry, policy)
            if isinstance(found, Failure):
                return found
            part = found
        parts[address] = part
        missing += _needs(part)
    return parts


def _needs(part: Part) -> Iterable[bytes]:
    return (part.dictionary,) if isinstance(part, Base) and part.dictionary else ()


def _fetched(address: bytes, entry: Entry, policy: Policy) -> Flow[Part | Failure]:
    owner = Owner.of(entry)
    found = yield from asking.fetch(part_id(address))
    if isinstance(found, Failure):
        return found
    if found is None:
        gone = CorruptEntry(entry.id, "what it leans on is gone")
        return Failure(Reason.CORRUPT_ENTRY, gone)
    try:
        part = from_entry(found, owner)
    except CorruptEntry as error:
        return Failure(Reason.CORRUPT_ENTRY, error)
    policy.shelf.keep(part, owner, created_at=found.created_at)
    return part
