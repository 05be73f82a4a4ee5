"""The question is compared, never the template around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_semcache.records import Reason
from langchain_semcache.request import RequestSettings
from langchain_semcache.request.template import split_question
from tests.unit.request.conftest import Resolve

CONTEXT = "The shop sells lamps. The price is 10. " * 80

TEMPLATES = [
    "Context:\n{context}\nQuestion: {question}",
    "Use the context to answer.\n\n{context}\n\nQuestion: {question}\nHelpful Answer:",
    "{context}\n\n## Question\n{question}\n\n## Answer\n",
    "**Context:** {context}\n**Question:** {question}\n**Answer:**",
    "<context>{context}</context>\n<question>{question}</question>",
    "Question: {question}\nContext: {context}",
    "Answer the following question:\n{question}",
    "User: hello\nAssistant: hi\nUser: {question}",
    "Be brief. {context} Question: {question} Answer:",
    "[Context]\n{context}\n[User Question]\n{question}",
    "You are a support agent.\n{context}\nUser query: {question}",
    "根据资料回答。\n资料：{context}\n问题：{question}\n回答：",
    "已知信息：\n{context}\n\n用户问题：{question}",
    "请回答下面的问题：\n{question}",
]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("question", ["What is the price?", "价格是多少？", "Why?\nAnd how?"])
def test_the_usual_templates_are_seen_through(ask: Resolve, template: str, question: str) -> None:
    """The text to embed is the question alone; two questions share what is around them."""
    query = ask(template.format(context=CONTEXT, question=question)).query
    other = ask(template.format(context=CONTEXT, question="Tell me more")).query
    assert query.text == question
    assert query.exact_only is None
    assert query.partition == other.partition
    assert query.fingerprint != other.fingerprint


@pytest.mark.parametrize("template", [t for t in TEMPLATES if "{context}" in t])
@pytest.mark.parametrize("context", ["", CONTEXT.replace("10", "12"), CONTEXT[::-1]])
def test_another_context_is_another_partition(ask: Resolve, template: str, context: str) -> None:
    """One figure, another order, or nothing at all: the old answer is not found."""
    question = "What is the price?"
    one = ask(template.format(context=CONTEXT, question=question)).query
    other = ask(template.format(context=context, question=question)).query
    assert one.partition != other.partition


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of France?",
        "My question: why?",
        "Question: why is the sky blue?",
        "User: bob\nHost: db1\nWhy does the login fail?",
        "How do I print this?\n\nprint('a: b')",
        "a question\nover two lines",
        "请问：怎么退货？",
    ],
)
def test_plain_questions_stay_whole(ask: Resolve, text: str) -> None:
    """A colon or a line break makes no template."""
    assert ask(text).query.text == text


def test_six_questions_in_a_template_without_labels(ask: Resolve) -> None:
    """Where the question cannot be found, a long text is matched exactly only."""
    filler = "word " * 400
    queries = [ask(f"{filler}{n} what? {filler}").query for n in range(6)]
    assert {query.exact_only for query in queries} == {Reason.BEYOND_WINDOW}
    assert len({query.fingerprint for query in queries}) == len(queries)


def test_a_pattern_of_your_own(ask: Resolve) -> None:
    """A group named `question` says what is compared; all else has to be identical."""
    settings = RequestSettings(question_pattern=r"ASK\[(?P<question>.*?)\]")
    one = ask("policy 1 ASK[may I?] end", settings=settings).query
    other = ask("policy 1 ASK[can I?] end", settings=settings).query
    moved = ask("policy 2 ASK[may I?] end", settings=settings).query
    assert one.text == "may I?"
    assert one.partition == other.partition != moved.partition


def test_a_pattern_that_finds_nothing_leaves_the_rest_to_detection(ask: Resolve) -> None:
    """A pattern is for one template; other messages are read as usual."""
    settings = RequestSettings(question_pattern=r"ASK\[(?P<question>.*?)\]")
    assert ask("Rules: none\nQuestion: why?", settings=settings).query.text == "why?"


def test_detection_can_be_turned_off(ask: Resolve) -> None:
    """Then the whole message is the question."""
    text = "Be brief.\nQuestion: why?"
    assert ask(text, settings=RequestSettings(detect_templates=False)).query.text == text


@given(st.text(alphabet="ab \n:#<>/Question问题答", max_size=80))
def test_a_split_loses_nothing(text: str) -> None:
    """Before, question and after are the message again."""
    split = split_question(text, RequestSettings())
    assert split.before + split.question + split.after == text
    assert split.question == split.question.strip()
    assert split.question or not text.strip()
