"""How long an answer lives."""

from langchain_semcache.ttl.classes import (
    CLASSES,
    FREQUENT,
    RARE,
    TIME_SENSITIVE,
    Choice,
    Facts,
    Rule,
    Seen,
    TtlClass,
    choose,
    first_choice,
)
from langchain_semcache.ttl.evidence import DAY, Changes, Evidence, Fading, Pace, Rate
from langchain_semcache.ttl.expiry import UNSET, Ttl, Unset, checked_ttl, expires_at
from langchain_semcache.ttl.optimum import best_lifetime
from langchain_semcache.ttl.pipeline import (
    PIPELINE,
    SLA,
    Bounds,
    Circumstances,
    Rules,
    life,
    shortened,
)

__all__ = [
    "CLASSES",
    "DAY",
    "FREQUENT",
    "PIPELINE",
    "RARE",
    "SLA",
    "TIME_SENSITIVE",
    "UNSET",
    "Bounds",
    "Changes",
    "Choice",
    "Circumstances",
    "Evidence",
    "Facts",
    "Fading",
    "Pace",
    "Rate",
    "Rule",
    "Rules",
    "Seen",
    "Ttl",
    "TtlClass",
    "Unset",
    "best_lifetime",
    "checked_ttl",
    "choose",
    "expires_at",
    "first_choice",
    "life",
    "shortened",
]
