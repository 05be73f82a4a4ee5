"""When an answer from another chat answers a follow-up question."""

from __future__ import annotations

import pytest

from langchain_semcache.context import Agreement, Context, Difference, compare, summarise


def chat(*texts: str) -> Context:
    """The context of the last of `texts`; user and assistant take turns, the user speaks last."""
    *before, question = texts
    roles = ["assistant" if (len(before) - n) % 2 else "user" for n in range(len(before))]
    return summarise(list(zip(roles, before, strict=True)), question)


def differ(one: Context, other: Context) -> bool:
    return isinstance(compare(one, other), Difference)


class TestAnotherPerson:
    alpha = chat("Who runs company Alpha?", "Ms A. Kowalska.", "How old is that person?")
    beta = chat("Who runs company Beta?", "Mr B. Lindqvist.", "How old is that person?")

    def test_a_pronoun_means_somebody_else_in_another_chat(self):
        assert isinstance(compare(self.beta, self.alpha), Difference)

    def test_the_same_chat_again_is_the_same(self):
        again = chat("Who runs company Alpha?", "Ms A. Kowalska.", "How old is that person?")
        assert compare(again, self.alpha) is Agreement.SUBJECT

    def test_the_difference_is_said_in_words(self):
        found = compare(self.beta, self.alpha)
        assert isinstance(found, Difference)
        assert found.detail == "refers to lindqvist, the stored one to kowalska"


SHORT = ["yes", "continue", "Yes, please!", "why?", "好的", "继续", "为什么？"]


@pytest.mark.parametrize("short", SHORT)
class TestShortTurns:
    def test_they_differ_after_different_messages(self, short):
        one = chat("My bike is broken.", "Shall I send you a repair guide?", short)
        other = chat("My bike is broken.", "Shall I order a new wheel?", short)
        assert differ(one, other)

    def test_they_agree_after_the_same_message(self, short):
        one = chat("My bike is broken.", "Shall I order a new wheel?", short)
        other = chat("hi", "Hello!", "The wheel is bent.", "shall I order a new wheel", short)
        assert not differ(one, other)


@pytest.mark.parametrize("short", SHORT)
@pytest.mark.parametrize("said", ["No.", "Yes!", "不可以。"])
def test_where_the_assistant_said_little_it_matters_what_was_asked(said, short):
    one, other = "Can I mix bleach and vinegar?", "Can I mix bleach and water?"
    assert differ(chat(one, said, short), chat(other, said, short))
    assert not differ(chat(one, said, short), chat("Hi", "Hello!", one, said, short))


@pytest.mark.parametrize(
    ("one", "other", "question"),
    [
        ("How do I parse JSON in Go?", "How do I parse JSON in Kotlin?", "How do I sort a slice?"),
        ("Is Porto pretty?", "Is Gdansk pretty?", "Which museums should I see?"),
        ("Kotlin怎么排序？", "Swift怎么排序？", "怎么读取文件？"),
    ],
)
def test_a_name_dropped_in_the_chat_may_be_meant(one, other, question):
    """By a question that has no name of its own; one that has a name stands alone."""
    assert differ(chat(one, "Like this.", question), chat(other, "Like this.", question))
    assert differ(chat(one, "Like this.", question), chat(question))
    assert not differ(chat(one, "Like this.", question), chat("hi", "hi", one, "So.", question))
    named = "When was the Eiffel Tower built?"
    assert not differ(chat(one, "Like this.", named), chat(other, "Like this.", named))


