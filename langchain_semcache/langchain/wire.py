"""What LangChain hands to a cache, two strings, as a `Request`. Pure text work.

`prompt` is the conversation as LangChain's JSON, or the bare prompt of a completion model.
`llm_string` is the model as JSON, `---`, and the call's options as Python's own spelling of a list
of pairs; models that LangChain cannot serialise have the list alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from langchain_semcache.langchain.pyrepr import Unreadable, read_pairs
from langchain_semcache.langchain.schemas import Unknown, is_handle, live_schema
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


def _messages(prompt: str) -> str | list[RawMessage]:
    if not prompt.startswith('[{"lc"'):
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
    parameters = model_parameters(model) | pairs
    if "response_format" in pairs:
        parameters["response_format"] = live_schema(pairs["response_format"])
    return parameters


def _plain(fields: Mapping[str, object]) -> dict[str, object]:
    """Secrets and live objects are named, not spelled: LangChain says nothing else about them."""
    return {name: _named(value) for name, value in fields.items()}


def _named(value: object) -> object:
    if isinstance(value, list):
        return [_named(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("lc") == 1 and value.get("type") == "secret":
        return None
    if value.get("lc") == 1 and value.get("type") == "not_implemented":
        return _object(value.get("id"))
    return _plain(value)


def _object(class_path: object) -> object:
    """A handle is told by its class; where the class holds a value nobody told us, it has none."""
    return {"object": class_path} if is_handle(class_path) else Unknown()
