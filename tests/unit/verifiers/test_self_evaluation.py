"""What a model is asked about its own answer, and what counts as a score."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel

from langchain_semcache.errors import ConfigurationError, EvaluatorUnavailable
from langchain_semcache.ports import Evaluator
from langchain_semcache.verifiers.self_evaluation import SelfEvaluation, prompt_for, score_in

ASKED = (("user", "What is the capital of France?"),)
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text()


@pytest.mark.parametrize(
    ("reply", "score"),
    [(str(n), n) for n in range(6)]
    + [(" 4\n", 4), ("\t0 ", 0), ("4.", 4), ("4/5", 4), ("5 out of 5", 5), ("**4**", 4)]
    + [("Score: 4", 4), ("My rating is 0.", 0), ("```4```", 4), ("4分", 4), ("评分：5", 5)]
    + [("<think>It says 3, or 2.\nNo: 4.</think>\n\n4", 4)],
)
def test_a_number_from_0_to_5_is_a_score(reply, score):
    assert score_in(reply) == score


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "6",
        "-1",
        "10",
        "4.0",
        "+4",
        "04",
        "4 5",
        "4/10",
        "Score:",
        "<think>4</think>",
        "four",
        "四",
        "４",
        "٤",
        '{"score": 4}',
        "I think 4",
        "²",
        "None",
        "nan",
        "4\n\nBecause",
    ],
)
def test_anything_else_is_none(reply):
    assert score_in(reply) is None


@given(texts)
def test_whatever_is_replied_the_score_is_in_range(reply):
    assert score_in(reply) in {None, *range(6)}


def test_any_callable_is_asked():
    prompts = []
    evaluation = SelfEvaluation(lambda prompt: prompts.append(prompt) or "5", model="m")
    assert evaluation.score(ASKED, "Paris.") == 5
    assert prompts == [prompt_for(ASKED, "Paris.")]
    evaluator: Evaluator = evaluation
    assert "m" in evaluator.identity


def test_a_chat_model_of_langchain_is_asked():
    model = FakeListChatModel(responses=["3", "good"])
    evaluation = SelfEvaluation(lambda prompt: model.invoke(prompt).text, model="fake")
    assert evaluation.score(ASKED, "Paris.") == 3
    assert evaluation.score(ASKED, "Paris.") is None


@pytest.mark.parametrize(
    ("answer", "chinese"),
    [
        ("Paris is the capital.", False),
        ("法国的首都是巴黎。", True),
        ("请运行 pip install numpy，然后重启。", True),
        ("首都は東京です。", False),
        ("東京は日本の首都です", False),
        ("The word 你好 means hello.", False),
        ("42", False),
        ("", False),
    ],
)
def test_it_is_asked_in_the_language_of_the_answer(answer, chinese):
    prompt = prompt_for(ASKED, answer)
    assert ("请仅输出一个" in prompt) is chinese
    assert ("exactly one integer" in prompt) is not chinese


@given(st.lists(st.tuples(texts, texts), max_size=3), texts)
def test_everything_is_quoted_and_nothing_can_close_its_quotation(turns, answer):
    prompt = prompt_for(turns, answer)
    (mark,) = set(re.findall(r"(?m)^----- .* ([0-9a-f]{16}) -----$", prompt))
    lines = prompt.split("\n")
    fences = [place for place, line in enumerate(lines) if line.endswith(f"{mark} -----")]
    assert len(fences) == 4
    shown = lines[fences[0] + 1 : fences[1]]
    assert len(shown) == max(1, len(turns))
    (given_answer,) = lines[fences[2] + 1 : fences[3]]
    assert json.loads(given_answer) == answer
    for line, (role, text) in zip(shown, turns, strict=False):
        decoder = json.JSONDecoder()
        read_role, end = decoder.raw_decode(line)
        assert (read_role, json.loads(line[end + 2 :])) == (role, text)


def test_a_model_that_fails_gives_no_score_and_names_no_text():
    def fail(prompt):
        raise TimeoutError(prompt)

    with pytest.raises(EvaluatorUnavailable) as caught:
        SelfEvaluation(fail, model="m").score(ASKED, "secret")
    assert "secret" not in str(caught.value)
    assert "TimeoutError" in str(caught.value)


def test_what_is_no_text_is_no_reply():
    with pytest.raises(EvaluatorUnavailable, match="expected the text"):
        SelfEvaluation(lambda prompt: 4, model="m").score(ASKED, "a")


def test_a_model_has_a_name():
    with pytest.raises(ConfigurationError, match="model is empty"):
        SelfEvaluation(lambda prompt: "4", model="")


def test_another_model_has_another_identity():
    one, other = (SelfEvaluation(lambda prompt: "4", model=name).identity for name in "ab")
    assert one != other
