"""`SemanticCacheMiddleware`: the cache inside LangChain agents. Needs the extra `langchain`.

A `BaseCache` sees two strings. A middleware sees the call itself: the live model, the schema of the
answer and the runtime with the real tenant in it, so nothing has to be guessed here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.load.dump import dumpd
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration
from langchain_core.runnables.config import ensure_config
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_semcache.client import AsyncSemcache, Semcache
from langchain_semcache.errors import CorruptEntry, MissingExtra, SemcacheError
from langchain_semcache.langchain.cache import SemanticCache
from langchain_semcache.langchain.generations import (
    Unstorable,
    dump_message,
    free_of_charge,
    load_message,
    to_response,
)
from langchain_semcache.langchain.tenancy import current_tenant
from langchain_semcache.langchain.wire import model_name, model_parameters
from langchain_semcache.records import Decision, RawMessage, Request, Response
from langchain_semcache.ttl import UNSET, Unset, checked_ttl

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain.agents.structured_output import (
        AutoStrategy,
        OutputToolBinding,
        ProviderStrategy,
        ProviderStrategyBinding,
        ToolStrategy,
    )
except ImportError as error:
    raise MissingExtra("SemanticCacheMiddleware", "langchain", "langchain") from error

logger = logging.getLogger("langchain_semcache")

SURFACE = "langchain-agent"
KIND = "langchain.agent/1"

AnyRequest: TypeAlias = ModelRequest[Any]
AnyResponse: TypeAlias = ModelResponse[Any]
Tenant: TypeAlias = str | Callable[[AnyRequest], str]


class SemanticCacheMiddleware(AgentMiddleware[Any, Any, Any]):
    """Answers an agent's model calls from the cache.

        create_agent(model, tools, middleware=[SemanticCacheMiddleware(SemanticCache())])

    Model and its parameters, system prompt, tools, answer schema and tenant have to be the same; the
    question may be worded differently. A turn that carries tool calls or results is matched exactly
    only. Identical calls that arrive together ask the model once. What breaks in the cache is a
    miss; what the model raises arrives as it is.

    Args:
        cache: A `SemanticCache` or an open `Semcache`; whoever made it closes it.
        tenant: Who shares the answers, or how to tell from the call, for instance
            `lambda request: request.runtime.context.customer`. When that fails, the call is not
            cached. Inside `with tenant("…"):` that name is used instead.
        ttl: Lifetime of what is stored; numbers are seconds. The cache's own by default.
        tags: Labels to invalidate by.

    Raises:
        ConfigurationError: `ttl` is negative or no duration.
    """

    def __init__(
        self,
        cache: SemanticCache | Semcache,
        *,
        tenant: Tenant = "",
        ttl: timedelta | float | None | Unset = UNSET,
        tags: Sequence[str] = (),
    ) -> None:
        super().__init__()
        if isinstance(cache, SemanticCache):
            self._sync, self._async = cache.semcache, cache.asemcache
            tenant = tenant or cache.tenant
        else:
            self._sync, self._async = cache, AsyncSemcache(cache.core)
        self._tenant = tenant
        self._ttl = ttl if isinstance(ttl, Unset) else checked_ttl(ttl)
        self._tags = tuple(tags)
        self._warned = False

    def wrap_model_call(
        self, request: AnyRequest, handler: Callable[[AnyRequest], AnyResponse]
    ) -> AnyResponse:
        """The stored answer, else what `handler` returns or raises."""
        call = _Call(request)

        def ask() -> Response:
            try:
                call.answer = handler(request)
            except Exception as error:
                raise _ModelFailed(error) from error
            return to_agent_response(request, call.answer)

        try:
            who = self._whose(request)
            decision = self._sync.get_or_call(
                core_request(request, who), ask, ttl=self._ttl, tags=self._tags
            )
            settled = call.settle(decision)
        except Exception as error:  # noqa: BLE001 - a cache must not break the call it caches
            settled = self._trouble(call, error)
        if call.failure is not None:
            raise call.failure
        return settled if settled is not None else handler(request)

    async def awrap_model_call(
        self, request: AnyRequest, handler: Callable[[AnyRequest], Awaitable[AnyResponse]]
    ) -> AnyResponse:
        """See `wrap_model_call`."""
        call = _Call(request)

        async def ask() -> Response:
            try:
                call.answer = await handler(request)
            except Exception as error:
                raise _ModelFailed(error) from error
            return await asyncio.to_thread(to_agent_response, request, call.answer)

        try:
            who = self._whose(request)
            asked = await asyncio.to_thread(core_request, request, who)
            decision = await self._async.get_or_call(asked, ask, ttl=self._ttl, tags=self._tags)
            settled = await asyncio.to_thread(call.settle, decision)
        except Exception as error:  # noqa: BLE001 - a cache must not break the call it caches
            settled = self._trouble(call, error)
        if call.failure is not None:
            raise call.failure
        return settled if settled is not None else await handler(request)

    def _whose(self, request: AnyRequest) -> str:
        """The tenant of this call.

        Raises:
            TypeError: It cannot be told; the call must then not be cached at all.
        """
        named = current_tenant()
        if named:
            return named
        who = self._tenant(request) if callable(self._tenant) else self._tenant
        if not isinstance(who, str):
            raise TypeError("the tenant is no text")
        return who

    def _trouble(self, call: _Call, error: Exception) -> AnyResponse | None:
        """What there is to return after all; None when the model has to be asked."""
        if isinstance(error, _ModelFailed):
            call.failure = error.error
            return None
        if not isinstance(error, Unstorable) and not self._warned:
            self._warned = True
            # Our own errors quote no prompt; of others only the class is written down.
            told = f"{error}" if isinstance(error, SemcacheError) else type(error).__name__
            logger.warning("agent cache failed (%s); further failures are not logged", told)
        return call.answer


class _ModelFailed(Exception):
    """Carries what the model raised past everything that handles errors of the cache."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class _Call:
    """One model call: what the model said to this very caller, if it was asked."""

    def __init__(self, request: AnyRequest) -> None:
        self._request = request
        self.answer: AnyResponse | None = None
        self.failure: Exception | None = None

    def settle(self, decision: Decision) -> AnyResponse | None:
        """The model's own answer, else the stored one or that of an identical call."""
        return self.answer or from_decision(self._request, decision)


