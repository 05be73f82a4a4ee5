"""One spelling for every value: equal values give equal text, different values different text."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from hashlib import blake2b
from pathlib import PurePath
from uuid import UUID
from weakref import WeakKeyDictionary

from langchain_semcache.records import JSON
from langchain_semcache.request._names import is_secret

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode

_STABLE = (
    datetime, date, time, timedelta, Decimal, Fraction, complex, UUID, PurePath, re.Pattern, range,
)  # fmt: skip
_BUILTINS = frozenset({str, int, float, bool, bytes, list, dict, tuple, set, object, type(None)})
_TAGS = frozenset(
    {"$bytes", "$class", "$digest", "$escaped", "$float", "$int", "$object", "$pairs", "$repr",
     "$schema", "$secret", "$type"}
)  # fmt: skip
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+|\b0x[0-9a-fA-F]{8,}")
_LONG = 256
_DEEPEST = 64
_WIDEST_INT = 4096  # bits; Python refuses to print much longer integers

# A pure memo, by class object: a schema takes longer to write than all the rest of a request.
_schemas: WeakKeyDictionary[type, JSON] = WeakKeyDictionary()


def nfc(text: str) -> str:
    """`text` in Unicode normal form C."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def digest(*fields: str) -> str:
    """BLAKE2b-128 of the fields as 32 hex digits; every field is delimited by its length."""
    data = packed(*fields).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=16).hexdigest()


def packed(*fields: str) -> str:
    """The fields in one text, each delimited by its length: no two lists give the same text."""
    return "".join([f"{len(field)}:{field}" for field in fields])


