"""What every group of settings is, and those on how long answers live and what comes of that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from langchain_semcache.eviction import HIGHEST_SCORE, LARGEST_VOCABULARY, Sureness, Thresholds
from langchain_semcache.guards import KINDS
from langchain_semcache.ttl import CLASSES, SLA, checked_ttl


def _not_bool(value: object) -> object:
    if isinstance(value, bool | str):
        raise ValueError(f"must be a number, not {value!r}")
    return value


Number = Annotated[float, BeforeValidator(_not_bool), Field(allow_inf_nan=False)]
Seconds = Annotated[Number, Field(gt=0, le=600)]
Share = Annotated[Number, Field(gt=0, le=1)]
# The message of pydantic says which setting it is.
_A_DURATION = BeforeValidator(partial(checked_ttl, name="a duration"))
Lifetime = Annotated[timedelta | None, _A_DURATION]


class Settings(BaseModel):
    """Frozen, and what it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _exact_kinds(cls, settings: object) -> object:
        """True is no number and "3" is none either; a setting that is nearly right is wrong."""
        for name, value in settings.items() if isinstance(settings, dict) else ():
            kind = cls.model_fields[name].annotation if name in cls.model_fields else None
            if kind in (int, int | None) and type(value) not in (int, type(None)):
                raise ValueError(f"{name} must be a whole number, not {value!r}")
            if kind is bool and not isinstance(value, bool):
                raise ValueError(f"{name} must be true or false, not {value!r}")
        return settings


class ClassSettings(Settings):
    """A class of answers.

    Attributes:
        first: Lifetime before any adjustment (timedelta or seconds); None for ever, 0 stores none.
        factor: What each event of its trigger multiplies the lifetime by.
        trigger: Those events: "updates" that a source reports, "misses" in a row beside an entry.
    """

    first: Lifetime
    factor: Share = 1.0
    trigger: Literal["updates", "misses", "none"] = "none"


class RuleSettings(Settings):
    """What matches everything that is given here is of the class `use`; patterns as of a shell.

    Attributes:
        use: Name of a class.
        tag, source, model: Pattern of a tag or source of the entry, or of its model.
        kind: Pattern of what the question asks for, by script: "other how" in English, "han *" in
            Chinese; of `guards.KINDS`.
        time_words: Whether it asks for what changes by the day.
    """

    use: str
    tag: str | None = None
    source: str | None = None
    model: str | None = None
    kind: str | None = None
    time_words: bool | None = None

    @model_validator(mode="after")
    def _means_something(self) -> Self:
        if all(getattr(self, name) is None for name in type(self).model_fields if name != "use"):
            raise ValueError("a rule names a tag, source, model, kind or time_words")
        return self

    @field_validator("kind")
    @classmethod
    def _is_a_kind(cls, kind: str | None) -> str | None:
        if kind is not None and not any(fnmatchcase(known, kind) for known in KINDS):
            raise ValueError(f"no question is of kind {kind!r}: the kinds are {', '.join(KINDS)}")
        return kind


class TenantSettings(Settings):
    """What a tenant has of its own.

    Attributes:
        tier: One of the tiers.
        least, most: What its lifetimes are held to; None is what holds for all.
    """

    tier: str = "silver"
    least: Lifetime = None
    most: Lifetime = None


class ShadowSettings(Settings):
    """Another policy, that sees the requests and never answers one.

    Attributes:
        name: What the report calls it.
        rules: The settings of `freshness` in which it differs from the one that answers.
        share: Of the keys it is played on, by their hash.
        tags, tenants, models: Only entries with one of these tags, of these tenants or models;
            empty for all.
    """

    name: str = Field(min_length=1)
    rules: Mapping[str, object]
    share: Share = 1.0
    tags: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


