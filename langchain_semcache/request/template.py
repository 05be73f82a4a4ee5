"""Finds the question in a message that a template has built around it.

A fixed template of a few hundred words makes any two messages look alike, and so does the context
of a retrieval chain. Only the question is compared by meaning; what stands around it has to be
identical, to the letter. Where the question cannot be told from the rest, or where the rest says
that the text is to be worked on, nothing is compared by meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from langchain_semcache.records import Reason
from langchain_semcache.request.settings import RequestSettings
from langchain_semcache.request.transformation import (
    instructs,
    is_data,
    is_worked_on,
    names_no_work,
)


@dataclass(frozen=True, slots=True)
class Split:
    """A message as `before` + `question` + `after`; `exact_only` is why it is no more than that."""

    before: str
    question: str
    after: str
    exact_only: Reason | None = None


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
_TEXTS = (
    r"(?:(?:the|this|my|new|given|source|original|input|current)[ ])*"
    r"(?:input|text|review|sentence|document|passage|e-?mail|article|paragraph|tweet|comment|"
    r"statement|message|post|transcript|phrase|word|title|abstract|premise|hypothesis|claim|"
    r"headline|content|code|source|utterance|snippet|english|french|german|spanish|chinese|"
    r"japanese|product|description)(?:[ ](?:text|input|sentence|\d+))?|"
    r"(?:待\w{1,4})?(?:输入|文本|原文|句子|评论|内容|文章|段落|邮件|文档|推文|标题|新闻|词语|单词|中文|英文|"
    r"对话|评价)(?:文本|内容)?|テキスト|入力|文|文章"
)
_ORDER = r"(?:the|your|user)?[ ]?instruction|指令"
_LEFT, _RIGHT = r"^[ \t]*(?:[#>*\-]++[ \t]*|\[|【)?\**", r"\**(?:\]|】)?[ \t]*"
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
    r"<(?P<tag>(?:user_?|latest_?)?(?:question|query)|(?:user_?|latest_?)(?:input|message))>",
    re.IGNORECASE,
)
_INLINE = re.compile(r"(?<=[\s.。;；!！?？])(?:Question|Query|User question|问题|问)[:：][ \t]*")
_CUE = re.compile(r"\s+(?:(?:Helpful|Final|Your|The)[ ])?(?:Answer|Response)[:：]\s*$")
_SHORT_LABEL = 20  # bytes
_LONGEST = 4000
_LETTER = 300
"""So long a text in paragraphs is no question with a greeting."""
_INLINE_CONTEXT = 80
"""An inline label counts after so many characters: in a short sentence it is part of speech."""


_WORKED_ON = re.compile(
    rf"{_LEFT}(?:{_TEXTS}){_RIGHT}{_END}|^[ \t]*#{{1,6}}[ \t]+\**(?:{_TEXTS}){_RIGHT}[:：]?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ORDERED = re.compile(
    rf"{_LEFT}(?:{_ORDER}){_RIGHT}{_END}|^[ \t]*#{{1,6}}[ \t]+\**(?:{_ORDER}){_RIGHT}[:：]?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ANY_LABEL = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+\S[^\n]{0,60}$|\*\*[^*\n]{1,40}\*\*|[\[【][^\]】\n]{1,40}[\]】]"
    r"|(?:[>*\-][ \t]+)?[^\W\d_][\w '/()-]{0,30}[:：](?!//))",
    re.MULTILINE,
)
_TRAILING = re.compile(
    r"\n[ \t]*(?:(?:[#>*\-]++[ \t]*|\[|【)?\**(?P<label>[^\n:：\]】*#]{1,40})\**"
    r"(?:\]|】)?(?:[:：]\**|(?<=[\]】]))|#{1,6}[ \t]+(?P<heading>[^\n]{1,40}))\s*\Z"
)
_ANSWERS = re.compile(
    r"\b(?:answer|response|reply|assistant|ai|bot|output|a)\b|答|回复|输出|助手|답변", re.IGNORECASE
)
_MARKERS = re.compile(
    r"^[ \t]*(?:-{3,}|={3,}|\*{3,}|~{3,}|<{3,}|>{3,}|\#{3,})|```|\"{3}|'{3}"
    r"|<(?P<tag>(?!(?:[abip]|h\d|div|span|em|strong|[uo]l|li|t[dr])>)[a-z][\w-]*)>.+?</(?P=tag)>"
    r"|\n[ \t]*</?[a-z][\w-]*>[ \t]*$",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_MARKUP = re.compile(
    r"<\|[\w ]{1,30}\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|<｜\w{1,20}｜>"
)
_TURN = re.compile(
    r"(?:<\|im_start\|>[ \t]*user|<\|start_header_id\|>[ \t]*user[ \t]*<\|end_header_id\|>"
    r"|<start_of_turn>[ \t]*user|<\|(?:user|prompter)\|>|<｜User｜>|<</SYS>>|\[INST\])"
    r"(?P<question>(?:(?!<\||<｜|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|</s>).)+)",
    re.DOTALL,
)
_ASKED = re.compile(
    r"^[^\n:：]{0,160}(?:\b(?:following|below|this)\b[^\n:：]{0,40}\b(?:question|query|request)s?\b"
    r"|(?:以下|下面|下列|这个)[^\n:：]{0,10}(?:问题|提问))[^\n:：]{0,40}[:：]\s*",
    re.IGNORECASE,
)
_PERSONA = re.compile(
    r"(?:(?:You are|You're|Act as|Imagine you are|Pretend to be|I want you to act as)\b"
    r"[^.!?\n]*[.!\n]|(?:你是|你现在是|请你?扮演|假设你是)[^。！？?\n]*[。！\n])\s*",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(r"[^\n:：]{0,200}[:：]\s*(?=\S)")


_SENTENCE = re.compile(
    r"[\w ][\w ,?？，/()&%$€£¥+-]*(?:(?<=\w)['’]\w[\w ,?？，/()&%$€£¥+-]*)*[.!！]?"
)
"""One sentence without any mark that a template is made of: what most people ask, told quickly."""

_SHORT = 1_000
"""Longer texts are not remembered: they repeat less and weigh more."""


def split_question(text: str, settings: RequestSettings) -> Split:
    """The question in `text` and what stands around it; all of `text` when there is no template."""
    split = _as_told(text, settings)
    if split is None:
        split = _found(text) if settings.detect_templates else _cut(text, 0, len(text))
    return _without_data(split)


def _found(text: str) -> Split:
    return _remembered(text) if len(text) <= _SHORT else _detected(text)


@lru_cache(maxsize=512)
def _remembered(text: str) -> Split:
    """What a cache sees is what it has seen: looking again costs more than all else in the key."""
    return _detected(text)


def _without_data(split: Split) -> Split:
    question = split.question
    look = _holds_data if len(question) <= _SHORT else is_data
    if split.exact_only is None and look(question):
        return replace(split, exact_only=Reason.UNKNOWN_CONTENT)
    return split


@lru_cache(maxsize=512)
def _holds_data(question: str) -> bool:
    return is_data(question)


def _as_told(text: str, settings: RequestSettings) -> Split | None:
    span = settings.find_question(text) if settings.find_question is not None else None
    return None if span is None else _cut(text, *span)


def _detected(text: str) -> Split:
    if _SENTENCE.fullmatch(text) and names_no_work(text):
        return _cut(text, 0, len(text))
    if _MARKUP.search(text):
        return _turn(text)
    for span in (_tagged(text), _sectioned(text), _inline(text)):
        if span is not None and text[slice(*span)].strip():
            return _asked(text, span)
    if len(text) > _LONGEST:
        return replace(_cut(text, 0, len(text)), exact_only=Reason.BEYOND_WINDOW)
    return _ordered(text) or _worked_on(text) or _plain(text)


def _turn(text: str) -> Split:
    """A conversation in the markup that chat models are trained on: its last turn of the user."""
    turns = [turn for turn in _TURN.finditer(text) if turn["question"].strip()]
    if not turns:
        return _exact(text, 0, len(text))
    start, end = turns[-1].span("question")
    inner = _detected(text[start:end])
    reason = Reason.UNKNOWN_CONTENT if instructs(text[:start]) else inner.exact_only
    return Split(text[:start] + inner.before, inner.question, inner.after + text[end:], reason)


def _asked(text: str, span: tuple[int, int]) -> Split:
    """A question that was found, unless the template does something else than answer it."""
    cue = _TRAILING.search(text)
    start, end = span
    open_end = not text[end:].strip()
    if cue is not None and open_end and text[start : cue.start()].strip():
        end = min(end, cue.start())
    split = _cut(text, start, end)
    other = cue is not None and not _ANSWERS.search(cue["label"] or cue["heading"])
    if other or instructs(split.before) or instructs(split.after) or is_worked_on(split.question):
        return replace(split, exact_only=Reason.UNKNOWN_CONTENT)
    return split


def _ordered(text: str) -> Split | None:
    """`### Instruction: …` is what is asked, where no input follows it."""
    orders = list(_ORDERED.finditer(text))
    if not orders or _WORKED_ON.search(text):
        return None
    start = orders[-1].end()
    cue = _TRAILING.search(text, start)
    end = cue.start() if cue else len(text)
    return _asked(text, (start, end)) if text[start:end].strip() else None


def _worked_on(text: str) -> Split | None:
    """`Review: … Sentiment:`, with or without examples: the answer is made of the last text."""
    labels = list(_WORKED_ON.finditer(text))
    cue = _TRAILING.search(text)
    end = cue.start() if cue else len(text)
    given = [label for label in labels if text[label.end() : end].strip()]
    if not given:
        return None
    return _exact(text, given[-1].end(), end)


def _plain(text: str) -> Split:
    """A message without a question that is marked as one."""
    stripped = text.strip()
    cue = _TRAILING.search(text.rstrip()) if "\n" in stripped else None
    if cue is not None:
        rest = text[: cue.start()].strip()
        answers = _ANSWERS.search(cue["label"] or cue["heading"])
        if "\n" in rest or not answers or is_worked_on(rest):
            return _exact(text, 0, len(text))
        return _cut(text, 0, cue.start())
    if _MARKERS.search(text) or ("\n" in stripped and _has_sections(stripped)):
        return _exact(text, 0, len(text))
    persona = _PERSONA.match(text)
    start = persona.end() if persona and text[persona.end() :].strip() else 0
    if is_worked_on(text[start:]) or (start and instructs(text[:start])):
        preamble = _PREAMBLE.match(text, start)
        return _exact(text, preamble.end() if preamble else start, len(text))
    asked = _ASKED.match(text[start:])
    if asked is not None and text[start + asked.end() :].strip():
        start += asked.end()
    return _cut(text, start, len(text))


def _has_sections(text: str) -> bool:
    """Whether the question is one of several pieces, and nothing says which."""
    paragraphs = "\n\n" in text
    labels = len(_ANY_LABEL.findall(text))
    given = any(mark["given"] for mark in _LABEL.finditer(text))
    return labels > 1 or given or (paragraphs and (labels > 0 or len(text) > _LETTER))


def _exact(text: str, start: int, end: int) -> Split:
    return replace(_cut(text, start, end), exact_only=Reason.UNKNOWN_CONTENT)


def _cut(text: str, start: int, end: int) -> Split:
    """Cut, with the white space of the margins left to the surroundings."""
    question = text[start:end]
    start += len(question) - len(question.lstrip())
    question = question.strip()
    end = start + len(question)
    return Split(text[:start], question, text[end:])


def _tagged(text: str) -> tuple[int, int] | None:
    """The last text between a tag and its end; of nested ones the outermost."""
    span, place = None, 0
    unclosed: set[str] = set()  # each is looked for once, however often it is opened
    while (tag := _TAG.search(text, place)) is not None:
        place, name = tag.end(), tag["tag"].lower()
        if name in unclosed:
            continue
        closing = re.compile(f"</{name}>", re.IGNORECASE).search(text, place)
        if closing is None:
            unclosed.add(name)
        else:
            span, place = (place, closing.start()), closing.end()
    return span


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
