"""Which answer comes out: near questions, thresholds, languages, and replies that must not stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.globals import set_llm_cache
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, Generation

from langchain_semcache import (
    AsyncSemcache,
    ConfigurationError,
    Request,
    Response,
    SemanticCache,
    Semcache,
)
from langchain_semcache.testing.fakes import ScriptedEncoder
from tests.adapters.langchain.conftest import QUESTION
from tests.adapters.langchain.models import OpenAIStub, ScriptedModel, StreamingModel, done

DIFFERENT = [
    ("status of order 123", "status of order 124"),
    ("What is 1+1?", "What is 21+1?"),
    ("revenue in 2023", "revenue in 2024"),
    ("Python 3.11 release date", "Python 3.12 release date"),
    ("15% of 80", "50% of 80"),
    ("show invoice INV-0071", "show invoice INV-0017"),
    ("what does --max-cost do", "what does --max-heads do"),
    ("3 km in miles", "3 miles in km"),
    ("status of order １２３", "status of order 124"),
    ("email of Ann Lee", "email of Ann Leigh"),
    ("status of order one hundred twenty three", "status of order 124"),
]


@pytest.mark.parametrize(("stored", "asked"), DIFFERENT)
def test_another_number_or_identifier_is_another_question(
    make_cache: Any, stored: str, asked: str
) -> None:
    """B06: however close the vectors are."""
    encoder = ScriptedEncoder({stored: 1.0, asked: 0.999})
    model = ScriptedModel(cache=make_cache(encoder=encoder, index=None))
    model.invoke(stored)
    model.invoke(asked)
    assert model.calls == 2


SIMILARITIES = {"same": 1.0, "near": 0.96, "close": 0.94, "half": 0.5}
OPPOSITE = [-0.2, 0.9797958971, 0.0]


@pytest.mark.parametrize(
    ("threshold", "accepted"),
    [(0.95, {"same", "near"}), (0.05, {"same", "near", "close", "half"})],
)
@pytest.mark.parametrize("way", ["sync", "async", "langchain", "langchain async"])
async def test_a_threshold_is_a_similarity_on_every_path(
    make_cache: Any, threshold: float, accepted: set[str], way: str
) -> None:
    """B07: the same numbers accept the same questions, whoever asks."""
    script: dict[str, float | Sequence[float]] = {"stored": 1.0, "far": OPPOSITE, **SIMILARITIES}
    encoder = ScriptedEncoder(script)
    cache: SemanticCache = make_cache(encoder=encoder, index=None, similarity_threshold=threshold)
    hits: set[str] = set()
    if way.startswith("langchain"):
        cache.update("stored", "m", [Generation(text="a")])
    else:
        cache.semcache.store(Request(messages="stored"), Response.from_text("a"))
    for text in (*SIMILARITIES, "far"):
        found: object
        if way == "sync":
            found = cache.semcache.lookup(Request(messages=text)).hit
        elif way == "async":
            found = (await cache.asemcache.lookup(Request(messages=text))).hit
        elif way == "langchain":
            found = cache.lookup(text, "m")
        else:
            found = await cache.alookup(text, "m")
        hits |= {text} if found else set()
    assert hits == accepted


@pytest.mark.parametrize("threshold", [-0.1, 1.5, "0.9", float("nan"), True, 0, [0.9]])
def test_a_threshold_that_is_none_is_refused_at_construction(threshold: Any) -> None:
    """B07: one line that names the setting."""
    with pytest.raises(ConfigurationError, match="similarity_threshold"):
        SemanticCache(":memory:", encoder=ScriptedEncoder(), similarity_threshold=threshold)


UNRELATED = [
    "Tell me a joke",
    "What to do when bored?",
    "What is 1+1?",
    "Who wrote Faust?",
    "How do I boil an egg?",
    "Where is Kenya?",
]
TEMPLATE = "You are given rules. " + "Obey every rule to the letter. " * 60


@pytest.mark.parametrize("template", ["{}", TEMPLATE + "\n\nQuestion: {}", TEMPLATE + "\n{}"])
def test_unrelated_questions_do_not_meet(template: str) -> None:
    """B08: with the real encoder, with and without a template of 400 words around them."""
    with_encoder = SemanticCache(":memory:", encoder=None)
    model = ScriptedModel(cache=with_encoder)
    first = [model.invoke(template.format(text)).content for text in UNRELATED]
    assert model.calls == 6
    assert [model.invoke(template.format(text)).content for text in UNRELATED] == first
    assert model.calls == 6
    with_encoder.close()


@pytest.mark.parametrize(
    "around",
    ["\n\nQuestion: {}", "\n\nQuestion: {}\nAnswer:", "\n<question>{}</question>"],
)
def test_of_a_template_the_encoder_reads_the_question_only(
    cache: SemanticCache, model: ScriptedModel, encoder: ScriptedEncoder, around: str
) -> None:
    """B08: hundreds of words around it do not reach the vector."""
    assert len(TEMPLATE.split()) > 350
    for text in UNRELATED:
        model.invoke([SystemMessage("Be brief."), HumanMessage(TEMPLATE + around.format(text))])
    assert encoder.texts == UNRELATED
    assert model.calls == len(UNRELATED)


@pytest.mark.parametrize("compare_long", [True, False])
def test_a_template_that_shows_no_question_is_compared_in_pieces_or_not_at_all(
    make_cache: Any, encoder: ScriptedEncoder, compare_long: bool
) -> None:
    """B08: without a label one vector would stand for all of it, where one is like the other."""
    cache = make_cache(key={"compare_long": compare_long})
    model = ScriptedModel(cache=cache)
    for _ in range(2):
        for text in UNRELATED:
            model.invoke(f"{TEMPLATE}\n{text}")
    assert model.calls == len(UNRELATED)
    reasons = cache.stats().lookups_by_reason
    assert reasons.pop("exact") == 6
    if compare_long:
        assert "semantic" not in reasons
        assert not set(encoder.texts) & {f"{TEMPLATE}\n{text}" for text in UNRELATED}
    else:
        assert reasons == {"beyond_window": 6}
        assert encoder.texts == []


@pytest.mark.parametrize(
    "text",
    [
        "中文问题",
        "naïve café",
        "emoji 👩‍👩‍👧‍👦",
        'tabs\tand "quotes" and \\ backslashes',
        "one line\nand another",
    ],
)
def test_the_encoder_reads_what_was_written(
    cache: SemanticCache, model: ScriptedModel, encoder: ScriptedEncoder, text: str
) -> None:
    """B08, B13: the characters themselves: no JSON, no class paths, no escapes."""
    model.invoke([SystemMessage("Be brief."), HumanMessage(text)])
    model.invoke([SystemMessage("Be brief."), HumanMessage(text)])
    assert encoder.texts == [text]
    assert model.calls == 1


def test_composed_and_decomposed_letters_are_one_text(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B13: both normal forms hit."""
    model.invoke("caf\u00e9")
    model.invoke("cafe\u0301")
    assert model.calls == 1


