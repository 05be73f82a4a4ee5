"""The ledger as JSON: what workers leave for each other in the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from math import isfinite
from typing import TypeAlias

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.threshold.ledger import (
    BINS,
    CLASSES,
    EntryRecord,
    Evidence,
    Ledger,
    Share,
    Tally,
)

VERSION = 1
"""Of the layout. Another one is refused, not guessed at."""

_Row: TypeAlias = "dict[str, object]"
_COUNTS = ("requests", "hits", "passed", "labels", "wrong_labels")
_WEIGHTS = ("labelled", "wrong", "heaviest")
_WHOLE = ("version", "turn", "requests")
_REAL = ("latest", "spent")


def to_json(ledger: Ledger) -> str:
    """All shares, without the name of who writes; equal ledgers give equal text."""
    shares = {worker: _share(share) for worker, share in ledger.shares.items()}
    document = {"version": VERSION, "shares": shares}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(text: str | bytes, *, worker: str) -> Ledger:
    """The ledger that `to_json` wrote, to be carried on by `worker`.

    Raises:
        ConfigurationError: It is damaged or of another version. Nothing of it is used then; to go
            on with `Ledger(worker)` forgets the spent budget and a fallback to exact matches, so
            whoever does says so.
    """
    try:
        document = _mapping(json.loads(text))
        _check_version(document["version"])
        shares = {name: _read_share(row) for name, row in _mapping(document["shares"]).items()}
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"the stored error budget cannot be read ({error}): delete it to begin anew, "
            "or use the release that wrote it"
        ) from error
    return Ledger(worker, shares)


def _check_version(found: object) -> None:
    if found != VERSION:
        raise ValueError(f"version {found!r}, not {VERSION}")


def _share(share: Share) -> _Row:
    return {
        **{name: getattr(share, name) for name in (*_WHOLE, *_REAL)},
        "tallies": [
            {"turn": turn, "block": block, **_tally(tally)}
            for (turn, block), tally in sorted(share.tallies.items(), key=lambda item: item[0])
        ],
        # A list keeps what a mapping with sorted keys would lose: which was touched last.
        "entries": [[entry_id, *_numbers(entry)] for entry_id, entry in share.entries.items()],
    }


def _tally(tally: Tally) -> _Row:
    return {
        **{name: getattr(tally, name) for name in (*_COUNTS, *_WEIGHTS)},
        "risk": list(tally.risk),
        "classes": [[bucket, *_numbers(row)] for bucket, row in sorted(tally.classes.items())],
    }


def _numbers(row: Evidence | EntryRecord) -> list[float]:
    return [getattr(row, each.name) for each in fields(row)]


def _read_share(row: object) -> Share:
    share = _mapping(row)
    tallies = [_mapping(tally) for tally in _list(share["tallies"])]
    entries = [_list(entry) for entry in _list(share["entries"])]
    return Share(
        version=_whole(share["version"]),
        turn=_whole(share["turn"]),
        requests=_whole(share["requests"]),
        latest=_real(share["latest"]),
        spent=_real(share["spent"]),
        tallies={
            (_whole(each["turn"]), _int(each["block"])): _read_tally(each) for each in tallies
        },
        entries={_text(entry[0]): EntryRecord(*_reals(entry[1:], 5)) for entry in entries},
    )


def _read_tally(row: Mapping[str, object]) -> Tally:
    classes = [_list(each) for each in _list(row["classes"])]
    return Tally(
        requests=_whole(row["requests"]),
        hits=_whole(row["hits"]),
        passed=_whole(row["passed"]),
        labels=_whole(row["labels"]),
        wrong_labels=_whole(row["wrong_labels"]),
        labelled=_real(row["labelled"]),
        wrong=_real(row["wrong"]),
        heaviest=_real(row["heaviest"]),
        risk=tuple(_reals(_list(row["risk"]), BINS)),
        classes={_bucket(each[0]): Evidence(*_reals(each[1:], 4)) for each in classes},
    )


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"{type(value).__name__} where a mapping belongs")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{type(value).__name__} where a list belongs")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where text belongs")
    return value


def _int(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} where a whole number belongs")
    return value


def _whole(value: object) -> int:
    if _int(value) < 0:
        raise ValueError(f"{value!r} is negative")
    return _int(value)


def _bucket(value: object) -> int:
    if _whole(value) >= CLASSES:
        raise ValueError(f"no class bucket {value!r}")
    return _whole(value)


def _real(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{value!r} where a number belongs")
    if not isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is negative or not finite")
    return value


def _reals(values: list[object], count: int) -> list[float]:
    if len(values) != count:
        raise ValueError(f"{len(values)} numbers where {count} belong")
    return [_real(value) for value in values]
