"""Finds the question in a message that a template has built around it.

A fixed template of a few hundred words makes any two messages look alike, and so does the context
of a retrieval chain. Only the question is compared by meaning; what stands around it has to be
identical, to the letter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from langchain_semcache.request.settings import RequestSettings


@dataclass(frozen=True, slots=True)
class Split:
    """A message as `before` + `question` + `after`."""

    before: str
    question: str
    after: str


_ASKING = (
    r"(?:(?:the|my|new|current|latest|final|last|follow[- ]?up|user(?:'s)?|human|customer)[ ])*"
    r"(?:question|query|user|human|customer)(?:[ ](?:question|query|input|message|request))?"
    r"|q|(?:用户|当前|最新|我的|新)?(?:的)?(?:问题|提问|询问|查询)|问|用户|質問|質問文|ユーザー|질문"
)
_GIVEN = (
    r"(?:[a-z]+[ ]){0,2}(?:context|answer|documents?|sources?|passages?|instructions?|history|"
    r"assistant|ai|response|reply|rules?|notes?|output|examples?|format)|a|"
    r"(?:参考|已知|相关|历史|最终|你的)?(?:上下文|背景|资料|答案|回答|答复|文档|信息|内容|要求|指令|说明|对话|记录)|答|"
    r"助手|回答|回答文|답변"
)
_LEFT, _RIGHT = r"^[ \t]*(?:[#>*\-]+[ \t]*|\[|【)?\**", r"\**(?:\]|】)?[ \t]*"
_END = r"(?:[:：]\**|(?<=[\]】]))[ \t]*"

_LABEL = re.compile(
    rf"{_LEFT}(?:(?P<asking>{_ASKING})|(?P<given>{_GIVEN})){_RIGHT}{_END}",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    rf"^[ \t]*(?:#{{1,6}}[ \t]+\**(?:(?P<asking>{_ASKING})|(?P<given>[^\n]+?)){_RIGHT}[:：]?"
    rf"|[^\n]{{0,160}}(?:question|query|问题|提问)(?P<lead>[:：]))[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_TAG = re.compile(
    r"<(?P<tag>(?:user_?|latest_?)?(?:question|query|input|message))>(?P<question>.*?)</(?P=tag)>",
    re.IGNORECASE | re.DOTALL,
)
_INLINE = re.compile(r"(?<=[\s.。;；!！?？])(?:Question|Query|User question|问题|问)[:：][ \t]*")
_CUE = re.compile(r"\s+(?:(?:Helpful|Final|Your|The)[ ])?(?:Answer|Response)[:：]\s*$")
_SHORT_LABEL = 20  # bytes
_INLINE_CONTEXT = 80
"""An inline label counts after so many characters: in a short sentence it is part of speech."""


def split_question(text: str, settings: RequestSettings) -> Split:
    """The question in `text` and what stands around it; all of `text` when there is no template."""
    if settings.compiled_pattern is not None:
        found = settings.compiled_pattern.search(text)
        if found is not None and found["question"] is not None:
            return _cut(text, *found.span("question"))
    if settings.detect_templates:
        for span in (_tagged(text), _sectioned(text), _inline(text)):
            if span is not None and text[slice(*span)].strip():
                return _cut(text, *span)
    return _cut(text, 0, len(text))


def _cut(text: str, start: int, end: int) -> Split:
    """Cut, with the white space of the margins left to the surroundings."""
    question = text[start:end]
    start += len(question) - len(question.lstrip())
    question = question.strip()
    end = start + len(question)
    return Split(text[:start], question, text[end:])


def _tagged(text: str) -> tuple[int, int] | None:
    if "</" not in text:
        return None
    tags = list(_TAG.finditer(text))
    return tags[-1].span("question") if tags else None


def _sectioned(text: str) -> tuple[int, int] | None:
    """The last labelled question, up to the next label."""
    if "\n" not in text.strip():
        return None
    for pattern in (_LABEL, _HEADING):
        marks = list(pattern.finditer(text))
        ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
        spans = [
            (mark.end(), end)
            for mark, end in zip(marks, ends, strict=True)
            if _asks(mark) and text[mark.end() : end].strip()
        ]
        if spans and _has_surroundings(text, marks[0], len(marks)):
            return spans[-1]
    return None


def _asks(mark: re.Match[str]) -> bool:
    """Whether the label announces a question; so does "Answer the following question:"."""
    return mark["asking"] is not None or mark.groupdict().get("lead") is not None


def _has_surroundings(text: str, first: re.Match[str], labels: int) -> bool:
    """Whether there is more than one short label in front of a question: that is no template."""
    return (
        labels > 1
        or bool(text[: first.start()].strip())
        or len(first[0].encode("utf-8", "surrogatepass")) > _SHORT_LABEL
    )


def _inline(text: str) -> tuple[int, int] | None:
    """`Context: … Question: … Answer:` on one line."""
    if len(text) < _INLINE_CONTEXT:
        return None
    labels = list(_INLINE.finditer(text, _INLINE_CONTEXT))
    if not labels:
        return None
    start = labels[-1].end()
    cue = _CUE.search(text, start)
    return start, cue.start() if cue else len(text)