class Canonicaliser:
    """Writes canonical JSON, and remembers what had no stable identity.

    Strings are NFC, keys sorted, tuples, lists and sets alike, 1 equals 1.0 but not True. What
    JSON does not know is written as a mapping with one `$tag`; a mapping that looks like one is
    escaped. Other than that, reading the text as JSON and writing it again changes nothing.

    Args:
        hide_secrets: Write the digest of what is named like a credential: it counts, and its text
            goes nowhere.
        compact: Replace long strings by their digest.
        extra_secrets: Further names of credentials, in lower case with underscores.
    """

    __slots__ = ("_compact", "_extra_secrets", "_hide_secrets", "unidentifiable")

    def __init__(
        self,
        *,
        hide_secrets: bool = False,
        compact: bool = False,
        extra_secrets: frozenset[str] = frozenset(),
    ) -> None:
        self._hide_secrets = hide_secrets
        self._compact = compact
        self._extra_secrets = extra_secrets
        self.unidentifiable: list[str] = []

    def write(self, value: object) -> str:
        """Canonical JSON of `value`."""
        return _encode(self.plain(value))

    def plain(self, value: object, depth: int = 0) -> JSON:
        """`value` made of JSON types only, in the form that `write` prints."""
        try:
            if isinstance(value, str):
                return self._string(value.value if isinstance(value, Enum) else value)
            if value is None or isinstance(value, bool):
                return value
            if isinstance(value, (int, float)):
                return _number(value)
            if depth > _DEEPEST:
                return self._unidentifiable(value)
            return self._structured(value, depth + 1)
        except Exception:  # noqa: BLE001 - foreign code: whatever it raises, it has no identity
            return self._unidentifiable(value)

    def _structured(self, value: object, depth: int) -> JSON:
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, (list, tuple)):
            return [self.plain(item, depth) for item in value]
        return self._rare(value, depth)

    def _string(self, text: str) -> JSON:
        text = nfc(text)
        return {"$digest": digest(text)} if self._compact and len(text) > _LONG else text

    def _mapping(self, value: Mapping[object, object], depth: int) -> JSON:
        result: dict[str, JSON] = {}
        kept = 0
        for key, item in value.items():
            name = nfc(key) if type(key) is str else self._key(key, depth)
            result[name] = self._value(name, item, depth)
            kept += 1
        if kept != len(result):  # 1 and "1" as keys of one mapping
            pairs = [[self._key(k, depth), self._value(k, v, depth)] for k, v in value.items()]
            return {"$pairs": sorted(pairs, key=_encode)}
        if kept == 1 and not _TAGS.isdisjoint(result):
            return {"$escaped": result}
        return result

    def _value(self, key: object, item: object, depth: int) -> JSON:
        """Credentials are text: a *schema* of a field called "password" is not one."""
        if (
            self._hide_secrets
            and isinstance(key, str)
            and isinstance(item, (str, bytes))
            and is_secret(key, self._extra_secrets)
        ):
            return _hidden(item)
        return self.plain(item, depth)

    def _key(self, key: object, depth: int) -> str:
        plain = self.plain(key, depth)
        return plain if isinstance(plain, str) else _encode(plain)

    def _rare(self, value: object, depth: int) -> JSON:
        """Values that need a `$tag`, or another look."""
        if isinstance(value, Enum):
            return self.plain(value.value, depth)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {"$bytes": blake2b(value, digest_size=16).hexdigest()}
        if isinstance(value, AbstractSet):
            return sorted((self.plain(item, depth) for item in value), key=_encode)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, _STABLE):
            return {"$type": [_name(type(value)), str(value)]}
        return self._structure(value, depth)

    def _structure(self, value: object, depth: int) -> JSON:
        if callable(reveal := getattr(value, "get_secret_value", None)):
            return _hidden(reveal())
        if callable(dump := getattr(value, "model_dump", None)):
            return self._dumped(value, dump(), depth)
        if dataclasses.is_dataclass(value):
            names = [field.name for field in dataclasses.fields(value)]
            return self._dumped(value, {name: getattr(value, name) for name in names}, depth)
        if callable(listed := getattr(value, "tolist", None)):  # numpy
            return self.plain(listed(), depth)
        if isinstance(value, Sequence):
            return [self.plain(item, depth) for item in value]
        return self._object(value)

    def _dumped(self, value: object, fields: object, depth: int) -> JSON:
        return {"$type": [_name(type(value)), self.plain(fields, depth)]}

    def _class(self, value: type) -> JSON:
        if value in _BUILTINS:
            return {"$class": _name(value)}
        known = _schemas.get(value)
        if known is not None:
            return known
        schema = getattr(value, "model_json_schema", None)
        if not callable(schema):
            return self._unidentifiable(value)  # two classes of one name may differ
        try:
            known = {"$schema": Canonicaliser().plain(schema())}
        except Exception:  # noqa: BLE001 - whatever a foreign class raises, it has no schema
            return self._unidentifiable(value)
        _schemas[value] = known
        return known

    def _object(self, value: object) -> JSON:
        if type(value).__repr__ is object.__repr__ or callable(value):
            return self._unidentifiable(value)
        text = repr(value)
        if _ADDRESS.search(text):
            return self._unidentifiable(value)
        return {"$repr": [_name(type(value)), nfc(text)]}

    def _unidentifiable(self, value: object) -> JSON:
        kind = type(value)
        name = _name(value if issubclass(kind, type) else kind)  # type: ignore[arg-type]
        self.unidentifiable.append(name)
        return {"$object": name}


def canonical(value: object) -> str:
    """Canonical JSON of `value`; see `Canonicaliser`."""
    return Canonicaliser().write(value)


def encode_strings(value: JSON) -> str:
    """JSON of something that is canonical already."""
    return _encode(value)


def read_json(text: str) -> object:
    """What a JSON text spells, so that key order and white space do not count; else the text.

    A text that names a key twice stays text: two such texts may read alike.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return text


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError("a key occurs twice")
    return read


def _hidden(secret: object) -> JSON:
    """Two secrets differ, and neither is read from here."""
    text = secret if isinstance(secret, str) else repr(secret)
    return {"$secret": digest("secret", type(secret).__name__, nfc(text))}


def _number(value: float) -> JSON:
    if isinstance(value, int):
        return int(value) if value.bit_length() < _WIDEST_INT else {"$int": hex(value)}
    if math.isfinite(value):
        return int(value) if value.is_integer() else float(value)
    return {"$float": str(float(value))}


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