class FreshnessSettings(Settings):
    """Where lifetimes come from. An entry that was stored with a lifetime of its own keeps that.

    Attributes:
        policy: "fixed" (`ttl` and `volatile_ttl`) or "rules" (everything below).
        classes: Further classes, or other numbers for "frequent", "time_sensitive" and "rare".
        rules: Which class an entry is of; the first that matches has the last word.
        otherwise: The class of what no rule knows.
        hit_rate, hit_rate_days, least_lookups: Share of hits over so many days, of so many lookups
            at least, above which an answer is frequent and stable.
        least_changes: Refreshes that brought another answer, from which on it is time-sensitive.
        misses_in_a_row: Misses beside an entry that fire the trigger "misses".
        stale_cost: Hits that one stale answer costs. Set, lifetimes follow how often answers were
            seen to change; None leaves that out.
        surge: What more requests than usual do: "shorten", "stretch" or "off".
        surge_limit: The factor of a surge is never below this, nor above its inverse.
        canary_models, canary_tags: Patterns of the models and tags of a version on trial.
        canary_factor: What the lifetime of its answers is multiplied by.
        tiers: Factor by tier; added to gold, silver, bronze and iron.
        tenants: Tier and limits by tenant.
        least, most: What every lifetime is held to; `most` None allows one without end.
        sliding: A lifetime counts from when an entry was last served, up to `most` from writing.
        shadows: Other policies, compared with this one on the requests that come.
    """

    policy: Literal["fixed", "rules"] = "fixed"
    classes: Mapping[str, ClassSettings] = Field(default_factory=dict)
    rules: tuple[RuleSettings, ...] = ()
    otherwise: str = "rare"
    hit_rate: Annotated[Number, Field(ge=0, lt=1)] = 0.95
    hit_rate_days: int = Field(7, ge=1, le=90)
    least_lookups: int = Field(20, ge=1)
    least_changes: int = Field(2, ge=1)
    misses_in_a_row: int = Field(3, ge=1)
    stale_cost: Annotated[Number, Field(gt=1)] | None = None
    surge: Literal["shorten", "stretch", "off"] = "shorten"
    surge_limit: Share = 0.3
    canary_models: tuple[str, ...] = ()
    canary_tags: tuple[str, ...] = ("canary",)
    canary_factor: Annotated[Number, Field(gt=0, le=10)] = 0.8
    tiers: Mapping[str, Annotated[Number, Field(gt=0, le=10)]] = Field(default_factory=dict)
    tenants: Mapping[str, TenantSettings] = Field(default_factory=dict)
    least: Lifetime = timedelta(seconds=1)
    most: Lifetime = timedelta(days=7)
    sliding: bool = False
    shadows: tuple[ShadowSettings, ...] = ()

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        known = {*CLASSES, *self.classes}
        for name in (self.otherwise, *[rule.use for rule in self.rules]):
            if name not in known:
                raise ValueError(f"no class is called {name!r}: use {', '.join(sorted(known))}")
        tiers = {*SLA, *self.tiers}
        for tenant, its in self.tenants.items():
            if its.tier not in tiers:
                raise ValueError(
                    f"no tier is called {its.tier!r} (tenant {tenant!r}): use "
                    f"{', '.join(sorted(tiers))}"
                )
            least, most = (
                getattr(self if getattr(its, name) is None else its, name)
                for name in ("least", "most")
            )
            self._check(least, most, f"of tenant {tenant!r} ")
        self._check(self.least, self.most, "")
        return self

    @model_validator(mode="after")
    def _shadows_are_policies(self) -> Self:
        names = [shadow.name for shadow in self.shadows]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"several shadows are called {min(twice)!r}")
        for shadow in self.shadows:
            self.under(shadow)
        return self

    def under(self, shadow: ShadowSettings) -> FreshnessSettings:
        """The whole policy of a shadow: it is by rules unless it says otherwise.

        Raises:
            ValueError: A setting of it is wrong.
        """
        ours = {name: getattr(self, name) for name in self.model_fields_set}
        try:
            return type(self)(**{**ours, "policy": "rules", "shadows": (), **shadow.rules})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = ".".join(str(part) for part in first["loc"])
            said = first["msg"].removeprefix("Value error, ")
            raise ValueError(f"shadow {shadow.name!r}: {name}: {said}") from None

    @staticmethod
    def _check(least: timedelta | None, most: timedelta | None, whose: str) -> None:
        if least is None:
            raise ValueError("least must be a duration")
        if most is not None and least > most:
            raise ValueError(f"least {whose}is more than most")


