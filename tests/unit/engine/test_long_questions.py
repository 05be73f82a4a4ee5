"""Questions longer than the window, through a real cache: what differs is what decides."""

from __future__ import annotations

import pytest

from langchain_semcache import Reason, Request, Response, Semcache
from langchain_semcache.threshold.confidence import Calibration

MATERIAL = " ".join(
    f"At meeting {n} the committee met in the town hall and spoke of roads, schools and the river."
    for n in range(30)
)
ASKED = f"{MATERIAL} Which of these subjects was discussed most often by the committee?"
BOOK = "会议在市政厅举行，大家讨论了道路、学校和河流的问题，最后决定下个月再开一次会。" * 12


class Opinion:
    """Says the same of every pair, and remembers what it was shown."""

    identity = "opinion"

    def __init__(self, probability=0.99):
        self.probability = probability
        self.shown = []

    def judge(self, question, stored):
        self.shown += [(question, text) for text in stored]
        return [self.probability] * len(stored)


def ask(text):
    return Request(messages=text, model="m")


@pytest.fixture
def opened(tmp_path):
    caches = []

    def open_(verifier=None, **key):
        settings = {"calibration": "none"}
        if verifier is not None:
            calibration = Calibration(
                encoder="", verifier="opinion", floor=0.5, bar=0.9, least=0.8,
                weights={"opinion": 1.0, "bias": 0.0},
            )  # fmt: skip
            from langchain_semcache.encoders.onnx import IDENTITY

            file = tmp_path / "calibration.json"
            named = calibration.to_json().replace('"encoder": ""', f'"encoder": "{IDENTITY}"')
            file.write_text(named, "utf-8")
            settings = {"calibration": str(file)}
        chosen = verifier or "none"
        cache = Semcache.open(":memory:", verifier=chosen, strict=True, key=key, **settings)
        caches.append(cache)
        return cache

    yield open_
    for cache in caches:
        cache.close()


@pytest.mark.parametrize("text", [ASKED, BOOK])
def test_a_long_question_is_found_again_though_its_lines_are_broken_anew(opened, text):
    cache = opened(Opinion())
    assert cache.store(ask(text), Response.from_text("roads")).stored
    decision = cache.lookup(ask(text.replace(" ", "  ").replace("。", "。\n")))
    assert (decision.hit, decision.reason) == (True, Reason.SEMANTIC)
    assert decision.exact_only is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("At meeting 15 ", "At meeting 51 "),
        ("most often by", "least often by"),
        ("Which of these subjects was discussed most often by the committee?", "Write a poem."),
        ("schools and the river. Which", "schools and the hospital. Which"),
    ],
)
def test_one_changed_word_in_thousands_decides(opened, old, new):
    cache = opened(Opinion(0.1))
    assert old in ASKED
    cache.store(ask(ASKED), Response.from_text("roads"))
    decision = cache.lookup(ask(ASKED.replace(old, new, 1)))
    assert not decision.hit
    assert cache.lookup(ask(ASKED)).reason is Reason.EXACT


def test_the_verifier_sees_what_differs_and_no_more(opened):
    opinion = Opinion()
    cache = opened(opinion)
    cache.store(ask(ASKED), Response.from_text("roads"))
    decision = cache.lookup(ask(ASKED.replace("was discussed most", "was talked about most")))
    assert decision.hit, decision
    ((ours, theirs),) = opinion.shown
    assert "talked" in ours
    assert "discussed" in theirs
    assert max(len(ours), len(theirs)) < 200


def test_without_a_verifier_what_differs_is_refused(opened):
    cache = opened()
    cache.store(ask(ASKED), Response.from_text("roads"))
    decision = cache.lookup(ask(ASKED.replace("was discussed most", "was talked about most")))
    assert (decision.hit, decision.reason) == (False, Reason.LONG_TEXT_DIFFERS)


def test_a_short_question_never_meets_a_long_one(opened):
    cache = opened(Opinion())
    cache.store(ask(ASKED), Response.from_text("roads"))
    short = cache.lookup(ask("Which of these subjects was discussed most often?"))
    assert short.reason is Reason.NO_CANDIDATE


def test_what_is_too_long_even_for_windows_is_matched_exactly(opened):
    cache = opened(Opinion())
    text = MATERIAL * 3
    cache.store(ask(text), Response.from_text("roads"))
    assert cache.lookup(ask(text)).reason is Reason.EXACT
    assert cache.lookup(ask(text + " ")).exact_only is Reason.BEYOND_WINDOW


@pytest.mark.parametrize(
    ("key", "text"), [({}, ASKED), ({"max_question_bytes": 0}, "What is tea?")]
)
def test_a_long_question_may_be_left_to_exact_matches(opened, key, text):
    cache = opened(Opinion(), compare_long=False, **key)
    cache.store(ask(text), Response.from_text("roads"))
    assert cache.lookup(ask(text)).reason is Reason.EXACT
    decision = cache.lookup(ask(text.replace(" ", "  ")))
    assert (decision.hit, decision.exact_only) == (False, Reason.BEYOND_WINDOW)


def test_a_window_is_encoded_once_for_lookup_judgement_and_store(opened, monkeypatch):
    cache = opened(Opinion())
    encoder = cache.core.workplace.encoder
    seen = []
    real = encoder.encode_if_idle
    monkeypatch.setattr(encoder, "encode_if_idle", lambda texts: seen.extend(texts) or real(texts))
    cache.store(ask(ASKED), Response.from_text("roads"))
    cache.lookup(ask(ASKED.replace("was discussed most", "was talked about most")))
    changed = ask(ASKED.replace("schools and the river", "schools and the sea"))
    cache.lookup(changed)
    cache.store(changed, Response.from_text("roads"))
    assert len(seen) > 10
    assert len(seen) == len(set(seen))
