"""How requests are told apart: the few choices an application has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from langchain_semcache.errors import ConfigurationError

Span: TypeAlias = tuple[int, int]
_SIGNS_OF_A_PATTERN = ("(?", ".*", ".+", "\\")

FindQuestion: TypeAlias = Callable[[str], Span | None]
"""Where the question begins and ends in a text; None where there is none."""


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
        query_from: Where the question is in a prompt that wraps it: a regular expression with a
            group `question`, a marker in front of it ("Question:"; the last one counts), or a
            function that returns the question out of the prompt, or None for another prompt. What
            it leaves over (template, retrieved documents) has to be identical for two questions to
            be compared at all.
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
    query_from: str | Callable[[str], str | None] | None = None
    detect_templates: bool = True
    compare_history: bool = True
    max_question_bytes: int = 600
    secret_names: frozenset[str] = field(init=False, repr=False, compare=False)
    find_question: FindQuestion | None = field(init=False, repr=False, compare=False)

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
        object.__setattr__(self, "find_question", _finder(self.query_from))


def _finder(query_from: object) -> FindQuestion | None:
    if query_from is None:
        return None
    if callable(query_from):
        return partial(_by_function, query_from)
    if not isinstance(query_from, str) or not query_from.strip():
        raise ConfigurationError(
            f"query_from is {query_from!r}: use a regular expression with a group "
            "(?P<question>…), a marker such as 'Question:', or a function"
        )
    if not any(sign in query_from for sign in _SIGNS_OF_A_PATTERN):
        return partial(_after, query_from.strip())
    try:
        pattern = re.compile(query_from, re.DOTALL)
    except re.error as error:
        raise ConfigurationError(f"query_from {query_from!r} is not valid: {error}") from error
    if "question" not in pattern.groupindex:
        raise ConfigurationError(
            f"query_from {query_from!r} has no group (?P<question>…): name what to compare"
        )
    return partial(_by_pattern, pattern)


def _by_pattern(pattern: re.Pattern[str], text: str) -> Span | None:
    found = pattern.search(text)
    return None if found is None or found["question"] is None else found.span("question")


def _after(marker: str, text: str) -> Span | None:
    start = text.rfind(marker)
    return None if start < 0 else (start + len(marker), len(text))


def _by_function(find: Callable[[str], str | None], text: str) -> Span | None:
    """Where the function's answer stands in the text, the last place if there are several.

    What it raises, or an answer that is no part of the text, finds nothing: then the prompt is
    read as any other is.
    """
    try:
        question = find(text)
    except Exception:  # noqa: BLE001 - foreign code: whatever it raises, it names no question
        return None
    if not isinstance(question, str) or not question.strip():
        return None
    start = text.rfind(question)
    return None if start < 0 else (start, start + len(question))
