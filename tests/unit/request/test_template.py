"""The question is compared, never the template around it."""

from __future__ import annotations

import time
from typing import Any

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
    settings = RequestSettings(query_from=r"ASK\[(?P<question>.*?)\]")
    one = ask("policy 1 ASK[may I?] end", settings=settings).query
    other = ask("policy 1 ASK[can I?] end", settings=settings).query
    moved = ask("policy 2 ASK[may I?] end", settings=settings).query
    assert one.text == "may I?"
    assert one.partition == other.partition != moved.partition


def test_a_marker_of_your_own(ask: Resolve) -> None:
    """What stands behind its last place is the question."""
    settings = RequestSettings(query_from="@@ask:")
    query = ask("facts @@ask: no\nmore facts @@ask: may I?", settings=settings).query
    assert query.text == "may I?"


def test_a_function_of_your_own(ask: Resolve) -> None:
    """It returns the question out of the prompt; the documents around it have to be the same."""
    settings = RequestSettings(query_from=lambda prompt: prompt.split("|")[1])
    one = ask("price 10 |what is the price?| end", settings=settings).query
    other = ask("price 12 |what is the price?| end", settings=settings).query
    assert one.text == other.text == "what is the price?"
    assert one.partition != other.partition


@pytest.mark.parametrize("answer", [None, "", "not in there", 7])
def test_a_function_that_finds_nothing_leaves_the_rest_to_detection(
    ask: Resolve, answer: Any
) -> None:
    """So does one that fails."""

    def fail(prompt: str) -> str:
        raise KeyError(prompt)

    for find in (lambda _: answer, fail):
        settings = RequestSettings(query_from=find)
        assert ask("Rules: none\nQuestion: why?", settings=settings).query.text == "why?"


def test_a_pattern_that_finds_nothing_leaves_the_rest_to_detection(ask: Resolve) -> None:
    """A pattern is for one template; other messages are read as usual."""
    settings = RequestSettings(query_from=r"ASK\[(?P<question>.*?)\]")
    assert ask("Rules: none\nQuestion: why?", settings=settings).query.text == "why?"


def test_detection_can_be_turned_off(ask: Resolve) -> None:
    """Then the whole message is the question."""
    text = "Be brief.\nQuestion: why?"
    assert ask(text, settings=RequestSettings(detect_templates=False)).query.text == text


WORKED_ON = [
    "Give the opposite.\n\nInput: tall\nOutput: short\n\nInput: hot\nOutput:",
    "Input: tall\nOutput: short\n\nInput: hot\nOutput:",
    "Classify the sentiment of this review.\n\nReview: I like tea.\nSentiment:",
    "Text: I like tea.\nSentiment: positive\nText: I like coffee.\nSentiment:",
    "Sentence: I like tea.\nFrench:",
    "You are a professional translator. Translate the following to French: I like tea.",
    "Summarise the following: The cat sat on the mat.",
    "翻译成英文：我喜欢茶",
    "请把下面的句子翻译成英文：我喜欢茶",
    "请总结以下内容：\n今天天气很好",
    "判断情感。\n\n评论：很好\n情感：",
    "输入：高\n输出：矮\n\n输入：热\n输出：",
    (
        "Below is an instruction.\n\n### Instruction:\nTranslate to French.\n\n"
        "### Input:\nI like tea.\n\n### Response:"
    ),
    "### Instruction:\nTranslate to French: I like tea.\n\n### Response:",
    "[INST] Translate to French: I like tea. [/INST]",
    (
        "<|im_start|>system\nYou translate to French.<|im_end|>\n<|im_start|>user\n"
        "Translate this: tea<|im_end|>\n<|im_start|>assistant\n"
    ),
    '{"question": "What is tea?"}',
    '["a", "b"]',
    "[1, 2, 3]",
    "What is in data:image/png;base64,AAAA ?",
    "Decode aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQg",
    'Translate "I like tea" into French.',
    "Translate I like tea to French",
    "I like tea.\n\nTranslate the above to French.",
    "Can you please translate good morning into Spanish?",
    "Correct the grammar: He go home.",
    "Extract the names: Bob met Ann.",
    "Rewrite this sentence: I like tea.",
    "Title: a thing\nBody: another thing\nWhat now?",
    "Is this fine?\n```\nx = 1\n```",
    "How do you say good morning in French?",
    "我喜欢茶用英语怎么说？",
    "Follow up.\nChat History: x\nFollow Up Input: and him?\nStandalone question:",
    (
        "Given the chat, rephrase the follow up question to be a standalone question.\n"
        "Chat History: x\nFollow Up Question: and him?\nStandalone question:"
    ),
    "Email: Hello, I want a refund.\nReply:",
    "Passage: The sky is blue.\n\nSummary:",
    "Query: flights to rome\nIntent:",
    "Write a haiku about the text below.\n\nThe sky is blue.",
    "改写：我喜欢茶",
    "对下面的评论进行情感分类：我喜欢茶",
    "Premise: A man eats.\nHypothesis: A man is hungry.\nLabel:",
    "Given the word below, give its antonym: tall",
    "User: hi\nHost: db1\nWhy?",
    "Please summarize this text for me: tea is nice",
    'Tweet: "I like tea"\nIs it positive?',
    "提取关键词：我喜欢茶",
    "把“我喜欢茶”翻译成英文",
    "帮我润色一下这句话：我喜欢茶",
    "Instruction: Classify the text.\nInput: tea\nOutput:",
    "Q: tall\nOpposite: short\nQ: hot\nOpposite:",
    "Context:\nThe price is 10.\n\nWhat is the price?",
    "Answer in French.\n<input>What is tea?</input>",
    "Give the opposite of the word.\ntall -> short\nhot ->",
    "Input: hot Output:",
    "Antonym of the word: tall",
    "Sentiment analysis: I like tea",
    "Text: I like tea.",
    "What does this code do?\nprint(1)",
    "What is the sentiment of “I like tea”?",
    "判断这句话的情感：我喜欢茶",
    "英译中：I like tea",
    "What is the French for 'good morning'?",
    "Please rate the following review from 1 to 5: nice",
    "Background: foo.\n\nWhat is X?",
    "以下是一段话：\n天气好。\n写一首诗。",
    "You will be given a text. Summarise it.\n\nText: tea",
]


