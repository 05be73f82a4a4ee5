"""LiteLLM's calls and replies as the core's requests and responses, and back. Pure, no LiteLLM.

LiteLLM hands its cache the arguments of a call as they are: what goes to the model, what LiteLLM
itself is told, credentials, headers and logging objects, all in one mapping. Here it is told apart
which of them an answer depends on. What is not known counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from langchain_semcache.errors import CorruptEntry
from langchain_semcache.records import JSON, Decision, RawMessage, Request, Response
from litellm_hooks._identity import METADATA

CHAT = "litellm"
RESPONSES = "litellm-responses"
"""Surfaces: answers of the two APIs have other shapes and never serve one another."""

_KINDS = {CHAT: "litellm.chat/1", RESPONSES: "litellm.responses/1"}

_READ_APART = frozenset(
    {
        "input",
        "instructions",
        "messages",
        "model",
        "custom_llm_provider",
        "provider_specific_header",
    }
)

_OF_THE_CALL = frozenset({"prompt_cache_key", "prompt_cache_retention", "safety_identifier"})
"""How a call is watched or billed. What else says so, the core knows or LiteLLM calls its own."""

_OWNED_THAT_COUNT = frozenset(
    """
    allowed_openai_params assistant_continue_message bos_token custom_prompt_dict
    disable_add_transform_inline_image_block ensure_alternating_roles eos_token final_prompt_value
    guardrails headers hf_model_name litellm_system_prompt merge_reasoning_content_in_choices
    mock_response model_alias_map prompt_environment prompt_id prompt_label prompt_variables
    prompt_version roles supports_system_message use_chat_completions_api user_continue_message
    """.split()
)
"""LiteLLM's own arguments, among hundreds about prices and loggers, that change what is asked."""

_PLACES = frozenset(
    """
    api_base api_version base_model base_url data_residency organization region_name
    """.split()
)
"""Where a call goes. Behind a Router that is one deployment of several of the same model."""

_FINISHED = "stop"

_ASKED_TAGS = "_routing_request_tags"

