"""The stored form of an entry: one Qdrant payload, format version 2.

This module is the only one that knows field names. It is pure and imports no engine: the Edge and
the server backend translate its `Condition` values into their own filter classes.

Times are stored twice. The engines' JSON parsers may return a float that is off by its last bit,
so the indexed `created_at` and `expires_at` serve filters only, and `times` holds the exact values
as text.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias
from uuid import UUID

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.records import Entry, Selection

FORMAT: Final = 2
"""Version of the payload layout. Another layout gets another number."""

VECTOR: Final = "q"
"""Name of the dense vector: the embedded question. Entries for exact lookup only have none."""

NEVER: Final = 253402300800.0
"""Indexed expiry of an entry that never expires: the first second of the year 10000."""

FIELD_FORMAT: Final = "format"
FIELD_ID: Final = "id"
FIELD_SCOPE: Final = "scope"
FIELD_PARTITION: Final = "partition"
FIELD_FINGERPRINT: Final = "fingerprint"
FIELD_NAMESPACE: Final = "namespace"
FIELD_TENANT: Final = "tenant"
FIELD_MODEL: Final = "model"
FIELD_QUESTION: Final = "question"
FIELD_CONTEXT: Final = "context"
FIELD_LIFE: Final = "life"
"""Only where the rules have a say in an entry's lifetime; absent otherwise."""
FIELD_RESPONSE: Final = "response"
FIELD_CREATED_AT: Final = "created_at"
FIELD_EXPIRES_AT: Final = "expires_at"
FIELD_TIMES: Final = "times"
FIELD_TAGS: Final = "tags"
FIELD_SOURCE_IDS: Final = "source_ids"
FIELD_SOURCE_DIGESTS: Final = "source_digests"
FIELD_SOURCES: Final = "sources"
"""The same pairs once more, as objects: a filter has to see a name and its digest together."""

FIELD_ASSESSMENT: Final = "assessment"
"""Absent where nothing is known of how sure the answer is, as in older records."""

SOURCE_NAME: Final = "name"
SOURCE_DIGEST: Final = "digest"

_TEXTS: Final = (
    FIELD_ID,
    FIELD_SCOPE,
    FIELD_PARTITION,
    FIELD_FINGERPRINT,
    FIELD_NAMESPACE,
    FIELD_TENANT,
    FIELD_MODEL,
    FIELD_QUESTION,
    FIELD_CONTEXT,
    FIELD_RESPONSE,
)

_CANONICAL_UUID: Final = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")

PayloadValue: TypeAlias = str | int | float | list[str] | list[dict[str, str]]


class Indexed(Enum):
    """Which payload index a field gets."""

    PARTITION = "partition"  # keyword, and the key by which graphs and storage are divided
    KEYWORD = "keyword"
    FLOAT = "float"


INDEXES: Final[Mapping[str, Indexed]] = {
    FIELD_PARTITION: Indexed.PARTITION,
    FIELD_NAMESPACE: Indexed.KEYWORD,
    FIELD_TENANT: Indexed.KEYWORD,
    FIELD_MODEL: Indexed.KEYWORD,
    FIELD_SCOPE: Indexed.KEYWORD,
    FIELD_TAGS: Indexed.KEYWORD,
    FIELD_SOURCE_IDS: Indexed.KEYWORD,
    FIELD_CREATED_AT: Indexed.FLOAT,
    FIELD_EXPIRES_AT: Indexed.FLOAT,
}


