"""Records that an earlier day wrote are read for ever: a change here is a new version."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from langchain_semcache.records import PARTS, Entry, Response
from langchain_semcache.responses import DeltaCodec, history_of
from langchain_semcache.responses.codec import to_raw
from langchain_semcache.responses.parts import Owner, from_entry, part_id

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "golden" / "records.json").read_text(encoding="utf-8")
)
OWNER = Owner(*GOLDEN["owner"])


def part(kind: str, address: str, content: str):
    return from_entry(
        Entry(
            id=part_id(bytes.fromhex(address)), scope=PARTS, partition=PARTS, fingerprint=kind,
            namespace=PARTS, tenant=OWNER.tenant, model="", question="", created_at=0.0,
            payload=base64.b64decode(content),
        ),
        OWNER,
    )  # fmt: skip


PARTS_BY_ADDRESS = {bytes.fromhex(one["address"]): part(**one) for one in GOLDEN["parts"]}


@pytest.mark.parametrize("name", GOLDEN["records"])
def test_a_record_of_before_is_read(name):
    record = GOLDEN["records"][name]
    payload = base64.b64decode(record["payload"])
    found = DeltaCodec().decode("e", payload, PARTS_BY_ADDRESS)
    assert found == Response.from_text(record["text"])
    told = history_of("e", payload)
    assert bool(told.changes) is ("history" in name)
    if told.changes:
        previous = told.previous("e", to_raw(found))
        assert previous == to_raw(Response.from_text(GOLDEN["previous"]))
