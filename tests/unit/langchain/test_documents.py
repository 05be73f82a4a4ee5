"""Which documents a prompt shows, on any text."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langchain_semcache.langchain import documents
from langchain_semcache.langchain.documents import Retrieved, retrieved, shown

words = st.text(st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=12)
texts = st.lists(words, min_size=1, max_size=40).map(" ".join)
spaces = st.sampled_from([" ", "\n", "\t", "\r\n    ", "  \n\n"])


def made(text: str) -> Retrieved:
    return retrieved(Document(text))


@given(texts, st.lists(spaces, min_size=40, max_size=40), texts, texts)
def test_a_whole_document_is_found_whatever_its_white_space(text, gaps, before, after) -> None:
    laid_out = "".join(part for pair in zip(text.split(" "), gaps, strict=False) for part in pair)
    one = made(text)
    assert shown([one], f"{before} {laid_out} {after}") == [one]
    assert shown([one], [{"kwargs": {"content": [{"text": laid_out}]}}]) == [one]


@given(texts, st.booleans())
def test_a_document_inside_json_is_found(text, ascii_only) -> None:
    one = made(text)
    assert shown([one], json.dumps({"found": [text]}, ensure_ascii=ascii_only)) == [one]


@given(st.lists(texts, min_size=5, max_size=12), st.data())
def test_both_ways_of_looking_for_pieces_agree(found, data) -> None:
    many = [made(text) for text in found]
    one = data.draw(st.sampled_from(found))
    start = data.draw(st.integers(0, len(one)))
    prompt = f"Context: {one[start : start + 200]} Question: what?"
    few, documents._FEW = documents._FEW, 1_000
    try:
        by_finding = shown(many, prompt)
        documents._FEW = 0
        assert shown(many, prompt) == by_finding
    finally:
        documents._FEW = few


@given(st.integers(0, 1_900), st.integers(127, 400))
def test_an_extract_of_127_characters_is_always_enough(start, length) -> None:
    text = " ".join(f"word{number:05}" for number in range(230))
    one = made(text)
    assert shown([one], f"See: {text[start : start + length].strip()} .") in ([one], [])
    if len(text[start : start + length].strip()) >= 127:
        assert shown([one], f"See: {text[start : start + length].strip()} .") == [one]


def test_nothing_is_found_in_nothing() -> None:
    assert shown([made("a"), made(""), made(" \n")], "") == []
    assert shown([], "a") == []
    assert shown([made(""), made(" ")], " ") == []
