from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation

from langchain_semcache import CorruptEntry, Decision, Reason, Response
from langchain_semcache.langchain.generations import Unstorable, to_generations, to_response
from langchain_semcache.records import Query
from langchain_semcache.responses import EnvelopeCodec, refusal_to_store

ANY_QUERY = Query(text="q", fingerprint="f", partition="p")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def hit(response: Response | None) -> Decision:
    return Decision(
        hit=True,
        reason=Reason.EXACT,
        response=response,
        similarity=1.0,
        entry_id="e",
        age=timedelta(seconds=5),
    )


def through_the_store(response: Response) -> Response:
    codec = EnvelopeCodec()
    return codec.decode("e", codec.encode(response))


MESSAGES = st.builds(
    AIMessage,
    content=st.text() | st.lists(st.text() | st.fixed_dictionaries({"type": st.just("x")})),
    additional_kwargs=st.dictionaries(st.text(min_size=1), JSON, max_size=3),
    response_metadata=st.dictionaries(st.text(min_size=1), JSON, max_size=3),
    name=st.none() | st.text(),
    tool_calls=st.lists(
        st.fixed_dictionaries(
            {
                "name": st.text(),
                "args": st.dictionaries(st.text(), JSON, max_size=2),
                "id": st.text() | st.none(),
                "type": st.just("tool_call"),
            }
        ),
        max_size=2,
    ),
)


@given(MESSAGES)
def test_a_message_comes_back_through_the_store(message: AIMessage) -> None:
    """Equal in everything but its id and the facts of the hit."""
    stored = through_the_store(to_response([ChatGeneration(message=message)]))
    (found,) = to_generations(hit(stored))
    assert isinstance(found, ChatGeneration)
    facts = found.message.response_metadata.pop("semcache")
    assert facts["age_seconds"] == 5
    assert found.message.id
    assert found.message.id != message.id
    assert found.message == message.model_copy(update={"id": found.message.id})


@given(JSON, st.sampled_from(["langchain.generations/1", "text", "other"]))
def test_a_foreign_record_is_corrupt_and_nothing_else(body: Any, kind: str) -> None:
    """Whatever lies in the store."""
    for forged in (body, {"generations": body}, {"generations": [body]}):
        with contextlib.suppress(CorruptEntry):
            to_generations(hit(Response(body=forged, kind=kind)))


@pytest.mark.parametrize(
    "name", ["ChatGeneration", "Generation", "ChatGenerationChunk", "os.system"]
)
@given(JSON, JSON, JSON)
def test_a_forged_generation_is_corrupt_or_plain_text(
    name: str, message: Any, text: Any, info: Any
) -> None:
    item = {"class": name, "message": message, "text": text, "info": info}
    body: Any = {"generations": [item]}
    try:
        (found,) = to_generations(hit(Response(body=body, kind="langchain.generations/1")))
    except CorruptEntry:
        return
    assert isinstance(found, Generation)


def test_no_answer_at_all_is_corrupt() -> None:
    with pytest.raises(CorruptEntry):
        to_generations(hit(None))


def test_nothing_generated_may_not_be_kept() -> None:
    assert refusal_to_store(to_response([]), ANY_QUERY) == (
        Reason.EMPTY_REPLY,
        "no text and no tool calls",
    )


def test_one_empty_generation_of_several_spoils_the_reply() -> None:
    reply = to_response([Generation(text="x"), Generation(text=" ")])
    assert refusal_to_store(reply, ANY_QUERY) is not None


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, ()),
        ({"finish_reason": "stop"}, ("stop",)),
        ({"finish_reason": None}, (None,)),
        ({"stop_reason": "end_turn", "finish_reason": "stop"}, ("stop", "end_turn")),
        ({"status": "completed", "model_provider": "openai"}, ()),
        ({"status": "incomplete"}, ("incomplete",)),
        ({"model_provider": "openai"}, (None,)),
        ({"model_provider": "somebody"}, ()),
    ],
)
def test_every_place_for_an_ending_is_read(
    metadata: dict[str, Any], expected: tuple[str | None, ...]
) -> None:
    reply = to_response([ChatGeneration(message=AIMessage("x", response_metadata=metadata))])
    assert reply.finish_reasons == expected


def test_a_class_of_ones_own_is_not_stored() -> None:
    class Own(AIMessage):
        pass

    with pytest.raises(Unstorable):
        to_response([ChatGeneration(message=Own("x"))])