class _Unidentified:
    """Stands for a model whose identity is not known; deliberately has none itself."""


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
    rebuilt = _structured(request, answer.result)
    if rebuilt != answer.structured_response or type(rebuilt) is not type(
        answer.structured_response
    ):
        raise Unstorable("the structured answer would not come back as it was")
    if request.response_format is not None and rebuilt is None and (told or not said.tool_calls):
        raise Unstorable("the answer does not fit the schema that was asked for")
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
            message.usage_metadata = free_of_charge(message.usage_metadata)
    return ModelResponse(result=result, structured_response=structured)


def _plain_result(message: BaseMessage) -> bool:
    return isinstance(message, ToolMessage) and message.artifact is None


def _structured(request: AnyRequest, result: Sequence[BaseMessage]) -> Any:
    """What an agent makes of these messages under the request's schema; None where it is nothing.

    Raises:
        ValueError: The messages do not fit the schema.
    """
    specs, said = _specs(request.response_format), result[0]
    if not specs or not isinstance(said, AIMessage):
        return None
    if len(result) == 1:
        if said.tool_calls or isinstance(request.response_format, ToolStrategy):
            return None
        return ProviderStrategyBinding.from_schema_spec(specs[0]).parse(said)
    called = [(spec, call) for call in said.tool_calls for spec in specs if spec.name == call["name"]]
    if len(called) != 1 or getattr(result[-1], "status", "success") == "error":
        return None
    try:
        return OutputToolBinding.from_schema_spec(called[0][0]).parse(called[0][1]["args"])
    except ValueError:
        return None  # the agent told the model so, in the message that follows


def _specs(response_format: Any) -> Sequence[Any]:
    if response_format is None:
        return ()
    if isinstance(response_format, ToolStrategy):
        return response_format.schema_specs
    if isinstance(response_format, ProviderStrategy):
        return (response_format.schema_spec,)
    schema = response_format.schema if isinstance(response_format, AutoStrategy) else response_format
    return ToolStrategy(schema).schema_specs


def _strategy(response_format: Any) -> object:
    """A response format as data: the way the answer is asked for, and its schemas in full."""
    if response_format is None:
        return None
    return {
        "strategy": type(response_format).__name__ if hasattr(response_format, "schema") else "Auto",
        "message": getattr(response_format, "tool_message_content", None),
        "schemas": [
            [spec.name, spec.description, spec.strict, spec.json_schema]
            for spec in _specs(response_format)
        ],
    }


def _tool(tool: Any) -> object:
    return tool if isinstance(tool, dict) else convert_to_openai_tool(tool)


def _model(model: Any) -> dict[str, object]:
    """Which model this is, read from the live object: a field that was changed counts."""
    if not isinstance(model, BaseChatModel):
        return {"model_object": _Unidentified()}
    if model.is_lc_serializable():
        return model_parameters(dumpd(model))
    kind = type(model)
    fields = dict(model._identifying_params)  # noqa: SLF001 - the hook models override to say who they are
    if not fields:
        fields = {name: getattr(model, name) for name in _own_fields(kind)}
        fields = {name: value for name, value in fields.items() if _is_data(value)}
    return {"model_class": f"{kind.__module__}.{kind.__qualname__}", **fields, "_type": model._llm_type}  # noqa: SLF001 - the same


def _own_fields(kind: type[BaseChatModel]) -> list[str]:
    return [name for name in kind.model_fields if name not in BaseChatModel.model_fields]


def _is_data(value: object) -> bool:
    """Whether a value consists of JSON types only."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_data(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_is_data(item) for item in value)
    return value is None or isinstance(value, str | int | float | bool)
