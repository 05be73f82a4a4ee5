from __future__ import annotations

from dataclasses import replace

import pytest

from langchain_semcache.records import Query, Reason, Response
from langchain_semcache.responses import refusal_to_store

QUERY = Query(text="q", fingerprint="f", partition="p", call_ids=("call_77",))
WHOLE = Response.from_text("an answer")


def reason(response: Response) -> Reason | None:
    refusal = refusal_to_store(response, QUERY)
    return refusal[0] if refusal else None


@pytest.mark.parametrize(
    "endings", [(), ("stop",), ("STOP",), ("end_turn",), ("tool_calls",), ("stop", "stop")]
)
def test_a_whole_reply_is_kept_also_when_the_host_never_says_how_it_ended(endings):
    assert reason(replace(WHOLE, finish_reasons=endings)) is None


@pytest.mark.parametrize(
    "endings",
    [("length",), ("max_tokens",), ("MAX_TOKENS",), ("error",), (None,), ("pause_turn",), ("",),
     ("something new",), ("stop", "length")],
)  # fmt: skip
def test_an_ending_that_is_not_known_to_be_complete_is_incomplete(endings):
    assert reason(replace(WHOLE, finish_reasons=endings)) is Reason.INCOMPLETE_REPLY


@pytest.mark.parametrize("endings", [("content_filter",), ("refusal",), ("SAFETY",)])
def test_a_refused_reply_is_told_from_a_cut_one(endings):
    assert reason(replace(WHOLE, finish_reasons=endings)) is Reason.REFUSED_REPLY
    assert reason(replace(WHOLE, refused=True)) is Reason.REFUSED_REPLY


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000"])
def test_an_empty_reply_is_not_kept_unless_it_calls_tools(text):
    empty = Response(body=text, text=text)
    assert reason(empty) is Reason.EMPTY_REPLY
    assert reason(replace(empty, has_tool_calls=True)) is None


def test_a_reply_that_quotes_a_call_id_of_its_conversation_is_not_kept():
    """Call ids do not count in the key, so another conversation would read a foreign id."""
    assert reason(Response.from_text("see call_77")) is Reason.REPLY_NAMES_CALL_ID
    assert reason(Response.from_text("see call_78")) is None
