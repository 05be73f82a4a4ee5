"""What LangChain hands to a cache, two strings, as a `Request`. Pure text work.

`prompt` is the conversation as LangChain's JSON, or the bare prompt of a completion model.
`llm_string` is the model as JSON, `---`, and the call's options as Python's own spelling of a list
of pairs; models that LangChain cannot serialise have the list alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from langchain_semcache.langchain.pyrepr import Unreadable, read_pairs
from langchain_semcache.langchain.schemas import Unknown, identified, is_handle
from langchain_semcache.records import RawMessage, Request

SURFACE = "langchain"

_MODEL_NAMES = ("model_name", "model", "model_id", "deployment_name", "_type")


def request_of(prompt: str, llm_string: str, tenant: str) -> Request:
    """The request behind one call of `BaseCache.lookup` or `update`."""
    parameters = _parameters(llm_string)
    return Request(
        messages=_messages(prompt),
        model=model_name(parameters),
        parameters=parameters,
        tenant=tenant,
        surface=SURFACE,
    )


def model_name(parameters: Mapping[str, object]) -> str:
    """What the model is called, among its parameters; empty when it has no name."""
    return next((str(parameters[name]) for name in _MODEL_NAMES if parameters.get(name)), "")


def model_parameters(model: object) -> dict[str, object]:
    """The fields of a model in LangChain's serialised form, and which class it is."""
    if not isinstance(model, Mapping):
        return {}
    fields = model.get("kwargs")
    # The class counts: two providers may call different models by one name.
    return {"model_class": model.get("id"), **(_plain(fields) if isinstance(fields, dict) else {})}


def is_chat(prompt: str) -> bool:
    """Whether the prompt looks like a conversation in LangChain's JSON."""
    return prompt.startswith('[{"lc"')


def _messages(prompt: str) -> str | list[RawMessage]:
    if not is_chat(prompt):
        return prompt
    try:
        messages = json.loads(prompt)
    except (ValueError, RecursionError):
        return prompt
    if not all(isinstance(message, dict) and message.get("lc") == 1 for message in messages):
        return prompt
    return list(messages)


def _parameters(llm_string: str) -> dict[str, object]:
    """Every option under its own name, or the text as a whole when it is in no known form."""
    model: object = {}
    options = llm_string
    if llm_string.startswith("{"):
        try:
            model, end = json.JSONDecoder().raw_decode(llm_string)
        except (ValueError, RecursionError):
            return {"llm_string": llm_string}
        if not llm_string.startswith("---", end):
            return {"llm_string": llm_string}
        options = llm_string[end + len("---") :]
    try:
        pairs = read_pairs(options)
    except Unreadable:
        return {"llm_string": llm_string}
    fields = model_parameters(model)
    given = {name: identified(value) for name, value in pairs.items() if value is not None}
    # LangChain always passes a `stop`, and None there means the model's own. Elsewhere None takes
    # a setting of the model away, which is another request.
    unset = sorted(n for n, value in pairs.items() if value is None and n != "stop" and n in fields)
    return fields | given | ({"unset_for_this_call": unset} if unset else {})


def _plain(fields: Mapping[str, object]) -> dict[str, object]:
    """Secrets and live objects are named, not spelled: LangChain says nothing else about them."""
    return {name: _named(value, is_field=True) for name, value in fields.items()}


def _named(value: object, *, is_field: bool = False) -> object:
    if isinstance(value, list):
        return [_named(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("lc") != 1:
        return {name: _named(item) for name, item in value.items()}
    if value.get("type") == "secret":
        return None
    if value.get("type") == "not_implemented":
        return _object(value.get("id"), is_field)
    return _plain(value)


def _object(class_path: object, is_field: bool) -> object:
    """A model keeps its client, a mere handle, in a field of its own, and its class says enough.

    Anything else is a value that LangChain has left out.
    """
    return {"object": class_path} if is_field and is_handle(class_path) else Unknown()
