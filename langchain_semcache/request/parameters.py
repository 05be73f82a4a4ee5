"""Which parameters of a call change its answer, in canonical form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

from langchain_semcache.records import JSON
from langchain_semcache.request._names import (
    HEADER_MAPS,
    is_secret,
    is_volatile,
    is_volatile_header,
    words,
)
from langchain_semcache.request.canonical import Canonicaliser, nfc
from langchain_semcache.request.settings import RequestSettings

_SEEN_BY_MODEL = words("functions function_call response_format tool_choice tools")
"""Sent to the model as text: nothing in them is a credential of ours, and all of it counts."""


_NO_SAMPLING = 1e9  # no temperature: left as it is, however many digits it has


def answer_changing(
    parameters: Mapping[str, object], settings: RequestSettings, writer: Canonicaliser
) -> dict[str, JSON]:
    """The parameters that count, in plain canonical form.

    Unknown parameters count. None counts as absent; absent differs from every value. `writer`
    remembers what could not be identified.
    """
    kept: dict[str, JSON] = {}
    for key, value in parameters.items():
        name = str(key)
        if value is None or is_volatile(name, settings.volatile_parameters):
            continue
        if is_secret(name, settings.secret_names):
            continue
        kept[nfc(name)] = _value(name, value, settings, writer)
    return kept


def rounded(value: object, digits: int) -> object:
    """A number rounded half up on its decimal spelling (0.25 → 0.3); anything else unchanged."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return value
    return value if abs(value) >= _NO_SAMPLING else _half_up(float(value), digits)


@lru_cache(maxsize=256)
def _half_up(value: float, digits: int) -> float:
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _value(name: str, value: object, settings: RequestSettings, writer: Canonicaliser) -> JSON:
    if name == "temperature":
        return writer.plain(rounded(value, settings.temperature_digits))
    if name == "top_p":
        return writer.plain(rounded(value, settings.top_p_digits))
    if name in _SEEN_BY_MODEL:
        return _seen_by_model(value, writer)
    if name in HEADER_MAPS and isinstance(value, Mapping):
        return writer.plain(_headers(value))
    return writer.plain(value)


def _seen_by_model(value: object, writer: Canonicaliser) -> JSON:
    verbatim = Canonicaliser()
    plain = verbatim.plain(_parsed(value))
    writer.unidentifiable.extend(verbatim.unidentifiable)
    return plain


def _parsed(value: object) -> object:
    """A schema may come as JSON text; its key order must not count."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            parsed: object = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return parsed
    return value


def _headers(headers: Mapping[object, object]) -> dict[str, object]:
    """Header names are case-insensitive; the writer leaves credentials out."""
    named = {str(name).lower(): value for name, value in headers.items()}
    return {name: value for name, value in named.items() if not is_volatile_header(name)}