PREFIX = "Some words of context that go on and on. " * 100


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (PREFIX + "Write a poem about the sea", PREFIX + "Write SQL that drops table users"),
        (PREFIX + "left" + PREFIX, PREFIX + "right" + PREFIX),
        (PREFIX + "this is the last word: yes", PREFIX + "this is the last word: no"),
        ("请" * 600, "请" * 599 + "问"),
    ],
)
@pytest.mark.parametrize("compare_long", [True, False])
def test_a_text_beyond_the_window_is_never_embedded_cut(
    make_cache: Any, first: str, second: str, compare_long: bool
) -> None:
    """B10: piece by piece or not at all, and the decision says so."""
    encoder = ScriptedEncoder(max_tokens=128)
    cache = make_cache(encoder=encoder, index=None, key={"compare_long": compare_long})
    model = ScriptedModel(cache=cache)
    model.invoke(first)
    model.invoke(second)
    assert model.calls == 2
    model.invoke(first)
    assert model.calls == 2
    assert all(encoder.count_tokens(text) <= 128 for text in encoder.texts)
    reasons = cache.stats().lookups_by_reason
    assert reasons.pop("exact") == 1
    assert "semantic" not in reasons
    if not compare_long:
        assert encoder.texts == []
        assert reasons == {"beyond_window": 2}


