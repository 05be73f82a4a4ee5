"""What every group of settings is, and the group on answers that nobody is sure of."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from langchain_semcache.eviction import HIGHEST_SCORE, LARGEST_VOCABULARY, Sureness, Thresholds
from langchain_semcache.ttl import checked_ttl


def _not_bool(value: object) -> object:
    if isinstance(value, bool | str):
        raise ValueError(f"must be a number, not {value!r}")
    return value


Number = Annotated[float, BeforeValidator(_not_bool), Field(allow_inf_nan=False)]
Seconds = Annotated[Number, Field(gt=0, le=600)]
Lifetime = Annotated[timedelta | None, BeforeValidator(checked_ttl)]


class Settings(BaseModel):
    """A group of settings: frozen, and an unknown or nearly right one is an error."""

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
    endless_ttl: Annotated[timedelta, BeforeValidator(checked_ttl), Field(gt=timedelta(0))] = (
        timedelta(days=7)
    )
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
