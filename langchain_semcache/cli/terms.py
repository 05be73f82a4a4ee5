"""What a hit takes in one cache."""

from __future__ import annotations

from dataclasses import dataclass

from langchain_semcache.assembly import Core


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a hit takes; None for what this cache does not ask."""

    similarity_threshold: float
    min_confidence: float | None
    max_error_rate: float | None
    verifier: str | None

    @property
    def told(self) -> str:
        """From where on there are hits."""
        told = f"from similarity {self.similarity_threshold:g} on"
        if self.min_confidence is not None:
            told += f" with confidence {self.min_confidence:g}"
        return told


def terms_of(core: Core) -> Terms:
    """The terms of an open cache."""
    calibration, verifier = core.policy.calibration, core.workplace.verifier
    return Terms(
        similarity_threshold=core.policy.similarity_threshold,
        min_confidence=None if calibration is None else calibration.bar,
        max_error_rate=core.config.max_error_rate,
        verifier=None if verifier is None else verifier.identity,
    )
