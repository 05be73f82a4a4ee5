"""An agent's model call as a `Request`, its reply as a `Response`, and back.

Needs the extra `langchain`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.load.dump import dumpd
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration
from langchain_core.runnables.config import ensure_config
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_semcache.errors import CorruptEntry, MissingExtra
from langchain_semcache.langchain.generations import (
    Unstorable,
    dump_message,
    free_of_charge,
    load_message,
    to_response,
)
from langchain_semcache.langchain.schemas import Unknown
from langchain_semcache.langchain.wire import model_name, model_parameters
from langchain_semcache.records import Decision, RawMessage, Request, Response

try:
    from langchain.agents.middleware import ModelRequest, ModelResponse
    from langchain.agents.structured_output import (
        AutoStrategy,
        OutputToolBinding,
        ProviderStrategy,
        ProviderStrategyBinding,
        ToolStrategy,
    )
except ImportError as error:
    raise MissingExtra("SemanticCacheMiddleware", "langchain", "langchain") from error

SURFACE = "langchain-agent"
KIND = "langchain.agent/1"

_FORCED = (ToolStrategy, ProviderStrategy)

AnyRequest: TypeAlias = ModelRequest[Any]
AnyResponse: TypeAlias = ModelResponse[Any]


def core_request(request: AnyRequest, tenant: str) -> Request:
    """Everything about an agent's model call that its answer depends on."""
    parameters = {**_model(request.model), **request.model_settings}
    parameters["tools"] = [_tool(tool) for tool in request.tools] or None
    parameters["tool_choice"] = request.tool_choice
    parameters["response_format"] = [
        request.model_settings.get("response_format"),
        _strategy(request.response_format),
    ]
    # Messages carry the name of the agent that they were made for.
    parameters["agent_name"] = ensure_config().get("metadata", {}).get("lc_agent_name")
    messages: list[Any] = list(request.messages)
    if request.system_message is not None:
        messages.insert(0, request.system_message)
    shown: list[RawMessage] = messages
    return Request(
        messages=shown,
        model=model_name(parameters),
        parameters=parameters,
        tenant=tenant,
        surface=SURFACE,
    )


def to_agent_response(request: AnyRequest, answer: object) -> Response:
    """An agent's model response as data.

    Raises:
        Unstorable: It could not be rebuilt from what would be stored.
    """
    if not isinstance(answer, ModelResponse) or not answer.result:
        raise Unstorable(f"agent replies of class {type(answer).__name__} are not stored")
    said, told = answer.result[0], answer.result[1:]
    if not isinstance(said, AIMessage) or not all(_plain_result(message) for message in told):
        raise Unstorable("the messages of this agent reply are not stored")
    try:
        rebuilt = _structured(request, answer.result)
    except ValueError as error:
        raise Unstorable("the answer does not fit the schema that was asked for") from error
    wanted = answer.structured_response
    if type(rebuilt) is not type(wanted) or rebuilt != wanted:
        raise Unstorable("the structured answer would not come back as it was")
    described = to_response([ChatGeneration(message=said)])
    messages = [dump_message(message) for message in answer.result]
    return replace(described, kind=KIND, body={"messages": messages})


def from_decision(request: AnyRequest, decision: Decision) -> AnyResponse:
    """Fresh messages for one hit, the structured answer read anew by the request's own schema.

    Raises:
        CorruptEntry: The stored record is not one of ours.
    """
    entry_id, response = decision.entry_id or "", decision.response
    if response is None or response.kind != KIND or not isinstance(response.body, dict):
        raise CorruptEntry(entry_id, "not an agent's reply")
    stored = response.body.get("messages")
    if not isinstance(stored, list) or not stored:
        raise CorruptEntry(entry_id, "no messages")
    try:
        result = [load_message(item, decision) for item in stored]
        structured = _structured(request, result)
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptEntry(entry_id, type(error).__name__) from error
    for message in result:
        if isinstance(message, AIMessage):
            message.usage_metadata = free_of_charge(message)
    return ModelResponse(result=result, structured_response=structured)


def _plain_result(message: BaseMessage) -> bool:
    return isinstance(message, ToolMessage) and message.artifact is None


def _structured(request: AnyRequest, result: Sequence[BaseMessage]) -> Any:
    """What an agent makes of these messages under the request's schema.

    None without a schema, and for a turn that calls tools before it answers.

    Raises:
        ValueError: The messages are no answer under the schema.
    """
    specs, said = _specs(request.response_format), result[0]
    if not specs or not isinstance(said, AIMessage):
        return None
    if len(result) > 1:
        called = [(s, call) for call in said.tool_calls for s in specs if s.name == call["name"]]
        if len(called) != 1:
            raise ValueError("not one call of one schema")
        spec, call = called[0]
        return OutputToolBinding.from_schema_spec(spec).parse(call["args"])
    if said.tool_calls:
        return None
    if isinstance(request.response_format, ToolStrategy):
        raise ValueError("no call of a schema")
    return ProviderStrategyBinding.from_schema_spec(specs[0]).parse(said)


def _specs(response_format: Any) -> Sequence[Any]:
    if response_format is None:
        return ()
    if isinstance(response_format, ToolStrategy):
        return response_format.schema_specs
    if isinstance(response_format, ProviderStrategy):
        return (response_format.schema_spec,)
    auto = isinstance(response_format, AutoStrategy)
    return ToolStrategy(response_format.schema if auto else response_format).schema_specs


def _strategy(response_format: Any) -> object:
    """A response format as data: the way the answer is asked for, and its schemas in full."""
    if response_format is None:
        return None
    return {
        "strategy": next((s.__name__ for s in _FORCED if isinstance(response_format, s)), "auto"),
        "message": getattr(response_format, "tool_message_content", None),
        "schemas": [
            [_spec_name(spec), spec.description, spec.strict, spec.json_schema]
            for spec in _specs(response_format)
        ],
    }


def _spec_name(spec: Any) -> str | None:
    """LangChain makes up another name each time for a schema that has none."""
    untitled = isinstance(spec.schema, dict) and "title" not in spec.schema
    return None if untitled else str(spec.name)


def _tool(tool: Any) -> object:
    if isinstance(tool, dict):
        return tool
    return [convert_to_openai_tool(tool), getattr(tool, "extras", None)]


def _model(model: Any) -> dict[str, object]:
    """Which model this is, read from the live object: a field that was changed counts."""
    if not isinstance(model, BaseChatModel):
        return {"model_object": Unknown()}
    if model.is_lc_serializable():
        return model_parameters(dumpd(model))
    kind = type(model)
    # The hook by which models say who they are; many do not use it.
    fields: dict[str, object] = dict(model._identifying_params)  # noqa: SLF001
    if not fields:
        own = kind.model_fields.keys() - BaseChatModel.model_fields.keys()
        fields = {name: value for name in own if not _is_handle(value := getattr(model, name))}
    return {"model_class": f"{kind.__module__}.{kind.__qualname__}", **fields}


def _is_handle(value: object) -> bool:
    """Whether this is a mere handle (a client, an iterator): its class shows no value of it."""
    return type(value).__repr__ is object.__repr__
