"""How long an entry lives, and how that came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_WHOLE: Final = 1_000.0


@dataclass(frozen=True, slots=True)
class Step:
    """One adjustment of a lifetime: its name, its factor, and the seconds that it left."""

    name: str
    factor: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """How long an entry lives by the rules, and how that came about.

    Attributes:
        ttl_class: The class it was taken for.
        because: Why that class.
        first: Lifetime of the class, in seconds.
        steps: The adjustments that changed anything, in order.
        seconds: What came of it; infinite for ever.
    """

    ttl_class: str
    because: str
    first: float
    steps: tuple[Step, ...] = ()
    seconds: float

    def __str__(self) -> str:
        trace = "".join(f" × {step.name} {step.factor:.3g}" for step in self.steps)
        first, seconds = _shown(self.first), _shown(self.seconds)
        return f"{self.ttl_class} ({self.because}): {first} s{trace} = {seconds} s"


def _shown(seconds: float) -> str:
    """Whole seconds from a thousand on: nobody reads a day as 8.64e+04."""
    return f"{seconds:.0f}" if seconds >= _WHOLE else f"{seconds:.4g}"
