"""Which replies may outlive the call that made them."""

from __future__ import annotations

from langchain_semcache.records import Query, Reason, Response

COMPLETE = frozenset(
    {
        "stop",
        "stop_sequence",
        "end_turn",
        "eos",
        "eos_token",
        "complete",
        "completed",
        "tool_calls",
        "tool_use",
        "function_call",
    }
)
"""Finish reasons by which providers say that a reply is whole, in lower case.

Providers add new names for *incomplete* endings, so anything not listed counts as incomplete.
Sources: the OpenAI, Anthropic, Gemini, Mistral, Cohere and Bedrock response references.
"""

REFUSED = frozenset({"content_filter", "refusal", "safety", "guardrail_intervened", "blocklist"})
"""Finish reasons that mean the provider declined to answer."""


def refusal_to_store(response: Response, query: Query) -> tuple[Reason, str] | None:
    """Why this reply must not be stored, or None when it may be.

    A host that never reports finish reasons gives an empty `finish_reasons`; a reported null is an
    unfinished reply.
    """
    endings = [reason.lower() if reason else reason for reason in response.finish_reasons]
    if response.refused or any(ending in REFUSED for ending in endings):
        return Reason.REFUSED_REPLY, "the provider declined to answer"
    for ending in endings:
        if ending not in COMPLETE:
            return Reason.INCOMPLETE_REPLY, f"finish reason {ending or 'null'}"
    if not response.text.strip() and not response.has_tool_calls:
        return Reason.EMPTY_REPLY, "no text and no tool calls"
    if any(call_id in response.text for call_id in query.call_ids):
        return Reason.REPLY_NAMES_CALL_ID, "the reply quotes a tool-call id of this conversation"
    return None