def test_a_long_system_prompt_counts_to_its_last_word(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B10: it is compared by value and not by vector."""
    for word in ("sea", "land"):
        model.invoke([SystemMessage(PREFIX + word), HumanMessage(QUESTION)])
    assert model.calls == 2


LANGUAGES = [
    ("俄罗斯总统是谁", "你是谁", "东风夜放花千树", "介绍下大西洋", "介绍下太平洋"),
    ("東京の天気", "大阪の天気"),
    ("서울 날씨 어때", "부산 날씨 어때"),
    ("อากาศที่กรุงเทพ", "อากาศที่เชียงใหม่"),
    ("ما هي عاصمة مصر", "ما هي عاصمة سوريا"),
    ("भारत की राजधानी क्या है", "नेपाल की राजधानी क्या है"),
    (
        "What is the capital of France?",
        "法国的首都是哪里？",
        "Quelle est la capitale de la France ?",
    ),
]


@pytest.mark.parametrize("texts", LANGUAGES, ids=lambda texts: texts[0][:4])
def test_texts_of_any_script_are_told_apart(texts: tuple[str, ...]) -> None:
    """B12: with the real encoder; a translation is not answered in the other language."""
    cache = SemanticCache(":memory:")
    model = ScriptedModel(cache=cache)
    for text in texts:
        model.invoke(text)
    cache.close()
    assert model.calls == len(texts)


UNFINISHED: list[tuple[Any, dict[str, Any]]] = [
    ("half an", {"response_metadata": {"finish_reason": "length"}}),
    ("half an", {"response_metadata": {"finish_reason": "max_tokens"}}),
    ("half an", {"response_metadata": {"finish_reason": "MAX_TOKENS"}}),
    ("half an", {"response_metadata": {"stop_reason": "max_tokens"}}),
    ("half an", {"response_metadata": {"stopReason": "max_tokens"}}),
    ("half an", {"response_metadata": {"done_reason": "length"}}),
    ("half an", {"response_metadata": {"status": "incomplete"}}),
    ("no", {"response_metadata": {"finish_reason": "content_filter"}}),
    ("no", {"response_metadata": {"finish_reason": "SAFETY"}}),
    ("no", {"response_metadata": {"stop_reason": "refusal"}}),
    ("no", {"additional_kwargs": {"refusal": "I cannot help"}}),
    ([{"type": "refusal", "refusal": "I cannot help"}], {}),
    ("oops", {"response_metadata": {"finish_reason": "error"}}),
    ("oops", {"response_metadata": {"finish_reason": None}}),
    ("oops", {"response_metadata": {"finish_reason": "a_new_name"}}),
    ("half an", {"response_metadata": {"model_provider": "openai"}}),
    ("half an", {"response_metadata": {"model_provider": "groq"}}),
    ("half an", {"response_metadata": {"model_provider": "google_genai"}}),
    ("", {}),
    (" \n\t", {}),
    ([], {}),
]


@pytest.mark.parametrize(("content", "fields"), UNFINISHED, ids=range(len(UNFINISHED)))
def test_a_reply_that_is_no_whole_answer_is_not_kept(
    cache: SemanticCache, model: ScriptedModel, content: Any, fields: dict[str, Any]
) -> None:
    """B19: the next request asks again and gets the full answer, which is kept."""
    model.told(done(content, **fields), "full answer")
    assert model.invoke(QUESTION).content == content
    assert model.invoke(QUESTION).content == "full answer"
    assert model.invoke(QUESTION).content == "full answer"
    assert model.calls == 2


def test_an_ending_told_in_generation_info_counts(cache: SemanticCache) -> None:
    """B19: LangChain has two places for it, and completion models have the other one."""
    cut = {"finish_reason": "length"}
    cache.update("p", "m", [Generation(text="half", generation_info=cut)])
    cache.update("q", "m", [ChatGeneration(message=AIMessage("half"), generation_info=cut)])
    cache.update(
        "r", "m", [ChatGeneration(message=done("whole")), ChatGeneration(message=done(""))]
    )
    cache.update("s", "m", [])
    assert [cache.lookup(prompt, "m") for prompt in "pqrs"] == [None] * 4
    assert cache.stats().entries == 0


@pytest.mark.parametrize(
    "ending", ["stop", "STOP", "end_turn", "stop_sequence", "tool_calls", "tool_use", "eos_token"]
)
def test_a_whole_reply_is_kept(cache: SemanticCache, model: ScriptedModel, ending: str) -> None:
    """B19: whatever the provider calls its end."""
    call = {"name": "t", "args": {}, "id": "1"}
    tools = [call] if ending.startswith("tool") else []
    model.told(done("x", response_metadata={"finish_reason": ending}, tool_calls=tools))
    model.invoke(QUESTION)
    model.invoke(QUESTION)
    assert model.calls == 1


def test_an_error_of_the_model_is_raised_and_not_kept(
    cache: SemanticCache, model: ScriptedModel
) -> None:
    """B19: as it is; the next request asks again."""
    error = RuntimeError("429")
    model.told(error, "full answer")
    with pytest.raises(RuntimeError) as raised:
        model.invoke(QUESTION)
    assert raised.value is error
    assert model.invoke(QUESTION).content == "full answer"


async def test_both_colours_decide_alike(cache: SemanticCache) -> None:
    """B07: through the core: hit, reason and similarity are the same."""
    questions = [QUESTION, "Tell me the capital of France", "something else", ""]
    store: Semcache = cache.semcache
    twin: AsyncSemcache = cache.asemcache
    store.store(Request(messages=QUESTION), Response.from_text("Paris"))
    for text in questions:
        one, two = store.lookup(Request(messages=text)), await twin.lookup(Request(messages=text))
        assert (one.hit, one.reason, one.similarity) == (two.hit, two.reason, two.similarity)


def test_a_switched_off_cache_is_not_touched(
    cache: SemanticCache, encoder: ScriptedEncoder
) -> None:
    """X11: `cache=False` makes no call to the encoder."""
    model = ScriptedModel(cache=False)
    model.invoke(QUESTION)
    model.invoke(QUESTION)
    assert model.calls == 2
    assert encoder.texts == []


def test_the_model_wins_over_the_global_cache(make_cache: Any) -> None:
    """X11: `cache=` on the model is its own."""
    set_llm_cache(make_cache(namespace="global"))
    own = make_cache(namespace="own")
    ScriptedModel(cache=own).invoke(QUESTION)
    assert own.stats().entries == 1
    assert own.stats().misses == 1


def test_a_chunk_is_a_message_too(cache: SemanticCache) -> None:
    """B29: histories of agents may hold chunks."""
    model = StreamingModel()
    model.invoke([HumanMessage("q"), AIMessageChunk("a"), HumanMessage("next")])
    model.invoke([HumanMessage("q"), AIMessage("a"), HumanMessage("next")])
    assert model.calls == 1


def test_a_provider_that_never_ends_a_stream_is_not_believed(
    openai: OpenAIStub, make_cache: Any
) -> None:
    """B19: OpenAI names an end; a stream without one was cut."""
    from langchain_openai import ChatOpenAI

    openai.finish_reason = None
    chat = ChatOpenAI(
        model="stub", base_url=openai.url, api_key="sk-x", max_retries=0, streaming=True,
        cache=make_cache(),
    )  # fmt: skip
    chat.invoke(QUESTION)
    chat.invoke(QUESTION)
    openai.finish_reason = "stop"
    chat.invoke(QUESTION)
    chat.invoke(QUESTION)
    assert openai.calls == 3
