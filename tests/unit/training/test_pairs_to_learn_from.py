"""What the verifier is trained on: our own clusters and templates are well formed."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from langchain_semcache.verifiers._sounds import sound
from training import data
from training.slips import mistyped
from training.templates import made

KINDS = {
    "number", "date", "entity", "negation", "antonym", "direction", "scope", "time",
    "instruction", "question", "attribute",
}  # fmt: skip
CLUSTERS = sorted((Path(data.__file__).parent / "clusters").glob("*.txt"))


@pytest.mark.parametrize("file", CLUSTERS, ids=lambda file: file.stem)
def test_every_cluster_has_wordings_and_traps_of_known_kinds(file):
    blocks = [block for block in file.read_text("utf-8").split("\n\n") if block.strip()]
    assert len(blocks) >= (240 if file.stem[-1] in "abcd" else 120)
    for block in blocks:
        lines = block.strip().splitlines()
        assert lines[0].startswith("# domain:"), block
        same = [line for line in lines if line.startswith("= ")]
        traps = [line for line in lines if line.startswith("! ")]
        assert len(same) >= 3, block
        assert len(traps) >= 3, block
        assert len(same) + len(traps) + 1 == len(lines), block
        assert {line[2:].partition(":")[0] for line in traps} <= KINDS, block
        assert not {line[2:].strip() for line in same} & {
            line.partition(":")[2].strip() for line in traps
        }, block


def test_templates_give_the_same_pairs_for_the_same_seed_and_both_labels():
    pairs = list(made(2_000, seed=3))
    assert pairs == list(made(2_000, seed=3))
    assert pairs != list(made(2_000, seed=4))
    labels = Counter(pair.same for pair in pairs)
    assert min(labels.values()) > 0.4 * len(pairs)
    assert {pair.source for pair in pairs} == {"made_en", "made_zh"}


def test_a_group_lies_on_one_side_of_the_split():
    pairs = list(data.own_clusters())
    kept = {pair.group for pair in pairs if data.held_out(pair)}
    assert kept
    assert not kept & {pair.group for pair in pairs if not data.held_out(pair)}


def test_a_slip_of_the_fingers_leaves_figures_alone():
    dice = random.Random(0)
    for _ in range(300):
        slipped = mistyped("order 4471 of the blue lamp, 花呗账单", dice)
        assert "4471" in slipped


def test_slips_are_few_and_the_same_for_the_same_dice():
    text = "How can I change the address of my delivery?"
    once = [mistyped(text, random.Random(seed)) for seed in range(50)]
    assert once == [mistyped(text, random.Random(seed)) for seed in range(50)]
    assert sum(slipped.lower() != text.lower() for slipped in once) > 40
    assert all(abs(len(slipped) - len(text)) <= 8 for slipped in once)


def test_chinese_is_mistyped_by_sound():
    slipped = [mistyped("支付宝怎么绑定银行卡", random.Random(seed)) for seed in range(200)]
    alike = [text for text in slipped if len(text) == 10 and text != "支付宝怎么绑定银行卡"]
    assert len(alike) > 80
    sounds = [sound(char) for char in "支付宝怎么绑定银行卡"]
    same = sum([sound(char) for char in text] == sounds for text in alike)
    assert same > 0.6 * len(alike)