_BESIDE = "litellm_hooks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whose call it is, and what is known of it outside its arguments.

    Attributes:
        tenant: Who shares the answer.
        authenticated: Whether somebody else vouches for that, as on the proxy. There the end user
            (`user`) is a part of the tenant or is shared with; in a program it counts.
        account: A digest of the account that it goes by, where its arguments do not say; it does
            not count behind a Router, which has accounts of its own.
    """

    tenant: str
    authenticated: bool
    account: str = ""


class Unstorable(Exception):
    """A reply that cannot be given back as it was; the message says why."""


def surface_of(kwargs: Mapping[str, object]) -> str:
    """Which API this call is of."""
    return RESPONSES if "input" in kwargs and "messages" not in kwargs else CHAT


def request_of(
    kwargs: Mapping[str, object],
    caller: Caller,
    *,
    owned: Callable[[str], bool],
    namespace: str = "",
    by_tags: bool = False,
) -> Request:
    """The request behind the arguments of one call.

    `owned` tells LiteLLM's own arguments from those that go to the model. `namespace` is the
    caller's own partition inside the tenant. `by_tags` says that the tags of a call choose among
    the deployments of its model, which may then be other models.
    """
    group = _model_group(kwargs)
    parameters = {
        name: _schema(value)
        for name, value in kwargs.items()
        if _counts(name, value, owned=owned, routed=bool(group), authenticated=caller.authenticated)
    }
    if headers := _provider_headers(kwargs):
        parameters["default_headers"] = headers
    beside: dict[str, object] = {
        "routing_tags": _tags(kwargs) if by_tags else None,
        "team": _team_of_model(kwargs),
        "own_endpoint": _own_endpoint(kwargs),
        "namespace": namespace or None,
    }
    if not group:
        # Two accounts at one provider may have other fine-tunes, files and agreements.
        beside["provider"] = kwargs.get("custom_llm_provider")
        beside["account"] = _digest(kwargs.get("api_key"))
        beside["account_around"] = caller.account
    # Under one name that no provider has: some have a parameter `provider`, or `account`.
    parameters[_BESIDE] = {name: value for name, value in beside.items() if value} or None
    return Request(
        messages=_messages(kwargs),
        model=group or str(kwargs.get("model") or ""),
        parameters=parameters,
        tenant=caller.tenant,
        surface=surface_of(kwargs),
    )


def response_of(
    result: object, surface: str, choices: int = 1, *, logprobs: bool = False
) -> Response:
    """A reply as data: a pydantic model of LiteLLM, or the JSON text of one.

    `choices` is how many answers were asked for, and `logprobs` whether with log probabilities: of
    a stream of several LiteLLM makes one, and it leaves the probabilities of a stream out.

    Raises:
        Unstorable: It is no complete reply of this API.
    """
    written = result if isinstance(result, str) else _dumped(result)
    try:
        body = json.loads(written)
    except ValueError as error:
        raise Unstorable("the reply is no JSON") from error
    if not isinstance(body, dict):
        raise Unstorable("the reply is no object")
    if surface == RESPONSES:
        return _responses_reply(body)
    if len(_several(body.get("choices"))) != choices:
        raise Unstorable(f"the reply has not the {choices} choices that were asked for")
    told = [one.get("logprobs") for one in _several(body["choices"]) if isinstance(one, dict)]
    if logprobs and not all(told):
        raise Unstorable("the reply has not the log probabilities that were asked for")
    return _chat_reply(body)


def choices_of(kwargs: Mapping[str, object]) -> int:
    """How many answers a call asks for."""
    wanted = kwargs.get("n")
    return wanted if isinstance(wanted, int) and wanted > 1 else 1


def reply_of(decision: Decision, surface: str) -> dict[str, JSON]:
    """The reply of a hit, as a fresh mapping that LiteLLM may change.

    Raises:
        CorruptEntry: The stored record is not one of ours; LiteLLM would fail the call over it.
    """
    response, entry = decision.response, decision.entry_id or ""
    if response is None or response.kind != _KINDS[surface] or not isinstance(response.body, dict):
        raise CorruptEntry(entry, "not a reply of this API")
    listed = response.body.get("output" if surface == RESPONSES else "choices")
    if not _several(listed) or not all(isinstance(one, dict) for one in _several(listed)):
        raise CorruptEntry(entry, "a reply without an answer")
    return dict(response.body)


def facts_of(decision: Decision) -> dict[str, JSON]:
    """What a caller may know of a decision: numbers and names, no text."""
    return {
        "hit": decision.hit,
        "reason": str(decision.reason),
        "similarity": _rounded(decision.similarity),
        "confidence": _rounded(decision.confidence),
        "age": None if decision.age is None else round(decision.age.total_seconds(), 3),
        "entry_id": decision.entry_id if decision.hit else None,
    }


def _counts(
    name: str, value: object, *, owned: Callable[[str], bool], routed: bool, authenticated: bool
) -> bool:
    if name in _READ_APART or name in _OF_THE_CALL or (name == "user" and authenticated):
        return False
    if name in _PLACES:
        return not routed
    if name in _OWNED_THAT_COUNT:
        return bool(value)  # a Router spells out what is off
    return not owned(name)


def _schema(value: object) -> object:
    """What a model class given as an answer's format says; anything else as it is."""
    written = getattr(value, "model_json_schema", None)
    if not isinstance(value, type) or written is None:
        return value
    return {"name": value.__qualname__, "schema": written()}


def _messages(kwargs: Mapping[str, object]) -> str | list[RawMessage]:
    """The conversation of either API; instructions are the system's part of it."""
    if "messages" in kwargs or "input" not in kwargs:
        return _listed(kwargs.get("messages"))
    said, told = kwargs["input"], kwargs.get("instructions")
    turns = [{"role": "user", "content": said}] if isinstance(said, str) else _listed(said)
    return [{"role": "system", "content": told}, *turns] if told else list(turns)


def _listed(raw: object) -> list[RawMessage]:
    if raw is None:
        return []
    return list(raw) if isinstance(raw, Sequence) and not isinstance(raw, str | bytes) else [raw]  # type: ignore[list-item]


def _model_group(kwargs: Mapping[str, object]) -> str:
    """The name that a Router's deployments of one model share; the empty text without a Router.

    Groups that the operator declared to share a cache count as one.
    """
    for place in METADATA:
        held = kwargs.get(place)
        if not isinstance(held, Mapping) or not held.get("model_group"):
            continue
        name = str(held["model_group"])
        groups = held.get("caching_groups")
        for group in groups if isinstance(groups, Sequence) else ():
            if name in group:
                return "+".join(sorted(map(str, group)))
        return name
    return ""


