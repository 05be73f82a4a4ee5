"""What a hit costs, in what LiteLLM logs and bills (B40), and what its logs hold.

There is no database here: the row that LiteLLM would write is made by its own function and read
from a file.
"""

from __future__ import annotations

import json
import time

import pytest

from tests.adapters.litellm.conftest import Asker
from tests.services.litellm_proxy import LiteLLMProxy

LEDGER = """
import json
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy.spend_tracking.spend_tracking_utils import get_logging_payload


class Ledger(CustomLogger):
    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        row = get_logging_payload(kwargs, response_obj, start_time, end_time)
        logged = kwargs["standard_logging_object"]
        with open("ledger.jsonl", "a") as out:
            out.write(json.dumps({
                "spend": row["spend"], "row_hit": row["cache_hit"], "row_key": row["cache_key"],
                "cost": logged["response_cost"], "hit": logged["cache_hit"],
                "saved": logged["saved_cache_cost"], "tokens": logged["total_tokens"],
                "facts": json.loads(row["metadata"]).get("semcache"),
            }) + "\\n")


ledger = Ledger()
"""


@pytest.fixture(scope="module")
def billed(tmp_path_factory, upstream):
    folder = tmp_path_factory.mktemp("billed")
    (folder / "ledger.py").write_text(LEDGER)
    with LiteLLMProxy(
        folder,
        upstream.url,
        semcache={"location": ":memory:"},
        litellm_settings={"callbacks": ["litellm_hooks.proxy_handler", "ledger.ledger"]},
    ) as running:
        yield running


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_hit_costs_nothing_and_is_logged_as_a_hit(billed, upstream, api, stream):
    ask = Asker(billed, upstream)
    file = billed.folder / "ledger.jsonl"
    before = len(file.read_text().splitlines()) if file.exists() else 0

    def rows(count: int) -> list[dict]:
        until = time.monotonic() + 10
        while time.monotonic() < until:
            lines = file.read_text().splitlines()[before:] if file.exists() else []
            if len(lines) >= count:
                return [json.loads(line) for line in lines]
            time.sleep(0.05)
        raise TimeoutError(f"{len(lines)} rows of {count}")

    ask("What does this cost?", api=api, stream=stream)
    (paid,) = rows(1)
    assert paid["cost"] > 0
    assert paid["spend"] > 0
    assert not paid["hit"]
    hit = ask("What does this cost?", api=api, stream=stream)
    assert hit.hit
    _, free = rows(2)
    assert (free["spend"], free["cost"], free["hit"]) == (0, 0, True)
    assert free["row_hit"] == "True"
    assert free["row_key"] == hit.headers["x-litellm-cache-key"]
    assert free["tokens"] == paid["tokens"]
    time.sleep(0.3)
    assert len(rows(2)) == 2, "one call, one row"
