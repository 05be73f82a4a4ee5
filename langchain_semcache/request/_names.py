"""Which names of parameters and headers carry secrets, and which cannot change an answer."""

from __future__ import annotations

from functools import lru_cache


def words(text: str) -> frozenset[str]:
    """The words of a list that is written for reading."""
    return frozenset(text.split())


_SECRETS = words(
    """
    access_key access_token api_key api_token apikey auth auth_token authorization aws_access_key_id
    aws_session_token azure_ad_token azure_ad_token_provider bearer bearer_token client_secret
    cookie credentials github_token hf_token hugging_face_token id_token jwt key_id oauth_token
    ocp_apim_subscription_key passphrase passwd password private_key proxy_authorization
    refresh_token secret secret_fields secret_key security_token session_token set_cookie
    subscription_key token token_provider x_api_key
    """
)
_SECRET_ENDINGS = (
    "_access_key", "_access_token", "_api_key", "_api_token", "_apikey", "_auth_token",
    "_authorization", "_client_secret", "_credentials", "_passphrase", "_password", "_private_key",
    "_secret", "_secret_access_key", "_secret_key", "_session_token", "_subscription_key",
    "_token_provider",
)  # fmt: skip

VOLATILE = words(
    """
    async_client cache cache_key cached caching callback_manager callbacks client client_alias
    client_request_id custom_get_token_ids disable_streaming http_async_client http_client
    http_socket_options idempotency_key
    litellm_call_id litellm_logging_obj litellm_metadata litellm_parent_otel_span
    litellm_request_debug litellm_session_id litellm_trace_id logger_fn ls_structured_output_format
    max_retries metadata model_info no_log num_retries organization openai_organization
    openai_proxy parent_otel_span preset_cache_key proxy_server_request rate_limiter
    request_id request_timeout retries retry_policy retry_strategy root_async_client root_client
    run_id run_name shared_session stream stream_chunk_timeout stream_options stream_timeout
    stream_usage streaming tags timeout trace_id ttl user_agent verbose x_request_id
    """
)
"""Parameters that say how a call is made, watched or billed. Everything else counts."""

HEADER_MAPS = frozenset({"extra_headers", "default_headers", "headers"})
"""Parameters that hold HTTP headers. Headers may switch features on, so they count …"""

_VOLATILE_HEADERS = words(
    """
    baggage content_length correlation_id date host idempotency_key openai_organization referer
    request_id sentry_trace traceparent tracestate user_agent x_amzn_trace_id x_client_request_id
    x_correlation_id x_forwarded_for x_idempotency_key x_real_ip x_request_id x_session_id
    x_stainless_retry_count x_trace_id
    """
)
"""… but for those that name one call or one client."""


def folded(name: str) -> str:
    """Lower case, underscores for dashes: `X-Api-Key` and `x_api_key` are one name."""
    return name.lower().replace("-", "_")


@lru_cache(maxsize=1024)
def is_secret(name: str, extra: frozenset[str] = frozenset()) -> bool:
    """Whether a field of this name holds a credential. `max_tokens` and `eos_token` do not."""
    name = folded(name)
    return name in _SECRETS or name in extra or name.endswith(_SECRET_ENDINGS)


def is_volatile(name: str, extra: frozenset[str] = frozenset()) -> bool:
    """Whether a parameter of this name cannot change the answer."""
    return folded(name) in VOLATILE or name in extra or name.startswith("_litellm_")


def is_volatile_header(name: str) -> bool:
    """Whether a header of this name cannot change the answer."""
    return folded(name) in _VOLATILE_HEADERS