def _team_of_model(kwargs: Mapping[str, object]) -> str | None:
    """The team that owns the deployment: teams may give the same public name to other models."""
    for place in METADATA:
        held = kwargs.get(place)
        deployment = held.get("model_info") if isinstance(held, Mapping) else None
        if isinstance(deployment, Mapping) and deployment.get("team_id"):
            return str(deployment["team_id"])
    return None


def _own_endpoint(kwargs: Mapping[str, object]) -> str | None:
    """A digest of the endpoint that a client of the proxy brought along, where that is allowed."""
    asked = kwargs.get("proxy_server_request")
    body = asked.get("body") if isinstance(asked, Mapping) else None
    if not isinstance(body, Mapping):
        return None
    brought = {name: str(body[name]) for name in ("api_key", *sorted(_PLACES)) if body.get(name)}
    return _digest(json.dumps(brought, sort_keys=True)) if brought else None


def _provider_headers(kwargs: Mapping[str, object]) -> dict[str, object] | None:
    """Headers of the client that LiteLLM passes on to a provider, such as `anthropic-beta`."""
    held, given = kwargs.get("provider_specific_header"), kwargs.get("default_headers")
    found: dict[str, object] = dict(given) if isinstance(given, Mapping) else {}
    for scoped in held if isinstance(held, list) else [held]:
        headers = scoped.get("extra_headers") if isinstance(scoped, Mapping) else None
        found.update(headers if isinstance(headers, Mapping) else {})
    return found or None


def _tags(kwargs: Mapping[str, object]) -> list[str]:
    """The tags that a Router chose a deployment by."""
    for place in METADATA:
        held = kwargs.get(place)
        if isinstance(held, Mapping) and (tags := held.get(_ASKED_TAGS) or held.get("tags")):
            return sorted(map(str, tags)) if isinstance(tags, (list, tuple)) else [str(tags)]
    return []


def _digest(secret: object) -> str | None:
    """What tells two secrets apart and does not tell either."""
    if secret is None or secret == "":
        return None
    return hashlib.sha256(str(secret).encode()).hexdigest()[:32]


def _dumped(result: object) -> str:
    dump = getattr(result, "model_dump_json", None)
    if dump is None:
        raise Unstorable(f"replies of class {type(result).__name__} are not stored")
    return str(dump(exclude_unset=True))


def _chat_reply(body: dict[str, JSON]) -> Response:
    choices = _several(body.get("choices"))
    messages = []
    for choice in choices:
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise Unstorable("a choice without a message")
        messages.append(message)
    endings = [choice.get("finish_reason") for choice in choices if isinstance(choice, dict)]
    return Response(
        body=body,
        kind=_KINDS[CHAT],
        text="\n".join(_text(message.get("content")) for message in messages),
        finish_reasons=tuple(None if ending is None else str(ending) for ending in endings),
        refused=any(bool(message.get("refusal")) for message in messages),
        has_tool_calls=any(
            bool(message.get("tool_calls") or message.get("function_call")) for message in messages
        ),
        logprobs=_told(choices),
    )


_ECHOED = frozenset({"metadata", "user", "safety_identifier", "prompt_cache_key"})
"""What a provider says back of one call: it belongs to its caller, and not to the answer."""


def _responses_reply(body: dict[str, JSON]) -> Response:
    body = {name: value for name, value in body.items() if name not in _ECHOED}
    output = body.get("output")
    if not isinstance(output, list) or not output:
        raise Unstorable("the reply has no output")
    items = [item for item in output if isinstance(item, dict)]
    parts = [
        part for item in items for part in _several(item.get("content")) if isinstance(part, dict)
    ]
    status = body.get("status")
    return Response(
        body=body,
        kind=_KINDS[RESPONSES],
        text="\n".join(_text(part.get("text")) for part in parts if part.get("text")),
        finish_reasons=(_FINISHED if status == "completed" else str(status),),
        refused=any(part.get("type") == "refusal" for part in parts),
        has_tool_calls=any(str(item.get("type", "")).endswith("_call") for item in items),
        logprobs=([token for told in _told(parts) for token in _several(told)],),
    )


def _told(places: Sequence[JSON]) -> tuple[JSON, ...]:
    """What is said of the probabilities of tokens, of those that have it."""
    return tuple(one["logprobs"] for one in places if isinstance(one, dict) and one.get("logprobs"))


def _several(content: JSON) -> list[JSON]:
    return content if isinstance(content, list) else []


def _text(content: JSON) -> str:
    if isinstance(content, str):
        return content
    parts = _several(content)
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
