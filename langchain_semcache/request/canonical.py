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
     "$schema", "$type"}
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

    Strings are NFC, keys sorted, tuples, lists and sets alike, 1 equals 1.0 but not True, keys
    whose value is None are left out. What JSON does not know is written as a mapping with one
    `$tag`; a mapping that looks like one is escaped. Other than that, reading the text as JSON and
    writing it again changes nothing.

    Args:
        drop_secrets: Leave out what is or is named like a credential, so that rotating it does
            not change the text.
        compact: Replace long strings by their digest.
        extra_secrets: Further names of credentials, in lower case with underscores.
    """

    __slots__ = ("_compact", "_drop_secrets", "_extra_secrets", "unidentifiable")

    def __init__(
        self,
        *,
        drop_secrets: bool = False,
        compact: bool = False,
        extra_secrets: frozenset[str] = frozenset(),
    ) -> None:
        self._drop_secrets = drop_secrets
        self._compact = compact
        self._extra_secrets = extra_secrets
        self.unidentifiable: list[str] = []

    def write(self, value: object) -> str:
        """Canonical JSON of `value`."""
        return _encode(self.plain(value))

    def plain(self, value: object, depth: int = 0) -> JSON:
        """`value` made of JSON types only, in the form that `write` prints."""
        if isinstance(value, str):
            return self._string(value.value if isinstance(value, Enum) else value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (int, float)):
            return _number(value)
        if depth > _DEEPEST:
            return self._unidentifiable(value)
        if isinstance(value, Mapping):
            return self._mapping(value, depth + 1)
        if isinstance(value, (list, tuple)):
            return [self.plain(item, depth + 1) for item in value]
        return self._rare(value, depth + 1)

    def _string(self, text: str) -> JSON:
        text = nfc(text)
        return {"$digest": digest(text)} if self._compact and len(text) > _LONG else text

    def _mapping(self, value: Mapping[object, object], depth: int) -> JSON:
        result: dict[str, JSON] = {}
        kept = 0
        for key, item in value.items():
            name = nfc(key) if type(key) is str else self._key(key, depth)
            if item is None or (self._drop_secrets and self._is_secret(name, item)):
                continue
            result[name] = self.plain(item, depth)
            kept += 1
        if kept != len(result):  # 1 and "1" as keys of one mapping
            pairs = [[self._key(k, depth), self.plain(v, depth)] for k, v in value.items()]
            return {"$pairs": sorted(pairs, key=_encode)}
        if kept == 1 and not _TAGS.isdisjoint(result):
            return {"$escaped": result}
        return result

    def _key(self, key: object, depth: int) -> str:
        plain = self.plain(key, depth)
        return plain if isinstance(plain, str) else _encode(plain)

    def _is_secret(self, name: str, item: object) -> bool:
        """Credentials are text: a *schema* of a field called "password" is not one."""
        if hasattr(item, "get_secret_value"):
            return True
        return isinstance(item, (str, bytes)) and is_secret(name, self._extra_secrets)

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
        if hasattr(value, "get_secret_value"):
            return {"$type": "secret"}
        if callable(dump := getattr(value, "model_dump", None)):
            try:
                return self._dumped(value, dump(), depth)
            except Exception:  # noqa: BLE001 - foreign code
                return self._unidentifiable(value)
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
        try:
            text = repr(value)
        except Exception:  # noqa: BLE001 - foreign code
            return self._unidentifiable(value)
        if _ADDRESS.search(text):
            return self._unidentifiable(value)
        return {"$repr": [_name(type(value)), nfc(text)]}

    def _unidentifiable(self, value: object) -> JSON:
        name = _name(value if isinstance(value, type) else type(value))
        self.unidentifiable.append(name)
        return {"$object": name}


def canonical(value: object) -> str:
    """Canonical JSON of `value`; see `Canonicaliser`."""
    return Canonicaliser().write(value)


def encode_strings(value: JSON) -> str:
    """JSON of something that is canonical already."""
    return _encode(value)


def _number(value: float) -> JSON:
    if isinstance(value, int):
        return int(value) if value.bit_length() < _WIDEST_INT else {"$int": hex(value)}
    if math.isfinite(value):
        return int(value) if value.is_integer() else float(value)
    return {"$float": str(float(value))}


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