@pytest.mark.parametrize("text", WORKED_ON)
def test_what_is_worked_on_is_never_compared_by_meaning(ask: Resolve, text: str) -> None:
    """Texts of one meaning have other translations; so where nothing says what is asked."""
    query = ask(text).query
    assert query.exact_only is Reason.UNKNOWN_CONTENT
    assert query.fingerprint != ask(text + "!").query.fingerprint


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Give the opposite.\n\nInput: tall\nOutput: short\n\nInput: hot\nOutput:", "hot"),
        ("Classify the sentiment.\n\nReview: I like tea.\nSentiment:", "I like tea."),
        ("You are a translator. Translate this text to French: I like tea.", "I like tea."),
        ("翻译成英文：我喜欢茶", "我喜欢茶"),
        ("输入：高\n输出：矮\n\n输入：热\n输出：", "热"),
        ("Answer the following question: What is tea?", "What is tea?"),
        ("请回答以下问题：茶是什么？", "茶是什么？"),
        ("You are a helpful assistant. What is tea?", "What is tea?"),
        ("你是一名导游。巴黎有什么好玩的？", "巴黎有什么好玩的？"),
        ("### Instruction:\nWhat is tea?\n\n### Response:", "What is tea?"),
        ("<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nWhat is tea? [/INST]", "What is tea?"),
        ("<|im_start|>user\nWhat is tea?<|im_end|>\n<|im_start|>assistant\n", "What is tea?"),
        ("What is tea?\nAnswer:", "What is tea?"),
    ],
)
def test_boilerplate_is_not_embedded(ask: Resolve, text: str, question: str) -> None:
    """Preambles, examples and the markup of chats go to the partition."""
    assert ask(text).query.text == question
    assert ask(text).query.partition != ask(question).query.partition


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of France?",
        "What is the difference between: tea and coffee?",
        "My question: why?",
        "请问：怎么退货？",
        "How do I translate a web page?",
        "机器翻译的原理是什么？",
        "如何把网页翻译成中文？",
        "Could you summarise the refund policy?",
        "Summarise the plot of Hamlet.",
        "总结一下红楼梦的主要情节",
        "怎么对文件进行分类？",
        "Answer the following question: What is the capital of France?",
        "请回答以下问题：法国的首都是哪里？",
        "You are a helpful assistant. What is the capital of France?",
        "你是一名导游。巴黎有什么好玩的？",
        "### Instruction:\nWhat is the capital of France?\n\n### Response:",
        "[INST] What is the capital of France? [/INST]",
        (
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n"
            "What is tea?<|im_end|>\n<|im_start|>assistant\n"
        ),
        "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nWhat is tea? [/INST]",
        "What is the best time to visit: summer or winter?",
        "Hi,\n\nhow do I reset my password?\n\nThanks",
        "Q: What is a?\nA: b\n\nQ: What is tea?\nA:",
        "What is tea?\nAnswer:",
        "Is Python: The Complete Reference a good book?",
        'What does "idempotent" mean?',
        'What does the error "connection refused" mean?',
        "Reminder: how do I reset my password?",
        "Which is correct: affect or effect?",
        "How do I classify animals?",
        "How can I convert a PDF to Word?",
        "Convert 5 miles to kilometres",
        "How to fix a flat tyre?",
        "注意事项：坐飞机可以带水吗？",
        (
            "Use the context to answer.\n\nContext: tea is nice.\n\nQuestion: What is tea?\n"
            "Helpful Answer:"
        ),
        "根据以下资料回答。\n资料：茶很好。\n问题：茶是什么？\n回答：",
        "What is this: a bird or a plane?",
        "Is the following true? The earth is flat.",
        "What is the code for Rome airport?",
        "Which title won: Dune or Avatar?",
        "What's the best way to extract data from a PDF?",
        "Why is 'their' correct here?",
        "Can you recommend a translator?",
        "翻译专业毕业以后能做什么工作？",
        "怎样总结一篇文章？",
        "这两个词的区别是什么：affect 和 effect？",
        "I want to cancel: how?",
        "Tell me about: tea",
        "How do I say no politely?",
        "I have this problem: my printer won't print. What can I do?",
        "怎么把照片转换成PDF？",
        "我的问题是：如何重置密码？",
        "请问怎么修改收货地址？",
        "What are the steps: first register, then pay?",
        "How do I reset my password?\nI forgot it.",
        "What should I do if my order is below 20 euros?",
    ],
)
def test_a_question_is_compared_by_meaning(ask: Resolve, text: str) -> None:
    """Colons, quotes, and words about translation are no template."""
    assert ask(text).query.exact_only is None


