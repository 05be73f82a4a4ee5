"""Names, hashes and tags: values in, values out."""

from __future__ import annotations

import hashlib

import pytest

from langchain_semcache import ConfigurationError, content_hash, resting_on
from langchain_semcache.lineage import (
    Lineage,
    current_lineage,
    hashes,
    prompt_tags,
    source_pairs,
)


@pytest.mark.parametrize("text", ["", "a", "Größe 🦜", "\ud800"])
def test_a_text_has_the_hash_of_its_file(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    assert content_hash(text) == content_hash(data) == f"sha256:{hashlib.sha256(data).hexdigest()}"


@pytest.mark.parametrize(
    ("version", "tags"),
    [
        (None, ("prompt:a",)),
        ("", ("prompt:a",)),
        (0, ("prompt:a", "prompt:a@0")),
        ("v2", ("prompt:a", "prompt:a@v2")),
    ],
)
def test_a_prompt_has_a_tag_for_all_versions_and_one_for_its_own(version, tags) -> None:
    assert prompt_tags("a", version) == tags


@pytest.mark.parametrize(
    ("sources", "pairs"),
    [
        (None, ()),
        ({}, ()),
        ({"a": "1", "b": "2"}, (("a", "1"), ("b", "2"))),
        ([("a", "1"), ("a", "2"), ("a", "1")], (("a", "1"), ("a", "2"))),
        ((pair for pair in [["a", "1"]]), (("a", "1"),)),
    ],
)
def test_sources_are_pairs(sources, pairs) -> None:
    assert source_pairs(sources) == pairs


@pytest.mark.parametrize("wrong", ["ab", 3, {"a": None}, {1: "a"}, [("a", "b", "c")], ["ab"], [3]])
def test_what_are_no_sources(wrong) -> None:
    with pytest.raises(ConfigurationError, match="sources must be names"):
        source_pairs(wrong)


@pytest.mark.parametrize(
    ("given", "found"), [(None, ()), ("a", ("a",)), (["a", "b"], ("a", "b")), ([], ())]
)
def test_the_hashes_of_a_source(given, found) -> None:
    assert hashes(given) == found


@pytest.mark.parametrize("wrong", ["", [""], 3, b"a", ["a", None]])
def test_what_is_no_hash(wrong) -> None:
    with pytest.raises(ConfigurationError, match="new_hash must be"):
        hashes(wrong)


def test_a_block_ends_also_by_an_error() -> None:
    inside = []

    def fail() -> None:
        inside.append(current_lineage())
        raise LookupError

    with pytest.raises(LookupError), resting_on({"a": "1"}, tags=["t"]):
        fail()
    assert inside == [Lineage((("a", "1"),), ("t",))]
    assert current_lineage() is None


def test_tags_are_no_single_text() -> None:
    with pytest.raises(ConfigurationError, match="list of labels"), resting_on(tags="kb"):
        pass
