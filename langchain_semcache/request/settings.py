"""How requests are told apart: the few choices an application has."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from langchain_semcache.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSettings:
    """What counts as the same request.

    Attributes:
        temperature_digits: Decimals that temperature is rounded to, half up.
        top_p_digits: Decimals that top_p is rounded to, half up.
        namespace: Partition of requests that name none themselves.
        tenant: Tenant of requests that name none themselves.
        volatile_parameters: Names of further parameters that cannot change an answer ("user", if
            one end user may get what was answered to another).
        secret_parameters: Names of further parameters that hold credentials.
        question_pattern: Regular expression with a group `question` that finds the question in
            the last user message. What it leaves over (template, retrieved context) has to be
            identical for two questions to be compared at all.
        detect_templates: Find the question by itself in the usual templates: a section that is
            labelled "Question:", "Query:", "User:", "问题：" …, or a <question> tag.
        compare_history: Compare what a question refers to in its chat, instead of requiring the
            whole chat to be the same.
        max_question_bytes: A longer question (in UTF-8) is too long for one vector: the one word
            that matters does not move it.
    """

    temperature_digits: int = 1
    top_p_digits: int = 2
    namespace: str = ""
    tenant: str = ""
    volatile_parameters: frozenset[str] = frozenset()
    secret_parameters: frozenset[str] = frozenset()
    question_pattern: str | None = None
    detect_templates: bool = True
    compare_history: bool = True
    max_question_bytes: int = 600
    secret_names: frozenset[str] = field(init=False, repr=False, compare=False)
    compiled_pattern: re.Pattern[str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ConfigurationError: A value is out of range, or the pattern is not usable.
        """
        for name in ("temperature_digits", "top_p_digits", "max_question_bytes"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ConfigurationError(f"{name} is {value!r}: use a whole number from 0 up")
        secrets = frozenset(name.lower().replace("-", "_") for name in self.secret_parameters)
        object.__setattr__(self, "secret_names", secrets)
        object.__setattr__(self, "compiled_pattern", _compiled(self.question_pattern))


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    if pattern is None:
        return None
    try:
        compiled = re.compile(pattern, re.DOTALL)
    except re.error as error:
        raise ConfigurationError(f"question_pattern {pattern!r} is not valid: {error}") from error
    if "question" not in compiled.groupindex:
        raise ConfigurationError(
            f"question_pattern {pattern!r} has no group (?P<question>…): name what to compare"
        )
    return compiled
