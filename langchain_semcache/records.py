"""The values that travel through the house: frozen, comparable, free of behaviour that does I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TypeAlias

from langchain_semcache.life import Life

JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | dict[str, JSON]"
"""Anything that JSON can hold."""

RawMessage: TypeAlias = "Mapping[str, object] | Message"
"""What callers may pass as a message: an OpenAI-style mapping or a `Message`."""


BOOKS = "semcache:books"
"""The namespace of what the cache writes down about itself; no lookup and no `clear` reaches it."""

PARTS = "semcache:parts"
"""The namespace of what answers share (see `responses/`); no lookup and no `clear` reaches it."""

RESERVED = frozenset({BOOKS, PARTS})
"""Namespaces that no request and no operation may name."""


class Reason(StrEnum):
    """Why a decision came out as it did. Stable: names are only ever added."""

    # Hits.
    EXACT = "exact"
    SEMANTIC = "semantic"
    # Misses that were decided.
    NO_CANDIDATE = "no_candidate"
    BELOW_THRESHOLD = "below_threshold"
    NUMBERS_DIFFER = "numbers_differ"
    IDENTIFIERS_DIFFER = "identifiers_differ"
    POLARITY_DIFFERS = "polarity_differs"
    WORD_ORDER_DIFFERS = "word_order_differs"
    LANGUAGE_DIFFERS = "language_differs"
    CONTEXT_DIFFERS = "context_differs"
    LONG_TEXT_DIFFERS = "long_text_differs"
    LOW_CONFIDENCE = "low_confidence"
    BUDGET_SPENT = "budget_spent"
    REPORTED_WRONG = "reported_wrong"
    SHADOW_CHECK = "shadow_check"
    QUESTION_TYPE_DIFFERS = "question_type_differs"
    TIME_DIFFERS = "time_differs"
    SCOPE_DIFFERS = "scope_differs"
    INSTRUCTION_DIFFERS = "instruction_differs"
    TOO_OLD = "too_old"
    EXPIRED = "expired"
    # Why only the exact path was open to this request.
    EXACT_WANTED = "exact_wanted"
    EMPTY_QUESTION = "empty_question"
    NOT_A_QUESTION = "not_a_question"
    TOOL_HISTORY = "tool_history"
    MEDIA = "media"
    UNKNOWN_CONTENT = "unknown_content"
    BEYOND_WINDOW = "beyond_window"
    PERSONAL_QUESTION = "personal_question"
    # Misses because something is off, broken or unreadable.
    BYPASSED = "bypassed"
    UNIDENTIFIABLE = "unidentifiable"
    INDEX_UNAVAILABLE = "index_unavailable"
    ENCODER_UNAVAILABLE = "encoder_unavailable"
    VERIFIER_UNAVAILABLE = "verifier_unavailable"
    EVALUATOR_UNAVAILABLE = "evaluator_unavailable"
    DEADLINE = "deadline"
    CORRUPT_ENTRY = "corrupt_entry"
    # Why a reply was not stored.
    STORED = "stored"
    INCOMPLETE_REPLY = "incomplete_reply"
    EMPTY_REPLY = "empty_reply"
    REFUSED_REPLY = "refused_reply"
    REPLY_NAMES_CALL_ID = "reply_names_call_id"
    UNSUPPORTED_REPLY = "unsupported_reply"
    REPLY_TOO_LARGE = "reply_too_large"
    TTL_ZERO = "ttl_zero"
    SOURCE_CHANGED = "source_changed"
    TOO_LARGE = "too_large"
    UNSURE_REPLY = "unsure_reply"


class Removal(StrEnum):
    """Why entries were removed. Stable: names are only ever added."""

    INVALIDATED = "invalidated"
    SOURCE_CHANGED = "source_changed"
    CLEARED = "cleared"
    UNSURE = "unsure"


class Fate(StrEnum):
    """What became of a stored answer after its model was asked about it. Names are only added."""

    KEPT = "kept"
    SHORTENED = "shortened"
    REMOVED = "removed"
    GONE = "gone"


class PartKind(StrEnum):
    TEXT = "text"
    MEDIA = "media"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a message.

    `value` is the text itself for `TEXT` and the canonical JSON of the part, with long payloads
    replaced by their digest, for everything else: no base64 is carried beyond this point.
    """

    kind: PartKind
    value: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asked for; `arguments` is canonical JSON."""

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn in canonical form. Ids, usage and provider metadata are already gone."""

    role: str
    parts: tuple[Part, ...] = ()
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """The text parts, joined by a newline."""
        return "\n".join(part.value for part in self.parts if part.kind is PartKind.TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A model call, as a caller describes it. Nothing is normalised or checked here.

    Attributes:
        messages: Plain text (one user message), or OpenAI-style messages.
        model: Name of the model.
        parameters: Everything else that goes to the model: sampling, tools, response_format …
            What is not known to be harmless counts as changing the answer.
        tenant: Who may share the answer. An absent tenant is a bucket of its own.
        namespace: A partition chosen by the application; empty means the cache's own. What is
            stored in another one is found by requests that name it; `clear`, `entries` and `stats`
            look at the cache's own, `invalidate(namespace=…)` reaches any.
        surface: Which adapter's reply format the answer has; replies never cross surfaces.
    """

    messages: str | Sequence[RawMessage]
    model: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    tenant: str = ""
    namespace: str = ""
    surface: str = "core"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What one caller asks of a hit beyond the settings: it can be made stricter, never looser.

    Attributes:
        max_age: Serve nothing that was stored longer ago; 0 serves nothing at all.
        min_similarity: Serve nothing that is less alike.
        min_confidence: Serve nothing that is less likely to be right.
        exact: Serve only what was asked in these very words.
    """

    max_age: timedelta | None = None
    min_similarity: float = 0.0
    min_confidence: float = 0.0
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Who may share an answer: a hard partition. The question is never part of it.

    `digest` covers every other field and everything that changes an answer: parameters, system
    prompt, tools, response format, encoder identity, key version. `tenant` is itself a digest.
    """

    digest: str
    namespace: str
    tenant: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What was asked.

    Attributes:
        text: The last question, in NFC, without template boilerplate.
        fingerprint: Digest of the whole conversation; equal fingerprints are equal requests.
        partition: Digest of scope and of all that has to be equal around the question; semantic
            candidates come from one partition only.
        exact_only: Set when meaning cannot be compared safely; says why.
        call_ids: Tool-call ids of the conversation, which a storable reply must not mention.
        turns: What was said before, as (role, text), where it is compared and not a part of the
            partition.
        windows: The text in pieces that fit the encoder, where it is longer than that.
        asks: What of a follow-up asks something, where that is not all of the text.
    """

    text: str
    fingerprint: str
    partition: str
    exact_only: Reason | None = None
    call_ids: tuple[str, ...] = ()
    turns: tuple[tuple[str, str], ...] = ()
    windows: tuple[str, ...] = ()
    asks: str = ""

    @property
    def compared(self) -> str:
        """The text that is embedded, and compared with stored questions."""
        return self.asks or self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A model's answer.

    `body` is JSON in the format named by `kind` ("text": the answer itself); adapters choose
    their own kinds and get back exactly what they stored. `logprobs` is what the provider says of
    the probabilities of its tokens, for each choice, as it says it (see `eviction.read_tokens`):
    it is looked at when the answer is stored, and is not kept, nor part of what the answer is.
    """

    body: JSON
    kind: str = "text"
    text: str = ""
    finish_reasons: tuple[str | None, ...] = ("stop",)
    refused: bool = False
    has_tool_calls: bool = False
    logprobs: tuple[JSON, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def from_text(
        cls, text: str, *, finish_reason: str | None = "stop", logprobs: JSON = None
    ) -> Response:
        """A plain text answer; `logprobs` as OpenAI gives those of one choice."""
        told = () if logprobs is None else (logprobs,)
        return cls(body=text, text=text, finish_reasons=(finish_reason,), logprobs=told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One stored answer: one point in the index.

    Times are seconds since the epoch. `expires_at` is None for an entry that never expires.
    `payload` is the encoded response (see `responses/`). `vector` is never carried. `context` is
    what the question needs of its chat, as `context.Context` writes it; empty where nothing had
    been said before. `life` is empty where `expires_at` is all there is to its lifetime; "rules"
    and "class:NAME" leave it to the rules, and `expires_at` is the longest they could give it.
    `assessment` is how sure the answer is, as `eviction.Assessment` writes it; empty where nothing
    is known of that.
    """

    id: str
    scope: str
    partition: str
    fingerprint: str
    namespace: str
    tenant: str
    model: str
    question: str
    payload: bytes
    created_at: float
    expires_at: float | None = None
    tags: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    context: str = ""
    life: str = ""
    assessment: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that the search brought back. `similarity` is in [0, 1], higher is closer."""

    entry: Entry
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which entries an administrative operation means: every field that is set must match.

    `tenant` is the digest that `Entry.tenant` holds. `created_before` and `expired_at` are seconds
    since the epoch; `expired_at` selects what is expired at that time. `current` goes with
    `source`: only what used the source with another digest than these is meant, whatever other
    sources it has.
    """

    ids: tuple[str, ...] | None = None
    namespace: str | None = None
    tenant: str | None = None
    model: str | None = None
    scope: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    current: tuple[str, ...] | None = None
    created_before: float | None = None
    expired_at: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one candidate: `reason` is SEMANTIC when it was good enough to serve.

    Attributes:
        confidence: The probability that its answer is right, where that was computed.
        doubt: What a guard said against it, where confidence has the last word on that.
        same_attribute: Whether both lean on the same in their chats and ask for the same of it.
        around: Similarities of the other stored questions nearest to the one asked, best first.
    """

    candidate: Candidate
    reason: Reason
    detail: str = ""
    confidence: float | None = None
    doubt: Reason | None = None
    same_attribute: bool = False
    around: tuple[float, ...] = ()

    @property
    def sureness(self) -> float:
        """The confidence, or the similarity where none was computed."""
        return self.candidate.similarity if self.confidence is None else self.confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The outcome of one lookup, and everything needed to explain it.

    Attributes:
        similarity: Of the served entry, or of the best candidate on a miss; 1.0 for an exact hit.
        confidence: Probability that the stored answer is right; the similarity while no
            calibration is in place.
        asked: The question as it was compared, of a semantic hit.
        age: Time since the served entry was stored.
        life: How the lifetime of the served entry came about; None where the rules have no say.
        exact_only: Why meaning was not compared, when it was not.
        verdicts: Every candidate, best first, with what became of it.
        stages: Seconds per stage ("resolve", "fetch", "embed", "search", "decide"), filled in by
            whoever carried the decision out.
    """

    hit: bool
    reason: Reason
    response: Response | None = None
    similarity: float | None = None
    confidence: float | None = None
    entry_id: str | None = None
    question: str | None = None
    asked: str | None = None
    age: timedelta | None = None
    expires_at: float | None = None
    life: Life | None = None
    exact_only: Reason | None = None
    detail: str = ""
    verdicts: tuple[Verdict, ...] = ()
    stages: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a user said of a hit: whether the answer to `stored` was right for `question`."""

    question: str
    stored: str
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreResult:
    """What became of a reply: `reason` is STORED, or says why it was not kept."""

    stored: bool
    reason: Reason
    entry_id: str | None = None
    detail: str = ""
    life: Life | None = None