@dataclass(frozen=True, slots=True)
class Matches:
    """The field holds this value, or a list that contains it."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Below:
    """The field is less than `bound`, or equal to it when `inclusive`."""

    field: str
    bound: float
    inclusive: bool


@dataclass(frozen=True, slots=True)
class Above:
    """The field is greater than `bound`."""

    field: str
    bound: float


@dataclass(frozen=True, slots=True)
class HasPoint:
    """The point id is one of these."""

    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UsedOtherwise:
    """One of the objects in `FIELD_SOURCES` has this name, and a digest that is none of these.

    A record from before that field is taken when any of its digests is none of these: rather one
    answer too many goes than one too few.
    """

    source: str
    digests: tuple[str, ...]


Condition: TypeAlias = Matches | Below | Above | HasPoint | UsedOtherwise


def point_id(entry_id: str) -> str:
    """The UUID under which an entry is stored; a UUID stands for itself."""
    if _CANONICAL_UUID.fullmatch(entry_id):
        return entry_id
    text = entry_id.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(b"langchain-semcache point\0" + text).digest()
    return str(UUID(bytes=digest[:16]))


def live(partition: str, now: float) -> tuple[Condition, ...]:
    """What the search requires: exactly this partition, and not expired at `now`."""
    return (Matches(FIELD_PARTITION, partition), Above(FIELD_EXPIRES_AT, now))


def holding(point: str, payload: bytes, created_at: float | None = None) -> tuple[Condition, ...]:
    """What a point requires of itself before its fields may be replaced."""
    same = (HasPoint((point,)), Matches(FIELD_RESPONSE, response_text(payload)))
    return same if created_at is None else (*same, Matches(FIELD_TIMES, _exact(created_at)))


def holds(held: Mapping[str, object], payload: bytes, created_at: float | None = None) -> bool:
    """The same, of a payload that was read."""
    times = held.get(FIELD_TIMES)
    written = created_at is None or (isinstance(times, list) and _exact(created_at) in times)
    return written and held.get(FIELD_RESPONSE) == response_text(payload)


def conditions(selection: Selection) -> tuple[Condition, ...]:
    """All of what a selection requires; empty for a selection that matches everything."""
    found: list[Condition] = []
    if selection.ids is not None:
        found.append(HasPoint(tuple(point_id(entry_id) for entry_id in selection.ids)))
    for field, value in (
        (FIELD_NAMESPACE, selection.namespace),
        (FIELD_TENANT, selection.tenant),
        (FIELD_MODEL, selection.model),
        (FIELD_SCOPE, selection.scope),
        (FIELD_SOURCE_IDS, selection.source),
    ):
        if value is not None:
            found.append(_matches(field, value))
    if selection.source is not None and selection.current and is_text(selection.source):
        # A digest that no entry can hold excludes none.
        current = tuple(digest for digest in selection.current if is_text(digest))
        found.extend([UsedOtherwise(selection.source, current)] if current else [])
    found.extend(_matches(FIELD_TAGS, tag) for tag in selection.tags)
    if selection.created_before is not None:
        found.append(Below(FIELD_CREATED_AT, selection.created_before, inclusive=False))
    if selection.expired_at is not None:
        found.append(Below(FIELD_EXPIRES_AT, selection.expired_at, inclusive=True))
    return tuple(found)


def _matches(field: str, value: str) -> Condition:
    """What no entry can hold matches none; the engines would not even take it."""
    return Matches(field, value) if is_text(value) else HasPoint(())


def is_text(value: object) -> bool:
    """Whether an engine can hold this value as text."""
    try:
        _require_text("", value)
    except ValueError:
        return False
    return True


def require_storable(entry: Entry) -> None:
    """Refuse what no backend can hold, so that all refuse the same, and before they do anything.

    Raises:
        ValueError: A field is of another kind than `Entry` says, holds half a surrogate pair, or
            is a time that is no number.
    """
    texts: list[tuple[str, object]] = [
        ("id", entry.id),
        ("scope", entry.scope),
        ("partition", entry.partition),
        ("fingerprint", entry.fingerprint),
        ("namespace", entry.namespace),
        ("tenant", entry.tenant),
        ("model", entry.model),
        ("question", entry.question),
        ("context", entry.context),
        ("life", entry.life),
        ("assessment", entry.assessment),
        *(("tags", tag) for tag in _sequence("tags", entry.tags)),
        *(
            ("sources", text)
            for pair in _sequence("sources", entry.sources)
            for text in _pair(pair)
        ),
    ]
    for field, text in texts:
        _require_text(field, text)
    if not isinstance(entry.payload, bytes):
        raise ValueError("payload is no bytes")
    _require_time("created_at", entry.created_at)
    if entry.expires_at is not None:
        _require_time("expires_at", entry.expires_at)


def response_text(payload: bytes) -> str:
    """How the field `response` holds an entry's payload."""
    return base64.b64encode(payload).decode("ascii")


def to_payload(entry: Entry) -> dict[str, PayloadValue]:
    """The payload of an entry: JSON values only."""
    payload: dict[str, PayloadValue] = {
        FIELD_FORMAT: FORMAT,
        FIELD_ID: entry.id,
        FIELD_SCOPE: entry.scope,
        FIELD_PARTITION: entry.partition,
        FIELD_FINGERPRINT: entry.fingerprint,
        FIELD_NAMESPACE: entry.namespace,
        FIELD_TENANT: entry.tenant,
        FIELD_MODEL: entry.model,
        FIELD_QUESTION: entry.question,
        FIELD_CONTEXT: entry.context,
        FIELD_RESPONSE: response_text(entry.payload),
        FIELD_CREATED_AT: float(entry.created_at),
        **_end(entry),
        FIELD_TAGS: list(entry.tags),
        FIELD_SOURCE_IDS: [source for source, _ in entry.sources],
        FIELD_SOURCE_DIGESTS: [digest for _, digest in entry.sources],
        FIELD_SOURCES: [
            {SOURCE_NAME: source, SOURCE_DIGEST: digest} for source, digest in entry.sources
        ],
    }
    if entry.life:
        payload[FIELD_LIFE] = entry.life
    if entry.assessment:
        payload[FIELD_ASSESSMENT] = entry.assessment
    return payload


