"""Every setting, checked once, frozen, with secrets hidden. Never reads the environment."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from langchain_semcache.errors import ConfigurationError
from langchain_semcache.records import RESERVED
from langchain_semcache.request import RequestSettings
from langchain_semcache.request.canonical import nfc
from langchain_semcache.settings import (
    ConfidenceEvictionSettings,
    FreshnessSettings,
    HotnessSettings,
    Lifetime,
    Number,
    Seconds,
    Settings,
)

_USER = re.compile(r"//[^\s/@]*@")
_USER_AT_LARGE = re.compile(r"[^\s/@:'\"]+:(?!//)[^\s@]+@")
_ALMOST_URL = re.compile("https?:?/", re.IGNORECASE)


class QdrantSettings(Settings):
    """How to talk to a Qdrant server or cluster; unused with a directory or ":memory:".

    Attributes:
        collection: Name of the collection; made when absent, never dropped or recreated.
        api_key: Sent with every request; hidden everywhere else.
        prefer_grpc: Use gRPC where the client can.
        grpc_port: Port of the gRPC interface.
        shard_number, replication_factor, write_consistency_factor: Passed to Qdrant when the
            collection is made.
    """

    collection: str = Field("semcache", min_length=1)
    api_key: SecretStr | None = None
    prefer_grpc: bool = False
    grpc_port: int = Field(6334, ge=1, le=65535)
    shard_number: int | None = Field(None, ge=1)
    replication_factor: int | None = Field(None, ge=1)
    write_consistency_factor: int | None = Field(None, ge=1)


class ResponseSettings(Settings):
    """How answers are written down. What was written stays readable, whatever is set.

    Attributes:
        delta: Write an answer against what it shares with others of its tenant, where that is
            smaller, and keep what changed when it is replaced.
        dictionary_bytes: Size of a dictionary at most; 0 learns none.
    """

    delta: bool = True
    dictionary_bytes: int = Field(112_640, ge=0, le=1_048_576)


class KeySettings(Settings):
    """What counts as the same request.

    Attributes:
        temperature_digits, top_p_digits: Decimals that `temperature` and `top_p` are rounded to.
        volatile_parameters: Names of further parameters that never change an answer.
        secret_parameters: Names of further parameters whose values must not be kept.
        query_from: Where the question is in a prompt that wraps it: a regular expression with a
            group named `question`, a marker in front of it ("Question:"), or a function of the
            prompt. The question is compared by meaning, the rest exactly.
        detect_templates: Find the question by itself in the usual templates ("Question: …").
        compare_history: Compare what a question refers to in its chat ("cancel it", "它多少钱");
            otherwise the whole chat has to be the same.
        max_question_bytes: A longer question (in UTF-8) is too long for one vector.
        compare_long: Compare such a question piece by piece, up to 4,000 characters; otherwise it
            is matched exactly only.
    """

    temperature_digits: int = Field(1, ge=0, le=6)
    top_p_digits: int = Field(2, ge=0, le=6)
    volatile_parameters: frozenset[str] = frozenset()
    secret_parameters: frozenset[str] = frozenset()
    query_from: str | Callable[[str], str | None] | None = None
    detect_templates: bool = True
    compare_history: bool = True
    max_question_bytes: int = Field(600, ge=0)
    compare_long: bool = True

    @field_validator("query_from")
    @classmethod
    def _usable(
        cls, query_from: str | Callable[[str], str | None] | None
    ) -> str | Callable[[str], str | None] | None:
        RequestSettings(query_from=query_from)
        return query_from


class StreamSettings(Settings):
    """How streams are recorded, replayed and shared.

    Attributes:
        cuts: Where a replayed stream is cut: "words", or "recorded", as the original was. Only
            streams that are stored while it says so have a record.
        pace: How fast it comes: "fast", as it can be read; "recorded", as the original came, where
            that was recorded; or a number, so many characters a second.
        share: Identical requests read one running stream instead of asking the model again.
        max_characters: A longer stream is passed on and not kept; also what is held for those who
            read along.
    """

    cuts: Literal["words", "recorded"] = "words"
    pace: Literal["fast", "recorded"] | Annotated[Number, Field(gt=0)] = "fast"
    share: bool = True
    max_characters: int = Field(1_000_000, ge=1)

    @property
    def record(self) -> bool:
        """Whether anything of how a stream came is kept."""
        return "recorded" in (self.cuts, self.pace)


class SemcacheConfig(Settings):
    """Settings of one cache.

    Attributes:
        location: A directory, ":memory:", or the URL of a Qdrant server.
        namespace: Partition of the store for this application.
        tenant: Who shares the answers, when a request does not say; empty is a bucket of its own.
        encoder: "local" (offline, English and Chinese and 14 more languages), "hash", or
            "sentence-transformers:NAME_OR_PATH".
        similarity_threshold: Least cosine similarity of a hit, in (0, 1]; None takes the value
            measured for the encoder.
        verifier: Who gives a second opinion on a candidate: "auto" (our own, where it fits the
            encoder), "none", "local" (our own, or an error), or "cross-encoder:NAME_OR_PATH".
        calibration: What makes a probability of similarity and opinion: "auto" (what ships for
            these models), "none" (a verifier's own probability decides, or similarity alone), or a
            file of `semcache calibrate`.
        min_confidence: Least probability of being right of a hit, in (0, 1]; None takes the one
            in the calibration, or leaves it to the error budget.
        max_error_rate: Wrong answers from the cache over all requests, at most; None sets no
            budget, and the least confidence alone decides.
        shadow_share: Share of the would-be hits for which the model is asked as well, to see
            whether the stored answer was right. Only with `max_error_rate`.
        neighbours: Candidates that a search brings back.
        ttl: Lifetime of an entry (timedelta or seconds); None never expires, 0 stores nothing.
            Where lifetimes come from rules (`freshness`), these say it instead.
        volatile_ttl: Lifetime at most of an answer that changes by the day ("today", "the latest",
            现在); 0 stores none.
        max_entries: Entries of a namespace kept at most. None is unbounded.
        max_bytes: Bytes of a namespace kept at most: questions, answers, vectors and a fixed
            overhead, as `eviction.entry_bytes` counts them; not what answers share. None is
            unbounded.
        tenant_max_entries, tenant_max_bytes: The same for each tenant of a namespace.
        eviction: What goes first when a bound is reached: "heat", "cost", "predicted" (what
            `hotness` expects least of), "tinylfu", "lfu" or "lru". What has expired goes before
            anything else.
        model_prices: What an answer costs, by model, for its length; others cost 1. For "cost" and
            "predicted".
        graph_from: Entries from which the embedded store builds its search graph.
        deadline_seconds: What a lookup or a store may take in its backends before it is given up.
        breaker_failures, breaker_cooldown_seconds: Failures in a row after which a backend is left
            alone, and for how long.
        strict: Raise backend errors instead of missing; for tests.
    """

    location: str = Field("./.semcache", min_length=1)
    namespace: str = "default"
    tenant: str = ""
    encoder: str = Field("local", min_length=1)
    similarity_threshold: Annotated[Number, Field(gt=0, le=1)] | None = None
    verifier: str = Field("auto", min_length=1)
    calibration: str = Field("auto", min_length=1)
    min_confidence: Annotated[Number, Field(gt=0, le=1)] | None = None
    max_error_rate: Annotated[Number, Field(gt=0, le=0.5)] | None = None
    shadow_share: Annotated[Number, Field(ge=0, le=1)] = 0.02
    neighbours: int = Field(3, ge=1, le=100)
    ttl: Lifetime = timedelta(days=1)
    volatile_ttl: Lifetime = timedelta(minutes=10)
    max_entries: int | None = Field(None, ge=1)
    max_bytes: int | None = Field(None, ge=1)
    tenant_max_entries: int | None = Field(None, ge=1)
    tenant_max_bytes: int | None = Field(None, ge=1)
    eviction: Literal["heat", "cost", "predicted", "tinylfu", "lfu", "lru"] = "heat"
    model_prices: dict[str, Annotated[Number, Field(gt=0)]] = Field(default_factory=dict)
    graph_from: int = Field(20_000, ge=100)
    deadline_seconds: Seconds = 2.0
    breaker_failures: int = Field(3, ge=1)
    breaker_cooldown_seconds: Seconds = 5.0
    strict: bool = False
    qdrant: QdrantSettings = QdrantSettings()
    key: KeySettings = KeySettings()
    responses: ResponseSettings = ResponseSettings()
    streams: StreamSettings = StreamSettings()
    freshness: FreshnessSettings = FreshnessSettings()
    hotness: HotnessSettings = HotnessSettings()
    confidence_eviction: ConfidenceEvictionSettings = ConfidenceEvictionSettings()

    @field_validator("location")
    @classmethod
    def _known_place(cls, location: str) -> str:
        scheme, found, rest = location.partition("://")
        if found and scheme.lower() not in ("http", "https"):
            raise ValueError(f"{scheme}:// is no Qdrant server; use http:// or https://")
        if "\0" in location:
            raise ValueError("must not contain a null character")
        if not found and _ALMOST_URL.match(location):
            raise ValueError("is neither a directory nor a URL; a server's begins with http://")
        if found and not _names_a_server(location):
            raise ValueError("names no server; write http://HOST:PORT")
        return f"{scheme.lower()}://{rest}" if found else location

    @field_validator("namespace")
    @classmethod
    def _normal(cls, namespace: str) -> str:
        if namespace in RESERVED:
            raise ValueError(f"{namespace} is where the cache keeps its own; take another name")
        return nfc(namespace)

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        """The settings for `repr`, without the password that a URL may carry."""
        for name, value in super().__repr_args__():
            yield name, without_password(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _predictions_need_a_model(self) -> Self:
        if self.eviction == "predicted" and self.hotness.model == "none":
            raise ValueError('eviction is "predicted", but hotness.model is "none": name a model')
        return self

    @model_validator(mode="after")
    def _key_needs_a_server(self) -> Self:
        if self.qdrant.api_key is not None and not self.is_url:
            raise ValueError("qdrant.api_key is set, but location is no URL")
        return self

    @property
    def is_url(self) -> bool:
        """Whether `location` names a server."""
        return self.location.startswith(("http://", "https://"))

    @classmethod
    def of(
        cls, location: str | Path | SemcacheConfig | None = None, /, **overrides: object
    ) -> Self:
        """A checked configuration from whatever `open` was given.

        Raises:
            ConfigurationError: One line that names each wrong setting and what it accepts.
        """
        settings: dict[str, object] = {}
        if isinstance(location, SemcacheConfig):
            settings = {name: getattr(location, name) for name in location.model_fields_set}
        elif location is not None:
            settings = {"location": str(location)}
        return cls._checked(settings | overrides)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a TOML file.

        Raises:
            ConfigurationError: The file is absent, is no TOML, or holds a wrong setting.
        """
        try:
            settings = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{path} is not a TOML file: {error}") from error
        return cls._checked(settings)

    @classmethod
    def _checked(cls, settings: dict[str, object]) -> Self:
        try:
            return cls.model_validate(settings)
        except ValidationError as error:
            raise ConfigurationError(_one_line(error, cls)) from error


def _names_a_server(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is no number or too large, or a bracket is open
        return False


def without_password(text: str) -> str:
    """The text, without what URLs in it, or what was meant as one, say of users and passwords."""
    return _USER_AT_LARGE.sub("***@", _USER.sub("//***@", text))


def _one_line(error: ValidationError, config: type[BaseModel]) -> str:
    problems = []
    for problem in error.errors(include_input=False, include_url=False):
        name = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            known = ", ".join(sorted(_part(config, problem["loc"]).model_fields))
            problems.append(f"{name} is not a setting; the settings are {known}")
        else:
            said = problem["msg"].removeprefix("Value error, ")
            problems.append(f"{name}: {said}" if name else said)
    return without_password("; ".join(problems))


def _part(config: type[BaseModel], path: tuple[int | str, ...]) -> type[BaseModel]:
    """The settings that the last name of a path was looked for in."""
    for name in path[:-1]:
        kind = config.model_fields[str(name)].annotation
        config = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else config
    return config
