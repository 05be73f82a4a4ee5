"""Follow-ups, retrieved context and long prompts, with everything at its default."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from langchain_semcache import Decision, Reason, Request, Response, Semcache

After = Callable[..., Decision]
ROLES = ("user", "assistant")


def chat(*texts: str) -> list[dict[str, str]]:
    """The user speaks first, and last."""
    return [{"role": ROLES[n % 2], "content": text} for n, text in enumerate(texts)]


def system(text: str, *texts: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": text}, *chat(*texts)]


NORTH = ("Who leads Northwind?", "Ms Falk leads Northwind.")
SOUTH = ("Who leads Southgate?", "Mr Boll leads Southgate.")
SHORT = [
    "How old is that person?",
    "yes",
    "continue",
    "and the second one?",
    "Why?",
    "When was it founded?",
    "Where do they have offices?",
    "What does it sell?",
    "好的",
    "继续",
    "那第二个呢？",
    "它是哪年成立的？",
]


@pytest.mark.parametrize("turn", SHORT)
def test_a_follow_up_is_not_answered_from_another_chat(after: After, turn: str) -> None:
    """B02: two chats about two companies, and the same words at the end."""
    for stored, asked in ((NORTH, SOUTH), (SOUTH, NORTH)):
        decision = after(chat(*stored, turn), chat(*asked, turn))
        assert (decision.hit, decision.reason) == (False, Reason.CONTEXT_DIFFERS)
    assert not after(chat(*NORTH, turn), chat(turn)).hit
    assert not after(chat(turn), chat(*NORTH, turn)).hit


@pytest.mark.parametrize("turn", ["How old is that person?", "When was it founded?"])
def test_a_follow_up_is_answered_in_a_longer_chat_about_the_same(after: After, turn: str) -> None:
    """B02: what a question refers to counts, and not the chat to its last letter."""
    longer = chat("Tell me about Northwind.", "Northwind is a trader.", *NORTH, turn)
    decision = after(chat(*NORTH, turn), longer)
    assert (decision.hit, decision.reason) == (True, Reason.SEMANTIC), decision


def test_a_question_that_names_its_subject_is_answered_in_any_chat(after: After) -> None:
    question = "How can I cancel a subscription?"
    asked = "How do I cancel a subscription?"
    assert after(chat(question), chat("Hi", "Hello!", asked)).hit
    assert after(chat("Hi", "Hello!", question), chat("Is tea healthy?", "Yes.", asked)).hit
    named = "When was the Eiffel Tower built?"
    assert after(chat(*NORTH, named), chat(*SOUTH, "When did they build the Eiffel Tower?")).hit


TOLD = [
    ("I use Windows.", "I use a Mac.", "How do I take a screenshot?"),
    ("Hi, I'm on Debian", "Hi, I'm on Fedora", "How do I install the NVIDIA driver?"),
    ("I am vegan.", "I eat everything.", "What are good sources of protein?"),
    ("A plum costs 10 cents.", "A plum costs 12 cents.", "What does a plum cost?"),
    (
        "Here is a list: tea, milk.",
        "Here is a list: nuts, oil.",
        "How many items does a list have?",
    ),
    ("Explain things for a five year old.", "Explain things like I'm a judge.", "What is gravity?"),
    ("From now on answer in French", "From now on answer in Greek", "What is gravity?"),
    ("以后都用英文回答", "以后都用日文回答", "什么是万有引力？"),
    ("我用的是安卓手机", "我用的是苹果手机", "怎么截屏？"),
    ("cat", "dog", "What is gravity?"),
]


@pytest.mark.parametrize(("one", "other", "question"), TOLD[:-1])
def test_what_the_user_told_a_chat_counts_although_nothing_points_at_it(
    after: After, one: str, other: str, question: str
) -> None:
    """B02, B09: who asks, on what machine, about which document."""
    assert not after(chat(one, "Fine.", question), chat(other, "Fine.", question)).hit
    assert not after(chat(one, "Fine.", question), chat(question)).hit
    assert not after(chat(question), chat(one, "Fine.", question)).hit


DROPPED = [
    ("How do I sort a list in Python?", "How do I sort a list in Rust?", "How do I read a file?"),
    ("What is Rome like in May?", "What is Oslo like in May?", "Which museums should I see?"),
    ("Plan a weekend in Rome", "Plan a weekend in Oslo", "What is a good place for dinner?"),
    ("How do I use Docker on Debian?", "How do I use Docker on Arch?", "How do I add the plugin?"),
    ("Python怎么排序？", "Rust怎么排序？", "怎么读取文件？"),
]


@pytest.mark.parametrize(("one", "other", "question"), DROPPED)
def test_a_name_that_was_dropped_is_meant_by_what_has_none(
    after: After, one: str, other: str, question: str
) -> None:
    """B02: nothing points back, and yet it is asked about Python, or in Rome."""
    assert not after(chat(one, "Like this.", question), chat(other, "Like this.", question)).hit
    assert not after(chat(one, "Like this.", question), chat(question)).hit
    assert not after(chat(question), chat(one, "Like this.", question)).hit


def test_a_reply_to_little_is_a_reply_to_what_was_asked(after: After) -> None:
    """B02: "Why?" after "No." """
    wine, tea = "Can I take ibuprofen with wine?", "Can I take ibuprofen with tea?"
    assert not after(chat(wine, "No.", "Why?"), chat(tea, "No.", "Why?")).hit
    assert after(chat(wine, "No.", "Why?"), chat("Hi", "Hello!", wine, "No.", "Why?")).hit


def test_what_has_no_bearing_on_a_question_does_not_count(after: After) -> None:
    one, other, question = TOLD[-1]
    assert after(chat(one, "Fine.", question), chat(other, "Fine.", question)).hit


def test_examples_in_a_chat_say_what_is_wanted(after: After) -> None:
    """B02: the same word, to be translated into another language."""
    french = chat("cat", "chat", "dog", "chien", "house")
    german = chat("cat", "Katze", "dog", "Hund", "house")
    assert not after(french, german).hit
    assert not after(german, french).hit


PLUM = "What does a plum cost?"
SHELF = "The shop sells apples, pears and plums. It opens at eight. " * 52


def prompt(context: str, question: str = PLUM) -> str:
    return f"Context:\n{context}\nQuestion: {question}"


RETRIEVED = [
    (prompt(""), prompt("A plum costs 2 euros.")),
    (prompt(SHELF + "A plum costs 10 cents."), prompt(SHELF + "A plum costs 12 cents.")),
    (prompt(SHELF, "When does the shop open?"), prompt(SHELF, "What does the shop sell?")),
    (system("A plum costs 10 cents.", PLUM), system("A plum costs 12 cents.", PLUM)),
    (
        [*chat("Document: a plum costs 10 cents."), *chat(PLUM)],
        [*chat("Document: a plum costs 12 cents."), *chat(PLUM)],
    ),
    (
        chat("Document: a plum costs 10 cents.", "Understood.", PLUM),
        chat("Document: a plum costs 12 cents.", "Understood.", PLUM),
    ),
    (
        "资料：\n李子一斤十元。\n\n问题：李子多少钱？",
        "资料：\n李子一斤十二元。\n\n问题：李子多少钱？",
    ),
]


@pytest.mark.parametrize(("one", "other"), RETRIEVED)
def test_an_answer_stays_with_the_context_it_was_made_from(
    after: After, one: object, other: object
) -> None:
    """B09: whatever was retrieved belongs to the request, to the letter."""
    assert not after(one, other).hit
    assert not after(other, one).hit


def test_the_same_context_in_another_order_is_another_one(after: After) -> None:
    """B09: free to choose, and this is what was chosen."""
    chunks = ("Plums are blue.", "Pears are green.")
    one, other = (prompt("\n\n".join(order)) for order in (chunks, chunks[::-1]))
    assert not after(one, other).hit


HARBOUR = "The harbour was built long ago and is still used by fishing boats and ferries. " * 50
HAFEN = "港口很久以前建成，渔船和渡轮至今还在使用。" * 30
LONG = [
    (HARBOUR + "Write a haiku about frost", HARBOUR + "Write a query that deletes all rows"),
    (system(HARBOUR + "Be brief.", "What is tea?"), system(HARBOUR + "Be long.", "What is tea?")),
    (
        HARBOUR[:1900] + "left bank " + HARBOUR[1900:],
        HARBOUR[:1900] + "right bank " + HARBOUR[1900:],
    ),
    (HARBOUR[:3000] + "the last number: 17", HARBOUR[:3000] + "the last number: 71"),
    (HARBOUR[:3000] + "Is it old?", HARBOUR[:3000] + "Is it new?"),
    (HAFEN + "写一首诗", HAFEN + "写一段代码"),
]


@pytest.mark.parametrize(("one", "other"), LONG)
def test_long_prompts_with_a_common_beginning_do_not_meet(
    after: After, one: object, other: object
) -> None:
    """B10: the fixture sees to it that the identical prompt is answered."""
    assert not after(one, other).hit
    assert not after(other, one).hit


def test_what_is_too_long_to_be_compared_is_counted() -> None:
    """B10: the cache says so, and does not do nothing in silence."""
    with Semcache.open(":memory:", key={"compare_long": False}) as cache:
        cache.store(Request(messages=HARBOUR), Response.from_text("A port."))
        assert not cache.lookup(Request(messages=HARBOUR + "!")).hit
        assert cache.lookup(Request(messages=HARBOUR)).hit
        assert cache.stats().lookups_by_reason == {"beyond_window": 1, "exact": 1}


def test_personal_questions_are_answered_to_nobody_else(after: After) -> None:
    """The same words of another person ask for another answer."""
    decision = after("Where is my order?", "Where's my order?")
    assert decision.exact_only is Reason.PERSONAL_QUESTION
    assert not decision.hit
