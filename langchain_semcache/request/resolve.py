"""From a request to its identity: who may share an answer, and what was asked."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from langchain_semcache.records import Message, PartKind, Query, Reason, Request, Scope
from langchain_semcache.request.canonical import Canonicaliser, digest, encode_strings, nfc, packed
from langchain_semcache.request.messages import Conversation, encode_message, read_conversation
from langchain_semcache.request.parameters import answer_changing
from langchain_semcache.request.parts import Findings
from langchain_semcache.request.said import brings_facts, lays_down
from langchain_semcache.request.settings import RequestSettings
from langchain_semcache.request.template import Split, split_question
from langchain_semcache.request.transformation import instructs

_SPEAKERS = ("user", "assistant")
KEY_VERSION = 2
"""Version of the key format. A change to any digest in the golden file is a new version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A request's identity.

    Attributes:
        cacheable: None when it is. Otherwise says why the request must neither be looked up nor
            stored, not even exactly: something in it has no stable identity.
        detail: What that something is: type names, never text of the request.
    """

    scope: Scope
    query: Query
    cacheable: Reason | None = None
    detail: str = ""


def resolve(
    request: Request,
    *,
    settings: RequestSettings,
    encoder_identity: str,
    count_tokens: Callable[[str], int],
    max_tokens: int,
) -> Resolved:
    """The identity of `request`. Pure, and never fails on odd content.

    `count_tokens` is called only for a question that might exceed `max_tokens`.
    """
    writer = Canonicaliser(hide_secrets=True, extra_secrets=settings.secret_names)
    parameters = answer_changing(request.parameters, settings, writer)
    conversation = read_conversation(request.messages)
    encoded = [encode_message(message) for message in conversation.messages]
    system = [
        text
        for message, text in zip(conversation.messages, encoded, strict=True)
        if message.role == "system"
    ]
    scope = _scope(request, settings, (encode_strings(parameters), encoder_identity, *system))
    turn = _last_user_turn(conversation.messages)
    split, rest = _question(conversation.messages, turn, settings)
    said = _said(conversation.messages[: max(turn, 0)], settings)
    spoken = {place for place, message in said}
    around = [text for place, text in enumerate(encoded) if place not in spoken]
    if turn >= 0:
        around[turn - len(said)] = rest
    reason = _exact_only(conversation, turn, split.question) or split.exact_only
    if reason is None and settings.detect_templates and _is_material(conversation.messages, turn):
        reason = Reason.UNKNOWN_CONTENT
    if reason is None and _too_long(split.question, settings, count_tokens, max_tokens):
        reason = Reason.BEYOND_WINDOW
    query = Query(
        text=split.question,
        fingerprint=digest("conversation", str(KEY_VERSION), *encoded),
        partition=digest("partition", scope.digest, *around),
        exact_only=reason,
        call_ids=tuple(conversation.findings.call_ids),
        turns=tuple([(message.role, message.text) for _, message in said]),
    )
    cacheable, detail = _cacheable(conversation, writer.unidentifiable)
    return Resolved(scope=scope, query=query, cacheable=cacheable, detail=detail)


def was_told(query: Query) -> bool:
    """Whether the user has told the chat what a later answer may depend on without pointing at it.

    "I use Windows", or the document that is asked about.
    """
    return any(role == "user" and brings_facts(text) for role, text in query.turns)


def with_exact_history(query: Query) -> Query:
    """The query, to be compared with others of the very same chat only."""
    spoken = [text for turn in query.turns for text in turn]
    return replace(query, partition=digest("chat", query.partition, *spoken), turns=())


def with_sources(query: Query, *, shown: Iterable[str], unseen: Iterable[str] = ()) -> Query:
    """The query, to be compared by meaning with others over the very same documents only.

    `shown` are the hashes of documents whose text is in the conversation, so that its fingerprint
    tells them apart already. What is `unseen` there has to be the same of an identical request too.
    """
    known, told = sorted(set(shown)), sorted(set(unseen))
    if not known and not told:
        return query
    partition = digest("sources", query.partition, *known, "", *told)
    fingerprint = digest("told", query.fingerprint, *told) if told else query.fingerprint
    return replace(query, partition=partition, fingerprint=fingerprint)


@lru_cache(maxsize=1024)
def tenant_digest(tenant: str) -> str:
    """What `Scope.tenant` and `Entry.tenant` hold. No tenant is a bucket of its own."""
    return digest("tenant", nfc(tenant)) if tenant else digest("no tenant")


def _scope(request: Request, settings: RequestSettings, shaping: tuple[str, ...]) -> Scope:
    """Everything in `shaping` changes the answer or what it is compared by."""
    namespace = nfc(request.namespace or settings.namespace)
    tenant = tenant_digest(request.tenant or settings.tenant)
    model = nfc(request.model)
    key = digest("scope", str(KEY_VERSION), namespace, tenant, request.surface, model, *shaping)
    return Scope(digest=key, namespace=namespace, tenant=tenant, model=model)


def _said(before: Sequence[Message], settings: RequestSettings) -> Sequence[tuple[int, Message]]:
    """The messages before the question that are compared, instead of having to be equal.

    None where somebody laid down how to answer from then on, or speaks under a name: that changes
    every later answer, whatever the question refers to. Nor where a message holds more than text:
    only its text would be compared. Messages of the user right before the question are a part of
    it.
    """
    if not settings.compare_history:
        return ()
    places = range(len(before))
    last = max((place for place in places if before[place].role == "assistant"), default=-1)
    said = [(place, before[place]) for place in places if before[place].role in _SPEAKERS]
    said = [(place, message) for place, message in said if place <= last]
    if any(message.name is not None or not _is_plain(message) for _, message in said):
        return ()
    if any(lays_down(message.text) for _, message in said if message.role == "user"):
        return ()
    return said


def _is_plain(message: Message) -> bool:
    return all(part.kind is PartKind.TEXT for part in message.parts)


def _last_user_turn(messages: Sequence[Message]) -> int:
    for position in range(len(messages) - 1, -1, -1):
        if messages[position].role == "user":
            return position
    return -1


def _question(
    messages: Sequence[Message], turn: int, settings: RequestSettings
) -> tuple[Split, str]:
    """The question of that turn, and the rest of its message as text for the partition.

    Of several text parts the last is the question; the others are context.
    """
    if turn < 0:
        return Split("", "", ""), ""
    message = messages[turn]
    texts = [n for n, part in enumerate(message.parts) if part.kind is PartKind.TEXT]
    chosen = next((n for n in reversed(texts) if message.parts[n].value.strip()), None)
    if chosen is None:
        return Split("", "", ""), encode_message(message)
    split = split_question(message.parts[chosen].value, settings)
    name = "" if message.name is None else f"={message.name}"
    rest = ["question", message.role, name, split.before.strip(), split.after.strip(), str(chosen)]
    if len(message.parts) > 1:
        for place, part in enumerate(message.parts):
            rest += (part.kind, "" if place == chosen else part.value)
    return split, packed(*rest)


def _is_material(messages: Sequence[Message], turn: int) -> bool:
    """Whether the instructions before the question make it a text to work on, not a question."""
    *before, _ = [part.value for part in messages[turn].parts if part.kind is PartKind.TEXT]
    before += [message.text for message in messages if message.role == "system"]
    if turn and messages[turn - 1].role == "user":
        before.append(messages[turn - 1].text)
    return any(instructs(text) for text in before)


def _exact_only(conversation: Conversation, turn: int, question: str) -> Reason | None:
    findings = conversation.findings
    if findings.has_tools:
        return Reason.TOOL_HISTORY
    if findings.has_media:
        return Reason.MEDIA
    if findings.has_unknown:
        return Reason.UNKNOWN_CONTENT
    if turn != len(conversation.messages) - 1:
        return Reason.NOT_A_QUESTION
    return None if question else Reason.EMPTY_QUESTION


def _too_long(
    question: str,
    settings: RequestSettings,
    count_tokens: Callable[[str], int],
    max_tokens: int,
) -> bool:
    """Whether the encoder would cut the question, or drown its point in length.

    Tokenizers normalise (NFKC) before they cut, and spend at most one token a byte plus a few
    that frame the text: a short question needs no count.
    """
    if question.isascii():
        size = most = len(question)
    else:
        size = len(question.encode("utf-8", "surrogatepass"))
        normal = unicodedata.normalize("NFKC", question)
        most = max(size, len(normal.encode("utf-8", "surrogatepass")))
    if size > settings.max_question_bytes:
        return True
    return most + 4 > max_tokens and count_tokens(question) > max_tokens


def _cacheable(
    conversation: Conversation, unidentifiable: Sequence[str]
) -> tuple[Reason | None, str]:
    findings: Findings = conversation.findings
    names = [*unidentifiable, *findings.unidentifiable]
    if names:
        return Reason.UNIDENTIFIABLE, ", ".join(dict.fromkeys(names))
    if not conversation.messages:
        return Reason.EMPTY_QUESTION, "no messages"
    return None, ""