@pytest.mark.parametrize(
    "before",
    [
        [{"role": "system", "content": "Translate what the user says to French."}],
        [{"role": "system", "content": "You are a translator."}],
        [{"role": "system", "content": "请把用户的话翻译成英文。"}],
        [{"role": "user", "content": "Summarise the following:"}],
    ],
)
def test_instructions_may_stand_in_another_message(ask: Resolve, before: list[object]) -> None:
    """What a system prompt wants translated is no question either."""
    query = ask([*before, {"role": "user", "content": "I like tea."}]).query
    assert query.exact_only is Reason.UNKNOWN_CONTENT


def test_instructions_may_stand_in_another_part(ask: Resolve) -> None:
    """Nor is what an earlier part of the message wants classified."""
    content = ["Classify the sentiment:", "I like tea."]
    query = ask([{"role": "user", "content": content}]).query
    assert query.exact_only is Reason.UNKNOWN_CONTENT


@pytest.mark.parametrize(
    "system",
    ["You are a helpful assistant.", "Give short, correct answers.", "你是客服。回答要简短。"],
)
def test_other_instructions_leave_a_question_a_question(ask: Resolve, system: str) -> None:
    """The usual system prompts do not stand in the way."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "What is tea?"}]
    assert ask(messages).query.exact_only is None


@pytest.mark.parametrize(
    "text", ["[INST] [/INST]", "<|im_start|>assistant\nhi", "this is it: " * 900]
)
def test_a_template_without_a_question_is_exact_only(ask: Resolve, text: str) -> None:
    """Nothing is guessed."""
    assert ask(text).query.exact_only is not None


@given(st.text(alphabet="ab \n:#<>/Question问题答", max_size=80))
def test_a_split_loses_nothing(text: str) -> None:
    """Before, question and after are the message again."""
    split = split_question(text, RequestSettings())
    assert split.before + split.question + split.after == text
    assert split.question == split.question.strip()
    assert split.question or not text.strip()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("<question>a</question> b <query>c</query>", "c"),
        ("<user_input>a <query>b</query> c</user_input>", "a <query>b</query> c"),
        ("<query>a <Question>b</question> c", "b"),
        ("<question><question>a</question></question>", "<question>a"),
    ],
)
def test_the_last_closed_tag_counts(text: str, question: str) -> None:
    """Of nested ones the outermost, and one that is never closed is none."""
    assert split_question(text, RequestSettings()).question == question


@pytest.mark.parametrize("odd", ["<question>", "<user_query>\n", "**", "*#", "- ", "a:\n"])
@pytest.mark.parametrize("end", ["</x>", "\nQuestion: why"])
def test_a_long_odd_text_is_split_in_no_time(odd: str, end: str) -> None:
    """What a prompt holds is not ours to choose: no pattern runs away on it."""
    started = time.perf_counter()
    split_question(odd * (200_000 // len(odd)) + end, RequestSettings())
    assert time.perf_counter() - started < 3