def amendment(entry: Entry) -> dict[str, PayloadValue]:
    """The fields of an entry's payload that change when it is given another end."""
    return {**_end(entry), FIELD_ASSESSMENT: entry.assessment}


def _end(entry: Entry) -> dict[str, PayloadValue]:
    expires_at = entry.expires_at
    return {
        FIELD_EXPIRES_AT: NEVER if expires_at is None else min(float(expires_at), NEVER),
        FIELD_TIMES: [_exact(entry.created_at), "" if expires_at is None else _exact(expires_at)],
    }


def from_payload(payload: Mapping[str, object] | None, *, entry_id: str = "?") -> Entry:
    """The entry that a payload holds, equal to the one that was stored.

    Args:
        payload: As the engine returned it.
        entry_id: What the record is called in an error when it cannot name itself.

    Raises:
        CorruptEntry: A field is missing or of another kind, or the format is another one.
    """
    record = payload or {}
    stored_id = record.get(FIELD_ID)
    try:
        return _decode(record)
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        name = stored_id if isinstance(stored_id, str) else entry_id
        problem = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise CorruptEntry(name, problem) from error


def _decode(record: Mapping[str, object]) -> Entry:
    if record[FIELD_FORMAT] != FORMAT:
        raise ValueError(f"format {record[FIELD_FORMAT]!r}, this release reads {FORMAT}")
    texts = {field: _text(record, field) for field in _TEXTS}
    created, expires = _texts(record, FIELD_TIMES)
    names, digests = _texts(record, FIELD_SOURCE_IDS), _texts(record, FIELD_SOURCE_DIGESTS)
    return Entry(
        id=texts[FIELD_ID],
        scope=texts[FIELD_SCOPE],
        partition=texts[FIELD_PARTITION],
        fingerprint=texts[FIELD_FINGERPRINT],
        namespace=texts[FIELD_NAMESPACE],
        tenant=texts[FIELD_TENANT],
        model=texts[FIELD_MODEL],
        question=texts[FIELD_QUESTION],
        context=texts[FIELD_CONTEXT],
        life=_text(record, FIELD_LIFE) if FIELD_LIFE in record else "",
        payload=binascii.a2b_base64(texts[FIELD_RESPONSE], strict_mode=True),
        created_at=float(created),
        expires_at=float(expires) if expires else None,
        tags=tuple(_texts(record, FIELD_TAGS)),
        sources=tuple(zip(names, digests, strict=True)),
        assessment=_text(record, FIELD_ASSESSMENT) if FIELD_ASSESSMENT in record else "",
    )


def is_live(entry: Entry, now: float) -> bool:
    """Whether the entry exists at `now`: an entry ends at the very second it expires."""
    return entry.expires_at is None or entry.expires_at > now


def similarity(score: float) -> float:
    """The similarity in [0, 1] for a dot product of unit vectors; opposite directions are 0."""
    return min(1.0, max(0.0, score))


def _sequence(field: str, value: object) -> Sequence[object]:
    if not isinstance(value, tuple | list):
        raise ValueError(f"{field} is no tuple")
    return value


def _pair(value: object) -> Sequence[object]:
    pair = _sequence("sources", value)
    if len(pair) != 2:
        raise ValueError("sources holds what is no pair of a name and a digest")
    return pair


def _require_text(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{field} holds {type(value).__name__}, expected text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{field} holds half a surrogate pair, which is no text") from None


def _require_time(field: str, value: object) -> None:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{field} is {value!r}, expected seconds since the epoch")


def _exact(seconds: float) -> str:
    """Text that `float` turns back into exactly this number."""
    return repr(float(seconds))


def _text(record: Mapping[str, object], field: str) -> str:
    value = record[field]
    if not isinstance(value, str):
        raise TypeError(f"{field} is no text")
    return value


def _texts(record: Mapping[str, object], field: str) -> Sequence[str]:
    value = record[field]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"{field} is no list of texts")
    return value
