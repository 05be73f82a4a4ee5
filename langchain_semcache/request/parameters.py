"""Which parameters of a call change its answer, in canonical form."""

from __future__ import annotations

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
from langchain_semcache.request.canonical import (
    Canonicaliser,
    encode_strings,
    nfc,
    read_json,
)
from langchain_semcache.request.settings import RequestSettings

_SEEN_BY_MODEL = words("functions function_call response_format tool_choice tools")
"""Sent to the model as text: nothing in them is a credential of ours, and all of it counts."""


_NO_SAMPLING = 1e9  # no temperature: left as it is, however many digits it has


def answer_changing(
    parameters: Mapping[str, object], settings: RequestSettings, writer: Canonicaliser
) -> dict[str, JSON]:
    """The parameters that count, in plain canonical form.

    Unknown parameters count. None counts as absent; absent differs from every value. Only here,
    and among headers, are credentials left out. `writer` remembers what could not be identified.
    """
    kept: dict[str, JSON] = {}
    for key, value in parameters.items():
        name = _name(key, writer)
        if value is None or is_volatile(name, settings.volatile_parameters):
            continue
        if _is_credential(name, value, settings):
            continue
        try:
            kept[nfc(name)] = _value(name, value, settings, writer)
        except Exception:  # noqa: BLE001 - foreign code: whatever it raises, it has no identity
            kept[nfc(name)] = None
            writer.unidentifiable.append(type(value).__qualname__)
    return kept


def _name(key: object, writer: Canonicaliser) -> str:
    return key if isinstance(key, str) else encode_strings(writer.plain(key))


def _is_credential(name: str, value: object, settings: RequestSettings) -> bool:
    """Whether it is named or typed as one."""
    return is_secret(name, settings.secret_names) or hasattr(type(value), "get_secret_value")


def rounded(value: object, digits: int) -> object:
    """A number rounded half up on its decimal spelling (0.25 → 0.3); anything else unchanged."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if value != value or abs(value) >= _NO_SAMPLING:  # noqa: PLR0124 - NaN, of any numeric type
        return value
    return _half_up(float(value), digits)


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
        return writer.plain(_headers(value, settings))
    return writer.plain(value)


def _seen_by_model(value: object, writer: Canonicaliser) -> JSON:
    verbatim = Canonicaliser()
    plain = verbatim.plain(read_json(value) if isinstance(value, str) else value)
    writer.unidentifiable.extend(verbatim.unidentifiable)
    return plain


def _headers(headers: Mapping[object, object], settings: RequestSettings) -> dict[str, object]:
    """The headers that count; their names are case-insensitive."""
    named = {str(name).lower(): value for name, value in headers.items()}
    return {
        name: value
        for name, value in named.items()
        if not is_volatile_header(name) and not _is_credential(name, value, settings)
    }