class ConfidenceEvictionSettings(Settings):
    """Which answers live shorter, or go, because their model was not sure of them.

    Entropies are means over an answer's tokens, in nats.

    Attributes:
        enabled: Whether to look at log probabilities, where a reply has them, and to have models
            asked about their answers, where an evaluator is given.
        sure_entropy: Below it the model was sure.
        suspicious_entropy: Above it the answer is suspicious.
        severe_entropy: From it on a bad score removes the answer.
        suspicious_difference: A top-k entropy difference below it is suspicious.
        good_score: From it on, of 5, what the model says of its answer speaks for it.
        bad_score: Up to it, what the model says removes a severe answer.
        ttl_factor: What each signal that does not speak for the answer multiplies its lifetime by;
            0 keeps no such answer.
        endless_ttl: The lifetime that is shortened where an answer would never expire.
        vocabulary_size: Tokens that a model is taken to have; upper bounds grow with it.
        share: Of the answers that nothing speaks against, those whose model is asked about them.
        doubtful_share: The same of all others.
    """

    enabled: bool = False
    sure_entropy: Annotated[Number, Field(ge=0)] = 1.5
    suspicious_entropy: Annotated[Number, Field(ge=0)] = 2.1
    severe_entropy: Annotated[Number, Field(ge=0)] = 2.3
    suspicious_difference: Annotated[Number, Field(ge=0)] = 0.3
    good_score: int = Field(4, ge=0, le=HIGHEST_SCORE)
    bad_score: int = Field(2, ge=0, le=HIGHEST_SCORE)
    ttl_factor: Annotated[Number, Field(ge=0, le=1)] = 0.5
    endless_ttl: Annotated[timedelta, _A_DURATION, Field(gt=timedelta(0))] = timedelta(days=7)
    vocabulary_size: int = Field(LARGEST_VOCABULARY, ge=2)
    share: Annotated[Number, Field(ge=0, le=1)] = 0.02
    doubtful_share: Annotated[Number, Field(ge=0, le=1)] = 0.2

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.sure_entropy <= self.suspicious_entropy <= self.severe_entropy:
            raise ValueError("sure_entropy, suspicious_entropy and severe_entropy must not fall")
        if not self.bad_score < self.good_score:
            raise ValueError("bad_score must be below good_score")
        return self

    @property
    def rules(self) -> Sureness:
        """The same, as the rules want it."""
        lines = Thresholds(
            sure_entropy=self.sure_entropy,
            suspicious_entropy=self.suspicious_entropy,
            severe_entropy=self.severe_entropy,
            suspicious_difference=self.suspicious_difference,
            good_score=self.good_score,
            bad_score=self.bad_score,
        )
        return Sureness(
            thresholds=lines,
            ttl_factor=self.ttl_factor,
            endless_ttl=self.endless_ttl,
            vocabulary=self.vocabulary_size,
            share=self.share,
            doubtful_share=self.doubtful_share,
        )


_HEAT = re.compile(r"none|popularity|ewma|torchscript:.+|triton:(grpc|http)://.+", re.DOTALL)


class HotnessSettings(Settings):
    """Which model expects what will be asked for next.

    Attributes:
        model: "none", "popularity" (the mean of the window goes on), "ewma" (a moving average
            does), "torchscript:PATH" (a network of `semcache hotness train`, in this process), or
            "triton:grpc://HOST:PORT" or "triton:http://HOST:PORT" (one that a server has).
        half_life: Steps after which a use counts half; for "ewma", and for what answers in place of
            a server.
        step_seconds: Length of a step. A window is 64 of them, and the next 5 are expected.
        max_entries: Entries counted at most.
        device: Where the network of a path runs: "cpu", "cuda:0" …
        triton_model: Name of the model on the server.
        deadline_seconds: What asking the server may take.
        max_batch: Windows in one request to it.
        breaker_failures, breaker_cooldown_seconds: Failures in a row after which the server is left
            alone, and for how long.
    """

    model: str = "none"
    half_life: Annotated[Number, Field(gt=0)] = 16.0
    step_seconds: Annotated[Number, Field(gt=0)] = 60.0
    max_entries: int = Field(65_536, ge=1)
    device: str = Field("cpu", min_length=1)
    triton_model: str = "semcache_heat"
    deadline_seconds: Seconds = 0.25
    max_batch: int = Field(1_024, ge=1)
    breaker_failures: int = Field(3, ge=1)
    breaker_cooldown_seconds: Seconds = 5.0

    @field_validator("model")
    @classmethod
    def _known_kind(cls, model: str) -> str:
        if not _HEAT.fullmatch(model):
            raise ValueError(
                "is 'none', 'popularity', 'ewma', 'torchscript:PATH', 'triton:grpc://HOST:PORT' or "
                "'triton:http://HOST:PORT'"
            )
        return model