def test_the_second_one_of_another_list_is_another_thing():
    one = chat("Name two rivers.", "The Danube and the Tagus.", "and the second one?")
    other = chat("Name two deserts.", "The Gobi and the Namib.", "and the second one?")
    assert differ(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ["What does the Brightlamp 40 cost?", "80 euros.", "Is it dimmable?"],
            [
                "hello", "Hi! How can I help?",
                "I am looking for a desk lamp.", "The Brightlamp 40 is a popular one.",
                "can I dim it?",
            ],
        ),
        (
            ["Who wrote Dracula?", "Bram Stoker.", "Where was he born?"],
            [
                "I loved Dracula.", "Bram Stoker wrote a classic there.",
                "In which town was he born?",
            ],
        ),
        (
            ["推荐一个博物馆", "推荐您去陶然陶瓷馆。", "它的门票多少钱？"],
            [
                "你好", "你好，请问有什么可以帮您？",
                "听说陶然陶瓷馆很不错", "是的，很值得一看。",
                "开放时间呢？", "9点到17点。",
                "那门票贵吗？",
            ],
        ),
        (
            ["看过《雪线之上》吗？", "看过，是一部爱情片。", "哪年上映的？"],
            ["她的代表作是什么？", "《雪线之上》是她的代表作。", "这部电影是哪年上映的呢？"],
        ),
    ],
)  # fmt: skip
def test_two_ways_to_the_same_thing_agree(one, other):
    assert not differ(chat(*one), chat(*other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ["推荐一个博物馆", "推荐您去陶然陶瓷馆。", "它的门票多少钱？"],
            ["推荐一个博物馆", "推荐您去墨香印刷馆。", "它的门票多少钱？"],
        ),
        (
            ["看过《雪线之上》吗？", "看过，是一部爱情片。", "哪年上映的？"],
            ["看过《潮声》吗？", "看过，是一部爱情片。", "哪年上映的？"],
        ),
        (
            ["给我推荐一家餐馆", "推荐您去小满面馆(东桥店)。", "电话是多少？"],
            ["给我推荐一家餐馆", "推荐您去小满面馆(西桥店)。", "电话是多少？"],
        ),
        (
            ["What do I have booked?", "A flight to Lima on Monday.", "Cancel it."],
            ["What do I have booked?", "A massage at Salon Vera.", "Cancel it."],
        ),
        (
            ["I bought a lamp and a rug.", "Noted.", "Where is the lamp?", "Bonn.", "Return it."],
            ["I bought a lamp and a rug.", "Noted.", "Where is the rug?", "Ulm.", "Return it."],
        ),
        (
            ["My boiler shows F28.", "F28 means no ignition.", "How do I fix that?"],
            ["My boiler shows F75.", "F75 means low pressure.", "How do I fix that?"],
        ),
    ],
)  # fmt: skip
def test_another_thing_differs(one, other):
    assert differ(chat(*one), chat(*other))


class TestStandalone:
    @pytest.mark.parametrize("question", ["How do I rename a branch in git?", "红烧茄子怎么做？"])
    def test_it_hits_whatever_went_before(self, question):
        long = ["Hi", "Hello!", "Is the pool open?", "Yes, until nine.", "Thanks", "Welcome."] * 5
        assert not differ(chat(*long, question), chat(question))
        assert not differ(chat(*long, question), chat("今天下雨吗？", "不会。", question))

    def test_it_answers_a_follow_up_only_about_what_it_names(self):
        alone = chat("Where was Bram Stoker born?")
        assert not differ(alone, chat("Who wrote Dracula?", "Bram Stoker.", "Where was he born?"))
        assert differ(alone, chat("Who wrote Emma?", "Jane Austen.", "Where was she born?"))

    def test_so_in_chinese(self):
        alone = chat("陶然陶瓷馆的门票多少钱？")
        same = chat("推荐一个博物馆", "推荐您去陶然陶瓷馆。", "它的门票多少钱？")
        other = chat("推荐一个博物馆", "推荐您去墨香印刷馆。", "它的门票多少钱？")
        assert not differ(alone, same)
        assert differ(alone, other)


def test_in_doubt_they_differ():
    """Nothing is named on either side, and the chats are not the same."""
    assert differ(chat("hm", "ok", "How much is it?"), chat("well", "fine", "How much is it?"))
    assert differ(chat("How much is it?"), chat("well", "fine", "How much is it?"))


def test_a_first_question_is_like_itself():
    assert not differ(chat("How much is it?"), chat("how much is it"))
